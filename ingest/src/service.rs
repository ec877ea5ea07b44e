//! `weavewatch service`: how the system starts the agent by itself, for the whole machine or for one user.
//!
//! Windows has a service manager and tasks at logon, Linux mostly systemd; what each of them is told stands in a file under
//! `packaging/`. Elsewhere every command refuses and says what to do instead.

#[cfg(not(any(windows, target_os = "linux")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod systemd;
#[cfg(any(windows, test))]
mod task;
#[cfg(any(target_os = "linux", test))]
mod unit;
#[cfg(windows)]
mod windows;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, anyhow};

use crate::cli::{InstallArgs, ServiceAction, ServiceArgs};
use crate::exit::Exit;
use crate::problems::Problems;
use triage::escape;

#[cfg(not(any(windows, target_os = "linux")))]
use elsewhere as platform;
#[cfg(target_os = "linux")]
use systemd as platform;
#[cfg(windows)]
use windows as platform;

/// Runs the command.
pub fn run(args: &ServiceArgs) -> Exit {
    let problems = Problems::new(indicatif::ProgressBar::hidden());
    let done = match &args.action {
        ServiceAction::Install(args) => install(args),
        ServiceAction::Uninstall(scope) => platform::uninstall(scope.user),
        ServiceAction::Start(scope) => platform::start(scope.user),
        ServiceAction::Stop(scope) => platform::stop(scope.user),
        ServiceAction::Status(scope) => platform::status(scope.user),
        ServiceAction::Run(args) => platform::run(args),
    };
    match done {
        Ok(Done { said, missing }) => {
            let mut stdout = io::stdout().lock();
            for line in said.lines() {
                // The words are for people; a closed standard output is not worth an error.
                let _ = writeln!(stdout, "{}", escape::terminal(line));
            }
            for missing in &missing {
                problems.unreadable("service", missing);
            }
            problems.exit()
        }
        Err(Trouble::Refused(why)) => {
            problems.note(why);
            Exit::Usage
        }
        Err(Trouble::Failed(error)) => {
            problems.note(format_args!("{error:#}"));
            Exit::Unreadable
        }
    }
}

/// What a command has to say in the end.
struct Done {
    /// Whole lines for standard output.
    said: String,
    /// What could not be done, though the command as a whole was; each ends the program with code 3.
    missing: Vec<String>,
}

impl Done {
    fn saying(said: impl Into<String>) -> Self {
        Self { said: said.into(), missing: Vec::new() }
    }
}

type Outcome = Result<Done, Trouble>;

/// Why a command did nothing.
#[derive(thiserror::Error, Debug)]
enum Trouble {
    /// It cannot be done here, or not in this way; the message says how else. Code 2.
    #[error("{0}")]
    Refused(String),
    /// It should have worked. Code 3.
    #[error(transparent)]
    Failed(#[from] anyhow::Error),
}

/// What is installed.
#[derive(Debug)]
struct Plan {
    /// This very program.
    program: PathBuf,
    /// Without one the agent goes by what `enroll` left and by its defaults.
    config: Option<PathBuf>,
    user: bool,
}

fn install(args: &InstallArgs) -> Outcome {
    let user = args.scope.user;
    let config = match &args.config {
        Some(path) => {
            let path = std::path::absolute(path).map_err(anyhow::Error::from)?;
            // Said now, to the person who can mend it, rather than by a service that does not start.
            std::fs::metadata(&path)
                .with_context(|| format!("failed to find {}; write it first, or leave --config out", path.display()))?;
            Some(path)
        }
        None => platform::default_config(user),
    };
    let program = std::env::current_exe().context("failed to find out where this program lies")?;
    let plan = Plan { program, config, user };
    if args.print { platform::text(&plan).map(Done::saying) } else { platform::install(&plan) }
}

impl Plan {
    /// The configuration as options of `watch`.
    fn options(&self) -> Vec<OsString> {
        self.config.iter().flat_map(|path| ["--config".into(), path.into()]).collect()
    }
}

/// A folder or file name as text, because what the system is told is text.
fn text_of(path: &Path) -> anyhow::Result<&str> {
    path.to_str()
        .filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| anyhow!("{}: a name that is not plain text cannot be installed; rename it", path.display()))
}

/// Runs a tool of the system and returns what it printed; an error holds what it complained about.
fn tool(program: impl AsRef<OsStr>, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> anyhow::Result<String> {
    let program = program.as_ref();
    let name = Path::new(program).display();
    let output = Command::new(program).args(args).output().with_context(|| format!("failed to start {name}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(said(&output.stdout));
    }
    let complaint = [said(&output.stderr), said(&output.stdout)].into_iter().find(|text| !text.is_empty());
    Err(anyhow!("{name} ended with {}: {}", output.status, complaint.as_deref().unwrap_or("it does not say why")))
}
