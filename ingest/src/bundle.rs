//! `weavewatch bundle`: a support bundle of redacted logs, of what `displayxr-cli` says of the machine, and of what `scan`
//! says of both, with a manifest.
//!
//! A log goes through once: its lines are redacted (`redacting`), and what comes out is packed, hashed (`pack`) and
//! examined in the same pass, in constant memory. So the report is about the bytes of the bundle, and scanning the bundle
//! gives the same report again.

mod find;
pub mod manifest;
mod names;
mod pack;
mod packer;
mod redacting;
mod since;
mod summary;
mod tool;
mod utf16;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use follow::{Folder, RealEnv, System, default_folders};
use jiff::ZonedDateTime;
use redact::{Policy, Redactor};

use self::find::{Found, FoundLog};
use self::pack::Pack;
use self::packer::Packer;
use crate::agent::config::Config;
use crate::agent::machine;
use crate::cli::BundleArgs;
use crate::exit::Exit;
use crate::problems::{self, Problems};
use crate::scan::progress::Progress;
use crate::{show, source};

pub use since::Since;

/// The header of a log, which names its file and its process, is shorter.
const HEAD_BYTES: usize = 16 * 1024;

/// Runs the command.
pub fn run(args: &BundleArgs) -> Exit {
    let config = match Config::of_state(&args.state) {
        Ok(config) => config,
        Err(error) => return usage(format_args!("{error:#}")),
    };
    let machine = match machine::known(config.home.path()) {
        Ok(machine) => machine,
        Err(error) => return usage(format_args!("{error:#}")),
    };
    let out = args.out.clone().unwrap_or_else(default_name);
    let pack = match Pack::create(&out, args.force) {
        Ok(pack) => pack,
        Err(error) => return usage(format_args!("{}: {error:#}", out.display())),
    };
    let folders = folders(&args.dirs, &config);
    let progress = Progress::default();
    let problems = Problems::new(progress.bar());
    if folders.iter().all(|folder| !folder.required && !folder.path.is_dir()) {
        problems.unreadable("log folder", "the runtime has no log folder here; name the folders with --dir");
    }
    let found = Found::in_folders(&folders, args.since);
    let redactor = Redactor::new(policy(config.redact, &folders, &found.logs));
    progress.start(found.logs.iter().map(|log| log.size_bytes).sum(), found.logs.len());
    let mut packer = Packer::new(pack, redactor, &problems, &progress);
    let limit = Duration::from_secs(args.tool_timeout);
    let filled = packer.take(&found).and_then(|()| packer.ask_tool(limit)).and_then(|()| packer.report());
    let finished = filled.and_then(|()| packer.finish(args.since, machine, &found));
    progress.finish();
    match finished {
        Ok((manifest, size_bytes)) => {
            let text = summary::text(&out, size_bytes, &manifest);
            problems.exit().max(show::done(show::text(&text)))
        }
        Err(error) => {
            problems.unreadable(&out.to_string_lossy(), format_args!("{error:#}"));
            problems.exit()
        }
    }
}

fn usage(why: std::fmt::Arguments<'_>) -> Exit {
    problems::say(why);
    Exit::Usage
}

fn default_name() -> PathBuf {
    PathBuf::from(ZonedDateTime::now().strftime("weavewatch-bundle-%Y-%m-%d_%H-%M-%S.zip").to_string())
}

/// Those of the command line, else those of the configuration, else the runtime's own.
fn folders(dirs: &[PathBuf], config: &Config) -> Vec<Folder> {
    let named = if dirs.is_empty() { &config.dirs } else { dirs };
    if named.is_empty() { default_folders(System::here(), &RealEnv) } else { named.iter().map(Folder::named).collect() }
}

/// The configured policy, with the names of this machine and of the people in the paths of folders and logs. Names are
/// collected before the first log is packed, so that each is taken out of all of them.
fn policy(configured: Policy, folders: &[Folder], logs: &[FoundLog]) -> Policy {
    let mut policy = names::add(configured);
    let paths = folders.iter().map(|folder| folder.path.as_path()).chain(logs.iter().map(|log| log.path.as_path()));
    for path in paths {
        names::learn(&mut policy, redact::user_names(path.to_string_lossy().as_bytes()));
    }
    for log in logs {
        names::learn(&mut policy, redact::user_names(&head(&log.path)));
    }
    policy
}

/// The first bytes of a log as text; none when it cannot be read, which is said when it is packed.
fn head(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    if let Ok((head, _)) = source::open(path).and_then(|file| triage::reading::peek(file, HEAD_BYTES)) {
        // What is in memory does not fail.
        let _ = utf16::decoded(&head, Box::new(head.as_slice())).read_to_end(&mut text);
    }
    text
}
