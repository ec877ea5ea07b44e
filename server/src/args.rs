//! The command line: what may be typed, and what the help says about it.

#![allow(rustdoc::bare_urls, reason = "these comments are help texts")]

mod database;
mod demo;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::app::DEFAULT_RESERVE_MIB;
use crate::auth::Scope;
use crate::store::DEFAULT_FRAME_MIB;
pub use database::Database;
pub use demo::DemoSettings;

const EXAMPLES: &str = "\
Examples:
  weavewatch-server demo                              look around in a simulated fleet; nothing is kept
  weavewatch-server serve                             start on http://127.0.0.1:8787 with a SQLite file
  weavewatch-server token create --scope enrolment    for `weavewatch enroll` on many PCs; it is shown once
  weavewatch-server token create --scope agent        a token that uploads for any PC, without enrolling
  weavewatch-server token create --scope reader --name dashboard
  weavewatch-server serve --listen 0.0.0.0:8787 --database-url postgres://user@host/weavewatch
  weavewatch-server export --table logs --format csv logs.csv
  weavewatch-server alerts check alerts.toml          what rules of alerts would say now; `serve --alerts` tells people
  weavewatch-server backup monday.backup              everything in one file; `restore` fills a new database from it

Exit codes: 0 done; 1 verify found a difference; 2 wrong usage; 3 a database, file or output cannot be used; 4 the server cannot listen (the port is
taken).";

/// Collects what Weavewatch agents read in DisplayXR logs, and answers how often the weave splits, and why not.
#[derive(Debug, Parser)]
#[command(name = "weavewatch-server", version, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Receive uploads and answer questions until stopped (ctrl-c or SIGTERM).
    ///
    /// The first line on stdout is `listening on http://ADDR:PORT`; it comes when the server can answer. While it listens on
    /// this machine only, its pages are open to browsers here; every other access wants a token, see `token create`. When it
    /// listens for other machines and nobody can manage it yet, the second line is `admin token: TOKEN`, once.
    Serve {
        /// How.
        #[command(flatten)]
        settings: ServeSettings,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Start on a throw-away database, print the URL, fill it with a simulated fleet, and stay until ctrl-c.
    ///
    /// The line on stdout is `Weavewatch demo: URL`; it comes with the first machines. Pages say how many are here until all
    /// are, which the last line on stdout tells too.
    Demo(DemoSettings),
    /// Bring the database schema up to date and end; `serve` does this by itself.
    Migrate {
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Make every verdict and every count anew and tell what differs: one line each on stdout. Uploads go on meanwhile.
    ///
    /// Exit code 1 when something differs, also when it was repaired.
    Verify {
        /// Put it right: verdicts from the logs' records, counts from the logs. Uploads wait while all is counted.
        #[arg(long)]
        repair: bool,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Judge the logs anew whose verdict older rules made; `serve` says at its start how many these are.
    ///
    /// It works in small steps beside a running server and may be stopped at any time. A verdict that changes is kept and
    /// shown by /api/v1/logs/{id} with the number of its rules.
    Rejudge {
        /// Also those that today's rules have judged.
        #[arg(long)]
        all: bool,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Create, list and revoke the tokens that agents and readers present.
    ///
    /// A PC that enrols gets a token of scope agent that is good for itself only; `list` shows them too, and `revoke` shuts
    /// the PC out until it enrols again.
    ///
    /// `create` may be the first thing that is done, so it makes a database that is missing; the others do not.
    Token {
        /// What to do.
        #[command(subcommand)]
        action: TokenAction,
    },
    /// Show who did what: tokens made and revoked, machines enrolled and deleted, people signed in and out.
    Audit {
        /// The newest so many rows.
        #[arg(long, value_name = "ROWS", default_value_t = 100)]
        limit: u32,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Look at the rules of `serve --alerts`: what they would say now, and whether messages arrive.
    Alerts {
        /// What to do.
        #[command(subcommand)]
        action: AlertsAction,
    },
    /// Write the columnar copy (Parquet files by day) now, and then once an hour; `serve --columnar` does it by itself.
    ///
    /// docs/columnar.md describes the files.
    Columnar {
        /// Write what is due, and end.
        #[arg(long)]
        once: bool,
        /// Write nothing: read every file of the copy, compare it with the manifest, and print what the files count to.
        #[arg(long, conflicts_with = "once")]
        check: bool,
        /// The copy.
        #[command(flatten)]
        columnar: CopyPlace,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Remove what is old now; `serve` with the same rules does it once a day.
    ///
    /// A log is as old as its newest piece, by the server's clock. When its events go before it, its verdict stays; what is
    /// sent of it later is refused. Counts move with what goes.
    Prune {
        /// Only say what would go.
        #[arg(long)]
        dry_run: bool,
        /// Write a SQLite file anew afterwards, so that it gets small and can hand back room by itself from then on. It
        /// takes as much room again, and nothing else should use the file meanwhile.
        #[arg(long, conflicts_with = "dry_run")]
        rebuild: bool,
        /// The rules.
        #[command(flatten)]
        keep: Keep,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Write a table to a file for spreadsheets (CSV) or data tools (Parquet), or everything of one machine.
    Export {
        /// `logs`, `events`, `machines` and `losses` have one row per log, per record that an agent sent, per PC, and per
        /// kind of loss; the others are as they are stored.
        #[arg(long, value_parser = PossibleValuesParser::new(crate::export::names()), required_unless_present = "machine")]
        table: Option<String>,
        /// In CSV, control codes are spelled out, and cells that a spreadsheet would run as a formula get a leading
        /// apostrophe.
        #[arg(long, value_enum, required_unless_present = "machine")]
        format: Option<Format>,
        /// Instead of a table: everything that is held of one PC, as a `.zip` of JSON, for the person who asks for it.
        #[arg(long, value_name = "ID", conflicts_with_all = ["table", "format"])]
        machine: Option<String>,
        /// A table's file is replaced, when the new one is complete; the file of a machine must not exist.
        file: PathBuf,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Look whether a server would work and keep what it is given: database, disk, clock, tokens, columnar copy, address.
    ///
    /// Say what you say to `serve`. Each line tells what was found and what to do; exit code 3 when anything failed.
    Doctor {
        /// As for `serve`.
        #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8787")]
        listen: SocketAddr,
        /// As for `serve`.
        #[arg(long, value_name = "MIB", default_value_t = DEFAULT_RESERVE_MIB)]
        reserve_mib: u32,
        /// For people, or one JSON object (`weavewatch.doctor/1`).
        #[arg(long, value_enum, default_value = "text")]
        format: DoctorFormat,
        /// As for `serve`.
        #[command(flatten)]
        columnar: CopyPlace,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Write everything that the database holds to one file, as of this moment; servers go on meanwhile.
    ///
    /// The file fits SQLite and PostgreSQL alike, so `restore` also moves from one to the other. It holds the hashes of the
    /// tokens, so it is readable for its owner only. It does not hold the columnar copy, which can be made again.
    Backup {
        /// Takes its name when it is whole and on the disk.
        file: PathBuf,
        /// Replace a file that exists.
        #[arg(long)]
        force: bool,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Fill a new database from a backup of the same or an older version: all of it, or nothing.
    ///
    /// The file is first read to its end and checked. Tokens are valid as before.
    Restore {
        /// What `backup` wrote.
        file: PathBuf,
        /// Only check the file, and print what is in it; no database is needed.
        #[arg(long)]
        verify: bool,
        /// A SQLite file that does not exist, or an empty database of PostgreSQL.
        #[command(flatten)]
        database: Database,
    },
}

/// How `serve` works.
#[derive(Clone, Debug, Args)]
pub struct ServeSettings {
    /// Address and port; port 0 takes any free one. Only 127.0.0.1 can reach the default.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8787")]
    pub listen: SocketAddr,
    /// Refuse uploads, for the agents to keep, when the database's disk has less than this left. PostgreSQL looks
    /// after its own disk.
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_RESERVE_MIB)]
    pub reserve_mib: u32,
    /// Hold the logs in memory too, 64 bytes each, so that questions with several filters are answered at once; read from the
    /// database, which takes longer, when that is more than this. 0: never.
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_FRAME_MIB)]
    pub frame_mib: u32,
    /// Uploads a second of one PC, with 30 seconds' worth at once; 429 beyond. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub uploads_per_second: u32,
    /// Questions a second of one token, with 30 seconds' worth at once; 429 beyond. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub reads_per_second: u32,
    /// Wrong tokens a minute from one address, which then has to wait with tokens that are new here. 0: no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 120)]
    pub failures_per_minute: u32,
    /// For how long the audit log keeps a row.
    #[arg(long, value_name = "DAYS", default_value_t = 400)]
    pub audit_days: u32,
    /// The address of your issue tracker's form: the page of a report then links to it with its words filled in for {title} and
    /// {body}, such as https://github.com/OWNER/NAME/issues/new?title={title}&body={body}.
    #[arg(long, value_name = "URL", env = "WEAVEWATCH_ISSUE_TRACKER", value_parser = crate::reports::issue::template)]
    pub issue_tracker: Option<String>,
    /// A site that may show the pictures of /embed/NAME in a frame, such as https://wiki.example.com; repeatable.
    ///
    /// Browsers send no session into the frame of another site. So a picture shows there where reading needs none (a browser on this
    /// machine, while the server listens here only), or through a proxy that adds a token of scope reader.
    #[arg(long, value_name = "ORIGIN", value_parser = crate::pages::origin)]
    pub embed_from: Vec<String>,
    /// Rules, in TOML, for alerts by webhook and e-mail: docs/alerts.md describes them, `alerts check` tries them.
    #[arg(long, value_name = "FILE", env = "WEAVEWATCH_ALERTS")]
    pub alerts: Option<PathBuf>,
    /// How the log on stderr is written: one line a request, under an id that the caller gets too.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// The copy for other engines.
    #[command(flatten)]
    pub columnar: CopyPlace,
    /// What may stay.
    #[command(flatten)]
    pub keep: Keep,
}

/// How a log is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub enum TokenAction {
    /// Print a new token, once: only a hash of it is stored.
    Create {
        /// enrolment: may get a PC a token of its own, nothing else. agent: may upload for any PC, nothing else. reader:
        /// may read. triager: may read, and more in later versions. admin: may read, delete a PC with all its logs, and
        /// make and revoke tokens.
        #[arg(long, value_enum)]
        scope: Scope,
        /// Who will use it; shown by `token list`.
        #[arg(long, default_value = "", value_parser = token_name)]
        name: String,
        /// Refuse it after so many days.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::tokens::MOST_DAYS)))]
        expires_days: Option<u32>,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Show all tokens by id, without their secrets.
    List {
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Refuse a token from now on.
    Revoke {
        /// The id that `token list` shows.
        id: String,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
}

/// What to do with the rules of alerts.
#[derive(Debug, Subcommand)]
pub enum AlertsAction {
    /// Read the file, and say what each rule finds now. Nothing is sent.
    Check {
        /// The rules.
        file: PathBuf,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Send one trial message to every webhook and address that the rules name. Exit code 3 when one does not arrive.
    Test {
        /// The rules.
        file: PathBuf,
        /// Only to this webhook or address; repeatable.
        #[arg(long, value_name = "NAME")]
        to: Vec<String>,
    },
}

/// Where the columnar copy is, and what belongs into it.
#[derive(Clone, Debug, Args)]
pub struct CopyPlace {
    /// Keep a copy of logs and events as Parquet files by day: file:///folder or s3://bucket/prefix, with AWS_ACCESS_KEY_ID,
    /// AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL and AWS_ALLOW_HTTP from the environment.
    #[arg(long = "columnar", value_name = "URL", env = "WEAVEWATCH_COLUMNAR")]
    pub url: Option<String>,
    /// Days after which a day is written: until then its logs still come in. What comes later has it written again.
    #[arg(long, value_name = "DAYS", default_value_t = 2)]
    pub closed_after_days: u32,
}

/// What may stay in the database; everything, when nothing is said.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Keep {
    /// Remove what is older: events=90 takes the events of logs and leaves their verdicts, logs=730 takes whole logs.
    #[arg(long, value_name = "KIND=DAYS", value_delimiter = ',', value_parser = kept_days)]
    pub keep_days: Vec<(Kept, u32)>,
    /// Remove the oldest events when all of them take more than this in the database.
    #[arg(long, value_name = "GIB")]
    pub keep_gib: Option<u32>,
}

/// What retention knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Kept {
    /// What logs said, record by record.
    Events,
    /// Logs with their verdicts, and what was lost of them.
    Logs,
    /// What somebody brought to be looked at.
    Reports,
    /// Refused pieces of uploads.
    DeadLetters,
}

impl Kept {
    /// In the order in which they go.
    pub const ALL: [Self; 4] = [Self::Logs, Self::Events, Self::Reports, Self::DeadLetters];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Logs => "logs",
            Self::Reports => "reports",
            Self::DeadLetters => "dead-letters",
        }
    }
}

impl Keep {
    /// Whether there is any rule.
    pub const fn say_anything(&self) -> bool {
        !self.keep_days.is_empty() || self.keep_gib.is_some()
    }

    /// How long a kind may stay; what is said last counts.
    pub fn days(&self, kind: Kept) -> Option<u32> {
        self.keep_days.iter().rev().find(|(own, _)| *own == kind).map(|(_, days)| *days)
    }
}

/// How `doctor` answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DoctorFormat {
    /// A line a check.
    Text,
    /// For programs.
    Json,
}

/// File formats of `export`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// Text with a header line.
    Csv,
    /// Columnar, typed, compressed.
    Parquet,
}

/// `events=90`.
fn kept_days(text: &str) -> Result<(Kept, u32), String> {
    let (kind, days) = text.split_once('=').ok_or("expected a kind and days, such as events=90")?;
    let days = days.parse().ok().filter(|days| *days > 0).ok_or("expected a number of days, at least 1")?;
    Ok((Kept::from_str(kind, false)?, days))
}

/// Names are shown on terminals, so they hold nothing that a terminal would obey.
///
/// # Errors
/// With what a name is.
pub fn token_name(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) || text.chars().count() > 100 {
        return Err("expected at most 100 characters without control codes".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
