//! Brings messages to where they go, at least once each: an attempt is taken before it is made, so that only one server makes
//! it, and one that fails is made again after a pause that grows.

use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};

use super::message::Message;
use super::rules::{Alerts, Receiver};
use crate::store::{AlertKind, AlertMessage, Store};
use crate::telemetry::ALERT_MESSAGES;
use crate::text;

/// Messages of one turn.
const MOST: u32 = 200;
/// Conversations at the same time.
const BESIDE: usize = 4;
/// Longer than any attempt takes; so long a message waits whose server died while it sent it.
const ATTEMPT: SignedDuration = SignedDuration::from_mins(5);
const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);
/// What did not arrive by then is no news any more.
const GIVEN_UP: SignedDuration = SignedDuration::from_hours(72);

/// Sends what is due. Failures are counted, logged and kept for people to see.
///
/// # Errors
/// When the database fails.
pub async fn deliver(store: &Store, alerts: &Alerts, now: Timestamp) -> sqlx::Result<()> {
    let due = store.due_alert_messages(&text::timestamp(now), MOST).await?;
    let attempts = futures::stream::iter(due).map(|message| async move { attempt(store, alerts, &message, now).await });
    let mut attempts = attempts.buffer_unordered(BESIDE);
    let mut worked = Ok(());
    while let Some(attempt) = attempts.next().await {
        worked = worked.and(attempt);
    }
    worked
}

/// Sends one message to one receiver.
///
/// # Errors
/// When it does not arrive.
pub async fn send(receiver: &Receiver, message: &Message, kind: AlertKind, now: Timestamp) -> anyhow::Result<()> {
    match receiver {
        Receiver::Hook(hook) => hook.send(message.json(kind)).await,
        Receiver::Mail(server, to) => server.send(to, &message.title(kind), message.text(kind), now).await,
    }
}

async fn attempt(store: &Store, alerts: &Alerts, message: &AlertMessage, now: Timestamp) -> sqlx::Result<()> {
    if !store.claim_alert_message(message, &text::timestamp(later(now, ATTEMPT))).await? {
        return Ok(());
    }
    let body = serde_json::from_str(&message.body).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let receiver = alerts.rule(&message.rule).and_then(|_| alerts.receivers.get(&message.receiver));
    let (rule, to) = (message.rule.as_str(), message.receiver.as_str());
    let Some(receiver) = receiver else {
        metrics::counter!(ALERT_MESSAGES, "outcome" => "given_up").increment(1);
        tracing::warn!(rule, to, "an alert is for nobody whom the rules still name");
        return store.alert_failed(message, &format!("{to}: the rules do not name it any more"), None).await;
    };
    let failed = match send(receiver, &body, message.kind, now).await {
        Ok(()) => {
            metrics::counter!(ALERT_MESSAGES, "outcome" => "sent").increment(1);
            tracing::info!(rule, to, kind = message.kind.as_str(), "sent an alert");
            return store.alert_arrived(message, &text::timestamp(now)).await;
        }
        Err(error) => text::brief(&format!("{to}: {error:#}")),
    };
    let is_old = message.created.parse::<Timestamp>().is_ok_and(|created| now.duration_since(created) >= GIVEN_UP);
    let outcome = if is_old { "given_up" } else { "failed" };
    metrics::counter!(ALERT_MESSAGES, "outcome" => outcome).increment(1);
    tracing::warn!(rule, outcome, "failed to send an alert to {failed}");
    let next = (!is_old).then(|| text::timestamp(later(now, pause(message.attempts))));
    store.alert_failed(message, &failed, next.as_deref()).await
}

/// After so many attempts that failed before this one.
fn pause(before: i64) -> SignedDuration {
    let times = 1_i32 << before.clamp(0, 10);
    (FIRST_PAUSE * times).min(LONGEST_PAUSE)
}

pub fn later(now: Timestamp, by: SignedDuration) -> Timestamp {
    now.saturating_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_an_hour() {
        let minutes: Vec<_> = [0, 1, 2, 5, 6, 7, 1_000].into_iter().map(|before| pause(before).as_mins()).collect();
        assert_eq!(minutes, [1, 2, 4, 32, 60, 60, 60]);
    }
}
