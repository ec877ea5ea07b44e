//! What pages of the fleet are made of, with each text told by the caller.

use std::collections::BTreeMap;

use dashboards::alert_lines::AlertLine;
use dashboards::health_page::{HealthPage, LossRow, Refused, Waiting};
use dashboards::share::Share;
use dashboards::{
    BootRow, Combination, ComparePage, CostsPage, Crossed, CrossedBy, CurveView, DriftBuild, DriftPage, DriftWord,
    EffectView, EndView, Flag, Frame, Gpu, GroupView, KILLED, LogRow, MachinePage, MachineRow, MachinesPage, Measure,
    NearWord, Outcome, Output, Pair, PointView, Query, Selection, SettingRow, Side, Spread, Tally, Topology,
    WhatIfView,
};
use wire::{Heartbeat, Luid};

use super::pages::{AT, ID, Tell};
use super::{IRIS, RTX, hostile, logs, selection};

/// Logs by outcome.
pub fn spread(tell: Tell, key: &str, outcomes: [u64; 6]) -> Spread {
    let logs = outcomes.iter().sum();
    Spread { key: Some(tell(key)), label: None, tally: Tally { logs, machines: logs.min(3) }, outcomes }
}

/// A group of two dimensions.
pub fn combination(tell: Tell) -> Combination {
    let pair = format!("{RTX} → {IRIS}");
    Combination {
        keys: vec![(Some(tell(&pair)), None), (None, Some(tell("MyViewer.exe")))],
        spread: spread(tell, &pair, [3, 1, 4, 1, 5, 9]),
    }
}

/// What crosses, by day and kind of PC, with a machine that is off the curve of its kind.
pub fn fleet_costs(tell: Tell, frame: Frame, selection: Selection) -> CostsPage {
    let crossed = |known, bytes| Crossed {
        logs: 6,
        measured: 1,
        known,
        bytes,
        words: [tell("119.44 to 240.35 GB"), tell("59.72 to 120.18 GB")],
    };
    let by =
        |key: Option<&str>, label: Option<String>, crossed| CrossedBy { key: key.map(str::to_owned), label, crossed };
    let point = |bytes: f64, measured_us| PointView {
        machine: ID.to_owned(),
        bytes,
        size: "499.3 kB".to_owned(),
        measured_us,
        fitted_us: 16_722.0,
    };
    let curve = CurveView {
        cohort: "0123456789abcdef".to_owned(),
        label: Some(tell(RTX)),
        of: "frame_interval",
        machines: 8,
        is_judged: true,
        fixed: "16.7 ms".to_owned(),
        rate: Some("3.0 GB/s".to_owned()),
        points: vec![point(5e5, 16_722.0), point(1e6, 33_444.0)],
        points_left_out: 3,
        off: vec![(ID.to_owned(), 2.0, "about half the rate of its kind")],
    };
    let few =
        CurveView { of: "service_frame", machines: 2, is_judged: false, rate: None, off: Vec::new(), ..curve.clone() };
    CostsPage {
        frame,
        selection,
        total: crossed(4, (119.44e9, 240.35e9)),
        days: 2,
        by_day: vec![
            by(Some("2026-09-27"), None, crossed(4, (119.44e9, 240.35e9))),
            by(Some("2026-09-28"), None, crossed(1, (1e9, 1e9))),
            by(None, None, crossed(0, (0.0, 0.0))),
        ],
        by_cohort: vec![
            by(Some("0123456789abcdef"), Some(tell(RTX)), crossed(4, (119.44e9, 240.35e9))),
            by(None, None, crossed(0, (0.0, 0.0))),
        ],
        curves: vec![curve, few],
        curves_left_out: 1,
    }
}

/// Two builds.
pub fn compare(tell: Tell, frame: Frame, few: &[LogRow]) -> ComparePage {
    let side = |value: &str, outcomes| Side {
        value: tell(value),
        label: tell(value),
        whole: spread(tell, value, outcomes),
        query: Query::default().with("runtime", &tell(value)),
    };
    let pair = format!("{RTX} → {IRIS}");
    ComparePage {
        frame,
        selection: selection(few, Query::default()),
        by: "runtime",
        group_by: "gpu_pair",
        choices: vec![(tell("2.13.0"), tell("2.13.0")), (tell("2.14.0 "), tell("2.14.0"))],
        a: side("2.13.0", [30, 0, 2, 0, 0, 0]),
        b: Side { value: tell("2.14.0") + " ", ..side("2.14.0", [10, 0, 22, 0, 0, 0]) },
        groups: vec![Pair {
            a: spread(tell, &pair, [30, 0, 2, 0, 0, 0]),
            b: spread(tell, &pair, [10, 0, 22, 0, 0, 0]),
            change: Some((0.625, [0.41, 0.77])),
            beyond_chance: true,
        }],
        measures: vec![Measure {
            name: "reason",
            value: Some(tell("killed_by_env")),
            a: (1, 32),
            b: (3, 32),
            change: Some((0.0625, [-0.08, 0.21])),
            beyond_chance: false,
        }],
    }
}

/// An answer.
pub fn what_if(tell: Tell) -> WhatIfView {
    let tally = Tally { logs: 3, machines: 2 };
    let end = |outcome, reason| Some(EndView { outcome: Some(outcome), reason, interop_crossing: false });
    let better = EffectView {
        effect: "better",
        tally,
        groups_left_out: 1,
        cohorts: vec![(Some("0123456789abcdef".to_owned()), Some(tell(RTX)), tally), (None, None, tally)],
        cohorts_left_out: 2,
        groups: vec![GroupView {
            did: Some(Outcome::Killed),
            ends: [end(Outcome::Killed, Some("killed_by_env")), end(Outcome::Engaged, None)],
            tally,
            logs_query: Some("outcome=killed&situation=0123456789abcdef".to_owned()),
            situations_left_out: 1,
        }],
    };
    let same = EffectView { effect: "stay", tally, ..EffectView::default() };
    WhatIfView {
        total: Tally { logs: 6, machines: 4 },
        situations: 2,
        effects: vec![better, same],
        missing: vec![(tell("the log was judged by an older server"), tally)],
        assumed: vec![(tell("the session has a window"), tally)],
        bus: vec![tell("From what logs tell: it saves 1.00 TB a day")],
    }
}

/// A token and a record that nobody knows.
pub fn drift(tell: Tell, frame: Frame, few: &[LogRow]) -> DriftPage {
    let builds = vec![DriftBuild {
        build: Some(tell("2.14.0")),
        tally: Tally { logs: 3, machines: 2 },
        records: 7,
        seen: [Some("2026-09-01".to_owned()), None],
        example: (ID.to_owned(), 41),
        text: tell("weave placement: moved"),
    }];
    let nearest =
        Some(NearWord { name: tell("no_hwnd"), text: tell("no_hwnd"), meaning: tell("No window."), distance: 1 });
    let word = DriftWord { is_token: true, what: tell("no_hwnds"), builds, nearest, doubts: vec!["killed"] };
    DriftPage {
        frame,
        selection: selection(few, Query::default()),
        affected: Tally { logs: 3, machines: 2 },
        words: vec![word.clone(), DriftWord { is_token: false, nearest: None, ..word }],
        left_out: 4,
    }
}

/// A machine with test flags, and one that said nothing.
pub fn machines(tell: Tell, frame: Frame, few: &[LogRow]) -> MachinesPage {
    let flag = Flag { name: tell("DXR_WEAVE_ON_SCANOUT"), value: Some(tell("0")), source: None };
    let forced =
        Flag { name: "DXR_D3D_FORCE_GPU".to_owned(), value: Some(tell("igpu")), source: Some("user".to_owned()) };
    let machine = MachineRow {
        id: ID.to_owned(),
        cohort: Some(("0123456789abcdef".to_owned(), tell(RTX))),
        spread: spread(tell, "x", [1, 0, 0, 2, 0, 0]),
        logs: 5,
        newest: Some((ID.to_owned(), "2026-09-28 10:00:00".to_owned())),
        outcome: Some(Outcome::Killed),
        agent: Some(tell("0.1.0")),
        last_contact: Some(AT.to_owned()),
        lost_events: 9,
        flags: vec![flag, forced],
    };
    let silent = MachineRow { id: ID.replace('c', "d"), ..MachineRow::default() };
    MachinesPage {
        frame,
        selection: selection(few, Query::default().with("state", KILLED)),
        machines: vec![machine, silent],
        next_cursor: Some(ID.to_owned()),
        server_url: tell("http://127.0.0.1:8787"),
    }
}

/// A laptop.
pub fn topology(tell: Tell) -> Topology {
    let gpu =
        |name: &str, luid| Gpu { name: tell(name), luid: Some(Luid(luid)), vram_mib: Some(8_000), set_aside: false };
    Topology {
        adapters: vec![gpu(RTX, 1), gpu(IRIS, 2)],
        outputs: vec![Output { luid: Luid(2), size: (3840, 2160), is_panel: true }],
        panel: Some((3840, 2160)),
        verdict: None,
        cost: None,
    }
}

/// One machine.
pub fn machine(tell: Tell, frame: Frame, row: &LogRow) -> MachinePage {
    let at = (ID.to_owned(), "2026-09-28 10:00:00".to_owned());
    let setting = SettingRow {
        name: "DXR_WEAVE_ON_SCANOUT".to_owned(),
        value: Some(tell("0")),
        source: Some("machine".to_owned()),
        honoured: Some(true),
        since: at.clone(),
        last: at.clone(),
    };
    let told = Heartbeat {
        slowed: Some(tell("disk")),
        dropped: BTreeMap::from([(tell("queue_full"), 2)]),
        config: BTreeMap::from([(tell("dir"), tell("logs"))]),
        ..Heartbeat::default()
    };
    MachinePage {
        frame,
        costs: vec![(tell("Crosses a day"), tell("119.44 GB"))],
        id: ID.to_owned(),
        first_seen: AT.to_owned(),
        last_contact: Some(AT.to_owned()),
        agent: Some(tell("0.1.0")),
        heartbeat: Some((told, AT.to_owned())),
        cohort: Some(("0123456789abcdef".to_owned(), tell(RTX))),
        spread: spread(tell, "x", [1, 0, 0, 2, 0, 0]),
        by_day: vec![Spread { key: Some("2026-09-28".to_owned()), ..spread(tell, "x", [1, 0, 0, 2, 0, 0]) }],
        settings: vec![setting],
        boots: [1, 2]
            .map(|logs| BootRow { first: at.clone(), last: at.clone(), logs, topology: topology(tell) })
            .to_vec(),
        boots_left_out: true,
        losses: vec![(tell("queue_full"), 5, 7)],
        losses_left_out: 1,
        logs: vec![row.clone()],
    }
}

/// A fleet with troubles.
pub fn health(tell: Tell, frame: Frame) -> HealthPage {
    HealthPage {
        frame,
        machines: 9,
        contacts: [1, 2, 3, 4],
        last_upload: Some(AT.to_owned()),
        lag_s: Some(77),
        versions: vec![(Some(tell("0.1.0")), 4, Some(AT.to_owned())), (None, 1, None)],
        silent: vec![(ID.to_owned(), Some(AT.to_owned()), Some(tell("0.1.0")))],
        waiting: vec![Waiting {
            machine: ID.to_owned(),
            at: AT.to_owned(),
            queue_bytes: 9,
            lag_s: 5,
            slowed: Some(tell("disk")),
        }],
        waiting_bytes: 9,
        losses: vec![LossRow { reason: tell("queue_full"), machines: 2, bytes: 9.0, events: 3.0 }],
        refused: (1, 9),
        newest_refused: vec![Refused {
            machine: ID.to_owned(),
            received: AT.to_owned(),
            reason: tell("bad"),
            size_bytes: 9,
        }],
        unknown_words: 2,
        server: vec![("Database", tell("SQLite"))],
        trouble: tell("The disk is nearly full."),
        hints: vec![tell("Make room.")],
        alerts: Some(vec![AlertLine {
            rule: tell("killed by build"),
            subject: Some(tell("2.13.0")),
            above: true,
            since: Some(AT.to_owned()),
            share: Share { count: 3, total: 9 },
            href: "/logs?killed=true".to_owned(),
            sent: Some(AT.to_owned()),
            waiting: 1,
            error: Some(tell("chat: the webhook answered 503")),
        }]),
    }
}

/// A log of which every text is told.
pub fn row(tell: Tell) -> LogRow {
    let mut row = if tell("x") == "x" { logs().swap_remove(27) } else { hostile() };
    ID.clone_into(&mut row.id);
    ID.clone_into(&mut row.machine);
    row
}
