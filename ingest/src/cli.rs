//! What can be typed: the commands, their options and their help.

mod agent;
mod bundle;
mod cost;
mod offline;
mod service;
mod simulate;

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use resolver::Code;

pub use agent::{
    EnrollArgs, FlushArgs, PreviewArgs, PurgeArgs, ServerArgs, StateArgs, StatusArgs, StatusFormat, Token, WatchArgs,
};
pub(crate) use agent::{server_url, token};
pub use bundle::BundleArgs;
pub use cost::CostArgs;
pub use offline::{AnswerFormat, DiffArgs, ExplainArgs, PageFormat, ReplayArgs};
pub use service::{InstallArgs, RunArgs, ScopeArgs, ServiceAction, ServiceArgs};
pub use simulate::SimulateArgs;

/// Tells what DisplayXR logs say about where the weave ran, and why.
#[derive(Parser, Debug)]
#[command(
    name = "weavewatch",
    version,
    after_help = "Exit codes: 0 done, 1 --fail-on matched, 2 wrong usage, 3 some input could not be read, \
                  4 the server could not be reached or refused; what it did not take stays queued."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Read logs and say for each where the weave ran.
    Scan(ScanArgs),
    /// Say of one log what happened, why, and what to ask next.
    Explain(ExplainArgs),
    /// Put two logs side by side and say what differs first.
    Diff(DiffArgs),
    /// Say what should happen on a machine, by the runtime's documented rules.
    Replay(ReplayArgs),
    /// Say what crossing costs, and which way to use the GPUs is the cheapest.
    Cost(CostArgs),
    /// Pack a redacted support bundle: logs, topology, report, manifest.
    Bundle(BundleArgs),
    /// Make a fleet of realistic logs, with the truth about each: for demos, load and tests.
    Simulate(SimulateArgs),
    /// Agree to send what the logs of this machine say to a server.
    Enroll(EnrollArgs),
    /// Follow the logs of this machine and send what they say.
    Watch(WatchArgs),
    /// Say what waits, what was sent, what was lost, and what is wrong.
    Status(StatusArgs),
    /// Send everything now, and wait until it is acknowledged.
    Flush(FlushArgs),
    /// Print the next upload, byte for byte, and send nothing.
    Preview(PreviewArgs),
    /// Delete what waits here, and what the server holds of this machine.
    Purge(PurgeArgs),
    /// Let the system start the agent by itself.
    Service(ServiceArgs),
}

/// `weavewatch scan`.
#[derive(Args, Debug)]
pub struct ScanArgs {
    /// Files, folders (with everything below), .zip bundles and pipes of the shell; `-` is standard input. Default: the
    /// runtime's own log folder.
    pub paths: Vec<PathBuf>,
    /// How to print; `table` on a terminal and `ndjson` in a pipe unless told otherwise.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// End with code 1 when a log has one of these findings.
    #[arg(long, value_name = "CODE[,CODE]", value_delimiter = ',', value_parser = finding_code)]
    pub fail_on: Vec<Code>,
    /// Only count the records that start with a marker of ours, such as `weave placement:`.
    #[arg(long, conflicts_with = "fail_on")]
    pub count: bool,
}

impl ScanArgs {
    /// The format that was asked for, or the one that fits standard output.
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| if std::io::stdout().is_terminal() { Format::Table } else { Format::Ndjson })
    }
}

/// How to print reports.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One row a log, for people.
    Table,
    /// One array of scan objects.
    Json,
    /// One scan object a line.
    Ndjson,
    /// One row a log, for spreadsheets.
    Csv,
    /// A table to paste into an issue.
    Markdown,
}

fn finding_code(word: &str) -> Result<Code, String> {
    Code::ALL.into_iter().find(|code| code.as_str() == word).ok_or_else(|| {
        let known: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        format!("no finding has this code; the codes are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
