//! `doctor`: would this server work, and keep what it is given? Each line says what was found and, where that is not well,
//! what to do. Nothing is changed but the one row that `/readyz` writes, too.

mod address;
mod columnar;
mod database;
mod people;

use std::net::SocketAddr;

use anyhow::{Context, bail};
use serde::Serialize;

use crate::args::{CopyPlace, Database, DoctorFormat};
use crate::say;
use crate::store::{Found, Store};

/// How something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing to do.
    Ok,
    /// It works, and may not always.
    Warning,
    /// It does not work, or loses what it is given.
    Failed,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// What was looked at; a stable word.
    pub check: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it; null when all is well.
    pub advice: Option<String>,
}

/// All lines; the answer of `--format json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// `weavewatch.doctor/1`.
    pub schema: &'static str,
    /// In the order of looking.
    pub checks: Vec<Check>,
    /// How many warn.
    pub warnings: usize,
    /// How many failed; the exit code is 3 when any did.
    pub failed: usize,
}

impl Check {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Ok, found: found.into(), advice: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, state: State::Warning, found: found.into(), advice: Some(advice.into()) }
    }

    fn failed(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, state: State::Failed, found: found.into(), advice: Some(advice.into()) }
    }

    /// For a person, in one line.
    fn line(&self) -> String {
        let state = match self.state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Failed => "failed",
        };
        let advice = self.advice.as_deref().map(|advice| format!(": {advice}")).unwrap_or_default();
        format!("{state:<8} {:<14} {}{advice}", self.check, self.found)
    }
}

/// The command.
///
/// # Errors
/// When anything failed, or the report cannot be printed.
pub async fn run(
    listen: SocketAddr,
    reserve_mib: u32,
    format: DoctorFormat,
    columnar: &CopyPlace,
    database: Database,
) -> anyhow::Result<()> {
    let report = examine(listen, reserve_mib, columnar, database).await;
    let text = match format {
        // What stands in a message may come from anywhere.
        DoctorFormat::Text => {
            let lines: Vec<_> =
                report.checks.iter().map(|check| wire::cell::terminal(&check.line()).into_owned()).collect();
            lines.join("\n")
        }
        DoctorFormat::Json => wire::cell::json(&serde_json::to_string(&report)?).into_owned(),
    };
    say::unless_gone(say::data(text)).context("failed to print the report")?;
    if report.failed > 0 {
        bail!("{} of {} checks failed", report.failed, report.checks.len());
    }
    Ok(())
}

/// Looks at everything.
pub async fn examine(listen: SocketAddr, reserve_mib: u32, columnar: &CopyPlace, database: Database) -> Report {
    let mut checks = Vec::new();
    match database.place() {
        Ok(place) => {
            checks.push(database::configuration(&place));
            match Store::look(&place).await {
                Ok(Found::Ours) => match Store::open(&place).await {
                    Ok(store) => {
                        let is_current = database::examine(&store, reserve_mib, &mut checks).await;
                        if let (true, Some(url)) = (is_current, &columnar.url) {
                            checks.push(columnar::examine(&store, url, columnar.closed_after_days).await);
                        }
                        store.close().await;
                    }
                    Err(error) => checks.push(database::unreachable(&place, &error)),
                },
                Ok(found) => checks.push(database::not_ours(&place, found)),
                Err(error) => checks.push(database::unreachable(&place, &error)),
            }
        }
        Err(error) => checks.push(Check::failed("configuration", format!("{error:#}"), "name a file with --data")),
    }
    address::examine(listen, &mut checks).await;
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let (warnings, failed) = (count(State::Warning), count(State::Failed));
    Report { schema: "weavewatch.doctor/1", checks, warnings, failed }
}
