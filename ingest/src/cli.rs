//! What can be typed: the commands, their options and their help.

mod offline;
mod service;

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use reqwest::Url;
use resolver::Code;

pub use offline::{AnswerFormat, DiffArgs, ExplainArgs, PageFormat, ReplayArgs};
pub use service::{InstallArgs, RunArgs, ScopeArgs, ServiceAction, ServiceArgs};

/// Tells what DisplayXR logs say about where the weave ran, and why.
#[derive(Parser, Debug)]
#[command(
    name = "weavewatch",
    version,
    after_help = "Exit codes: 0 done, 1 --fail-on matched, 2 wrong usage, 3 some input could not be read, \
                  4 the server could not be reached or refused."
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
    /// Send what the logs of this machine say to a server.
    Watch(WatchArgs),
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

/// `weavewatch watch`.
#[derive(Args, Debug)]
pub struct WatchArgs {
    /// A folder with logs, with everything below; may repeat. Default: the runtime's own log folder.
    #[arg(long = "dir", value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// Where weavewatch-server listens, such as `https://weave.example.org`.
    #[arg(long, value_name = "URL", value_parser = server_url)]
    pub server: Url,
    /// A token of scope `agent`; better given in the environment, where other users do not see it.
    #[arg(long, env = "WEAVEWATCH_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Token,
    /// The folder that remembers what the server has acknowledged, and this machine's id.
    #[arg(long, value_name = "DIR")]
    pub state: PathBuf,
    /// Send everything that is there, wait for the acknowledgement and end. Required, because this version cannot stay and
    /// follow the folders.
    #[arg(long, required = true)]
    pub once: bool,
}

/// A secret that does not print itself.
#[derive(Clone)]
pub struct Token(pub String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

fn finding_code(word: &str) -> Result<Code, String> {
    Code::ALL.into_iter().find(|code| code.as_str() == word).ok_or_else(|| {
        let known: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        format!("no finding has this code; the codes are {}", known.join(", "))
    })
}

fn server_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{error}; give it as https://HOST"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err("expected http:// or https://".to_owned()),
    }
}

fn token(text: &str) -> Result<Token, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("expected the token as `weavewatch-server token create` printed it".to_owned());
    }
    Ok(Token(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_token_does_not_print_itself() {
        let token = token("secret").expect("it is printable");
        assert!(!format!("{token:?}").contains("secret"));
    }
}
