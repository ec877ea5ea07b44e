//! `verify`: makes every verdict and every count anew and tells what differs. `rejudge`: has newer rules decide on old logs.

use std::pin::pin;

use anyhow::Context;

use crate::args::Database;
use crate::audit::{Actor, Deed};
use crate::exit::Found;
use crate::progress::Progress;
use crate::say;
use crate::stop::Stop;
use crate::store::{Difference, Store};
use crate::text;

/// The command `verify`.
///
/// # Errors
/// [`Found`] when something differs, also when it was repaired; else what the database says.
pub async fn run(repair: bool, database: Database) -> anyhow::Result<()> {
    let store = database.open().await?;
    let done = verify(&store, repair).await;
    store.close().await;
    done
}

async fn verify(store: &Store, repair: bool) -> anyhow::Result<()> {
    let progress = Progress::items("verify", store.log_count().await?);
    let mut lost = None;
    let mut tell = |difference: Difference| {
        let printed = progress.beside(|| say::unless_gone(say::data(line(&difference))));
        lost = lost.take().or(printed.err());
    };
    let found = store.verify(|logs| progress.add(logs), &mut tell).await.context("failed to read the database")?;
    drop(progress);
    if let Some(error) = lost {
        return Err(anyhow::Error::new(error).context("failed to print the differences"));
    }
    if found.pruned > 0 {
        say::note(format_args!(
            "{} verdicts have no events any more, by retention, and were counted as they stand",
            found.pruned
        ));
    }
    if found.other_rules > 0 {
        say::note(format_args!(
            "{} verdicts are by other rules and were counted as they stand: see `weavewatch-server rejudge`",
            found.other_rules
        ));
    }
    say::note(format_args!(
        "{} verdicts and {} counts made anew, {} differences",
        found.logs, found.counts, found.differences
    ));
    if found.differences == 0 {
        return Ok(());
    }
    if !repair {
        return Err(Found("the database differs: `verify --repair` puts it right".to_owned()).into());
    }
    let progress = Progress::counter("repair");
    store.repair(&found, |logs| progress.add(logs)).await.context("failed to repair the database")?;
    Err(Found("the differences are repaired: `verify` should find none now".to_owned()).into())
}

/// `log 0123… split: stored "off", computed "engaged"`.
fn line(difference: &Difference) -> String {
    let shown = |cell: &Option<String>| cell.as_ref().map_or_else(|| "nothing".to_owned(), |text| format!("{text:?}"));
    let (row, column) = (text::brief(&difference.row), text::brief(&difference.column));
    let (stored, computed) = (shown(&difference.stored), shown(&difference.computed));
    format!("{row} {column}: stored {}, computed {}", text::brief(&stored), text::brief(&computed))
}

/// The command `rejudge`. It may be stopped at any time; logs that are judged do not wait any more.
///
/// # Errors
/// What the database says.
pub async fn rejudge(all: bool, database: Database) -> anyhow::Result<()> {
    let stop = Stop::listen();
    let store = database.open().await?;
    let done = judge(&store, all, stop).await.context("failed to judge on");
    store.close().await;
    done
}

async fn judge(store: &Store, all: bool, stop: Stop) -> anyhow::Result<()> {
    let total = store.logs_to_judge(all).await?;
    let progress = Progress::items("rejudge", total);
    let mut asked = pin!(stop.asked());
    let mut after = String::new();
    let (mut logs, mut changed) = (0, 0);
    let is_done = loop {
        let judged = tokio::select! {
            biased;
            // What is under way is taken back whole.
            () = &mut asked => break false,
            judged = store.rejudge(&after, all) => judged?,
        };
        let Some(judged) = judged else { break true };
        after = judged.last;
        logs += judged.logs;
        changed += judged.changed;
        progress.add(judged.logs);
    };
    drop(progress);
    if logs > 0 {
        let (what, outcome) = (format!("{logs} logs"), format!("{changed} verdicts changed"));
        store.note(&Actor::command_line(), Deed::Rejudged, &what, &outcome).await?;
    }
    let reports = if is_done {
        // Behind the logs: they are few, and each is read as a whole.
        let mut untold = |_| ();
        tokio::select! {
            biased;
            () = &mut asked => None,
            done = crate::reports::rejudge(store, all, &mut untold) => Some(done?),
        }
    } else {
        None
    };
    say::note(format_args!("{logs} logs judged by rules {}, {changed} verdicts changed", resolver::RULES));
    match reports {
        Some(reports @ 1..) => say::note(format_args!("{reports} reports read again")),
        None if is_done => say::note("stopped: reports may wait; each is read again when it is asked for"),
        Some(0) | None => {}
    }
    if !is_done {
        say::note(format_args!("stopped: {} logs wait", store.logs_to_judge(false).await?));
    }
    Ok(())
}
