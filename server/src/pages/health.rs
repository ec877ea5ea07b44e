//! `GET /health`: whether logs keep coming, and how the server is.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::health_page::{AGES, HealthPage, LossRow, Refused, Waiting, bytes};

use super::{Asked, count, drawn, frame};
use crate::alerts;
use crate::app::{App, WAITING_KIB};
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::store::{Beat, Holdings, Store};
use crate::text;

/// Machines that are silent, agents that are behind, segments that were refused: the first of each.
const ROWS: u32 = 20;
/// For the count of segments that were refused lately.
const DAYS: i64 = 7;

/// How agents and server are.
#[utoipa::path(
    get, path = "/health", operation_id = "health_page", tag = "pages",
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A query, where none is asked")
    )
)]
pub async fn page(State(app): State<App>, caller: Option<Extension<Caller>>, _asked: Asked) -> Result<Response, Html> {
    let drawing = async {
        let page = read(&app).await?;
        drawn(HealthPage { frame: frame("/health", caller), ..page }.render())
    };
    drawing.await.map_err(Html)
}

async fn read(app: &App) -> Result<HealthPage, Error> {
    let store = &app.store;
    let since = AGES.map(|(_, seconds)| text::from_now(-seconds));
    // Many small questions, of which none waits for another: on PostgreSQL each is a way there and back.
    let (
        (contacts, machines),
        (mut beats, _),
        (kept, lately),
        (letters, _),
        words,
        versions,
        losses,
        silent,
        held,
        older,
        days,
    ) = tokio::try_join!(
        store.contacts_since(since.each_ref().map(String::as_str)),
        store.beats(),
        store.dead_letter_counts(DAYS),
        store.dead_letters(None, None, ROWS),
        store.unknown_words(),
        store.agent_versions(),
        store.fleet_losses(),
        store.silent_machines(ROWS),
        store.holdings(),
        store.logs_to_judge(false),
        store.columnar_days(),
    )?;
    let waiting_bytes = beats.iter().map(|beat| beat.queue_bytes).fold(0, u64::saturating_add);
    beats.retain(|beat| beat.queue_bytes > 0 || beat.slowed.is_some());
    beats.sort_by_key(|beat| std::cmp::Reverse((beat.lag_s, beat.queue_bytes)));
    beats.truncate(ROWS as usize);
    let mut page = HealthPage {
        machines: count(machines),
        contacts: contacts.map(count),
        versions: versions.into_iter().map(|own| (own.agent, count(own.machines), own.last_contact)).collect(),
        silent,
        waiting: beats.into_iter().map(waiting).collect(),
        waiting_bytes,
        losses: losses
            .into_iter()
            .map(|own| LossRow {
                reason: own.reason,
                machines: count(own.machines),
                bytes: own.bytes,
                events: own.events,
            })
            .collect(),
        refused: (count(kept), count(lately)),
        newest_refused: letters
            .into_iter()
            .map(|own| Refused {
                machine: own.machine,
                received: own.received,
                reason: own.reason,
                size_bytes: count(own.size_bytes),
            })
            .collect(),
        unknown_words: count(words),
        ..HealthPage::default()
    };
    if let Some(rules) = &app.alerts {
        page.alerts = Some(alerts::lines(store, rules, jiff::Timestamp::now()).await?);
    }
    server(app, held, older, days, &mut page);
    Ok(page)
}

fn waiting(beat: Beat) -> Waiting {
    Waiting {
        machine: beat.machine,
        at: beat.at,
        queue_bytes: beat.queue_bytes,
        lag_s: beat.lag_s,
        slowed: beat.slowed,
    }
}

/// What the server knows of itself.
fn server(app: &App, held: Holdings, older: u64, days: i64, page: &mut HealthPage) {
    let store = &app.store;
    let logs: i64 = held.logs_by_split.iter().map(|(_, logs)| logs).sum();
    let size = |own: u64| bytes(own as f64);
    let mut rows = vec![
        ("Version", env!("CARGO_PKG_VERSION").to_owned()),
        ("Database", store.place().kind().to_owned()),
        ("Schema", Store::schema_version().to_string()),
        ("Rules of verdicts", resolver::RULES.to_string()),
        ("Logs judged by older rules", older.to_string()),
        ("Logs", logs.to_string()),
        ("Size of the database", size(held.size_bytes)),
    ];
    rows.extend(store.wal_bytes().map(|wal| ("Write-ahead log", size(wal))));
    match store.free_bytes() {
        Ok(Some(free)) => {
            rows.push(("Free on its disk", size(free)));
            if free < app.reserve_bytes {
                let reserve = size(app.reserve_bytes);
                page.trouble = format!(
                    "Uploads are refused: {} are left on the database’s disk, the reserve is {reserve}",
                    size(free)
                );
            }
        }
        Ok(None) => {}
        Err(error) => tracing::warn!("failed to ask how much room the database's disk has: {error}"),
    }
    let waiting = (WAITING_KIB as usize).saturating_sub(app.waiting.available_permits());
    rows.push(("Uploads that wait to be stored", size(waiting as u64 * 1024)));
    rows.push(("Days for a columnar copy", days.to_string()));
    let tokens = held.tokens_by_scope.iter().filter(|(_, count)| *count > 0);
    let tokens: Vec<_> = tokens.map(|(scope, count)| format!("{count} {scope}")).collect();
    rows.push(("Valid tokens", if tokens.is_empty() { "none".to_owned() } else { tokens.join(", ") }));
    if older > 0 {
        page.hints.push(format!(
            "{older} logs were judged by older rules: weavewatch-server rejudge brings them up to date."
        ));
    }
    page.lag_s = held.last_upload.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok()).map(|time| {
        let seconds = jiff::Timestamp::now().duration_since(time).as_secs();
        u64::try_from(seconds).unwrap_or_default()
    });
    page.last_upload = held.last_upload;
    page.server = rows;
}
