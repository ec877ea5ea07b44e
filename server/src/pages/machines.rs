//! `GET /machines`: the PCs, a page at a time.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use dashboards::{FLAGGED, Flag, KILLED, MachineRow, MachinesPage, Outcome, Query, query};
use resolver::replay::WEAVE_ON_SCANOUT;

use super::{Asked, count, drawn, filter, frame, selection, server_url, spread};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::openapi::Filters;
use crate::query::no_cursor;
use crate::store::{Browsed, NO_START_S, Wanted, local};
use crate::text;

/// Machines in the table.
const MACHINES: u32 = 40;

/// The machines that have a log which the filters let through.
#[utoipa::path(
    get, path = "/machines", operation_id = "machines_page", tag = "pages",
    params(
        ("cursor" = Option<String>, Query),
        ("q" = Option<String>, Query, description = "What the machine's name begins with."),
        ("state" = Option<String>, Query, description = "`killed`: those with the kill switch set; `flagged`: those with any test flag set."),
        Filters
    ),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
    headers: HeaderMap,
) -> Result<Response, Html> {
    let page =
        MachinesPage { frame: frame("/machines", caller), server_url: server_url(&headers), ..MachinesPage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, page: MachinesPage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    let after = query.get(query::CURSOR).unwrap_or_default();
    if !after.is_empty() && !text::is_id(after) {
        return Err(no_cursor());
    }
    let prefix = query.get("q").unwrap_or_default().trim().to_ascii_lowercase();
    let setting = match query.get("state") {
        Some(KILLED) => Some(WEAVE_ON_SCANOUT),
        Some(FLAGGED) => Some(""),
        _ => None,
    };
    let wanted = Wanted { prefix: &prefix, setting };
    // What is no name begins like none.
    let is_hex = prefix.len() <= 32 && prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (browsed, next_cursor) =
        if is_hex { app.store.browse(&filter, wanted, after, MACHINES).await? } else { (Vec::new(), None) };
    let mut machines: Vec<_> = browsed.into_iter().map(row).collect();
    if let Some(name) = setting {
        // Some settings are no test flags.
        machines.retain(|own: &MachineRow| own.flags.iter().any(|flag| flag.name.starts_with(name)));
    }
    let selection = selection(&mut app.store.counting().await?, query, &filter).await?;
    drawn(MachinesPage { selection, machines, next_cursor, ..page }.render())
}

fn row(own: Browsed) -> MachineRow {
    let Browsed { machine, group, newest, settings } = own;
    let flags = settings.into_iter().map(|(name, own)| Flag { name, value: own.value, source: own.source });
    let started =
        |seconds| if seconds > NO_START_S { local(seconds).replacen('T', " ", 1) } else { "not known".to_owned() };
    MachineRow {
        flags: dashboards::test_flags(flags),
        cohort: machine.cohort.map(|cohort| (cohort.id, cohort.label)),
        spread: group.map(|group| spread(&group.totals)).unwrap_or_default(),
        logs: count(machine.logs),
        newest: newest.map(|(id, seconds)| (id, started(seconds))),
        outcome: machine.outcome.as_deref().and_then(Outcome::from_word),
        agent: machine.agent,
        last_contact: machine.last_contact,
        lost_events: machine.losses.by_reason.values().map(|lost| lost.events).fold(0, u64::saturating_add),
        id: machine.id,
    }
}
