//! `alerts check` says what every rule would say now, `alerts test` sends one message to everybody whom the rules name: so that
//! whoever writes them need not wait for the first alarm.

use std::path::Path;

use anyhow::Context;
use jiff::Timestamp;

use super::deliver::send;
use super::findings::{Finding, Judgement, findings};
use super::message::{Message, noun, percent, plain};
use super::rules::{Alerts, Rule, Watch};
use crate::args::Database;
use crate::exit::Usage;
use crate::say;
use crate::store::AlertKind;

/// Subjects of one rule that are told.
const MOST_LINES: usize = 20;

/// The command `alerts check`.
///
/// # Errors
/// What is wrong with the rules, or what the database says.
pub async fn check(file: &Path, database: Database) -> anyhow::Result<()> {
    // What was typed wrong is said before anything is opened.
    let alerts = Alerts::read(file)?;
    let store = database.open().await?;
    let now = Timestamp::now();
    let mut lines = Vec::new();
    let mut worked = Ok(());
    for rule in &alerts.rules {
        match findings(&store, rule, now).await {
            Ok(found) => lines.extend(told(rule, &found)),
            Err(error) => worked = worked.and(Err(error)),
        }
    }
    store.close().await;
    worked.context("failed to count")?;
    say::unless_gone(say::data(lines.join("\n"))).context("failed to print what the rules say")
}

/// The command `alerts test`; `to` chooses receivers, none: all.
///
/// # Errors
/// What is wrong with the rules, or that a message did not arrive.
pub async fn test(file: &Path, to: &[String]) -> anyhow::Result<()> {
    let alerts = Alerts::read(file)?;
    if let Some(unknown) = to.iter().find(|word| !alerts.receivers.contains_key(*word)) {
        let known: Vec<_> = alerts.receivers.keys().map(String::as_str).collect();
        return Err(Usage(format!("no rule tells {unknown}: they tell {}", known.join(", "))).into());
    }
    let now = Timestamp::now();
    let message = Message::trial(&alerts, now).context("failed to find a rule")?;
    let mut failed = 0_usize;
    for (word, receiver) in alerts.receivers.iter().filter(|(word, _)| to.is_empty() || to.contains(word)) {
        match send(receiver, &message, AlertKind::Test, now).await {
            Ok(()) => say::note(format_args!("{word}: sent")),
            Err(error) => {
                failed += 1;
                say::note(format_args!("{word}: {error:#}"));
            }
        }
    }
    anyhow::ensure!(failed == 0, "failed to send {failed} of the trial messages");
    Ok(())
}

/// A line for what is looked at, above the limit first.
fn told(rule: &Rule, found: &[Finding]) -> Vec<String> {
    let rank = |finding: &Finding| match finding.judgement {
        Judgement::Above => 0,
        Judgement::FewMachines => 1,
        Judgement::Below => 2,
        Judgement::FewLogs => 3,
    };
    let mut found: Vec<_> = found.iter().collect();
    found.sort_by_key(|finding| rank(finding));
    let mut lines: Vec<_> = found.iter().take(MOST_LINES).map(|finding| line(rule, finding)).collect();
    if found.is_empty() {
        let why = match rule.watch {
            Watch::NewestBuild => "quiet: no build has logs and machines enough",
            _ => "quiet: no logs within the window",
        };
        lines.push(format!("{}: {why}", rule.name));
    } else if found.len() > MOST_LINES {
        lines.push(format!("{}: and {} more", rule.name, found.len() - MOST_LINES));
    }
    lines
}

fn line(rule: &Rule, finding: &Finding) -> String {
    let subject = finding.label.as_ref().or(finding.subject.as_ref());
    let subject = subject.map(|own| format!(", {}", wire::cell::terminal(own))).unwrap_or_default();
    let (limit, share) = (percent(rule.above), finding.share());
    let judgement = match finding.judgement {
        Judgement::Above => format!("ALARM, above {limit}"),
        Judgement::Below if share.fraction() > rule.above => format!("quiet, not above {limit} beyond chance"),
        Judgement::Below => format!("quiet, not above {limit}"),
        Judgement::FewMachines => format!("quiet, on fewer than {} machines", rule.least_machines),
        Judgement::FewLogs => format!("quiet, fewer than {} logs", rule.least_logs),
    };
    let machines = finding.machines.map(|machines| format!(" on {machines} {}", noun(machines))).unwrap_or_default();
    let label = wire::cell::terminal(&rule.measure.label()).into_owned();
    let numbers = if share.total == 0 {
        "no logs".to_owned()
    } else {
        plain(&format!("{share} logs {label}{machines}, {} ({})", share.percent(), share.interval()))
    };
    format!("{}{subject}: {judgement}: {numbers}", rule.name)
}
