//! The command line: what may be typed, and what the help says about it.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::auth::Scope;
use crate::store::Place;

const EXAMPLES: &str = "\
Examples:
  weavewatch-server demo                              look around with example logs; nothing is kept
  weavewatch-server serve                             start on http://127.0.0.1:8787 with a SQLite file
  weavewatch-server token create --scope agent        a token for the agents; it is shown once
  weavewatch-server token create --scope reader --name dashboard
  weavewatch-server serve --listen 0.0.0.0:8787 --database-url postgres://user@host/weavewatch
  weavewatch-server export --table logs --format csv logs.csv

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 the server cannot listen (the port is taken).";

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
    /// The first line on stdout is `listening on http://ADDR:PORT`. Pages are open to browsers on this machine; every
    /// other access wants a token, see `token create`.
    Serve {
        /// Address and port; port 0 takes any free one. Only 127.0.0.1 can reach the default.
        #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8787")]
        listen: SocketAddr,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Start on a throw-away database with example logs, print the URL, and stay until ctrl-c.
    Demo {
        /// Where to start looking for a free port.
        #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8787")]
        listen: SocketAddr,
    },
    /// Bring the database schema up to date and end; `serve` does this by itself.
    Migrate {
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
    /// Create, list and revoke the tokens that agents and readers present.
    Token {
        /// What to do.
        #[command(subcommand)]
        action: TokenAction,
    },
    /// Write a table to a file for spreadsheets (CSV) or data tools (Parquet).
    Export {
        /// One row per log, or one row per record that an agent sent.
        #[arg(long, value_enum)]
        table: Table,
        /// In CSV, cells that a spreadsheet would run as a formula get a leading apostrophe.
        #[arg(long, value_enum)]
        format: Format,
        /// Replaced if it exists.
        file: PathBuf,
        /// Where the data is.
        #[command(flatten)]
        database: Database,
    },
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub enum TokenAction {
    /// Print a new token, once: only a hash of it is stored.
    Create {
        /// agent: may upload, nothing else. reader: may read. triager, admin: may read, and more in later versions.
        #[arg(long, value_enum)]
        scope: Scope,
        /// Who will use it; shown by `token list`.
        #[arg(long, default_value = "", value_parser = token_name)]
        name: String,
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

/// Which database.
#[derive(Debug, Args)]
pub struct Database {
    /// SQLite file, made when missing [default: weavewatch/server.sqlite in $XDG_DATA_HOME, else ~/.local/share;
    /// on Windows in %LOCALAPPDATA%].
    #[arg(long, value_name = "FILE", conflicts_with = "database_url")]
    pub data: Option<PathBuf>,
    /// PostgreSQL instead of a file, such as postgres://user@host/weavewatch.
    #[arg(long, value_name = "URL", env = "WEAVEWATCH_DATABASE_URL", hide_env_values = true, value_parser = postgres_url)]
    pub database_url: Option<String>,
}

/// What can be exported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Table {
    /// One row per log with its verdict.
    Logs,
    /// One row per observation.
    Events,
}

/// File formats of `export`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// Text with a header line.
    Csv,
    /// Columnar, typed, compressed.
    Parquet,
}

impl Database {
    /// What was typed, turned into a place; the default file's folder is made.
    ///
    /// # Errors
    /// When no home folder is known, or the folder cannot be made.
    pub fn place(self) -> anyhow::Result<Place> {
        if let Some(file) = self.data {
            return Ok(Place::File(file));
        }
        if let Some(url) = self.database_url {
            return Ok(Place::Postgres(url));
        }
        let folder = data_folder().context("failed to find the user's data folder: name a file with --data")?;
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("failed to make {}: name a file with --data", folder.display()))?;
        Ok(Place::File(folder.join("server.sqlite")))
    }
}

fn data_folder() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        from("LOCALAPPDATA")?
    } else {
        from("XDG_DATA_HOME").or_else(|| Some(from("HOME")?.join(".local/share")))?
    };
    Some(base.join("weavewatch"))
}

fn postgres_url(text: &str) -> Result<String, String> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        Ok(text.to_owned())
    } else {
        Err("expected postgres://…; a SQLite file is named with --data".to_owned())
    }
}

/// Names are shown on terminals, so they hold nothing that a terminal would obey.
fn token_name(text: &str) -> Result<String, String> {
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

    #[test]
    fn two_databases_are_wrong_usage() {
        let typed = ["weavewatch-server", "serve", "--data", "a", "--database-url", "postgres://b"];
        let error = Cli::try_parse_from(typed).expect_err("one of them only");
        assert_eq!(error.exit_code(), 2);
        assert!(Cli::try_parse_from(["weavewatch-server", "serve", "--database-url", "mysql://b"]).is_err());
    }
}
