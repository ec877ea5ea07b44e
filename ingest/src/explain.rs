//! `weavewatch explain`: one log, everything that is to be said about it.

use indicatif::ProgressBar;
use triage::explain::{Dossier, Explained, page};

use crate::cli::{ExplainArgs, PageFormat};
use crate::exit::Exit;
use crate::problems::Problems;
use crate::{one, replay, show};

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Exit {
    let problems = Problems::new(ProgressBar::hidden());
    let name = args.log.to_string_lossy();
    let mut dossier = match Dossier::gather(|sink| one::read(&args.log, sink)) {
        Ok(dossier) => dossier,
        Err(error) => {
            problems.unreadable(&name, format_args!("{error:#}"));
            return problems.exit();
        }
    };
    if let Some(error) = &dossier.error {
        problems.unreadable(
            &dossier.report.file,
            format_args!("failed to read on after {} bytes: {error}", dossier.report.counts.bytes),
        );
    }
    for path in &args.machines {
        let name = path.to_string_lossy();
        // What the log says is worth its page also when the file beside it is not.
        match replay::load(path) {
            Ok(source) => dossier.add(&source, &name),
            Err(error) => problems.unreadable(&name, format_args!("{error:#}")),
        }
    }
    let printed = match args.format {
        PageFormat::Json => show::json(&Explained::from(&dossier)),
        format => show::document(&page(&dossier), format == PageFormat::Markdown),
    };
    if let Err(error) = printed {
        problems.unreadable("output", format_args!("failed to print the page: {error}"));
    }
    problems.exit()
}
