//! `weavewatch diff`: two logs side by side, aligned by role and adapter name, and what differs first.

mod page;
mod rows;

use indicatif::ProgressBar;
use serde::Serialize;
use wire::ScanReport;

use crate::cli::{DiffArgs, PageFormat};
use crate::exit::Exit;
use crate::explain::dossier::{self, Dossier};
use crate::problems::Problems;
use crate::show;

/// Name and version of the object.
pub const DIFF_SCHEMA: &str = "weavewatch.diff/1";

/// Two logs and what is between them.
#[derive(Serialize)]
struct Difference<'a> {
    schema: &'static str,
    a: &'a ScanReport,
    b: &'a ScanReport,
    /// Causes before consequences, so the first one is what differs first.
    differences: Vec<&'a rows::Row>,
    same: Vec<&'a rows::Row>,
    first_record: Option<&'a rows::Parting>,
    only: &'a rows::Alone,
}

/// Runs the command.
pub fn run(args: &DiffArgs) -> Exit {
    let problems = Problems::new(ProgressBar::hidden());
    let read = |path: &std::path::Path| -> Option<Dossier> {
        let name = path.to_string_lossy();
        match dossier::read(path) {
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
    let rows = rows::rows(&a, &b);
    let (parting, alone) = (rows::parting(&a, &b), rows::alone(&a, &b));
    let printed = match args.format {
        PageFormat::Json => {
            let (same, differences) = rows.iter().partition(|row| row.is_same());
            let schema = DIFF_SCHEMA;
            show::json(&Difference {
                schema,
                a: &a.report,
                b: &b.report,
                differences,
                same,
                first_record: parting.as_ref(),
                only: &alone,
            })
        }
        format => show::document(&page::page(&a, &b, &rows, &alone), format == PageFormat::Markdown),
    };
    if let Err(error) = printed {
        problems.unreadable("output", format_args!("failed to print the page: {error}"));
    }
    problems.exit()
}
