//! `weavewatch status`: what waits, what was acknowledged, what was lost and why, and what is wrong just now.
//!
//! The numbers come from the agent's memory on disk, whether or not an agent runs; only the troubles of the moment come from
//! the running one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::agent::config::Config;
use crate::agent::home::Home;
use crate::agent::live::{Live, Trouble};
use crate::agent::memory::View;
use crate::agent::tally::Ledger;
use crate::agent::{machine, rejected};
use crate::cli::{StatusArgs, StatusFormat};
use crate::exit::Exit;
use triage::escape;

use crate::show;

/// Name and version of the object (contract section 3).
const SCHEMA: &str = "weavewatch.status/1";

/// The object of contract section 3, with more at its end.
#[derive(Debug, Serialize)]
struct Status {
    schema: &'static str,
    server: Option<String>,
    machine: Option<String>,
    logs: Logs,
    ledger: Ledger,
    queue: Queue,
    last_contact: Option<String>,
    last_error: Option<Trouble>,
    running: bool,
    next_attempt: Option<String>,
    slowed: Option<String>,
    rejected: Rejected,
    unreadable: Vec<String>,
    open_sum: Option<String>,
    config: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct Logs {
    followed: u64,
    finished: u64,
}

#[derive(Debug, Serialize)]
struct Queue {
    bytes: u64,
    oldest_age_s: u64,
}

#[derive(Debug, Serialize)]
struct Rejected {
    entries: u64,
    newest: Option<String>,
}

/// Runs the command.
pub fn run(args: &StatusArgs) -> Exit {
    let config = match Config::of_state(&args.state) {
        Ok(config) => config,
        Err(error) => {
            crate::problems::say(format_args!("{error:#}"));
            return Exit::Usage;
        }
    };
    match look(&config) {
        Ok(status) => show::done(match args.format {
            StatusFormat::Json => show::json(&status),
            StatusFormat::Text => show::text(&text(&status)),
        }),
        Err(error) => {
            crate::problems::say(format_args!("{error:#}"));
            Exit::Unreadable
        }
    }
}

fn look(config: &Config) -> anyhow::Result<Status> {
    let home = &config.home;
    let view = View::of(home, 0)?;
    let running = is_running(home);
    let live = Live::read(home);
    let finished = view.logs.values().filter(|log| log.position.ended.is_some()).count() as u64;
    let (entries, newest) = rejected::newest(home)?;
    Ok(Status {
        schema: SCHEMA,
        server: live.server.or_else(|| Some(home.enrolment().ok()??.credential.server.to_string())),
        machine: machine::known(home.path())?,
        logs: Logs { followed: view.logs.len() as u64 - finished, finished },
        // While the agent works, a look at queue and map falls between two steps now and then.
        open_sum: if running { None } else { view.ledger.open_sum() },
        ledger: view.ledger,
        queue: Queue { bytes: view.queue_bytes, oldest_age_s: view.oldest_age_s },
        last_contact: live.last_contact,
        last_error: live.last_error,
        running,
        next_attempt: if running { live.next_attempt } else { None },
        slowed: if running { live.slowed } else { None },
        rejected: Rejected {
            entries,
            newest: newest.map(|rejected| format!("{}: {}", rejected.file, rejected.reason)),
        },
        unreadable: live.unreadable,
        config: if running { live.config } else { config.words() },
    })
}

/// True when an agent holds the folder.
pub fn is_running(home: &Home) -> bool {
    home.path().is_dir() && matches!(spool::Lock::take(home.path()), Err(spool::LockError::Held { .. }))
}

fn text(status: &Status) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:<14}{}", escape::terminal(value));
    };
    let never = || "never".to_owned();
    row("agent", if status.running { "running" } else { "not running" });
    row("server", status.server.as_deref().unwrap_or("none; run `weavewatch enroll`"));
    row("machine", status.machine.as_deref().unwrap_or("no id yet"));
    row("last contact", &status.last_contact.clone().unwrap_or_else(never));
    let Ledger { queued, acknowledged, events, records, bytes_read, .. } = &status.ledger;
    row("logs", &format!("{} followed, {} finished", status.logs.followed, status.logs.finished));
    row("read", &format!("{bytes_read} bytes, {records} records, {events} events"));
    row("sent", &format!("{acknowledged} events acknowledged, {queued} waiting"));
    row("queue", &format!("{} bytes, the oldest {} s old", status.queue.bytes, status.queue.oldest_age_s));
    for (reason, events) in &status.ledger.dropped {
        row("lost", &format!("{events} events: {reason}"));
    }
    if status.rejected.entries > 0 {
        let newest = status.rejected.newest.as_deref().unwrap_or_default();
        row("rejected", &format!("{} ranges, the newest {newest}", status.rejected.entries));
    }
    if let Some(why) = &status.slowed {
        row("slowed", why);
    }
    for why in &status.unreadable {
        row("unreadable", why);
    }
    if let Some(Trouble { at, what }) = &status.last_error {
        row("last error", &format!("{at}: {what}"));
    }
    if let Some(at) = &status.next_attempt {
        row("next attempt", at);
    }
    if let Some(sum) = &status.open_sum {
        row("LEDGER", sum);
    }
    text
}
