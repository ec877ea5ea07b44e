//! `GET /reports/{id}`: a report for people, one of its logs in full.

use std::collections::BTreeSet;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use dashboards::{LogRow, NoteLine, ReportPage, Standing};
use wire::{Outcome, ScanReport};

use super::{again, answer, compare, current, issue, known_form};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::pages;
use crate::query::{DEFAULT_LIMIT, Pairs};
use crate::remembered::Passing;
use crate::store::{Note, ReportLog, Storage, Store};

/// The page of one report.
#[utoipa::path(
    get, path = "/reports/{id}", operation_id = "report_page", tag = "pages",
    params(
        ("id" = String, Path, pattern = "^[0-9A-Za-z_-]{22}$"),
        ("log" = Option<String>, Query, description = "The log that is told in full"),
        ("cursor" = Option<String>, Query)
    ),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query"),
        (status = 404, description = "There is no such report, or no such log in it")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    headers: HeaderMap,
    id: Result<Path<String>, PathRejection>,
    _asked: pages::Asked,
    pairs: Result<Pairs, Error>,
) -> Result<Response, Html> {
    let drawing = async {
        let may_change = pages::may_bring(&app, caller.as_ref());
        let id = known_form(id)?;
        let mut page = read(&app, &id, asked(pairs?)?, &pages::server_url(&headers)).await?;
        page.standing.may_change = may_change;
        let is_passing = page.is_pending;
        let mut response = pages::drawn(ReportPage { frame: pages::frame("/triage", caller), ..page }.render())?;
        if is_passing {
            // Only this process knows, and no commit says when it gives up.
            response.extensions_mut().insert(Passing);
        }
        Ok(response)
    };
    drawing.await.map_err(Html)
}

/// Where the page of logs begins, and which log is told.
fn asked(Pairs(pairs): Pairs) -> Result<(i64, Option<i64>), Error> {
    let number = |name: &str, value: &str| {
        let number = value.parse::<u32>().map(i64::from);
        number.map_err(|_| Error::BadQuery(format!("the value of {name} is no number")))
    };
    let (mut from, mut log) = (0, None);
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" | "log" if value.is_empty() => {}
            "cursor" => from = number(&name, &value)?,
            "log" => log = Some(number(&name, &value)?),
            _ => {}
        }
    }
    Ok((from, log))
}

async fn read(app: &App, id: &str, (from, log): (i64, Option<i64>), server_url: &str) -> Result<ReportPage, Error> {
    let store = &app.store;
    let report = current(app, id).await?;
    // A page that holds the log which is asked for.
    let from = log.filter(|log| *log >= from + i64::from(DEFAULT_LIMIT)).unwrap_or(from);
    let mut logs = store.report_logs(id, from, DEFAULT_LIMIT + 1, false).await?;
    let more = logs.len() > DEFAULT_LIMIT as usize;
    logs.truncate(DEFAULT_LIMIT as usize);
    let summaries = logs.iter().map(|log| serde_json::from_str(&log.summary).map_err(answer::ours));
    let summaries: Vec<ScanReport> = summaries.collect::<Result<_, _>>()?;
    let chosen = match log {
        Some(number) => Some(logs.iter().position(|log| log.number == number).ok_or(Error::NotFound)?),
        None => worth_reading(&summaries),
    };
    let mut outcomes: Vec<_> = store.report_outcomes(id).await?;
    outcomes.sort_by_key(|(word, _)| Outcome::from_word(word));
    let files = store.report_files(id).await?;
    let is = |storage| files.iter().any(|file| file.storage == storage);
    let mut page = ReportPage {
        is_pending: is(Storage::Pending),
        is_missing: is(Storage::Missing),
        id: id.to_owned(),
        created: report.created,
        machine: report.machine,
        files: files.into_iter().map(|file| file.name).collect(),
        refused: report.refused.into_iter().map(|refusal| (refusal.file, refusal.reason)).collect(),
        standing: Standing {
            state: report.state,
            build: report.build,
            assignee: report.assignee,
            notes: store.report_notes(id).await?.into_iter().map(note).collect(),
            may_change: false,
        },
        outcomes: outcomes
            .into_iter()
            .filter_map(|(word, logs)| Some((Outcome::from_word(&word)?, u64::try_from(logs).unwrap_or(0))))
            .collect(),
        next: logs.last().filter(|_| more).map(|last| last.number + 1),
        is_later: from > 0,
        ..ReportPage::default()
    };
    if let Some(place) = chosen {
        tell(app, &mut page, &logs[place], &summaries[place], server_url).await?;
    }
    page.logs = logs.iter().map(|log| log.number).zip(summaries.into_iter().map(row)).collect();
    Ok(page)
}

/// The last log that is not as it should be, else the last.
fn worth_reading(logs: &[ScanReport]) -> Option<usize> {
    let amiss = |log: &ScanReport| {
        matches!(Outcome::of(&log.verdict), Outcome::Crossing | Outcome::Killed | Outcome::TakenBack)
    };
    logs.iter().rposition(amiss).or(logs.len().checked_sub(1))
}

/// Everything about the log that is told in full.
async fn tell(
    app: &App,
    page: &mut ReportPage,
    log: &ReportLog,
    summary: &ScanReport,
    server_url: &str,
) -> Result<(), Error> {
    let store = &app.store;
    let told = match again::dossier(store, &page.id, log).await {
        Ok(dossier) => Some(pages::told_by(&dossier, summary)?),
        // What was said in short stands.
        Err(Error::FileMissing) => None,
        Err(error) => return Err(error),
    };
    let same = answer::same(store, std::slice::from_ref(log), page.machine.as_deref()).await?;
    let same: Vec<_> = same.into_values().flatten().collect();
    // The name of a log fits one machine, unless two PCs did all the same in the same second.
    let machines: BTreeSet<_> = same.iter().map(|own| own.machine.clone()).collect();
    if page.machine.is_none() && machines.len() == 1 {
        page.machine = machines.into_iter().next();
    }
    page.same_as = same.into_iter().map(|own| own.id).collect();
    page.since_href = since(store, page, log.number, summary).await?;
    page.permalink = format!("{server_url}{}?log={}", answer::url(&page.id), log.number);
    let tracker = app.issue_tracker.as_deref();
    let markdown = told.as_ref().map(|told| told.markdown.as_str()).unwrap_or_default();
    page.issue_href = tracker.map(|tracker| issue::href(tracker, summary, &page.permalink, markdown));
    page.told = told;
    page.chosen = Some((log.number, row(summary.clone())));
    Ok(())
}

/// The page of what changed since the machine's last good log; none for a log that is good itself.
async fn since(store: &Store, page: &ReportPage, number: i64, summary: &ScanReport) -> Result<Option<String>, Error> {
    let Some(machine) = page.machine.as_deref() else { return Ok(None) };
    let good = compare::last_good(store, machine, summary, page.same_as.first().map(String::as_str)).await?;
    Ok(good.map(|good| compare::href(&good, &format!("{}.{number}", page.id))))
}

fn row(report: ScanReport) -> LogRow {
    LogRow { id: String::new(), machine: String::new(), report, evidence: Vec::new(), evidence_left_out: 0 }
}

fn note(note: Note) -> NoteLine {
    NoteLine { at: note.at, who: note.name.unwrap_or(note.who), text: note.text }
}
