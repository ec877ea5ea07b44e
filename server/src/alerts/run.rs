//! The work of a running server: look, decide, tell; one of several servers at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::decide::{Step, decide};
use super::deliver::{deliver, later};
use super::findings::findings;
use super::message::Message;
use super::rules::Alerts;
use crate::store::{AlertChange, AlertRow, Store};
use crate::telemetry::ALERTS_ABOVE;
use crate::text;

/// Between two looks. Messages that wait are tried as often.
const PAUSE: Duration = Duration::from_mins(1);
/// So long other servers leave the work alone when its holder died. It is renewed far more often.
const LEASE: SignedDuration = SignedDuration::from_mins(5);

/// Holds the rules against the database until the task is dropped: now, and once a minute. Failures are logged and tried again
/// at the next turn.
pub async fn keep(store: &Store, alerts: &Alerts) {
    loop {
        if let Err(error) = round(store, alerts, Timestamp::now()).await {
            tracing::error!("failed to look after alerts: {error}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Leaves the work to others at once, also to this server when it starts again. If that fails, they wait until the lease ends.
pub async fn release(store: &Store, alerts: &Alerts) {
    // No time at all.
    if let Err(error) = store.lease_alerts(&alerts.holder, [&text::now(), ""]).await {
        tracing::warn!("failed to leave alerts to another server: {error}");
    }
}

/// One look, as if it were `now`. False: another server has the work.
///
/// # Errors
/// When the database fails; what was decided stays decided, and messages wait.
pub async fn round(store: &Store, alerts: &Alerts, now: Timestamp) -> sqlx::Result<bool> {
    let times = [text::timestamp(now), text::timestamp(later(now, LEASE))];
    let times = times.each_ref().map(String::as_str);
    // Asked before the work and again behind it, within the transaction that counts.
    if !store.lease_alerts(&alerts.holder, times).await? {
        return Ok(false);
    }
    let mut found = Vec::new();
    for rule in &alerts.rules {
        found.push((rule, findings(store, rule, now).await?));
    }
    let mut above = 0;
    let decided = store.decide_alerts(&alerts.holder, times, |rows| {
        let mut changes = Vec::new();
        for (rule, findings) in &found {
            let own: Vec<_> = rows.iter().filter(|row| row.rule == rule.name).cloned().collect();
            for (step, finding) in decide(rule, &own, findings, now) {
                changes.push(match step {
                    Step::Forget(row) => AlertChange::Forget(row),
                    Step::Keep(row, kind) => {
                        let message = kind.map(|kind| {
                            let message = Message::new(alerts, rule, &row, finding.as_ref(), now);
                            (kind, message.stored(), rule.to.clone())
                        });
                        AlertChange::Put { row, message }
                    }
                });
            }
        }
        // Rules that the file does not name any more.
        let gone = rows.iter().filter(|row| alerts.rule(&row.rule).is_none());
        changes.extend(gone.cloned().map(AlertChange::Forget));
        above = now_above(rows, &changes);
        changes
    });
    if decided.await?.is_none() {
        return Ok(false);
    }
    metrics::gauge!(ALERTS_ABOVE).set(above as f64);
    deliver(store, alerts, now).await?;
    Ok(true)
}

/// How many subjects are above a limit when the changes are made.
fn now_above(rows: Vec<AlertRow>, changes: &[AlertChange]) -> usize {
    let key = |row: &AlertRow| (row.rule.clone(), row.subject.clone());
    let mut all: BTreeMap<_, _> = rows.into_iter().map(|row| (key(&row), row.above)).collect();
    for change in changes {
        match change {
            AlertChange::Put { row, .. } => all.insert(key(row), row.above),
            AlertChange::Forget(row) => all.remove(&key(row)),
        };
    }
    all.into_values().filter(|above| *above).count()
}
