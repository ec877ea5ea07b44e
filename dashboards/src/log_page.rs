//! The page at `/logs/{id}`: one log like a lab report. The verdict first, expected beside observed, then the evidence, what to
//! ask and to try, and at the foot where every line and byte went.

use askama::Template;
use wire::{Clock, Comparison, Replay, ScanReport};

use crate::costs::Costs;
use crate::frame::Frame;
use crate::pieces::Known;
use crate::sentence::{self, Part};
use crate::share::{counted, thousands};
use crate::topology::Topology;
use crate::{LogRow, Outcome, Query, table};

/// One log.
#[derive(Clone, PartialEq, Debug, Template)]
#[template(path = "log.html")]
pub struct LogPage {
    /// What stands around it.
    pub frame: Frame,
    /// The log with its newest report. Its evidence is not read: [`Told::timeline`] has it.
    pub log: LogRow,
    /// When its first piece arrived, RFC 3339.
    pub received: String,
    /// What its times mean.
    pub clock: Option<Clock>,
    /// What `weavewatch explain` says; `None` when the records are not kept any more.
    pub told: Option<Told>,
    /// Where its bytes went.
    pub ledger: Ledger,
    /// The number of the rules that made the verdict; 0 for those before numbers.
    pub rules: i64,
    /// What it was by other rules, the newest first.
    pub former: Vec<Former>,
    /// Some other logs of the machine, newest start first.
    pub others: Vec<LogRow>,
    /// The page of what changed since the machine's last good log, when there is one.
    pub since_href: Option<String>,
}

/// Everything that is to be said of a log, in words.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    /// The verdict, then what stands beside it.
    pub sentences: Vec<String>,
    /// What to ask next, the most useful first.
    pub questions: Vec<String>,
    /// What would make it better, smallest first.
    pub advice: Vec<String>,
    /// What a reader must keep in mind.
    pub caveats: Vec<String>,
    /// What crossing costs.
    pub costs: Costs,
    /// Settings that are told: name, value, whose.
    pub settings: Vec<[String; 3]>,
    /// Display plug-in and display.
    pub display: String,
    /// What each finding of the report leaves to ask; empty for none.
    pub finding_questions: Vec<&'static str>,
    /// The evidence in file order.
    pub timeline: Vec<Moment>,
    /// Records that are not in it.
    pub timeline_left_out: u64,
    /// Under which rules it was compared, in words.
    pub policy: &'static str,
    /// What those rules expect.
    pub answer: Replay,
    /// The same in a sentence.
    pub expected: String,
    /// Expected against observed.
    pub comparison: Comparison,
    /// The same in a sentence.
    pub agreement: String,
    /// What stands in place of questions where there are none.
    pub nothing: String,
    /// What the runtime printed, where it can be made again.
    pub observed_line: Option<String>,
    /// The PC behind the log.
    pub topology: Topology,
    /// What can be found in these texts.
    pub known: Known,
    /// All of it as Markdown for an issue.
    pub markdown: String,
}

/// One entry of the evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// 1-based line of the record.
    pub line: u64,
    /// Local time as the log printed it.
    pub time: Option<String>,
    /// In plain words.
    pub meaning: String,
    /// The record itself, where it is kept.
    pub text: Option<String>,
    /// How many records it stands for, and the line of the last.
    pub times: (u64, u64),
}

/// Where the bytes of a log went.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    /// Bytes that have not arrived although later ones have.
    pub missing_bytes: u64,
    /// The last line was never completed.
    pub unfinished: bool,
    /// What is in no record, by reason.
    pub skipped: Vec<(&'static str, u64)>,
    /// What will never arrive: reason, bytes, events.
    pub losses: Vec<(String, u64, u64)>,
    /// Reasons that are not among them.
    pub losses_left_out: u64,
}

/// A verdict by other rules.
#[derive(Clone, PartialEq, Debug)]
pub struct Former {
    /// Their number.
    pub rules: i64,
    /// When it was replaced, RFC 3339.
    pub replaced: String,
    /// The report of then.
    pub report: ScanReport,
}

/// A line of the ledger.
#[derive(Default)]
pub(crate) struct LedgerRow {
    pub(crate) name: &'static str,
    /// From an agent; may be empty.
    pub(crate) reason: String,
    pub(crate) meaning: &'static str,
    pub(crate) number: String,
    /// Something is missing that should be there.
    pub(crate) amiss: bool,
}

impl LogPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        format!("{}: {}", self.log.outcome().label(), self.log.program())
    }

    /// How the log's times are meant, for hovering and for the facts.
    fn zone(&self) -> String {
        match &self.clock {
            None => "local time of the PC; its zone was not told".to_owned(),
            Some(clock) => {
                let (sign, minutes) = (if clock.offset_s < 0 { '−' } else { '+' }, clock.offset_s.unsigned_abs() / 60);
                let zone = clock.zone.as_deref().map(|zone| format!("{zone}, ")).unwrap_or_default();
                let repeated = if clock.repeated { "; in the hour that a clock change repeats" } else { "" };
                format!("{zone}UTC{sign}{:02}:{:02}{repeated}", minutes / 60, minutes % 60)
            }
        }
    }

    fn machine_href(&self) -> String {
        format!("/machines/{}", self.log.machine)
    }

    fn machine_logs_href(&self) -> String {
        table::behind(&Query::default().with("machine", &self.log.machine))
    }

    /// Each number of the ledger with its word.
    fn ledger_rows(&self) -> Vec<LedgerRow> {
        let counts = &self.log.report.counts;
        let row =
            |name, number: u64, meaning| LedgerRow { name, meaning, number: thousands(number), ..LedgerRow::default() };
        let mut rows = vec![
            row("Lines", counts.lines, ""),
            row("Records", counts.records, "lines with a prefix of the runtime"),
            row("Understood", counts.events, "records that Weavewatch reads"),
            row("Ignored", counts.ignored, "records that say nothing of the weave"),
            row("Unrecognised", counts.unrecognised, "records of ours in unknown words"),
            row("Continuations", counts.continuations, "lines that belong to the record before them"),
            row("Cut", counts.truncated, "records that end too early"),
            row("Spliced", counts.spliced, "records with another one inside"),
            row("Without text", counts.empty_bodies, "records of which only the prefix is left"),
            row("Bytes", counts.bytes, ""),
        ];
        let skipped = self.ledger.skipped.iter();
        rows.extend(skipped.map(|(reason, bytes)| LedgerRow {
            reason: (*reason).to_owned(),
            ..row("Bytes of", *bytes, "in no record")
        }));
        let missing = self.ledger.missing_bytes;
        rows.push(LedgerRow {
            amiss: missing > 0,
            ..row("Missing bytes", missing, "later ones have arrived; the verdict may change when they do")
        });
        if self.ledger.losses.is_empty() {
            rows.push(row("Lost", 0, "will never arrive"));
        }
        rows.extend(self.ledger.losses.iter().map(|(reason, bytes, events)| LedgerRow {
            name: "Lost:",
            reason: reason.clone(),
            meaning: "will never arrive",
            number: format!("{}, {}", counted(*bytes, "byte"), counted(*events, "event")),
            amiss: true,
        }));
        rows
    }

    fn more_losses(&self) -> String {
        counted(self.ledger.losses_left_out, "further reason")
    }

    /// Whether the line has a place on the page.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn is_shown(&self, line: &u64) -> bool {
        self.told.as_ref().is_some_and(|told| told.is_shown(*line))
    }

    fn findings(&self) -> Vec<(&wire::Finding, &'static str)> {
        asked(&self.log.report, self.told.as_ref())
    }
}

/// The findings of a log, the gravest first, each with what it leaves to ask.
pub(crate) fn asked<'p>(report: &'p ScanReport, told: Option<&Told>) -> Vec<(&'p wire::Finding, &'static str)> {
    let questions = told.into_iter().flat_map(|told| told.finding_questions.iter().copied());
    let mut found: Vec<_> = report.findings.iter().zip(questions.chain(std::iter::repeat(""))).collect();
    found.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.severity));
    found
}

impl Former {
    fn outcome(&self) -> Outcome {
        Outcome::of(&self.report.verdict)
    }

    fn sentence(&self) -> Vec<Part> {
        sentence::verdict(&self.report.verdict, self.report.path)
    }
}
