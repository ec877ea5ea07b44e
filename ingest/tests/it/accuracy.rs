//! How often is the answer right? A simulated fleet with faults and damage is read, and every verdict and finding is held
//! against the truth that came with it. The figures stand in `docs/accuracy.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use simulate::{Fleet, Made, Mutation, Simulation, Truth};
use wire::{ScanReport, Split};

/// So many machines make a fleet in which every outcome happens.
const MACHINES: u64 = 600;
const SEED: u64 = 2026;

/// One column of the table of verdicts.
#[derive(Default)]
struct Verdicts {
    logs: u64,
    exact: u64,
    same_split: u64,
    /// Says that it does not know, which is no lie.
    unknown: u64,
    wrong: u64,
}

/// One row of the table of findings.
#[derive(Default)]
struct Findings {
    due: u64,
    found: u64,
    right: u64,
}

/// What the reading of a fleet came to.
#[derive(Default)]
struct Accuracy {
    verdicts: BTreeMap<String, Verdicts>,
    findings: BTreeMap<(bool, String), Findings>,
    /// What is wrong although nothing was damaged.
    faults: Vec<String>,
}

fn read(made: &Made) -> ScanReport {
    let mut buffer = vec![0; 64 << 10];
    let (report, error) = triage::scan::report(&mut made.bytes.as_slice(), made.truth.file.clone(), &mut buffer);
    assert!(error.is_none(), "memory does not break off");
    report
}

impl Accuracy {
    fn add(&mut self, made: &Made, report: &ScanReport) {
        let truth = &made.truth;
        let damaged = truth.mutation.is_some();
        let verdicts = self.verdicts.entry(truth.mutation.as_deref().unwrap_or("none").to_owned()).or_default();
        verdicts.logs += 1;
        let told = (report.verdict == truth.verdict, report.verdict.split == truth.verdict.split);
        match told {
            (true, _) => verdicts.exact += 1,
            (false, true) => verdicts.same_split += 1,
            _ if report.verdict.split == Split::Unknown => verdicts.unknown += 1,
            _ => {
                verdicts.wrong += 1;
                let outcomes = &truth.cohort.outcomes;
                // The two ways of the page.
                if !damaged || outcomes.len() < 2 && outcomes[0] != "rerouted_across_adapters" {
                    self.faults.push(format!("{}: {:?} is wrong", label(truth), report.verdict));
                }
            }
        }
        let mut found: Vec<_> = report.findings.iter().map(|own| (own.code.clone(), own.line)).collect();
        for due in &truth.findings {
            let row = self.findings.entry((damaged, due.code.to_string())).or_default();
            row.due += 1;
            if let Some(at) = found.iter().position(|own| *own == (due.code.to_string(), due.line)) {
                found.remove(at);
                row.right += 1;
                row.found += 1;
            } else if !damaged {
                self.faults.push(format!("{}: {} at {:?} is not found", label(truth), due.code, due.line));
            }
        }
        for (code, line) in found {
            if !damaged {
                self.faults.push(format!("{}: {code} at {line:?} is not due", label(truth)));
            }
            self.findings.entry((damaged, code)).or_default().found += 1;
        }
        if !damaged {
            self.compare(truth, report);
        }
    }

    fn compare(&mut self, truth: &Truth, report: &ScanReport) {
        let mut differ = |what: &str, truth_says: String, said: String| {
            if truth_says != said {
                self.faults.push(format!("{}: {what} is {truth_says}, said {said}", label(truth)));
            }
        };
        differ("verdict", format!("{:?}", truth.verdict), format!("{:?}", report.verdict));
        differ("process", format!("{:?}", Some(&truth.process)), format!("{:?}", report.process.as_ref()));
        differ("path", format!("{:?}", truth.path), format!("{:?}", report.path));
        differ("end", format!("{:?}", truth.end), format!("{:?}", report.end));
        differ("version", format!("{:?}", truth.version), format!("{:?}", report.runtime.version));
        differ("generation", format!("{:?}", truth.generation), format!("{:?}", report.runtime.generation));
        differ("bytes", truth.bytes.to_string(), report.counts.bytes.to_string());
    }
}

fn label(truth: &Truth) -> String {
    format!("{} {:?} {} {}", truth.file, truth.cohort.outcomes, truth.cohort.build, truth.cohort.kind)
}

/// The fleet of the table: the built-in one, with every kind of damage in some of its logs.
fn fleet() -> Fleet {
    let mut fleet = Fleet::example().expect("the built-in fleet is sound");
    fleet.machines = MACHINES;
    fleet.mutations = Mutation::ALL.iter().map(|mutation| (*mutation, 0.05)).collect();
    fleet
}

fn measure() -> Accuracy {
    let simulation = Simulation::new(fleet(), SEED);
    let parts: Vec<Vec<Made>> = (0..MACHINES).map(|index| simulation.machine(index)).collect();
    let mut accuracy = Accuracy::default();
    for made in parts.iter().flatten() {
        accuracy.add(made, &read(made));
    }
    accuracy
}

impl Accuracy {
    /// The document.
    fn page(&self) -> String {
        let machines = format!("{MACHINES} machines and the seed {SEED}");
        let mut page = format!(
            "# How often the answer is right\n\n\
             This page is written by a test (`cargo nextest run -p ingest -E 'test(accuracy)'`, blessed with `WEAVEWATCH_BLESS=1`).\n\
             It reads the built-in fleet of `weavewatch simulate` with {machines}, one log in four of which is damaged, and holds\n\
             every verdict and finding against the truth that the simulator wrote beside it. The truth comes from the description\n\
             of the fleet; the code under test has no part in it.\n\n\
             ## Verdicts\n\n\
             A verdict is *exact* when all its fields are: split, crossing, interop, reasons, killed, retired, basis, both adapters\n\
             and the line. Of a damaged log the truth is what happened, whether or not the damage left it legible; *only the split*\n\
             is right where a reason, an adapter or the line was lost with it. Wrong are two kinds of damaged logs, both by the\n\
             contract: of two sessions the last one lost its line, so the one before answers; and a re-routed D3D12 session lost\n\
             the reason `unknown`, beside which alone its other records count for more than the line.\n\n\
             | damage | logs | exact | only the split | says that it does not know | wrong |\n|---|---|---|---|---|---|\n"
        );
        let percent = |part: u64, all: u64| {
            if all == 0 { "–".to_owned() } else { format!("{:.2} %", 100.0 * part as f64 / all as f64) }
        };
        for (damage, row) in &self.verdicts {
            let Verdicts { logs, exact, same_split, unknown, wrong } = row;
            writeln!(
                page,
                "| {damage} | {logs} | {exact} ({}) | {same_split} | {unknown} | {wrong} |",
                percent(*exact, *logs)
            )
            .expect("a string takes everything");
        }
        for (damaged, title) in [(false, "Findings in logs as they were written"), (true, "Findings in damaged logs")] {
            write!(
                page,
                "\n## {title}\n\nA finding is right when its code and its line are.\n\n\
                 | finding | due | found | right | precision | recall |\n|---|---|---|---|---|---|\n"
            )
            .expect("a string takes everything");
            for ((_, code), row) in self.findings.iter().filter(|((own, _), _)| *own == damaged) {
                let Findings { due, found, right } = row;
                let (precision, recall) = (percent(*right, *found), percent(*right, *due));
                writeln!(page, "| `{code}` | {due} | {found} | {right} | {precision} | {recall} |")
                    .expect("a string takes everything");
            }
        }
        page
    }
}

#[test]
fn verdicts_are_exact_and_the_figures_stand_in_the_document() {
    let accuracy = measure();
    let shown = accuracy.faults.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(accuracy.faults.is_empty(), "{} differences\n{shown}", accuracy.faults.len());
    let undamaged = &accuracy.verdicts["none"];
    assert_eq!((undamaged.exact, undamaged.wrong), (undamaged.logs, 0));

    // Every finding of the contract is due somewhere. What is left out of an answer is left out for size, and no log here is
    // that large.
    let found = |code: &str| accuracy.findings.iter().any(|((_, own), row)| own == code && row.right > 0);
    let all = resolver::Code::ALL.iter().map(|code| code.as_str()).filter(|code| *code != "evidence_omitted");
    assert_eq!(all.filter(|code| !found(code)).collect::<Vec<_>>(), Vec::<&str>::new());

    let (page, file) = (accuracy.page(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/accuracy.md"));
    println!("{page}");
    if std::env::var_os("WEAVEWATCH_BLESS").is_some() {
        std::fs::write(&file, &page).expect("a writable repository");
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(page == written, "docs/accuracy.md says something else; WEAVEWATCH_BLESS=1 writes it anew");
}

/// What happens once in ten thousand logs of the built-in fleet happens here as well.
#[test]
fn verdicts_are_exact_where_faults_meet() {
    let mut fleet = Fleet::example().expect("the built-in fleet is sound");
    fleet.machines = 250;
    fleet.kinds.iter_mut().for_each(|kind| kind.share = 1.0);
    fleet.apps.iter_mut().for_each(|app| app.share = 1.0);
    fleet.faults.values_mut().for_each(|rate| *rate = (*rate * 10.0).min(0.2));
    fleet.quirks.values_mut().for_each(|rate| *rate = (*rate * 5.0).min(0.3));
    fleet.settings.iter_mut().for_each(|setting| setting.share = 0.2);
    let simulation = Simulation::new(fleet, SEED);
    let mut accuracy = Accuracy::default();
    for made in (0..250).flat_map(|index| simulation.machine(index)) {
        accuracy.add(&made, &read(&made));
    }
    let shown = accuracy.faults.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(accuracy.faults.is_empty(), "{} differences\n{shown}", accuracy.faults.len());
}

#[test]
fn a_reader_that_is_wrong_is_seen() {
    let simulation = Simulation::new(fleet(), SEED);
    let made = (0..MACHINES)
        .flat_map(|index| simulation.machine(index))
        .find(|made| made.truth.mutation.is_none() && made.truth.verdict.split == Split::Engaged)
        .expect("some session splits");
    let mut report = read(&made);
    report.verdict.split = Split::Off;
    report.findings.push(report.findings.first().cloned().unwrap_or(wire::Finding {
        code: "killed".to_owned(),
        severity: wire::Severity::Warning,
        line: Some(1),
        message: String::new(),
    }));
    let mut accuracy = Accuracy::default();
    accuracy.add(&made, &report);
    assert_eq!((accuracy.verdicts["none"].exact, accuracy.verdicts["none"].wrong), (0, 1));
    assert!(accuracy.faults.len() >= 2, "{:?}", accuracy.faults);
}
