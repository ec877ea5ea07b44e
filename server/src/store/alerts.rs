//! What rules found last and what is on its way to people. Decisions come in as [`AlertChange`]s (`crate::alerts`); they are
//! written in the transaction that makes sure that no other server decides beside it.

use serde::Serialize;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::{Store, Write, audit};
use crate::audit::{Actor, Deed};
use crate::text;

/// Of the lease.
const WORK: &str = "alerts";

/// The state of what a rule watches; times are RFC 3339 in UTC, as `text::timestamp` writes them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlertRow {
    /// Name of the rule.
    pub rule: String,
    /// What of it: a build, for example. `None`: all logs of the rule together.
    pub subject: Option<String>,
    /// The share is above the limit.
    pub above: bool,
    /// Since when it is so.
    pub since: String,
    /// An alarm went out whose end was not told yet.
    pub told: bool,
    /// When the newest alarm was made.
    pub alarmed: Option<String>,
    /// When the newest message arrived.
    pub sent: Option<String>,
    /// Why the newest attempt failed, when no later one made up for it.
    pub error: Option<String>,
    /// Logs that the rule counts.
    pub counted: i64,
    /// Logs that it looks at.
    pub logs: i64,
    /// Machines with logs that it counts, when that was asked.
    pub machines: Option<i64>,
}

/// Why people are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A share went above its limit.
    Alarm,
    /// It still is, a cool-down later.
    Reminder,
    /// It is over.
    Resolved,
    /// Somebody tries whether messages arrive.
    Test,
}

/// What becomes of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AlertChange {
    /// It is written so, and these are told.
    Put {
        /// The row.
        row: AlertRow,
        /// Kind and body of the message, and the receivers.
        message: Option<(AlertKind, String, Vec<String>)>,
    },
    /// The rule does not watch it any more.
    Forget(AlertRow),
}

/// A message on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlertMessage {
    /// Name of the rule.
    pub rule: String,
    /// As in [`AlertRow`].
    pub subject: Option<String>,
    /// To whom.
    pub receiver: String,
    /// Why.
    pub kind: AlertKind,
    /// JSON.
    pub body: String,
    /// When it was made.
    pub created: String,
    /// Attempts that began.
    pub attempts: i64,
    /// Not before.
    pub next_try: String,
}

impl AlertKind {
    /// The word of the table, and of messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alarm => "alarm",
            Self::Reminder => "reminder",
            Self::Resolved => "resolved",
            Self::Test => "test",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Alarm, Self::Reminder, Self::Resolved].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl Store {
    /// Every alert, by rule and subject.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn alerts(&self) -> sqlx::Result<Vec<AlertRow>> {
        rows(&mut *self.pool.acquire().await?).await
    }

    /// One server at a time decides: takes or renews the lease until `until`, and writes what `decide` makes of the rows.
    /// Answers how many changes that were; `None` when another server has the work.
    ///
    /// # Errors
    /// When the database fails; nothing is written then.
    pub async fn decide_alerts(
        &self,
        holder: &str,
        [now, until]: [&str; 2],
        decide: impl FnOnce(Vec<AlertRow>) -> Vec<AlertChange> + Send,
    ) -> sqlx::Result<Option<usize>> {
        let mut write = self.write().await?;
        // Its row is held until the end, so that another server waits here and then finds it taken.
        if !super::copied::take_lease(write.connection(), WORK, holder, now, until).await? {
            return Ok(None);
        }
        let changes = decide(rows(write.connection()).await?);
        let count = changes.len();
        for change in changes {
            match change {
                AlertChange::Put { row, message } => {
                    put(&mut write, &row).await?;
                    if let Some((kind, body, receivers)) = message {
                        for receiver in &receivers {
                            send(&mut write, &row, receiver, kind, &body, now).await?;
                        }
                        note(&mut write, &row, kind, receivers.len()).await?;
                    }
                }
                AlertChange::Forget(row) => forget(&mut write, &row).await?,
            }
        }
        write.commit().await?;
        Ok(Some(count))
    }

    /// Whether this server decides and sends until `until`; another one does when it is false.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn lease_alerts(&self, holder: &str, [now, until]: [&str; 2]) -> sqlx::Result<bool> {
        self.lease(WORK, holder, now, until).await
    }

    /// Messages whose time has come, those that wait for longest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn due_alert_messages(&self, now: &str, limit: u32) -> sqlx::Result<Vec<AlertMessage>> {
        let rows = sqlx::query(
            "select rule, subject, receiver, kind, body, created, attempts, next_try from alert_messages
             where next_try <= $1 order by next_try, rule, subject, receiver limit $2",
        )
        .bind(now)
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(message).collect()
    }

    /// How many messages wait, by rule and subject.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn waiting_alert_messages(&self) -> sqlx::Result<Vec<(String, Option<String>, i64)>> {
        sqlx::query("select rule, subject, count(*) from alert_messages group by rule, subject")
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(|row| Ok((row.try_get(0)?, super::columns::read(row.try_get(1)?), row.try_get(2)?)))
            .collect()
    }

    /// Takes a message for an attempt that is over before `until`. False: somebody else has it, or it is another by now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claim_alert_message(&self, message: &AlertMessage, until: &str) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        let claimed = sqlx::query(
            "update alert_messages set next_try = $1, attempts = attempts + 1
             where rule = $2 and subject = $3 and receiver = $4 and next_try = $5 and created = $6",
        )
        .bind(until)
        .bind(&message.rule)
        .bind(super::columns::spelled(message.subject.as_deref()))
        .bind(&message.receiver)
        .bind(&message.next_try)
        .bind(&message.created)
        .execute(write.connection())
        .await?;
        write.commit().await?;
        Ok(claimed.rows_affected() == 1)
    }

    /// It arrived. A newer one that took its place meanwhile stays.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn alert_arrived(&self, message: &AlertMessage, now: &str) -> sqlx::Result<()> {
        let subject = super::columns::spelled(message.subject.as_deref());
        let mut write = self.write().await?;
        drop_message(&mut write, message).await?;
        sqlx::query(
            "update alerts set sent = $1, error = case when exists (
                 select 1 from alert_messages m where m.rule = $2 and m.subject = $3
             ) then error end where rule = $2 and subject = $3",
        )
        .bind(now)
        .bind(&message.rule)
        .bind(subject)
        .execute(write.connection())
        .await?;
        write.commit().await
    }

    /// It did not arrive, for this reason; it is tried again at `next_try`, or not any more.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn alert_failed(&self, message: &AlertMessage, why: &str, next_try: Option<&str>) -> sqlx::Result<()> {
        let subject = super::columns::spelled(message.subject.as_deref());
        let mut write = self.write().await?;
        match next_try {
            Some(next_try) => {
                sqlx::query(
                    "update alert_messages set next_try = $1
                     where rule = $2 and subject = $3 and receiver = $4 and created = $5",
                )
                .bind(next_try)
                .bind(&message.rule)
                .bind(&subject)
                .bind(&message.receiver)
                .bind(&message.created)
                .execute(write.connection())
                .await?;
            }
            None => drop_message(&mut write, message).await?,
        }
        sqlx::query("update alerts set error = $1 where rule = $2 and subject = $3")
            .bind(text::for_column(why))
            .bind(&message.rule)
            .bind(subject)
            .execute(write.connection())
            .await?;
        write.commit().await
    }
}

async fn rows(connection: &mut AnyConnection) -> sqlx::Result<Vec<AlertRow>> {
    let sql = "select rule, subject, above, since, told, alarmed, sent, error, counted, logs, machines from alerts
               order by rule, subject";
    sqlx::query(sql).fetch_all(connection).await?.iter().map(row).collect()
}

fn row(row: &AnyRow) -> sqlx::Result<AlertRow> {
    Ok(AlertRow {
        rule: row.try_get(0)?,
        subject: super::columns::read(row.try_get(1)?),
        above: row.try_get::<i64, _>(2)? != 0,
        since: row.try_get(3)?,
        told: row.try_get::<i64, _>(4)? != 0,
        alarmed: row.try_get(5)?,
        sent: row.try_get(6)?,
        error: row.try_get(7)?,
        counted: row.try_get(8)?,
        logs: row.try_get(9)?,
        machines: row.try_get(10)?,
    })
}

fn message(row: &AnyRow) -> sqlx::Result<AlertMessage> {
    let kind = AlertKind::from_word(row.try_get(3)?);
    Ok(AlertMessage {
        rule: row.try_get(0)?,
        subject: super::columns::read(row.try_get(1)?),
        receiver: row.try_get(2)?,
        kind: kind.ok_or_else(|| sqlx::Error::Decode("alert_messages.kind is no kind".into()))?,
        body: row.try_get(4)?,
        created: row.try_get(5)?,
        attempts: row.try_get(6)?,
        next_try: row.try_get(7)?,
    })
}

/// What deliveries write (`sent`, `error`) stays as it is.
async fn put(write: &mut Write<'_>, row: &AlertRow) -> sqlx::Result<()> {
    sqlx::query(
        "insert into alerts (rule, subject, above, since, told, alarmed, counted, logs, machines)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (rule, subject) do update set above = excluded.above, since = excluded.since, told = excluded.told,
             alarmed = excluded.alarmed, counted = excluded.counted, logs = excluded.logs, machines = excluded.machines",
    )
    .bind(&row.rule)
    .bind(super::columns::spelled(row.subject.as_deref()))
    .bind(i64::from(row.above))
    .bind(&row.since)
    .bind(i64::from(row.told))
    .bind(&row.alarmed)
    .bind(row.counted)
    .bind(row.logs)
    .bind(row.machines)
    .execute(write.connection())
    .await?;
    Ok(())
}

/// Puts a message on its way. Who never heard of the alarm is not told of its end.
async fn send(
    write: &mut Write<'_>,
    row: &AlertRow,
    receiver: &str,
    kind: AlertKind,
    body: &str,
    now: &str,
) -> sqlx::Result<()> {
    let subject = super::columns::spelled(row.subject.as_deref());
    if kind == AlertKind::Resolved {
        let unheard = sqlx::query(
            "delete from alert_messages where rule = $1 and subject = $2 and receiver = $3 and kind = 'alarm'",
        )
        .bind(&row.rule)
        .bind(&subject)
        .bind(receiver)
        .execute(write.connection())
        .await?;
        if unheard.rows_affected() > 0 {
            return Ok(());
        }
    }
    // The pauses between attempts go on: the receiver is as far away as before.
    sqlx::query(
        "insert into alert_messages (rule, subject, receiver, kind, body, created, attempts, next_try)
         values ($1, $2, $3, $4, $5, $6, 0, $6)
         on conflict (rule, subject, receiver) do update set body = excluded.body, created = excluded.created,
             kind = case when alert_messages.kind = 'alarm' then 'alarm' else excluded.kind end",
    )
    .bind(&row.rule)
    .bind(subject)
    .bind(receiver)
    .bind(kind.as_str())
    .bind(body)
    .bind(now)
    .execute(write.connection())
    .await?;
    Ok(())
}

/// Of whom the server told whom, and why.
async fn note(write: &mut Write<'_>, row: &AlertRow, kind: AlertKind, receivers: usize) -> sqlx::Result<()> {
    let deed = match kind {
        AlertKind::Alarm | AlertKind::Reminder | AlertKind::Test => Deed::AlertRaised,
        AlertKind::Resolved => Deed::AlertResolved,
    };
    let object = row.subject.as_ref().map_or_else(|| row.rule.clone(), |own| format!("{}: {own}", row.rule));
    let outcome = format!("{} of {} logs, {} to {receivers}", row.counted, row.logs, kind.as_str());
    let server = Actor { who: "server".to_owned(), ..Actor::command_line() };
    audit::write(write.connection(), &server, deed, &object, &outcome).await
}

async fn forget(write: &mut Write<'_>, row: &AlertRow) -> sqlx::Result<()> {
    sqlx::query("delete from alerts where rule = $1 and subject = $2")
        .bind(&row.rule)
        .bind(super::columns::spelled(row.subject.as_deref()))
        .execute(write.connection())
        .await?;
    Ok(())
}

async fn drop_message(write: &mut Write<'_>, message: &AlertMessage) -> sqlx::Result<()> {
    sqlx::query("delete from alert_messages where rule = $1 and subject = $2 and receiver = $3 and created = $4")
        .bind(&message.rule)
        .bind(super::columns::spelled(message.subject.as_deref()))
        .bind(&message.receiver)
        .bind(&message.created)
        .execute(write.connection())
        .await?;
    Ok(())
}
