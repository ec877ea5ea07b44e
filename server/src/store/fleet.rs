//! The fleet in columns, for questions that look at every log: which situation, machine, cohort and outcome, as small
//! numbers; and the situations themselves, a page at a time.
//!
//! Equal rows are counted by the database, so that what travels does not grow with the logs of a machine.

use std::collections::{BTreeMap, HashMap};

use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, Row};
use wire::Outcome;

use super::filter::Sql;
use super::frame::{COHORT, OUTCOME, Picked};
use super::summary::blocking;
use super::{Filter, Store};

/// Situations asked for by their ids in one question.
const IDS_PER_QUESTION: usize = 500;

/// Logs in columns of equal length.
#[derive(Debug, Default)]
pub struct Fleet {
    /// Index into `situation_ids`; [`Fleet::NOT_TOLD`] where the log was judged before situations were kept.
    pub situation: Vec<u32>,
    /// A number for each machine.
    pub machine: Vec<u32>,
    /// Index into `cohort_ids`, or [`Fleet::NOT_TOLD`].
    pub cohort: Vec<u32>,
    /// Index into [`Outcome::ALL`]: what the logs did.
    pub outcome: Vec<u32>,
    /// How many logs the row stands for.
    pub logs: Vec<u32>,
    /// Each once.
    pub situation_ids: Vec<i64>,
    /// Each once.
    pub cohort_ids: Vec<String>,
}

impl Fleet {
    /// Stands for an index that there is none of.
    pub const NOT_TOLD: u32 = u32::MAX;

    /// Of logs that are in columns already: machine by machine, so that the equal ones of each are counted.
    fn of(picked: &Picked) -> Self {
        let (words, mut fleet) = (picked.words(), Self::default());
        let outcomes = &words.texts[OUTCOME];
        let outcomes: Vec<_> = outcomes.values().iter().map(|word| place(Outcome::from_word(word))).collect();
        let (mut situations, mut cohorts) = (HashMap::new(), HashMap::new());
        let mut rows = picked.rows().peekable();
        let mut equal: BTreeMap<(u32, u32, u32), u32> = BTreeMap::new();
        while let Some((machine, row)) = rows.next() {
            *equal.entry((row.situation, row.texts[COHORT], row.texts[OUTCOME])).or_default() += 1;
            if rows.peek().is_some_and(|(next, _)| *next == machine) {
                continue;
            }
            for ((situation, cohort, outcome), logs) in std::mem::take(&mut equal) {
                let told = |number: u32| number.checked_sub(1).map(|number| number as usize);
                let situation = told(situation).map(|number| words.situations.values()[number]);
                fleet.situation.push(number(&mut situations, &mut fleet.situation_ids, situation));
                let cohort = told(cohort).map(|number| words.texts[COHORT].values()[number].to_string());
                fleet.cohort.push(number(&mut cohorts, &mut fleet.cohort_ids, cohort));
                let outcome = told(outcome).map(|number| outcomes[number]);
                fleet.outcome.push(outcome.unwrap_or_else(|| place(None)));
                fleet.machine.push(machine);
                fleet.logs.push(logs);
            }
        }
        fleet
    }
}

impl Store {
    /// The logs that the filter lets through.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn fleet(&self, filter: &Filter) -> sqlx::Result<Fleet> {
        match self.counting().await?.picked(filter).await? {
            Some(picked) => blocking(move || Fleet::of(&picked)).await,
            None => self.fleet_of_rows(filter).await,
        }
    }

    /// The same from the rows alone.
    async fn fleet_of_rows(&self, filter: &Filter) -> sqlx::Result<Fleet> {
        let columns = "l.situation, l.machine, l.cohort, l.outcome";
        let mut sql = Sql::default();
        sql.push(&format!("select {columns}, count(*) from logs l"));
        filter.push_where(&mut sql);
        sql.push(&format!(" group by {columns}"));
        // Column names and placeholders only: see `filter.rs`.
        let mut rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch(&self.pool);
        let mut fleet = Fleet::default();
        let (mut situations, mut machines, mut cohorts) =
            (HashMap::new(), HashMap::<String, u32>::new(), HashMap::new());
        while let Some(row) = rows.try_next().await? {
            let situation: Option<i64> = row.try_get(0)?;
            fleet.situation.push(number(&mut situations, &mut fleet.situation_ids, situation));
            let machine: &str = row.try_get(1)?;
            let next = machines.len() as u32;
            let machine = match machines.get(machine) {
                Some(own) => *own,
                None => *machines.entry(machine.to_owned()).or_insert(next),
            };
            fleet.machine.push(machine);
            let cohort: Option<&str> = row.try_get(2)?;
            let cohort = match cohort.and_then(|own| cohorts.get(own)) {
                Some(own) => *own,
                None => number(&mut cohorts, &mut fleet.cohort_ids, cohort.map(str::to_owned)),
            };
            fleet.cohort.push(cohort);
            fleet.outcome.push(place(Outcome::from_word(row.try_get(3)?)));
            let logs: i64 = row.try_get(4)?;
            fleet.logs.push(u32::try_from(logs).unwrap_or(u32::MAX));
        }
        Ok(fleet)
    }

    /// At most `limit` situations whose ids are above `after` and at most `last`, in order: id and JSON.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn situations(&self, after: i64, last: i64, limit: u32) -> sqlx::Result<Vec<(i64, String)>> {
        sqlx::query("select id, json from situations where id > $1 and id <= $2 order by id limit $3")
            .bind(after)
            .bind(last)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect()
    }

    /// The situations with these ids.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn situations_of(&self, ids: &[i64]) -> sqlx::Result<Vec<(i64, String)>> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(IDS_PER_QUESTION) {
            let places: Vec<_> = (1..=chunk.len()).map(|number| format!("${number}")).collect();
            let sql = format!("select id, json from situations where id in ({})", places.join(", "));
            // The text holds nothing but placeholders.
            let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(*id));
            for row in query.fetch_all(&self.pool).await? {
                found.push((row.try_get(0)?, row.try_get(1)?));
            }
        }
        Ok(found)
    }
}

/// Where an outcome stands in [`Outcome::ALL`].
fn place(outcome: Option<Outcome>) -> u32 {
    let outcome = outcome.unwrap_or(Outcome::Unknown);
    Outcome::ALL.iter().position(|own| *own == outcome).unwrap_or_default() as u32
}

/// The number of a value; a new one gets the next.
fn number<T: Clone + Eq + std::hash::Hash>(known: &mut HashMap<T, u32>, all: &mut Vec<T>, value: Option<T>) -> u32 {
    let Some(value) = value else { return Fleet::NOT_TOLD };
    *known.entry(value).or_insert_with_key(|value| {
        all.push(value.clone());
        all.len() as u32 - 1
    })
}
