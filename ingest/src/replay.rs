//! `weavewatch replay`: from a machine, a path and settings to what the runtime should do there, rule by rule.

mod cli_output;
mod machine_file;
mod page;
pub mod picture;
pub mod words;

use std::io::{self, Read};
use std::path::Path as FilePath;

use anyhow::{Context as _, Result, bail};
use indicatif::ProgressBar;
use resolver::Examiner;
use resolver::replay::replay;
use wire::Machine;

use crate::cli::{AnswerFormat, ReplayArgs};
use crate::exit::Exit;
use crate::problems::Problems;
use crate::source::named::{self, Contents};
use crate::{one, show, source};

/// A machine file is a few kilobytes; a log that starts with a brace is not read whole.
const MACHINE_FILE_BYTES: u64 = 16 << 20;
/// A brace that opens a machine file stands within these.
const HEAD_BYTES: usize = 1024;

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Exit {
    let problems = Problems::new(ProgressBar::hidden());
    let name = args.machine.to_string_lossy();
    let Source { mut machine, kind, open } = match load(&args.machine) {
        Ok(source) => source,
        Err(error) => {
            problems.unreadable(&name, format_args!("{error:#}"));
            return problems.exit();
        }
    };
    for (name, value) in &args.set {
        machine.settings.env.insert(name.clone(), value.clone());
    }
    let answer = replay(&machine, args.path, args.policy);
    let printed = match args.format {
        AnswerFormat::Json => show::json(&answer),
        AnswerFormat::Text => {
            let origin = format!("{name}, {kind}");
            show::document(&page::page(&machine, &answer, &origin, &open, &args.set), false)
        }
    };
    if let Err(error) = printed {
        problems.unreadable("output", format_args!("failed to print the answer: {error}"));
    }
    problems.exit()
}

/// A machine with the kind of file that told it, in words, and the facts which that kind left open.
struct Source {
    machine: Machine,
    kind: &'static str,
    open: Vec<String>,
}

fn load(path: &FilePath) -> Result<Source> {
    let mut examiner = Examiner::new();
    let mut sink = |observation| examiner.push(&observation);
    let found = if named::member(path).is_some() {
        one::read(path, &mut sink)?
    } else {
        let contents = match named::open(path)? {
            Contents::Log(contents) => match machine_text(contents).context("failed to read it")? {
                Ok(text) => {
                    return Ok(Source {
                        machine: machine_file::read(&text)?,
                        kind: "a machine file",
                        open: Vec::new(),
                    });
                }
                Err(contents) => Contents::Log(contents),
            },
            bundle @ Contents::Bundle(_) => bundle,
        };
        one::read_opened(contents, &path.to_string_lossy(), &mut sink)?
    };
    if let Some(error) = found.error {
        bail!("failed to read on after {} bytes: {error}", found.facts.counts.bytes);
    }
    if let Some(output) = &found.facts.cli {
        let machine = cli_output::machine(output).context(
            "it is displayxr-cli output that tells no GPU topology; save `displayxr-cli info` on the PC with the panel",
        )?;
        return Ok(Source { machine, kind: "saved displayxr-cli output", open: Vec::new() });
    }
    if found.facts.counts.records == 0 {
        bail!("it is no machine file, no log and no displayxr-cli output; expected one of these");
    }
    let told = examiner.finish(&found.facts).told;
    let open = told.missing.iter().map(ToString::to_string).collect();
    Ok(Source { machine: told.machine, kind: "a log", open })
}

/// The whole text when it is, or wants to be, a machine file; else the contents as they were.
fn machine_text(contents: Box<dyn Read>) -> io::Result<Result<String, Box<dyn Read>>> {
    let (head, mut contents) = source::peek(contents, HEAD_BYTES)?;
    let head = String::from_utf8_lossy(&head);
    if !head.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return Ok(Err(Box::new(contents)));
    }
    let mut bytes = Vec::new();
    (&mut contents).take(MACHINE_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= MACHINE_FILE_BYTES;
    match String::from_utf8(bytes) {
        Ok(text) if whole && machine_file::looks_like(&text) => Ok(Ok(text)),
        Ok(text) => Ok(Err(Box::new(io::Cursor::new(text).chain(contents)))),
        Err(error) => Ok(Err(Box::new(io::Cursor::new(error.into_bytes()).chain(contents)))),
    }
}
