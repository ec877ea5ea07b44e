//! `weavewatch diff`: two logs side by side.

use indicatif::ProgressBar;
use triage::diff::Diff;
use triage::explain::Dossier;

use crate::cli::{DiffArgs, PageFormat};
use crate::exit::Exit;
use crate::problems::Problems;
use crate::{one, show};

/// Runs the command.
pub fn run(args: &DiffArgs) -> Exit {
    let problems = Problems::new(ProgressBar::hidden());
    let read = |path: &std::path::Path| -> Option<Dossier> {
        let name = path.to_string_lossy();
        match Dossier::gather(|sink| one::read(path, sink)) {
            Ok(dossier) => {
                if let Some(error) = &dossier.error {
                    problems.unreadable(&name, format_args!("failed to read on: {error}"));
                }
                Some(dossier)
            }
            Err(error) => {
                problems.unreadable(&name, format_args!("{error:#}"));
                None
            }
        }
    };
    if [&args.a, &args.b].iter().all(|path| path.as_os_str() == "-") {
        problems.unreadable("-", "standard input can be read only once; give one of the two logs as a file");
        return problems.exit();
    }
    // Both are tried, so that both problems are told.
    let (Some(a), Some(b)) = (read(&args.a), read(&args.b)) else { return problems.exit() };
    let diff = Diff::between(&a, &b);
    let printed = match args.format {
        PageFormat::Json => show::json(&diff.object()),
        format => show::document(&diff.page(), format == PageFormat::Markdown),
    };
    if let Err(error) = printed {
        problems.unreadable("output", format_args!("failed to print the page: {error}"));
    }
    problems.exit()
}
