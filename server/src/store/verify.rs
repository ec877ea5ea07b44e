//! Does the database agree with itself? Every verdict is made anew from its log's records, every count from the logs, and
//! what stands there is held against it, as of one moment. Nothing is changed here but by [`Store::repair`].

use std::collections::{BTreeMap, BTreeSet};

use futures::TryStreamExt;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use wire::ScanReport;

use super::columns::{Columns, Counted, Key, NUMBERS};
use super::costs::{self, Costs};
use super::days::{Block, Days};
use super::drift::Drift;
use super::rollups::{Count, Place, Sums, machines};
use super::{Store, rejudge, verdict};

/// Logs whose documents are in memory at a time.
const LOGS: i64 = 200;

/// One thing that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Which row: `log ID`, `rollups …` or `rollup_machines …`.
    pub row: String,
    /// The column, or a field of the report.
    pub column: String,
    /// What stands there; none where the row is missing or the column empty.
    pub stored: Option<String>,
    /// What should stand there.
    pub computed: Option<String>,
    /// The log that it is about.
    log: Option<String>,
}

/// How much was looked at.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// Verdicts that were made anew.
    pub logs: u64,
    /// Verdicts by other rules, which say something else with good reason: counted as they stand.
    pub other_rules: u64,
    /// Verdicts whose events retention has removed: counted as they stand.
    pub pruned: u64,
    /// Rows of counts.
    pub counts: u64,
    /// What is wrong.
    pub differences: u64,
    /// Logs that are wrong.
    wrong_logs: BTreeSet<String>,
}

/// What a run collects.
struct Run<'a> {
    done: Verified,
    count: Count,
    tell: &'a mut (dyn FnMut(Difference) + Send),
}

impl Store {
    /// Looks at everything. `step` is told how many more logs are done, `tell` of each difference.
    ///
    /// # Errors
    /// When the database fails. What cannot be read of one log is a difference.
    pub async fn verify(
        &self,
        step: impl Fn(u64) + Send + Sync,
        tell: &mut (dyn FnMut(Difference) + Send),
    ) -> sqlx::Result<Verified> {
        let mut read = self.read().await?;
        let mut run = Run { done: Verified::default(), count: Count::default(), tell };
        let mut after = String::new();
        loop {
            let ids = machines(&mut read, &after).await?;
            let Some(last) = ids.last() else { break };
            after.clone_from(last);
            for machine in ids {
                let logs = run.logs(&mut read, &machine, &step).await?;
                let days = run.count.machine(logs);
                run.days(&mut read, &machine, days).await?;
            }
        }
        run.strays(&mut read).await?;
        run.rollups(&mut read).await?;
        run.cost_days(&mut read).await?;
        Ok(run.done)
    }

    /// Puts right what [`Store::verify`] found: the verdicts one log at a time, then all counts, for which uploads wait.
    ///
    /// # Errors
    /// When the database fails; what was put right before stays so.
    pub async fn repair(&self, found: &Verified, step: impl Fn(u64)) -> sqlx::Result<()> {
        for log in &found.wrong_logs {
            let mut write = self.write().await?;
            rejudge::judge(&mut write, std::slice::from_ref(log)).await?;
            write.commit().await?;
            step(1);
        }
        self.rebuild_rollups().await?;
        Ok(())
    }

    /// How many logs are stored.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn log_count(&self) -> sqlx::Result<u64> {
        let count: i64 = sqlx::query_scalar("select count(*) from logs").fetch_one(&self.pool).await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

impl Run<'_> {
    /// Holds the verdicts of a machine's logs against new ones, and answers how the logs should count.
    async fn logs(
        &mut self,
        connection: &mut AnyConnection,
        machine: &str,
        step: &(impl Fn(u64) + Sync),
    ) -> sqlx::Result<Vec<Counted>> {
        let mut counted = Vec::new();
        let mut after = String::new();
        loop {
            let sql = format!(
                "select l.id, l.report, l.rules, l.missing_bytes, l.events, l.events_pruned, {} from logs l
                 where l.machine = $1 and l.id > $2 and l.report <> '' order by l.id limit $3",
                Columns::SELECTED
            );
            let query = sqlx::query(AssertSqlSafe(sql)).bind(machine).bind(&after).bind(LOGS);
            let rows = query.fetch_all(&mut *connection).await?;
            let Some(last) = rows.last() else { return Ok(counted) };
            after = last.try_get("id")?;
            for row in &rows {
                let id: String = row.try_get("id")?;
                let tokens = sqlx::query_scalar("select token from log_reasons where log = $1")
                    .bind(&id)
                    .fetch_all(&mut *connection)
                    .await?;
                let stored = Columns::read(row, tokens.into_iter().collect())?;
                if row.try_get::<i64, _>("events_pruned")? != 0 {
                    self.done.pruned += 1;
                    counted.push(stored.counted(machine));
                    continue;
                }
                if row.try_get::<i64, _>("rules")? != i64::from(resolver::RULES) {
                    self.done.other_rules += 1;
                    counted.push(stored.counted(machine));
                    continue;
                }
                self.done.logs += 1;
                match verdict::judge(connection, &id).await {
                    Ok(judged) => {
                        let new = Columns::of(&judged.report, &judged.told);
                        let mut stored = stored.cells();
                        let mut computed = new.cells();
                        for (column, number) in [("missing_bytes", judged.missing_bytes), ("events", judged.events)] {
                            stored.insert(column, Some(row.try_get::<i64, _>(column)?.to_string()));
                            computed.insert(column, Some(number.to_string()));
                        }
                        stored.insert("drift", Drift::stored_cell(connection, &id).await?);
                        computed.insert("drift", judged.drift.cell(&judged.report.runtime));
                        stored.extend(stored_costs(connection, &id).await?.cells());
                        computed.extend(judged.costs.cells());
                        for (column, computed) in computed {
                            let stored = stored.remove(column).flatten();
                            self.compare(&id, column, stored, computed);
                        }
                        self.report(&id, row.try_get("report")?, &judged.report);
                        counted.push(new.counted(machine));
                    }
                    Err(error @ sqlx::Error::Decode(_)) => {
                        self.compare(&id, "records", Some(error.to_string()), None);
                        counted.push(stored.counted(machine));
                    }
                    Err(error) => return Err(error),
                }
            }
            step(rows.len() as u64);
        }
    }

    fn compare(&mut self, log: &str, column: &str, stored: Option<String>, computed: Option<String>) {
        if stored != computed {
            let difference = Difference {
                row: format!("log {log}"),
                column: column.to_owned(),
                stored,
                computed,
                log: Some(log.to_owned()),
            };
            self.tell(difference);
        }
    }

    /// Field by field, since a whole report is too much to read.
    fn report(&mut self, log: &str, stored: &str, computed: &ScanReport) {
        let Ok(stored) = serde_json::from_str::<ScanReport>(stored) else {
            self.compare(log, "report", Some(stored.to_owned()), serde_json::to_string(computed).ok());
            return;
        };
        if stored == *computed {
            return;
        }
        let fields = |report: &ScanReport| match serde_json::to_value(report) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let mut stored = fields(&stored);
        for (name, computed) in fields(computed) {
            let stored = stored.remove(&name).map(|value| value.to_string());
            self.compare(log, &format!("report.{name}"), stored, Some(computed.to_string()));
        }
    }

    /// The days of a machine.
    async fn days(
        &mut self,
        connection: &mut AnyConnection,
        machine: &str,
        computed: BTreeMap<Key, Days>,
    ) -> sqlx::Result<()> {
        let rows = sqlx::query("select dimension, value, block, bits, days from rollup_machines where machine = $1")
            .bind(machine)
            .fetch_all(connection)
            .await?;
        let mut computed: BTreeMap<(String, String, i64), Block> = computed
            .into_iter()
            .flat_map(|(key, days)| days.blocks().into_iter().map(move |block| (key.clone(), block)))
            .map(|(key, block)| ((key.dimension.to_owned(), key.value, block.number), block))
            .collect();
        for row in rows {
            self.done.counts += 1;
            let place = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let stored = Block { number: place.2, bits: row.try_get(3)?, packed: row.try_get(4)? };
            let own = computed.remove(&place);
            self.block(&place, machine, Some(&stored), own.as_ref());
        }
        for (place, block) in computed {
            self.done.counts += 1;
            self.block(&place, machine, None, Some(&block));
        }
        Ok(())
    }

    fn block(
        &mut self,
        (dimension, value, number): &(String, String, i64),
        machine: &str,
        stored: Option<&Block>,
        computed: Option<&Block>,
    ) {
        if stored == computed {
            return;
        }
        // The bits come from the days, so they are worth a word only where those agree.
        let bits = |block: &Block| format!("{:016x}", block.bits);
        let same_days = stored.map(|own| &own.packed) == computed.map(|own| &own.packed);
        let (column, stored, computed) = if same_days {
            ("bits", stored.map(bits), computed.map(bits))
        } else {
            // Hexadecimal digits are what a person can compare.
            let days = |block: &Block| crate::text::hex(&block.packed);
            ("days", stored.map(days), computed.map(days))
        };
        let row = format!("rollup_machines {} {number}", name(dimension, value, machine));
        self.tell(Difference { row, column: column.to_owned(), stored, computed, log: None });
    }

    /// Days of machines that are not there.
    async fn strays(&mut self, connection: &mut AnyConnection) -> sqlx::Result<()> {
        let rows = sqlx::query(
            "select dimension, value, block, bits, days, machine from rollup_machines
             where machine not in (select id from machines)",
        )
        .fetch_all(connection)
        .await?;
        for row in rows {
            let place = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let stored = Block { number: place.2, bits: row.try_get(3)?, packed: row.try_get(4)? };
            self.block(&place, row.try_get(5)?, Some(&stored), None);
        }
        Ok(())
    }

    /// The counts of all machines together.
    async fn rollups(&mut self, connection: &mut AnyConnection) -> sqlx::Result<()> {
        let mut computed: BTreeMap<(String, String, String), Sums> = std::mem::take(&mut self.count.rows)
            .into_iter()
            .map(|(Place { key, day }, sums)| ((key.dimension.to_owned(), day, key.value), sums))
            .collect();
        let sql = format!("select dimension, day, value, {}, machines from rollups", NUMBERS.join(", "));
        let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(connection);
        while let Some(row) = rows.try_next().await? {
            self.done.counts += 1;
            let place = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let mut stored = Sums::default();
            for (index, sum) in stored.iter_mut().enumerate() {
                *sum = row.try_get(index + 3)?;
            }
            let own = computed.remove(&place);
            self.sums(&place, Some(stored), own);
        }
        for (place, sums) in computed {
            self.done.counts += 1;
            self.sums(&place, None, Some(sums));
        }
        Ok(())
    }

    /// What crossed, by day and kind of PC, as the logs' rows say it.
    async fn cost_days(&mut self, connection: &mut AnyConnection) -> sqlx::Result<()> {
        for log in costs::stale(connection).await? {
            let (row, column) = (format!("log_costs {log}"), "what it copies of the log".to_owned());
            self.tell(Difference { row, column, stored: None, computed: None, log: Some(log) });
        }
        let [mut computed, stored] = costs::both(connection).await?;
        let missing: Vec<_> = computed.keys().filter(|place| !stored.contains_key(*place)).cloned().collect();
        let nothing = missing.into_iter().map(|place| (place, costs::Sums::default()));
        for (place, stored) in stored.clone().into_iter().chain(nothing) {
            self.done.counts += 1;
            let computed = computed.remove(&place).unwrap_or_default();
            for ((column, stored), computed) in costs::SUMS.iter().zip(stored).zip(computed) {
                if stored != computed {
                    self.tell(Difference {
                        row: format!("cost_days {:?} {:?}", place.0, place.1),
                        column: (*column).to_owned(),
                        stored: Some(stored.to_string()),
                        computed: Some(computed.to_string()),
                        log: None,
                    });
                }
            }
        }
        Ok(())
    }

    fn sums(
        &mut self,
        (dimension, day, value): &(String, String, String),
        stored: Option<Sums>,
        computed: Option<Sums>,
    ) {
        for (index, column) in NUMBERS.iter().chain(&["machines"]).enumerate() {
            let (stored, computed) = (stored.map(|sums| sums[index]), computed.map(|sums| sums[index]));
            // A row that is missing has no logs, and nothing else either.
            if stored.unwrap_or_default() != computed.unwrap_or_default() {
                self.tell(Difference {
                    row: format!("rollups {}", name(dimension, value, day)),
                    column: (*column).to_owned(),
                    stored: stored.map(|sum| sum.to_string()),
                    computed: computed.map(|sum| sum.to_string()),
                    log: None,
                });
            }
        }
    }

    fn tell(&mut self, difference: Difference) {
        self.done.differences += 1;
        self.done.wrong_logs.extend(difference.log.clone());
        (self.tell)(difference);
    }
}

/// What stands of a log's costs; nothing where its row is missing.
async fn stored_costs(connection: &mut AnyConnection, id: &str) -> sqlx::Result<Costs> {
    let sql = format!("select {} from log_costs c where c.log = $1", Costs::selected());
    let row = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_optional(connection).await?;
    row.map_or_else(|| Ok(Costs::default()), |row| Costs::read(&row))
}

/// As the table spells it.
fn name(dimension: &str, value: &str, third: &str) -> String {
    format!("{dimension:?} {value:?} {third:?}")
}
