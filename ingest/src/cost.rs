//! `weavewatch cost`: what crossing costs in a log or on a machine, and which way to use the GPUs is the cheapest.

use std::io;
use std::path::Path;

use indicatif::ProgressBar;
use triage::cost::{Asked, LogCost, of_log, of_machine, page};
use triage::replay::source::Source;
use wire::CostReport;

use crate::cli::{CostArgs, PageFormat};
use crate::exit::Exit;
use crate::problems::{self, Problems};
use crate::{one, replay, show};

/// Runs the command.
pub fn run(args: &CostArgs) -> Exit {
    let asked = match args.asked() {
        Ok(asked) => asked,
        Err(error) => {
            problems::say(format_args!("{error}"));
            return Exit::Usage;
        }
    };
    let problems = Problems::new(ProgressBar::hidden());
    let printed = match (&args.log, &args.machine) {
        (Some(log), _) => of(args, log, &problems, || read_log(&asked, log, &problems)),
        (None, Some(machine)) => of(args, machine, &problems, || read_machine(args, &asked, machine)),
        // The command line asks for one of them.
        (None, None) => return Exit::Usage,
    };
    if let Err(error) = printed {
        problems.unreadable("output", format_args!("failed to print the answer: {error}"));
    }
    problems.exit()
}

/// Reads with `read` and prints; what cannot be read is said.
fn of(
    args: &CostArgs,
    path: &Path,
    problems: &Problems,
    read: impl FnOnce() -> anyhow::Result<(CostReport, Vec<String>)>,
) -> io::Result<()> {
    match read() {
        Ok((report, notes)) => match args.format() {
            PageFormat::Json => show::json(&report),
            format => show::document(&page(&report, &notes), format == PageFormat::Markdown),
        },
        Err(error) => {
            problems.unreadable(&path.to_string_lossy(), format_args!("{error:#}"));
            Ok(())
        }
    }
}

fn read_log(asked: &Asked, log: &Path, problems: &Problems) -> anyhow::Result<(CostReport, Vec<String>)> {
    let LogCost { report, notes, error } = of_log(asked, |sink| one::read(log, sink))?;
    if let Some(error) = error {
        problems.unreadable(&report.source, format_args!("failed to read on: {error}"));
    }
    Ok((report, notes))
}

fn read_machine(args: &CostArgs, asked: &Asked, machine: &Path) -> anyhow::Result<(CostReport, Vec<String>)> {
    let source = replay::load(machine).and_then(Source::with_topology)?;
    let name = format!("{}, {}", machine.to_string_lossy(), source.kind.as_str());
    Ok((of_machine(asked, &source.told, name, args.path, args.policy), source.notes))
}
