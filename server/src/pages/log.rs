//! `GET /logs/{id}`: one log like a lab report.

use std::collections::{BTreeMap, BTreeSet};

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use dashboards::{Former, Gpu, Known, Ledger, LogPage, LogRow, Moment, Output, Told, Topology};
use resolver::replay::cost;
use triage::document;
use triage::explain::{self, Dossier, caveats, questions, verdict};
use triage::replay::words;
use wire::{Machine, ScanReport};

use super::log_cost::costs;
use super::{Asked, drawn, frame};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::reports::compare;
use crate::store::{Filter, Losses, StoredLog};
use crate::text;

/// Other logs of the machine that are linked.
const OTHERS: u32 = 8;

/// One log with its verdict, its evidence, and what to do about it.
#[utoipa::path(
    get, path = "/logs/{id}", operation_id = "log_page", tag = "pages",
    params(("id" = String, Path, pattern = "^[0-9a-f]{32}$")),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A query, where none is asked"),
        (status = 404, description = "There is no such log")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    id: Result<Path<String>, PathRejection>,
    _asked: Asked,
) -> Result<Response, Html> {
    let drawing = async {
        let page = read(&app, &known_form(id)?).await?;
        drawn(LogPage { frame: frame("/logs", caller), ..page }.render())
    };
    drawing.await.map_err(Html)
}

/// What cannot be a log's id is not there.
pub(super) fn known_form(id: Result<Path<String>, PathRejection>) -> Result<String, Error> {
    id.ok().map(|Path(id)| id).filter(|id| text::is_id(id)).ok_or(Error::NotFound)
}

async fn read(app: &App, id: &str) -> Result<LogPage, Error> {
    let store = &app.store;
    let log = store.log(id).await?.ok_or(Error::NotFound)?;
    let losses = store.log_losses(&log.machine, id).await?;
    let (told, bytes) = store.dossier(id).await?.unzip();
    let mut ledger = ledger(&log, losses);
    // Rules of another number judge another way: then the stored verdict stands and nothing is said beside it.
    let told = match told {
        Some(dossier) => Some(told_by(&dossier, &log.report)?),
        None => None,
    };
    ledger.skipped = bytes.iter().flat_map(wire::ByteLedger::skipped).filter(|(_, bytes)| *bytes > 0).collect();
    let mut filter = Filter::default();
    filter.take("machine", &log.machine).map_err(Error::BadQuery)?;
    let (others, _) = store.logs(&filter, None, OTHERS + 1).await?;
    let others = others.into_iter().filter(|other| other.id != id).take(OTHERS as usize).map(row).collect();
    let good = compare::last_good(store, &log.machine, &log.report, Some(id)).await?;
    let since_href = good.map(|good| compare::href(&good, id));
    let history = store.history(id).await?;
    let former = history.into_iter().filter_map(|own| {
        // A report of a time before the words of today is left out.
        let report = serde_json::from_value(own.report).ok()?;
        Some(Former { rules: own.rules, replaced: own.replaced, report })
    });
    Ok(LogPage {
        frame: frame("/logs", None),
        received: log.received.clone(),
        clock: log.clock.clone(),
        told,
        ledger,
        rules: log.rules,
        former: former.collect(),
        others,
        since_href,
        log: row(log),
    })
}

/// A log without its evidence.
pub(super) fn row(log: StoredLog) -> LogRow {
    LogRow { id: log.id, machine: log.machine, report: log.report, evidence: Vec::new(), evidence_left_out: 0 }
}

fn ledger(log: &StoredLog, losses: Losses) -> Ledger {
    Ledger {
        missing_bytes: super::count(log.missing_bytes),
        unfinished: log.unfinished,
        skipped: Vec::new(),
        losses: losses.by_reason.into_iter().map(|(reason, lost)| (reason, lost.bytes, lost.events)).collect(),
        losses_left_out: super::count(losses.losses_left_out),
    }
}

/// What is said of a log; `report` is the stored one, whose findings the page shows.
///
/// # Errors
/// When the page cannot be written, which is our own fault.
pub fn told_by(dossier: &Dossier, report: &ScanReport) -> Result<Told, Error> {
    let mut markdown = Vec::new();
    document::markdown(&explain::page(dossier), &mut markdown).map_err(|error| Error::Internal(error.into()))?;
    let settings = &dossier.told.machine.settings;
    let sources =
        [(&settings.env, "environment"), (&settings.user, "user settings"), (&settings.machine, "machine settings")];
    let settings = sources.into_iter().flat_map(|(store, whose)| {
        store.iter().map(move |(name, value)| [name.clone(), value.clone(), whose.to_owned()])
    });
    let display = [&dossier.seen.plugin, &dossier.seen.display].into_iter().flatten().cloned().collect::<Vec<_>>();
    let observed = dossier.timeline.entries().iter().rfind(|entry| entry.shape.starts_with("wp."));
    let timeline = dossier.timeline.entries().iter().map(|entry| Moment {
        line: entry.line,
        time: entry.time.clone(),
        meaning: entry.meaning.clone(),
        text: entry.text.clone(),
        times: (entry.times, entry.last_line),
    });
    let question = |finding: &wire::Finding| questions::of_finding(&finding.code).unwrap_or_default();
    Ok(Told {
        sentences: verdict::sentences(dossier),
        questions: questions::questions(dossier),
        advice: dossier.advice.iter().map(words::advice).collect(),
        caveats: caveats::caveats(dossier),
        costs: costs(dossier),
        settings: settings.collect(),
        display: display.join(", "),
        finding_questions: report.findings.iter().map(question).collect(),
        timeline: timeline.collect(),
        timeline_left_out: dossier.timeline.omitted(),
        policy: words::policy(dossier.policy),
        expected: words::sentence(&dossier.answer).replace(" (below)", ""),
        agreement: words::agreement(&dossier.comparison),
        nothing: words::nothing(dossier.comparison.result).to_owned(),
        observed_line: observed.and_then(|entry| entry.text.clone()),
        topology: topology(&dossier.told.machine, report),
        known: known(dossier),
        answer: dossier.answer.clone(),
        comparison: dossier.comparison.clone(),
        markdown: String::from_utf8_lossy(&markdown).into_owned(),
    })
}

/// The PC of a log, drawn with its verdict.
pub(super) fn topology(machine: &Machine, report: &ScanReport) -> Topology {
    let gpu = |own: &wire::MachineAdapter| Gpu {
        name: own.name.clone(),
        luid: own.luid,
        vram_mib: own.dedicated_vram_mib,
        set_aside: own.software == Some(true) || own.remote == Some(true),
    };
    let panel = machine.panel;
    let output = |monitor: &wire::Monitor| {
        let luid = monitor.path_luid.or_else(|| monitor.enumerated_by.first().copied())?;
        let size = (monitor.rect.width, monitor.rect.height);
        Some(Output { luid, size, is_panel: panel == Some(monitor.rect) })
    };
    Topology {
        adapters: machine.adapters.iter().map(gpu).collect(),
        outputs: machine.monitors.iter().filter_map(output).collect(),
        panel: panel.map(|rect| (rect.width, rect.height)),
        verdict: Some(report.verdict.clone()),
        cost: cost(report.verdict.crossing, panel),
    }
}

fn known(dossier: &Dossier) -> Known {
    let verdict = &dossier.report.verdict;
    let mut luids: BTreeMap<_, _> =
        dossier.told.machine.adapters.iter().filter_map(|own| Some((own.luid?, own.name.clone()))).collect();
    let seen = [&verdict.render, &verdict.scanout, &dossier.seen.surface];
    luids.extend(seen.into_iter().flatten().map(|own| (own.luid, own.name.clone())));
    let mut names: BTreeSet<_> = luids.values().cloned().collect();
    names.extend(dossier.report.process.iter().map(|process| process.exe.clone()));
    let lines = dossier.timeline.entries().iter().map(|entry| entry.line).collect();
    Known { luids, names, lines }
}
