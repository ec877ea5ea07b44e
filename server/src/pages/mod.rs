//! The pages, one file each, and what they share. Asking is done here; words, order and links belong to `dashboards`.

pub mod admin;
mod asked;
mod compare;
mod costs;
mod drift;
mod embed;
mod explore;
mod files;
mod fleet;
mod health;
mod live;
mod log;
mod log_cost;
mod logs;
mod machine;
mod machine_cost;
mod machines;
mod names;
mod triage;
mod what_if;

use axum::Extension;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::response::{Html as Document, IntoResponse, Response};
use dashboards::{Account, Count, Frame, Period, Query, Selection, Spread, Tally};
use jiff::civil::Date;
use jiff::{Span, ToSpan as _};

use crate::auth::{Caller, Scope};
use crate::error::Error;
use crate::store::{Counting, Dimension, Filter, Group, Totals};
use crate::{filling, forgery};

pub use asked::Asked;
pub use compare::{__path_page as __path_compare, page as compare};
pub use costs::{__path_page as __path_costs, page as costs};
pub use drift::{__path_page as __path_drift, page as drift};
pub use embed::{__path_page as __path_embed, Framed, origin, page as embed};
pub use explore::{__path_page as __path_explore, page as explore};
pub use files::{__path_file, file};
pub use fleet::{__path_page as __path_fleet, page as fleet};
pub use health::{__path_page as __path_health, page as health};
pub use live::{__path_events as __path_live_events, __path_page as __path_live, events as live_events, page as live};
pub use log::{__path_page as __path_log, page as log, told_by};
pub use logs::{__path_page as __path_logs, page as logs};
pub use machine::{
    __path_delete as __path_delete_machine, __path_page as __path_machine, delete as delete_machine, page as machine,
};
pub use machines::{__path_page as __path_machines, page as machines};
pub use names::{__path_page as __path_names, page as names};
pub use triage::{__path_bring, __path_page as __path_triage, bring, may_bring, page as triage};
pub use what_if::{__path_page as __path_what_if, page as what_if};

/// Periods that are offered, in days.
const PERIODS: [u32; 3] = [7, 30, 90];

/// The frame of a page for whoever asks.
pub fn frame(here: &'static str, caller: Option<Extension<Caller>>) -> Frame {
    let frame = Frame { here, filling: filling::missing(), ..Frame::default() };
    let Some(Extension(caller)) = caller else { return frame };
    let admin = caller.scope == Scope::Admin;
    Frame {
        admin,
        account: caller.csrf.map(|csrf| Account { name: caller.name, csrf: forgery::masked(&csrf) }),
        ..frame
    }
}

/// A page that was drawn.
pub fn drawn(html: Result<String, dashboards::Error>) -> Result<Response, Error> {
    Ok(Document(html.map_err(|error| Error::Internal(error.into()))?).into_response())
}

/// The filters of a page.
pub fn filter(query: &Query) -> Result<Filter, Error> {
    let mut filter = Filter::default();
    for name in query.filters() {
        for value in query.all(name) {
            filter.take(name, value).map_err(Error::BadQuery)?;
        }
    }
    Ok(filter)
}

/// What a page with filters says of its logs.
pub async fn selection(counting: &mut Counting, query: Query, filter: &Filter) -> Result<Selection, Error> {
    let newest = counting.newest_day().await?;
    let period = |days: u32| {
        let first = newest?.checked_sub(Span::new().days(i64::from(days) - 1)).ok()?;
        Some(Period { days, from: first.to_string() })
    };
    Ok(Selection {
        whole: tally(&counting.total(&Filter::default()).await?),
        total: tally(&counting.total(filter).await?),
        newest: newest.map(|day| day.to_string()),
        periods: PERIODS.into_iter().filter_map(period).collect(),
        query,
    })
}

/// `days` days that end with `until`, and as many before.
fn periods(until: Date, days: i64) -> Option<[(Date, Date); 2]> {
    let first = until.checked_sub((days - 1).days()).ok()?;
    let before = first.checked_sub(1.days()).ok()?;
    Some([(first, until), (first.checked_sub(days.days()).ok()?, before)])
}

fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn tally(totals: &Totals) -> Tally {
    Tally { logs: count(totals.logs), machines: count(totals.machines) }
}

fn key(group: &Group, dimension: Dimension) -> Option<String> {
    group.key.get(dimension.as_str()).and_then(|value| value.as_str()).map(str::to_owned)
}

fn counts(groups: &[Group], dimension: Dimension) -> Vec<Count> {
    groups.iter().map(|group| Count { key: key(group, dimension), tally: tally(&group.totals) }).collect()
}

fn spread(totals: &Totals) -> Spread {
    Spread { tally: tally(totals), outcomes: totals.outcomes.map(count), ..Spread::default() }
}

fn spreads(groups: &[Group], dimension: Dimension) -> Vec<Spread> {
    groups.iter().map(|group| Spread { key: key(group, dimension), ..spread(&group.totals) }).collect()
}

/// How the reader reached this server; agents reach it the same way.
pub fn server_url(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:8787");
    format!("http://{host}")
}
