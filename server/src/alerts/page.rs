//! What the page of how everything runs says of alerts: every rule, what it found last, and whether people could be told.

use dashboards::alert_lines::AlertLine;
use dashboards::share::Share;
use jiff::Timestamp;

use super::message::paths;
use super::rules::{Alerts, Rule};
use crate::store::{AlertRow, Store};

/// A line for everything that the database knows of the rules, and one for each rule that it knows nothing of.
///
/// # Errors
/// When the database fails.
pub async fn lines(store: &Store, alerts: &Alerts, now: Timestamp) -> sqlx::Result<Vec<AlertLine>> {
    let rows = store.alerts().await?;
    let waiting = store.waiting_alert_messages().await?;
    let mut lines = Vec::new();
    for rule in &alerts.rules {
        let own: Vec<_> = rows.iter().filter(|row| row.rule == rule.name).collect();
        if own.is_empty() {
            lines.push(AlertLine { rule: rule.name.clone(), ..AlertLine::default() });
        }
        lines.extend(own.into_iter().map(|row| line(rule, row, &waiting, now)));
    }
    // What is wrong first; otherwise in the order of the file.
    lines.sort_by_key(|line| (!line.above, line.error.is_none()));
    Ok(lines)
}

fn line(rule: &Rule, row: &AlertRow, waiting: &[(String, Option<String>, i64)], now: Timestamp) -> AlertLine {
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    let is_own = |own: &&(String, Option<String>, i64)| own.0 == row.rule && own.1 == row.subject;
    let [counted, _] = paths(rule, row.subject.as_deref(), now);
    AlertLine {
        rule: row.rule.clone(),
        subject: row.subject.clone(),
        above: row.above,
        since: Some(row.since.clone()),
        share: Share { count: number(row.counted), total: number(row.logs) },
        href: counted,
        sent: row.sent.clone(),
        waiting: waiting.iter().find(is_own).map_or(0, |(.., count)| number(*count)),
        error: row.error.clone(),
    }
}
