//! What was said of a report, for programs and for an issue.
//!
//! The objects of logs are kept as the text that the command line prints, and go out as that text with a few keys behind.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use triage::{escape, row};
use wire::{ReportState, ScanReport};

use super::analysis::Refusal;
use super::limits::PAGE_BYTES;
use crate::error::Error;
use crate::store::{Note, ReportFile, ReportLog, ReportRow, SameLog, Storage, Store};

/// The logs of agents by the name that they share with a log of a report.
pub type Same = BTreeMap<String, Vec<SameLog>>;

/// The answer to an upload.
#[derive(Serialize)]
struct Created<'a> {
    id: &'a str,
    /// Where people read it.
    url: String,
    /// Scan objects with `number` and `same_as`.
    logs: Vec<Box<RawValue>>,
    refused: &'a [Refusal],
}

/// A report.
#[derive(Serialize)]
struct Report<'a> {
    id: &'a str,
    url: String,
    created: &'a str,
    analysed: &'a str,
    rules: i64,
    machine: Option<&'a str>,
    state: ReportState,
    build: Option<&'a str>,
    assignee: Option<&'a str>,
    notes: Vec<Note>,
    files: Vec<FileName<'a>>,
    refused: &'a [Refusal],
    /// Objects of `explain` with `number` and `same_as`.
    logs: Vec<Box<RawValue>>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<i64>,
}

#[derive(Serialize)]
struct FileName<'a> {
    name: &'a str,
    bytes: i64,
    /// Where it is.
    storage: Storage,
}

/// What stands behind the keys of the command line.
#[derive(Serialize)]
struct Place<'a> {
    number: i64,
    same_as: &'a [SameLog],
}

/// Where people read a report.
pub fn url(id: &str) -> String {
    format!("/reports/{id}")
}

/// 201: what the upload says.
pub fn created(id: &str, logs: &[ReportLog], same: &Same, refused: &[Refusal]) -> Result<Response, Error> {
    let logs = logs.iter().map(|log| placed(&log.summary, log, same)).collect::<Result<_, _>>()?;
    let mut response = json(&Created { id, url: url(id), logs, refused })?;
    *response.status_mut() = StatusCode::CREATED;
    if let Ok(location) = format!("/api/v1/reports/{id}").parse() {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// The report with a page of its logs.
pub fn report(
    report: &ReportRow,
    files: &[ReportFile],
    notes: Vec<Note>,
    logs: &[ReportLog],
    same: &Same,
    next: Option<i64>,
) -> Result<Response, Error> {
    let logs = logs.iter().map(|log| placed(&unpacked(&log.explained)?, log, same)).collect::<Result<_, _>>()?;
    json(&Report {
        id: &report.id,
        url: url(&report.id),
        created: &report.created,
        analysed: &report.analysed,
        rules: report.rules,
        machine: report.machine.as_deref(),
        state: report.state,
        build: report.build.as_deref(),
        assignee: report.assignee.as_deref(),
        notes,
        files: files.iter().map(|own| FileName { name: &own.name, bytes: own.bytes, storage: own.storage }).collect(),
        refused: &report.refused,
        logs,
        next,
    })
}

/// One log.
pub fn log(log: &ReportLog, same: &Same) -> Result<Response, Error> {
    json(&placed(&unpacked(&log.explained)?, log, same)?)
}

/// What `explain --format markdown` prints for one log.
pub fn page(log: &ReportLog) -> Result<String, Error> {
    unpacked(&log.page)
}

/// The same for all logs of a report: alone it is the page itself; several have a table in front, and those that do not
/// fit into an issue are named by it.
pub async fn pages(store: &Store, report: &ReportRow) -> Result<String, Error> {
    let logs = store.report_logs(&report.id, 0, u32::MAX, false).await?;
    let (mut text, mut tally, mut left_out) = (String::new(), row::Tally::default(), 0);
    if let ([_], []) = (logs.as_slice(), report.refused.as_slice()) {
        return page(store.report_logs(&report.id, 0, 1, true).await?.first().ok_or(Error::NotFound)?);
    }
    let _ = write!(text, "## Report of {} logs\n\n{}\n", logs.len(), row::markdown_heading());
    for log in &logs {
        let summary: ScanReport = serde_json::from_str(&log.summary).map_err(ours)?;
        tally.add(&summary);
        let row = row::markdown(&summary);
        // Half of the room, so that something is said of the first logs as well.
        if text.len() + row.len() < PAGE_BYTES / 2 {
            text.push_str(&row);
            text.push('\n');
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let _ = write!(text, "\n{left_out} more logs are in the report.\n");
    }
    let _ = write!(text, "\n{}\n", tally.sentence(report.refused.len() as u64));
    for refusal in report.refused.iter().take(10) {
        let _ = write!(text, "\n- {}: {}", escape::markdown(&refusal.file), escape::markdown(&refusal.reason));
    }
    text.push('\n');
    for number in logs.iter().map(|log| log.number) {
        let Some(log) = store.report_logs(&report.id, number, 1, true).await?.pop() else { break };
        let page = page(&log)?;
        if text.len() + page.len() > PAGE_BYTES {
            let _ =
                write!(text, "\nThe pages of logs {number} and later are in the report: `?format=markdown&log=N`.\n");
            break;
        }
        text.push('\n');
        text.push_str(&page);
    }
    Ok(text)
}

/// Text to paste into an issue.
pub fn markdown(text: &str) -> Response {
    ([(CONTENT_TYPE, "text/markdown; charset=utf-8")], text.to_owned()).into_response()
}

/// Which logs of agents these are.
pub async fn same(store: &Store, logs: &[ReportLog], machine: Option<&str>) -> Result<Same, Error> {
    let mut names: Vec<&str> = logs.iter().filter_map(|log| log.file.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    let mut same = Same::new();
    for (name, log) in store.logs_named(&names, machine).await? {
        same.entry(name).or_default().push(log);
    }
    Ok(same)
}

/// Why nothing of an upload could be taken.
pub fn nothing(refused: &[Refusal]) -> String {
    match refused {
        [] => "nothing in the upload can be read".to_owned(),
        [only] => format!("{}: {}", only.file, only.reason),
        [first, others @ ..] => {
            format!("{}: {}; and {} more could not be taken", first.file, first.reason, others.len())
        }
    }
}

/// An object of the command line with its place in the report.
fn placed(object: &str, log: &ReportLog, same: &Same) -> Result<Box<RawValue>, Error> {
    let same_as = log.file.as_ref().and_then(|file| same.get(file)).map(Vec::as_slice).unwrap_or_default();
    let place = serde_json::to_string(&Place { number: log.number, same_as }).map_err(ours)?;
    let open = object.strip_suffix('}').unwrap_or(object);
    RawValue::from_string(format!("{open},{}", &place[1..])).map_err(ours)
}

/// Nothing in it acts on a terminal, whatever a log or a file is called.
fn json(value: &impl Serialize) -> Result<Response, Error> {
    let body = serde_json::to_string(value).map_err(ours)?;
    let body = wire::cell::json(&body).into_owned();
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

/// A stored document as text.
pub fn unpacked(packed: &[u8]) -> Result<String, Error> {
    let bytes = zstd::decode_all(packed).map_err(|error| Error::Internal(error.into()))?;
    String::from_utf8(bytes).map_err(|error| Error::Internal(error.into()))
}

/// A document of our own that does not fit its type: our fault.
pub fn ours(error: serde_json::Error) -> Error {
    Error::Internal(error.into())
}
