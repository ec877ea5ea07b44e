//! `prune` and `serve --keep-days`, `--keep-gib`: what is old goes, once a day, and it is said what went.

use std::fmt::Display;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;

use crate::args::{Database, Keep, Kept};
use crate::audit::{Actor, Deed};
use crate::exit::Usage;
use crate::say;
use crate::store::{Part, Store};
use crate::text;

/// Between two turns of [`keep`].
const PAUSE: Duration = Duration::from_hours(24);
/// So long other servers leave the work alone.
const LEASE: Duration = Duration::from_hours(1);

/// What went of one kind, or would go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gone {
    /// Of which kind.
    pub kind: Kept,
    /// Rows.
    pub rows: i64,
    /// Logs that they belong to; 0 for kinds that are no part of a log.
    pub logs: i64,
    /// From before this time.
    pub before: String,
}

/// The command `prune`.
///
/// # Errors
/// When nothing was said to go, or the database fails.
pub async fn command(rules: &Keep, dry_run: bool, rebuild: bool, database: Database) -> anyhow::Result<()> {
    if !rules.say_anything() && !rebuild {
        let why = "failed to prune: say what may be kept, such as --keep-days events=90,logs=730 or --keep-gib 50";
        return Err(Usage(why.to_owned()).into());
    }
    let store = database.open().await?;
    let done = async {
        for gone in apply(&store, rules, dry_run, &Actor::command_line()).await? {
            let verb = if dry_run { "would remove" } else { "removed" };
            say::note(line(verb, &gone));
        }
        if dry_run {
            return Ok(());
        }
        if rebuild {
            store.rebuild().await?;
        } else if !store.give_back().await? {
            say::note("the file keeps its size: `prune --rebuild` writes it anew, while nothing else uses it");
        }
        Ok(())
    };
    let done = done.await;
    store.close().await;
    done
}

/// Applies the rules until the task is dropped: now and once a day. `changed` hears of it when something went. Failures are
/// logged and tried again at the next turn.
pub async fn keep(store: &Store, rules: &Keep, changed: &Notify) {
    while rules.say_anything() {
        match turn(store, rules).await {
            Ok(true) => changed.notify_one(),
            Ok(false) => {}
            Err(error) => tracing::error!("failed to remove what is old: {error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One of several servers does it. True: something went.
async fn turn(store: &Store, rules: &Keep) -> sqlx::Result<bool> {
    let (holder, now) = (text::random_hex()?, Timestamp::now());
    let until = now.saturating_add(LEASE).map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
    if !store.lease("retention", &holder, &text::timestamp(now), &text::timestamp(until)).await? {
        return Ok(false);
    }
    let server = Actor { who: "server".to_owned(), ..Actor::command_line() };
    let gone = apply(store, rules, false, &server).await?;
    for gone in gone.iter().filter(|gone| gone.rows + gone.logs > 0) {
        tracing::info!(
            kind = gone.kind.as_str(),
            rows = gone.rows,
            logs = gone.logs,
            before = gone.before,
            "retention"
        );
    }
    let any = gone.iter().any(|gone| gone.rows + gone.logs > 0);
    if any {
        store.give_back().await?;
    }
    Ok(any)
}

/// Applies the rules, or only counts what they mean. The audit log hears of what goes.
///
/// # Errors
/// When the database fails; what went before that stays away.
pub async fn apply(store: &Store, rules: &Keep, dry_run: bool, by: &Actor) -> sqlx::Result<Vec<Gone>> {
    let mut all = Vec::new();
    for (kind, before) in due(store, rules).await? {
        let (rows, logs) = match kind {
            Kept::Events | Kept::Logs => {
                let part = if kind == Kept::Events { Part::Events } else { Part::Logs };
                let pruned =
                    if dry_run { store.prunable(part, &before).await? } else { store.prune(part, &before).await? };
                (pruned.events, pruned.logs)
            }
            Kept::Reports if dry_run => (store.reports_before(&before).await?, 0),
            Kept::Reports => (i64::try_from(store.prune_reports(Some(&before), None).await?).unwrap_or(i64::MAX), 0),
            Kept::DeadLetters => (store.prune_dead_letters(&before, dry_run).await?, 0),
        };
        if !dry_run && rows + logs > 0 {
            let what = format!("{} from before {before}", kind.as_str());
            let outcome = match kind {
                Kept::Events | Kept::Logs => format!("{rows} events of {logs} logs"),
                Kept::Reports | Kept::DeadLetters => format!("{rows} of them"),
            };
            store.note(by, Deed::Retained, &what, &outcome).await?;
        }
        all.push(Gone { kind, rows, logs, before });
    }
    Ok(all)
}

/// Up to which time each kind goes.
async fn due(store: &Store, rules: &Keep) -> sqlx::Result<Vec<(Kept, String)>> {
    let now = Timestamp::now();
    let mut due: Vec<(Kept, String)> = Vec::new();
    for kind in Kept::ALL {
        let by_age = rules.days(kind).and_then(|days| {
            let age = Duration::from_secs(u64::from(days) * 86_400);
            now.checked_sub(age).ok().map(text::timestamp)
        });
        let by_size = match rules.keep_gib {
            Some(gib) if kind == Kept::Events => store.events_before(i64::from(gib) << 30).await?,
            _ => None,
        };
        // Whichever reaches further.
        due.extend(by_age.into_iter().chain(by_size).max().map(|before| (kind, before)));
    }
    Ok(due)
}

fn line(verb: &str, gone: &Gone) -> impl Display {
    let Gone { kind, rows, logs, before } = gone;
    match kind {
        Kept::Events => format!("events: {verb} {rows} of {logs} logs without news since {before}"),
        Kept::Logs => format!("logs: {verb} {logs} without news since {before}, with {rows} events"),
        Kept::Reports | Kept::DeadLetters => format!("{}: {verb} {rows} from before {before}", kind.as_str()),
    }
}
