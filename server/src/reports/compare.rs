//! `GET /reports/compare`: two logs side by side, each of a report or of an agent, by the code of `weavewatch diff`.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::{LogsRow, LogsSide, LoneRecord, TwoLogsPage};
use triage::diff::{Diff, Record, Row};
use triage::explain::{Dossier, verdict};
use triage::reading;
use wire::{Outcome, ScanReport};

use super::{again, answer};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::pages;
use crate::query::Pairs;
use crate::store::Store;
use crate::text;

/// Records of one side that are shown.
const RECORDS: usize = 40;

/// Which log is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Side {
    /// One of a report, by its place.
    Report(String, i64),
    /// One that an agent sent.
    Log(String),
}

/// The address of the comparison of two logs: an agent's by its id, a report's as `ID.NUMBER`.
pub fn href(a: &str, b: &str) -> String {
    format!("/reports/compare?a={a}&b={b}")
}

/// The machine's last good log, as [`href`] takes it, for a log that is not good itself. `own` is the log's id, when an agent
/// sent it.
///
/// # Errors
/// When the database fails.
pub async fn last_good(
    store: &Store,
    machine: &str,
    report: &ScanReport,
    own: Option<&str>,
) -> Result<Option<String>, Error> {
    if matches!(Outcome::of(&report.verdict), Outcome::Engaged | Outcome::Local) {
        return Ok(None);
    }
    let process = report.process.as_ref();
    let exe = process.map(|process| process.exe.as_str());
    let before = process.and_then(|process| process.started.as_deref());
    Ok(store.last_good(machine, exe, before, own).await?)
}

/// Two logs side by side.
#[utoipa::path(
    get, path = "/reports/compare", operation_id = "two_logs_page", tag = "pages",
    params(
        ("a" = Option<String>, Query, description = "A report as `ID` or `ID.NUMBER`, a log by its id, or the address of either"),
        ("b" = Option<String>, Query, description = "The same, for the other side")
    ),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query"),
        (status = 404, description = "One of the two is not there")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    _asked: pages::Asked,
    pairs: Result<Pairs, Error>,
) -> Result<Response, Html> {
    let drawing = async {
        let page = read(&app, pairs?).await?;
        pages::drawn(TwoLogsPage { frame: pages::frame("/triage", caller), ..page }.render())
    };
    drawing.await.map_err(Html)
}

async fn read(app: &App, Pairs(pairs): Pairs) -> Result<TwoLogsPage, Error> {
    let (mut a, mut b) = (String::new(), String::new());
    for (name, value) in pairs {
        match name.as_str() {
            "a" => a = value,
            _ => b = value,
        }
    }
    let page = TwoLogsPage { asked: [a.clone(), b.clone()], ..TwoLogsPage::default() };
    if a.trim().is_empty() || b.trim().is_empty() {
        return Ok(page);
    }
    let (a, b) = (side(&a)?, side(&b)?);
    let (side_a, dossier_a) = told(app, &a).await?;
    let (side_b, dossier_b) = told(app, &b).await?;
    let diff = Diff::between(&dossier_a, &dossier_b);
    let (cause, effect): (Vec<_>, Vec<_>) = diff.rows().iter().partition(|row| row.is_identity());
    let alone = diff.alone();
    let parting = diff.parting().map(|own| [own.a.as_ref().map(record), own.b.as_ref().map(record)]);
    let notes = [("A", &dossier_a), ("B", &dossier_b)].into_iter().flat_map(|(name, dossier)| {
        let error =
            dossier.error.as_ref().map(|error| format!("reading broke off ({error}); what stands before is compared."));
        dossier.notes.iter().cloned().chain(error).map(move |note| format!("{name}: {note}"))
    });
    Ok(TwoLogsPage {
        identity: cause.into_iter().map(row).collect(),
        outcome: effect.into_iter().map(row).collect(),
        parting,
        alone: [&alone.a, &alone.b].map(|own| own.iter().take(RECORDS).map(record).collect()),
        alone_left_out: [&alone.a, &alone.b].map(|own| own.len().saturating_sub(RECORDS) as u64),
        notes: notes.collect(),
        sides: Some(Box::new([side_a, side_b])),
        ..page
    })
}

/// What was typed: an id, or an address that ends with one.
fn side(typed: &str) -> Result<Side, Error> {
    let wrong = || Error::BadQuery("this is the address of no report and no log".to_owned());
    let typed = typed.trim();
    let (address, query) = typed.split_once(['?', '#']).unwrap_or((typed, ""));
    let last = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if text::is_id(last) {
        return Ok(Side::Log(last.to_owned()));
    }
    let number = |text: &str| text.parse::<u32>().map(i64::from).map_err(|_| wrong());
    let (id, place) = match last.split_once('.') {
        Some((id, place)) => (id, Some(number(place)?)),
        None => (last, None),
    };
    if !text::is_url_id(id) {
        return Err(wrong());
    }
    let of_query = query.split(['&', '#']).find_map(|pair| pair.strip_prefix("log=")).map(number).transpose()?;
    Ok(Side::Report(id.to_owned(), place.or(of_query).unwrap_or(0)))
}

/// The log with everything about it.
async fn told(app: &App, side: &Side) -> Result<(LogsSide, Dossier), Error> {
    let store = &app.store;
    let (href, machine, dossier) = match side {
        Side::Log(id) => {
            let log = store.log(id).await?.ok_or(Error::NotFound)?;
            let (dossier, _) = store.dossier(id).await?.ok_or(Error::NotFound)?;
            (format!("/logs/{id}"), Some(log.machine), dossier)
        }
        Side::Report(id, number) => {
            let report = super::current(app, id).await?;
            let logs = store.report_logs(id, *number, 1, false).await?;
            let log = logs.first().filter(|log| log.number == *number).ok_or(Error::NotFound)?;
            let dossier = again::dossier(store, id, log).await?;
            (format!("{}?log={number}", answer::url(id)), report.machine, dossier)
        }
    };
    let report = &dossier.report;
    let side = LogsSide {
        href,
        machine,
        file: reading::base_name(&report.file).to_owned(),
        outcome: Some(Outcome::of(&report.verdict)),
        started: report
            .process
            .as_ref()
            .and_then(|process| process.started.as_deref())
            .map(|time| time.replacen('T', " ", 1)),
        sentence: verdict::sentence(&dossier),
    };
    Ok((side, dossier))
}

fn row(row: &Row) -> LogsRow {
    LogsRow { aspect: row.aspect, values: [row.a.clone(), row.b.clone()] }
}

fn record(record: &Record) -> LoneRecord {
    LoneRecord { line: record.line, meaning: record.meaning.clone(), text: record.text.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_an_id_or_an_address() {
        let (id, log) = ("q0zVZPzvTGqDxsI5XW7Xb-", "0123456789abcdef0123456789abcdef");
        let report = |number| Some(Side::Report(id.to_owned(), number));
        for (typed, expected) in [
            (id.to_owned(), report(0)),
            (format!(" {id}.12 "), report(12)),
            (format!("https://here/reports/{id}?log=3#line-7"), report(3)),
            (format!("/reports/{id}/"), report(0)),
            (format!("/reports/{id}?cursor=50&log=51"), report(51)),
            (format!("http://h:1/logs/{log}"), Some(Side::Log(log.to_owned()))),
            (log.to_owned(), Some(Side::Log(log.to_owned()))),
            (format!("{id}.x"), None),
            (format!("{id}.-1"), None),
            ("a".to_owned(), None),
        ] {
            assert_eq!(side(&typed).ok(), expected, "{typed}");
        }
    }
}
