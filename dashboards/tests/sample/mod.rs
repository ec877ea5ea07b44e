//! A made-up fleet for the tests and for `examples/preview.rs`: every outcome, several machines, one hostile log.

pub mod pages;
mod parts;

use std::collections::BTreeSet;

use dashboards::{
    Count, EvidenceRow, FleetPage, Frame, LogRow, LogsPage, Outcome, Period, Query, Selection, Spread, Tally, Trend,
};
use wire::{
    Adapter, Basis, Counts, Crossing, End, Finding, Generation, Luid, Path, Process, Reason, Runtime, SCAN_SCHEMA,
    ScanReport, Severity, Split, Verdict,
};

const RTX: &str = "NVIDIA GeForce RTX 4080 Laptop GPU";
const IRIS: &str = "Intel(R) Iris(R) Xe Graphics";

/// Text as somebody might put it into a log to deceive or to break a page.
pub const HOSTILE: &str = "<script>alert('x')</script>\" onload=\"x\u{202e}gol.exe\u{1b}[31m\u{0}\n\u{200b}";

/// One kind of log: how it ends, and how often the fleet has it.
struct Case {
    times: u64,
    split: Split,
    crossing: Crossing,
    reasons: &'static str,
    retired: bool,
    path: Path,
}

const fn case(times: u64, split: Split, crossing: Crossing, reasons: &'static str, retired: bool, path: Path) -> Case {
    Case { times, split, crossing, reasons, retired, path }
}

const CASES: [Case; 10] = [
    case(14, Split::Engaged, Crossing::AtlasPerFrame, "", false, Path::D3d11),
    case(3, Split::Engaged, Crossing::None, "", false, Path::D3d12),
    case(6, Split::Off, Crossing::None, "same_adapter", false, Path::D3d12),
    case(4, Split::Off, Crossing::EveryPresent, "api_unsupported", false, Path::OpenGl),
    case(5, Split::Off, Crossing::EveryPresent, "killed_by_env", false, Path::Vulkan),
    case(2, Split::Off, Crossing::EveryPresent, "dp_refused_scanout", true, Path::D3d12),
    case(1, Split::Off, Crossing::EveryPresent, "presenter_ineligible,weave_on_ingest", false, Path::Service),
    case(2, Split::Off, Crossing::Unknown, "scanout_unresolvable", false, Path::D3d11),
    case(2, Split::Unknown, Crossing::Unknown, "", false, Path::IpcClient),
    case(1, Split::Off, Crossing::EveryPresent, "brand_new_token", false, Path::Vulkan),
];

/// The logs of the whole fleet.
pub fn logs() -> Vec<LogRow> {
    let mut logs: Vec<LogRow> = Vec::new();
    for case in &CASES {
        for _ in 0..case.times {
            logs.push(log(logs.len() as u64, case));
        }
    }
    logs.push(hostile());
    logs
}

/// The page of the whole fleet.
pub fn fleet() -> FleetPage {
    page(&logs(), Query::default())
}

/// What a page says of these logs, as if they were all.
pub fn selection(logs: &[LogRow], query: Query) -> Selection {
    Selection {
        query,
        whole: tally(logs.iter()),
        total: tally(logs.iter()),
        newest: Some("2026-09-28".to_owned()),
        periods: vec![Period { days: 7, from: "2026-09-22".to_owned() }],
    }
}

/// A page that lists these logs.
pub fn list(logs: &[LogRow], query: Query) -> LogsPage {
    LogsPage { frame: frame("/logs"), selection: selection(logs, query), logs: logs.to_vec(), next_cursor: None }
}

fn frame(here: &'static str) -> Frame {
    Frame { here, ..Frame::default() }
}

/// A page that counts these logs.
pub fn page(logs: &[LogRow], query: Query) -> FleetPage {
    let one = |word: &str| vec![Some(word.to_owned())];
    let groups = |key: &dyn Fn(&LogRow) -> Vec<Option<String>>| {
        let keys: BTreeSet<_> = logs.iter().flat_map(key).collect();
        let own = keys.into_iter().map(|own| (logs.iter().filter(|log| key(log).contains(&own)).collect(), own));
        own.collect::<Vec<(Vec<&LogRow>, _)>>()
    };
    let by = |key: &dyn Fn(&LogRow) -> Vec<Option<String>>| {
        let groups = groups(key).into_iter();
        groups.map(|(own, key)| Count { tally: tally(own.into_iter()), key }).collect::<Vec<_>>()
    };
    let spread = |key: &dyn Fn(&LogRow) -> Vec<Option<String>>| {
        let groups = groups(key).into_iter();
        groups.map(|(own, key)| Spread { key, ..outcomes(&own) }).collect::<Vec<_>>()
    };
    let process = |log: &LogRow| log.report.process.clone();
    let half = logs.iter().collect::<Vec<_>>();
    let (before, now) = half.split_at(half.len() / 2);
    FleetPage {
        frame: frame("/"),
        selection: selection(logs, query),
        server_url: "http://127.0.0.1:8787".to_owned(),
        by_outcome: by(&|log| one(Outcome::of(&log.report.verdict).as_str())),
        by_split: by(&|log| one(log.report.verdict.split.as_str())),
        by_crossing: by(&|log| one(log.report.verdict.crossing.as_str())),
        by_reason: by(&|log| log.report.verdict.reasons.iter().map(|reason| Some(reason.to_string())).collect()),
        by_path: spread(&|log| one(log.report.path.as_str())),
        by_gpu_pair: spread(&|log| {
            let Verdict { render, scanout, .. } = &log.report.verdict;
            let names = render.as_ref().zip(scanout.as_ref());
            vec![names.map(|(render, scanout)| format!("{} → {}", render.name, scanout.name))]
        }),
        by_runtime: spread(&|log| vec![log.report.runtime.version.clone()]),
        by_exe: spread(&|log| vec![process(log).map(|process| process.exe)]),
        by_day: spread(&|log| vec![process(log).and_then(|process| Some(process.started?.get(..10)?.to_owned()))]),
        by_cohort: spread(&|log| vec![log.report.verdict.scanout.as_ref().map(|own| own.name.clone())]),
        trend: (!before.is_empty()).then(|| Trend {
            days: 14,
            until: "2026-09-28".to_owned(),
            now: outcomes(now),
            before: outcomes(before),
        }),
    }
}

fn outcomes(logs: &[&LogRow]) -> Spread {
    let count = |outcome| logs.iter().filter(|log| Outcome::of(&log.report.verdict) == outcome).count() as u64;
    Spread { tally: tally(logs.iter().copied()), outcomes: Outcome::ALL.map(count), ..Spread::default() }
}

/// A server that has nothing yet.
pub fn empty() -> FleetPage {
    page(&[], Query::default())
}

fn tally<'a>(logs: impl Iterator<Item = &'a LogRow>) -> Tally {
    let machines: Vec<&str> = logs.map(|log| log.machine.as_str()).collect();
    Tally { logs: machines.len() as u64, machines: machines.iter().collect::<BTreeSet<_>>().len() as u64 }
}

fn log(number: u64, case: &Case) -> LogRow {
    let adapter = |name: &str, luid: u64| Some(Adapter { name: name.to_owned(), luid: Luid(luid) });
    let known = case.crossing != Crossing::Unknown;
    let local = case.crossing == Crossing::None;
    let absent = case.split == Split::Unknown;
    let exe = ["MyViewer.exe", "gaussian_splatting_handle_vk_win.exe", "displayxr-service.exe"][number as usize % 3];
    let started = format!("2026-09-{:02}T{:02}:30:00", 1 + number % 28, number % 24);
    let reasons = if case.reasons.is_empty() { Vec::new() } else { Reason::list(case.reasons) };
    let verdict = Verdict {
        split: case.split,
        crossing: case.crossing,
        interop_crossing: case.path == Path::OpenGl,
        killed: case.reasons.contains("killed_by_env"),
        reasons,
        retired: case.retired,
        basis: if absent { Basis::Absent } else { Basis::Stated },
        render: if absent { None } else { adapter(if local { IRIS } else { RTX }, 0x15f3a) },
        scanout: if known { adapter(IRIS, 0x13c07) } else { None },
        line: (!absent).then_some(41),
    };
    let evidence = if absent { Vec::new() } else { evidence(&verdict) };
    let findings = if case.retired {
        vec![
            finding("retired", Severity::Warning, Some(41), "The split was engaged and then taken back."),
            finding(
                "no_footer",
                Severity::Info,
                None,
                "The log has no footer: the process crashed, was killed, or still ran.",
            ),
        ]
    } else {
        Vec::new()
    };
    LogRow {
        id: format!("{:032x}", 0xc0ff_ee00 + number),
        machine: format!("{:032x}", (0xa11c_e5ed_u128 + u128::from(number % 9)) << 96),
        report: ScanReport {
            schema: SCAN_SCHEMA.to_owned(),
            file: format!("DisplayXR_{exe}.{}_2026-09-01_12-30-00.log", 4_000 + number),
            process: Some(Process { exe: exe.to_owned(), pid: 4_000 + number as u32, started: Some(started) }),
            runtime: Runtime {
                version: Some("2.13.0".to_owned()),
                build: Some("v2.13.0-4-gabc123def".to_owned()),
                generation: Some(Generation::G2),
            },
            path: case.path,
            end: if case.retired { End::Missing } else { End::Footer },
            verdict,
            sessions: Vec::new(),
            counts: Counts { bytes: 36_287, lines: 2_062, ..Counts::default() },
            findings,
        },
        evidence,
        evidence_left_out: if case.retired { 12 } else { 0 },
    }
}

fn evidence(verdict: &Verdict) -> Vec<EvidenceRow> {
    let row = |line, meaning: &str, text: Option<String>| EvidenceRow {
        line,
        time: Some(format!("2026-09-14 12:00:0{}.370", line % 10)),
        meaning: meaning.to_owned(),
        text,
    };
    let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
    vec![
        row(30, "The app's device became known.", None),
        row(
            38,
            "The runtime looked for the adapter that drives the panel.",
            Some("scanout: monitor \\\\.\\DISPLAY1".to_owned()),
        ),
        row(
            41,
            "Where the weave runs, and why.",
            Some(format!(
                "weave placement: render='{RTX}' LUID=00000000:00015f3a, panel scanout='{IRIS}' LUID=00000000:00013c07 — (split={} {}) (#918)",
                u8::from(verdict.split == Split::Engaged),
                reasons.join(",")
            )),
        ),
    ]
}

fn finding(code: &str, severity: Severity, line: Option<u64>, message: &str) -> Finding {
    Finding { code: code.to_owned(), severity, line, message: message.to_owned() }
}

/// A log whose every text was chosen by somebody hostile.
pub fn hostile() -> LogRow {
    let mut log = log(90, &CASES[3]);
    let text = || HOSTILE.to_owned();
    log.id = text();
    log.machine = text();
    log.report.file = text();
    log.report.process = Some(Process { exe: text() + &"W".repeat(120), pid: 1, started: Some(text()) });
    log.report.runtime = Runtime { version: Some(text()), build: Some(text()), generation: None };
    log.report.verdict.reasons = vec![Reason::new(HOSTILE)];
    for adapter in [&mut log.report.verdict.render, &mut log.report.verdict.scanout] {
        *adapter = Some(Adapter { name: text(), luid: Luid(1) });
    }
    log.report.findings = vec![finding(HOSTILE, Severity::Error, Some(1), HOSTILE)];
    log.evidence = vec![EvidenceRow { line: 1, time: Some(text()), meaning: text(), text: Some(text()) }];
    log
}
