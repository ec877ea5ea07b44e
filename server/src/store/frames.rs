//! How the logs in columns ([`Frame`]) are read from the database and kept in step with it: what no revision says is read
//! anew is the same as before.
//!
//! A frame is made in the transaction of who asks, so it fits all other answers of that transaction. The next one is made
//! of it and of the machines whose logs changed since.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use futures::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row as _};
use tokio::sync::Mutex;

use super::columns::{Verdict, numbers};
use super::damaged;
use super::filter::{Dimension, Sql};
use super::frame::{Frame, Row, Told, Words, slot};
use super::rollups::ALL_DAYS;
use super::sums::ROWS;
use crate::telemetry;

/// What the frame may take when nobody says otherwise, in MiB: some 10 million logs.
pub const DEFAULT_FRAME_MIB: u32 = 1024;

/// Frames that are kept: questions of a moment ago may go on while newer ones begin.
const KEPT: usize = 3;

/// The newest frames.
#[derive(Debug)]
pub struct Frames {
    kept: Mutex<VecDeque<Kept>>,
    most_bytes: usize,
}

#[derive(Clone, Debug)]
struct Kept {
    moment: Moment,
    frame: Frame,
}

/// Which state of the database.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Moment {
    /// Random, so that it stands for one state only, also when a database is put back.
    mark: String,
    revision: i64,
    deleted: i64,
}

impl Default for Frames {
    fn default() -> Self {
        Self::within(DEFAULT_FRAME_MIB)
    }
}

impl Frames {
    /// Keeps frames that take at most so much each; 0: none.
    pub fn within(most_mib: u32) -> Self {
        Self { kept: Mutex::default(), most_bytes: usize::try_from(u64::from(most_mib) << 20).unwrap_or(usize::MAX) }
    }

    /// The logs as this transaction sees them; `None` when they are too many.
    pub async fn of(&self, connection: &mut AnyConnection) -> sqlx::Result<Option<Frame>> {
        let Some(moment) = moment(connection).await? else { return Ok(Some(Frame::default())) };
        // One reads, who comes meanwhile waits for it.
        let mut kept = self.kept.lock().await;
        if let Some(own) = kept.iter().find(|own| own.moment == moment) {
            return Ok(Some(own.frame.clone()));
        }
        if logs(connection).await?.saturating_mul(size_of::<Row>()) > self.most_bytes {
            kept.clear();
            return Ok(None);
        }
        let is_before = |own: &&Kept| own.moment.revision < moment.revision && own.moment.deleted == moment.deleted;
        let frame = match kept.iter().rev().find(is_before) {
            Some(before) => refreshed(connection, before).await?,
            None => whole(connection).await?,
        };
        if kept.len() == KEPT {
            kept.pop_front();
        }
        metrics::gauge!(telemetry::FRAME_BYTES).set((frame.logs() * size_of::<Row>()) as f64);
        kept.push_back(Kept { moment, frame: frame.clone() });
        Ok(Some(frame))
    }
}

/// `None` before the first commit.
async fn moment(connection: &mut AnyConnection) -> sqlx::Result<Option<Moment>> {
    let sql = "select logs, revision, deleted from changes where id = 1";
    let row = sqlx::query(sql).fetch_optional(connection).await?;
    row.map(|row| Ok(Moment { mark: row.try_get(0)?, revision: row.try_get(1)?, deleted: row.try_get(2)? })).transpose()
}

async fn logs(connection: &mut AnyConnection) -> sqlx::Result<usize> {
    let sql = "select logs from rollups where dimension = '' and value = '' and day = $1";
    let logs: Option<i64> = sqlx::query_scalar(sql).bind(ALL_DAYS).fetch_optional(connection).await?;
    Ok(usize::try_from(logs.unwrap_or_default()).unwrap_or_default())
}

async fn whole(connection: &mut AnyConnection) -> sqlx::Result<Frame> {
    let mut reading = Reading::default();
    reading.take(connection, "", &[]).await?;
    Ok(Frame { words: reading.words, machines: Arc::new(reading.machines.into_values().map(Arc::from).collect()) })
}

/// The frame with the machines that changed since.
async fn refreshed(connection: &mut AnyConnection, before: &Kept) -> sqlx::Result<Frame> {
    let sql = "select machine from machine_revisions where revision > $1";
    let changed: Vec<String> = sqlx::query_scalar(sql).bind(before.moment.revision).fetch_all(&mut *connection).await?;
    let Frame { words, mut machines } = before.frame.clone();
    let mut reading = Reading { words, ..Reading::default() };
    for machine in &changed {
        let number = reading.machine(machine);
        reading.machines.insert(number, Vec::new());
    }
    for some in changed.chunks(ROWS) {
        let places: Vec<_> = (1..=some.len()).map(|number| format!("${number}")).collect();
        reading.take(connection, &format!(" where l.machine in ({})", places.join(", ")), some).await?;
    }
    let own = Arc::make_mut(&mut machines);
    own.resize_with(reading.words.machines.len(), || Arc::from([]));
    for (number, rows) in reading.machines {
        own[number as usize] = rows.into();
    }
    Ok(Frame { words: reading.words, machines })
}

/// Logs on their way into a frame.
#[derive(Default)]
struct Reading {
    words: Arc<Words>,
    machines: BTreeMap<u32, Vec<Row>>,
}

impl Reading {
    /// Reads the logs of a condition.
    async fn take(&mut self, connection: &mut AnyConnection, condition: &str, machines: &[String]) -> sqlx::Result<()> {
        let mut found: HashMap<u128, (u32, usize)> = HashMap::new();
        let texts: Vec<_> = in_order().map(|dimension| format!("l.{}", dimension.as_str())).collect();
        let texts = texts.join(", ");
        let columns = "l.id, l.machine, l.started_s, l.situation, l.interop_crossing, l.killed, l.retired, l.basis";
        let sql = query(&format!("select {columns}, {texts} from logs l{condition}"), machines);
        // Column names and placeholders only, here and below.
        let mut rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await? {
            let machine = self.machine(row.try_get(1)?);
            let log = self.row(&told(&row)?);
            let own = self.machines.entry(machine).or_default();
            found.insert(id(row.try_get(0)?)?, (machine, own.len()));
            own.push(log);
        }
        drop(rows);
        let sql = if condition.is_empty() {
            query("select r.log, r.token from log_reasons r", machines)
        } else {
            query(&format!("select r.log, r.token from logs l join log_reasons r on r.log = l.id{condition}"), machines)
        };
        let mut rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch(connection);
        while let Some(row) = rows.try_next().await? {
            let log = found.get(&id(row.try_get(0)?)?);
            let Some(log) = log.and_then(|(machine, place)| self.machines.get_mut(machine)?.get_mut(*place)) else {
                continue;
            };
            let token: &str = row.try_get(1)?;
            log.reasons = match self.words.with_reason(log.reasons, token) {
                Some(set) => set,
                None => Arc::make_mut(&mut self.words).learn_reason(log.reasons, token),
            };
        }
        Ok(())
    }

    fn machine(&mut self, id: &str) -> u32 {
        match self.words.machines.number(id) {
            Some(number) => number,
            None => Arc::make_mut(&mut self.words).machines.add(id),
        }
    }

    fn row(&mut self, told: &Told<'_>) -> Row {
        loop {
            match self.words.row(told) {
                Some(row) => return row,
                None => Arc::make_mut(&mut self.words).learn(told),
            }
        }
    }
}

/// What a row of [`Reading::take`] says.
fn told(row: &AnyRow) -> sqlx::Result<Told<'_>> {
    let mut texts = [None; _];
    for (place, text) in texts.iter_mut().enumerate() {
        *text = row.try_get(FIRST_TEXT + place)?;
    }
    let word = |dimension| slot(dimension).and_then(|slot| texts[slot]).unwrap_or_default();
    let verdict = Verdict {
        split: word(Dimension::Split),
        crossing: word(Dimension::Crossing),
        outcome: word(Dimension::Outcome),
        interop_crossing: row.try_get(4)?,
        killed: row.try_get(5)?,
        retired: row.try_get(6)?,
        basis: row.try_get(7)?,
    };
    Ok(Told { started_s: row.try_get(2)?, situation: row.try_get(3)?, numbers: numbers(&verdict), texts })
}

/// Columns before the texts.
const FIRST_TEXT: usize = 8;

/// The dimensions with a slot, in the order of the slots.
fn in_order() -> impl Iterator<Item = Dimension> {
    let mut all: Vec<_> = Dimension::ALL.into_iter().filter_map(|own| Some((slot(own)?, own))).collect();
    all.sort_unstable_by_key(|(slot, _)| *slot);
    all.into_iter().map(|(_, own)| own)
}

fn query(text: &str, machines: &[String]) -> Sql {
    let mut sql = Sql::of(text);
    for machine in machines {
        sql.bind(machine.clone());
    }
    sql
}

/// A log's id as a number: it is 32 hex digits.
fn id(text: &str) -> sqlx::Result<u128> {
    u128::from_str_radix(text, 16).map_err(|_| damaged("logs.id"))
}
