//! Puts the parts of a bundle into the archive: logs, answers of `displayxr-cli`, reports, the manifest.

use std::io::{self, Read, Write};
use std::time::Duration;

use anyhow::Context as _;
use redact::{Counts, Redactor};
use triage::bundle::{BUNDLE_SCHEMA, REPORT_TITLE};
use triage::reading::{self, BUFFER_BYTES};
use triage::{escape, scan};
use wire::Process;

use super::find::{Found, FoundLog};
use super::manifest::{LeftOut, Manifest, MemberKind, ToolOutcome, ToolReport, ToolRun, Unreadable};
use super::pack::{Pack, Tee};
use super::redacting::Redacting;
use super::since::Since;
use super::{HEAD_BYTES, tool, utf16};
use crate::cli::Format;
use crate::problems::Problems;
use crate::scan::Sorted;
use crate::scan::progress::Progress;
use crate::{show, source};

const WRITE: &str = "failed to write the bundle; is the disk full?";

/// A bundle on its way.
pub struct Packer<'a> {
    pack: Pack,
    redactor: Redactor,
    problems: &'a Problems,
    progress: &'a Progress,
    reports: Sorted,
    unreadable: Vec<Unreadable>,
    topology: ToolReport,
    buffer: Vec<u8>,
}

/// Where a member comes from.
struct Origin<'s> {
    folder: &'s str,
    base_name: &'s str,
    kind: MemberKind,
    size_bytes: u64,
}

impl<'a> Packer<'a> {
    /// Starts with nothing.
    pub fn new(pack: Pack, redactor: Redactor, problems: &'a Problems, progress: &'a Progress) -> Self {
        let (reports, topology) = (Sorted::default(), ToolReport::default());
        Self {
            pack,
            redactor,
            problems,
            progress,
            reports,
            unreadable: Vec::new(),
            topology,
            buffer: vec![0; BUFFER_BYTES],
        }
    }

    /// Takes the logs, and says which files cannot be read.
    pub fn take(&mut self, found: &Found) -> anyhow::Result<()> {
        for (path, why) in &found.unreadable {
            self.cannot(&path.to_string_lossy(), why);
        }
        found.logs.iter().try_for_each(|log| {
            self.log(log)?;
            self.progress.done();
            Ok(())
        })
    }

    fn log(&mut self, log: &FoundLog) -> anyhow::Result<()> {
        let name = log.path.to_string_lossy();
        let opened = source::open(&log.path).and_then(|file| reading::peek(file, HEAD_BYTES));
        let (head, contents) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.cannot(&name, &format!("failed to open it: {error}"));
                return Ok(());
            }
        };
        let base_name = source::file_name(&log.path);
        let redactor = match process_of(&head, &base_name) {
            Some(process) => self.redactor.knowing(&process.exe),
            None => self.redactor.clone(),
        };
        let origin =
            Origin { folder: "logs", base_name: &base_name, kind: MemberKind::Log, size_bytes: log.size_bytes };
        let progress = self.progress;
        let broke_off = self.member(&origin, &head, progress.follow(contents), &redactor)?.1;
        if let Some(error) = broke_off {
            self.problems
                .unreadable(&name, format_args!("failed to read on: {error}; what stands before is in the bundle"));
        }
        Ok(())
    }

    /// Packs one input and keeps what `scan` says of it. Its name, and why it could not be read to its end.
    fn member(
        &mut self,
        origin: &Origin<'_>,
        head: &[u8],
        input: impl Read,
        redactor: &Redactor,
    ) -> anyhow::Result<(String, Option<io::Error>)> {
        let mut counts = Counts::default();
        let file = redactor.file_name(origin.base_name, &mut counts).into_owned();
        let name = self.pack.free_name(origin.folder, &safe(&file));
        let mut writing = self.pack.begin(&name, origin.kind, origin.size_bytes).context(WRITE)?;
        let mut redacting = Redacting::new(head, input, redactor);
        let mut tee = Tee { input: &mut redacting, out: &mut writing, failure: None };
        let (report, broke_off) = scan::report(&mut tee, name.clone(), &mut self.buffer);
        if let Some(failure) = tee.failure {
            return Err(failure).context(WRITE);
        }
        counts += redacting.counts;
        let member = &mut writing.member;
        member.file = (origin.kind == MemberKind::Log).then_some(file);
        member.cut_lines = redacting.cut_lines;
        member.broke_off = broke_off.as_ref().map(|error| redactor.text(&error.to_string(), &mut counts).into_owned());
        member.redacted = counts;
        writing.finish();
        let started = report.process.as_ref().and_then(|process| process.started.clone());
        self.reports.add(started, &report.file, &report).context("failed to keep the reports on disk")?;
        Ok((name, broke_off))
    }

    fn cannot(&mut self, name: &str, why: &str) {
        self.problems.unreadable(name, why);
        let mut counts = Counts::default();
        let file = self.redactor.file_name(reading::base_name(name), &mut counts).into_owned();
        let why = self.redactor.text(why, &mut counts).into_owned();
        self.unreadable.push(Unreadable { file, why });
    }

    /// Asks `displayxr-cli` about this machine, where there is one.
    pub fn ask_tool(&mut self, limit: Duration) -> anyhow::Result<()> {
        let Some(program) = tool::find() else {
            self.problems
                .note("displayxr-cli is neither in PATH nor beside the runtime, so the topology is not in the bundle");
            return Ok(());
        };
        let redactor = self.redactor.clone();
        self.topology.program = Some(redactor.text(&program.to_string_lossy(), &mut Counts::default()).into_owned());
        for (arguments, stem) in tool::QUESTIONS {
            let answer = tool::ask(&program, arguments, limit).context("failed to ask displayxr-cli")?;
            let arguments = arguments.join(" ");
            let why = match answer.outcome {
                ToolOutcome::Ended => None,
                ToolOutcome::TimedOut => Some(format!("it did not answer in {} s and was stopped", limit.as_secs())),
                ToolOutcome::TooMuch => Some("it printed more than 4 MiB and was stopped".to_owned()),
                ToolOutcome::NotStarted => Some("it could not be started".to_owned()),
            };
            if let Some(why) = why {
                self.problems.unreadable(&format!("displayxr-cli {arguments}"), why);
            }
            // An older tool does not know `--json`: what it then prints is no answer.
            let is_json = arguments.ends_with("--json");
            let answered =
                !is_json || answer.exit_code == Some(0) && answer.stdout.trim_ascii_start().starts_with(b"{");
            let outputs = [
                (if is_json { "json" } else { "txt" }, &answer.stdout, answered),
                ("messages.txt", &answer.stderr, true),
            ];
            let mut members = Vec::new();
            for (ending, bytes, wanted) in outputs {
                if wanted && !bytes.is_empty() {
                    let base_name = format!("{stem}.{ending}");
                    let (folder, kind) = ("topology", MemberKind::Topology);
                    let origin = Origin { folder, base_name: &base_name, kind, size_bytes: bytes.len() as u64 };
                    members.push(self.member(&origin, bytes, bytes.as_slice(), &redactor)?.0);
                }
            }
            let (outcome, exit_code) = (answer.outcome, answer.exit_code);
            self.topology.runs.push(ToolRun { arguments, outcome, exit_code, members });
        }
        Ok(())
    }

    /// Writes what `scan` says of the members so far.
    pub fn report(&mut self) -> anyhow::Result<()> {
        let unreadable = self.problems.count();
        let mut writing = self.pack.begin("report.ndjson", MemberKind::Report, 0).context(WRITE)?;
        show::write(Format::Ndjson, &mut self.reports, unreadable, &mut writing).context(WRITE)?;
        writing.finish();
        let mut writing = self.pack.begin("report.md", MemberKind::Report, 0).context(WRITE)?;
        writeln!(writing, "{REPORT_TITLE}").context(WRITE)?;
        show::write(Format::Markdown, &mut self.reports, unreadable, &mut writing).context(WRITE)?;
        writing.finish();
        Ok(())
    }

    /// Writes the manifest and gives the bundle its name. What the manifest says, and the size of the bundle in bytes.
    pub fn finish(
        mut self,
        since: Option<Since>,
        machine: Option<String>,
        found: &Found,
    ) -> anyhow::Result<(Manifest, u64)> {
        let mut redacted = Counts::default();
        for member in &self.pack.members {
            redacted += member.redacted;
        }
        let manifest = Manifest {
            schema: BUNDLE_SCHEMA.to_owned(),
            created: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            agent: env!("CARGO_PKG_VERSION").to_owned(),
            machine,
            since: since.map(|since| since.to_string()),
            members: self.pack.members.clone(),
            unreadable: std::mem::take(&mut self.unreadable),
            left_out: LeftOut { older: found.older, not_logs: found.not_logs },
            topology: std::mem::take(&mut self.topology),
            redacted,
        };
        let text = serde_json::to_string_pretty(&manifest).context("failed to write the manifest")?;
        let mut writing = self.pack.begin("manifest.json", MemberKind::Report, 0).context(WRITE)?;
        text.lines().try_for_each(|line| writeln!(writing, "{}", escape::json(line))).context(WRITE)?;
        writing.finish();
        Ok((manifest, self.pack.finish()?))
    }
}

/// The process that a log tells in its header or its name.
fn process_of(head: &[u8], base_name: &str) -> Option<Process> {
    let text = utf16::decoded(head, Box::new(head));
    reading::read(text, base_name, &mut vec![0; HEAD_BYTES], &mut |_| {}).facts.process
}

/// A name that every system can unpack.
fn safe(name: &str) -> String {
    let allowed = |letter: char| !letter.is_control() && !"\\/:*?\"<>|".contains(letter);
    let safe: String = name.chars().map(|letter| if allowed(letter) { letter } else { '_' }).collect();
    if safe.trim_matches(['.', ' ']).is_empty() { "log".to_owned() } else { safe }
}
