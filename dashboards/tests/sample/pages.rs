//! One of every page, small, with each text told by the caller: as it is, or hostile.

use std::collections::{BTreeMap, BTreeSet};

use dashboards::chart::Chart;
use dashboards::{
    Account, AuditPage, CostRow, Costs, DeedLine, EmbedPage, ErrorPage, ExplorePage, Filling, Former, Frame, Known,
    Ledger, LivePage, LiveRow, LogPage, LogRow, LogsRow, LogsSide, LoneRecord, Moment, Names, NoteLine, Outcome, Query,
    ReportLine, ReportPage, ReportState, SignInPage, Standing, TokenLine, TokensPage, Told, TriagePage, TwoLogsPage,
    WhatIfPage,
};
use wire::{Agreement, Comparison, Luid, Replay};

use super::parts::{combination, compare, drift, fleet_costs, health, machine, machines, row, topology, what_if};
use super::{IRIS, RTX, list, logs, page, selection};

/// Tells a text, as it is or otherwise.
pub type Tell = fn(&str) -> String;

/// Of a log or a machine.
pub const ID: &str = "00000000000000000000000000c0ffee";
/// A moment.
pub const AT: &str = "2026-09-28T10:00:00Z";

/// Every page under the name of its template, drawn.
#[expect(clippy::too_many_lines, reason = "a list")]
pub fn every(tell: Tell) -> Vec<(&'static str, String)> {
    let account = || Account { name: tell("Ann, QA"), csrf: "0".repeat(8) };
    let frame = |here| Frame { here, account: Some(account()), admin: true, filling: None };
    let row = row(tell);
    let mut few = logs()[20..24].to_vec();
    few.push(row.clone());
    let query = Query::default().with("split", "off").with("exe", &tell("MyViewer.exe"));
    let selected = || selection(&few, query.clone());
    let pages: Vec<(&'static str, Result<String, dashboards::Error>)> = vec![
        ("fleet", page(&few, query.clone()).render()),
        ("logs", {
            let mut page = list(&few, query.clone());
            page.next_cursor = Some(tell("cursor"));
            page.render()
        }),
        ("error", error(tell).render()),
        (
            "sign_in",
            SignInPage {
                frame: Frame::default(),
                back: tell("/logs"),
                complaint: tell("This is not a valid token."),
                needs_tls: true,
            }
            .render(),
        ),
        (
            "explore",
            ExplorePage {
                frame: frame("/explore"),
                selection: selected(),
                group_by: vec!["gpu_pair", "exe"],
                groups: vec![combination(tell)],
            }
            .render(),
        ),
        (
            "embed",
            EmbedPage {
                frame: Frame::default(),
                name: "programs",
                fleet: page(&few, query.clone()),
                as_of: AT.to_owned(),
            }
            .render(),
        ),
        ("compare", compare(tell, frame("/explore"), &few).render()),
        (
            "what_if",
            WhatIfPage {
                frame: frame("/what-if"),
                selection: selection(&few, query.with("set", &tell("DXR_WEAVE_ON_SCANOUT="))),
                answer: Some(what_if(tell)),
            }
            .render(),
        ),
        (
            "fleet_costs",
            fleet_costs(tell, frame("/costs"), selection(&few, query.with("numbers", "reference"))).render(),
        ),
        ("drift", drift(tell, frame("/drift"), &few).render()),
        ("machines", machines(tell, frame("/machines"), &few).render()),
        ("machine", machine(tell, frame("/machines"), &row).render()),
        (
            "log",
            LogPage {
                frame: frame("/logs"),
                log: row.clone(),
                received: AT.to_owned(),
                clock: None,
                told: Some(told(tell)),
                ledger: Ledger {
                    missing_bytes: 9,
                    unfinished: true,
                    skipped: vec![("header", 80)],
                    losses: vec![(tell("queue_full"), 5, 7)],
                    losses_left_out: 1,
                },
                rules: 2,
                former: vec![Former { rules: 1, replaced: AT.to_owned(), report: row.report.clone() }],
                others: vec![row.clone()],
                since_href: Some("/reports/compare?a=x&b=y".to_owned()),
            }
            .render(),
        ),
        ("health", health(tell, frame("/health")).render()),
        (
            "live",
            LivePage {
                frame: Frame { filling: Some(Filling { here: 312, of: 500 }), ..frame("/live") },
                logs: few.clone(),
                arrived: true,
            }
            .render(),
        ),
        (
            "names",
            Names {
                gpu_pairs: vec![tell(&format!("{RTX} → {IRIS}"))],
                runtimes: vec![tell("2.13.0")],
                programs: vec![tell("MyViewer.exe")],
            }
            .render(),
        ),
        ("live_row", LiveRow { log: row.clone() }.render()),
        (
            "triage",
            TriagePage {
                frame: frame("/triage"),
                query: Query::default().with("q", &tell("viewer")),
                may_bring: true,
                most_bytes: 64 << 20,
                kept: 41,
                reports: vec![ReportLine {
                    id: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
                    created: AT.to_owned(),
                    state: ReportState::Fixed,
                    build: Some(tell("2.14.0")),
                    assignee: Some(tell("Ben")),
                    machine: Some(ID.to_owned()),
                    files: vec![tell("MyViewer.log")],
                    files_left_out: 2,
                    outcomes: vec![(Outcome::Killed, 1), (Outcome::Local, 3)],
                    notes: 2,
                }],
                next_cursor: Some(tell("cursor")),
            }
            .render(),
        ),
        ("report", report(tell, frame("/triage"), &row).render()),
        ("two_logs", two_logs(tell, frame("/triage")).render()),
        (
            "tokens",
            TokensPage {
                frame: frame("/tokens"),
                made: Some((tell("wall"), "ww_secret".to_owned())),
                next: Some("1f".to_owned()),
                tokens: vec![TokenLine {
                    id: "1f".to_owned(),
                    name: tell("wall"),
                    scope: "reader".to_owned(),
                    machine: Some(ID.to_owned()),
                    created: AT.to_owned(),
                    expires: Some(AT.to_owned()),
                    revoked: None,
                }],
            }
            .render(),
        ),
        (
            "audit",
            AuditPage {
                frame: frame("/audit"),
                next: Some("1f".to_owned()),
                deeds: vec![DeedLine {
                    at: AT.to_owned(),
                    who: tell("Ann, QA"),
                    peer: Some("127.0.0.1".to_owned()),
                    deed: "token.create".to_owned(),
                    object: tell("wall"),
                    outcome: "done".to_owned(),
                    request: Some(tell("r-1")),
                }],
            }
            .render(),
        ),
    ];
    pages.into_iter().map(|(name, page)| (name, page.unwrap_or_else(|error| panic!("{name}: {error}")))).collect()
}

/// The definitions of all pictures of the front page.
pub fn charts(tell: Tell) -> Vec<Chart> {
    let mut few = logs()[20..24].to_vec();
    few.push(row(tell));
    page(&few, Query::default()).charts()
}

fn error(tell: Tell) -> ErrorPage {
    ErrorPage {
        frame: Frame::default(),
        status: 400,
        happened: tell("The setting state cannot be \"odd\"."),
        safe: tell("Nothing was changed."),
        next_step: tell("Choose anew."),
        allowed: tell("It can be: killed, flagged."),
        ways: vec![(tell("The same page without it"), "/machines".to_owned())],
    }
}

fn told(tell: Tell) -> Told {
    let answer = serde_json::json!({
        "schema": "weavewatch.replay/1", "policy": "document", "path": "d3d12", "split": "engaged", "reason": null, "retired": false, "crossing": "atlas_per_frame",
        "render": {"name": tell(RTX), "luid": "00000000:00015f3a", "provenance": null}, "scanout": {"name": tell(IRIS), "luid": "00000000:00013c07", "via": "display_path"},
        "overrides": [], "interop": null, "rules": [{"rule": "kill", "outcome": "allowed"}, {"rule": "gate.no_hwnd", "outcome": "passed"}], "warnings": [], "missing": [], "cost": null,
        "line": tell("weave placement: x"), "device_mask": "0x3", "deposit": null, "gl": null, "service": null,
        "ranking": [{"index": 0, "name": tell(RTX), "luid": "00000000:00015f3a", "dedicated_vram_mib": 12_010, "kind": "discrete", "rank": 1, "excluded": null}],
    });
    let answer: Replay = serde_json::from_value(answer).expect("an answer");
    Told {
        sentences: vec![tell("The split was switched off.")],
        questions: vec![tell("Who set it, see line 41?")],
        advice: vec![tell("Remove it: `displayxr-cli perf list`.")],
        caveats: vec![tell("No footer.")],
        settings: vec![[tell("DXR_WEAVE_ON_SCANOUT"), tell("0"), tell("env")]],
        display: tell("3840 × 2160"),
        finding_questions: vec![""],
        timeline: vec![Moment {
            line: 41,
            time: Some(tell("10:00:00.137")),
            meaning: tell("Where the weave runs."),
            text: Some(tell("weave placement: x")),
            times: (3, 44),
        }],
        timeline_left_out: 2,
        policy: "document",
        answer,
        expected: tell("A D3D12 app engages."),
        costs: Costs {
            conclusion: tell("One woven copy crosses the bus: it holds 60 Hz."),
            rows: vec![CostRow {
                way: "woven picture, one copy",
                happened: true,
                expected: false,
                per_picture: tell("33.2 MB"),
                per_second: tell("2.0 GB/s"),
                frame_share: tell("65 % to 70 %"),
                verdict: tell("holds 60 Hz on this link"),
            }],
            measured: vec![(tell("xb_kb"), tell("32400"))],
            inputs: vec![(tell("panel.pixels"), tell("3840 × 2160, told by the log"))],
        },
        comparison: Comparison {
            result: Agreement::CannotTell,
            rule: None,
            because: Some(tell("nobody tells")),
            missing: vec!["settings.DXR_WEAVE_ON_SCANOUT".into()],
        },
        agreement: tell("Cannot tell."),
        nothing: tell("Nothing."),
        observed_line: Some(tell("weave placement: x")),
        topology: topology(tell),
        known: Known {
            luids: BTreeMap::from([(Luid(0x15f3a), tell(RTX))]),
            names: BTreeSet::from([tell(RTX)]),
            lines: BTreeSet::from([41]),
        },
        markdown: tell("# Verdict"),
    }
}

fn report(tell: Tell, frame: Frame, row: &LogRow) -> ReportPage {
    let notes = vec![NoteLine { at: AT.to_owned(), who: tell("Ben"), text: tell("Looks killed.") }];
    ReportPage {
        frame,
        id: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        permalink: "http://127.0.0.1:8787/reports/AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        created: AT.to_owned(),
        machine: Some(ID.to_owned()),
        files: vec![tell("MyViewer.log"), tell("b.zip")],
        is_pending: true,
        is_missing: true,
        refused: vec![(tell("c.exe"), tell("it is no log"))],
        standing: Standing {
            state: ReportState::Fixed,
            build: Some(tell("2.14.0")),
            assignee: Some(tell("Ben")),
            notes,
            may_change: true,
        },
        outcomes: vec![(Outcome::Killed, 1)],
        logs: vec![(0, row.clone()), (1, row.clone())],
        next: Some(2),
        is_later: true,
        chosen: Some((0, row.clone())),
        told: Some(told(tell)),
        same_as: vec![ID.to_owned()],
        since_href: Some("/reports/compare?a=x&b=y".to_owned()),
        issue_href: Some("https://tracker.example/new?title=x".to_owned()),
    }
}

fn two_logs(tell: Tell, frame: Frame) -> TwoLogsPage {
    let side = |file: &str| LogsSide {
        href: format!("/logs/{ID}"),
        file: tell(file),
        machine: Some(ID.to_owned()),
        outcome: Some(Outcome::Killed),
        started: Some(tell("2026-09-28 10:00:00")),
        sentence: tell("The split was switched off."),
    };
    let record =
        || LoneRecord { line: 41, meaning: tell("Where the weave runs."), text: Some(tell("weave placement: x")) };
    let row = |aspect| LogsRow { aspect, values: [Some(tell(RTX)), None] };
    TwoLogsPage {
        frame,
        asked: [tell("a"), tell("b")],
        sides: Some(Box::new([side("a.log"), side("b.log")])),
        identity: vec![row("runtime")],
        outcome: vec![row("split")],
        parting: Some([Some(record()), None]),
        alone: [vec![record()], Vec::new()],
        alone_left_out: [3, 0],
        notes: vec![tell("A: cut.")],
    }
}
