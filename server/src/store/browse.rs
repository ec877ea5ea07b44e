//! Machines as people look through them: those with logs that the filters let through, a page at a time, each with its
//! newest log.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, Row};

use super::filter::Sql;
use super::machines::machine_row;
use super::{Dimension, Filter, Group, Machine, Store, StoredLever, corrupt};

/// A machine of such a page.
#[derive(Clone, PartialEq, Debug)]
pub struct Browsed {
    /// What its agent said last, and all its logs counted.
    pub machine: Machine,
    /// Those of its logs that the filters let through; `None` where there are none.
    pub group: Option<Group>,
    /// Its newest log, with the start in seconds as `logs.started_s` has it.
    pub newest: Option<(String, i64)>,
    /// What somebody set there, by variable, as its newest log says that tells of it.
    pub settings: BTreeMap<String, StoredLever>,
}

/// Which machines are looked through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted<'a> {
    /// The first digits of their ids.
    pub prefix: &'a str,
    /// Only those where somebody set this variable, as the newest log says that tells of it; an empty name stands for any.
    pub setting: Option<&'a str>,
}

/// A machine's newest log, and what somebody set there.
type Newest = ((String, i64), BTreeMap<String, StoredLever>);

impl Store {
    /// At most `limit` machines of the wanted ones whose id comes behind `after`, and where the next page begins. With
    /// filters only those that have a log which they let through.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn browse(
        &self,
        filter: &Filter,
        wanted: Wanted<'_>,
        after: &str,
        limit: u32,
    ) -> sqlx::Result<(Vec<Browsed>, Option<String>)> {
        let mut ids = self.browsed_ids(filter, wanted, after, limit).await?;
        // One more tells whether there is a next page.
        let more = ids.len() > limit as usize;
        ids.truncate(limit as usize);
        let next = ids.last().filter(|_| more).cloned();
        if ids.is_empty() {
            return Ok((Vec::new(), None));
        }
        let mut sql = Sql::of(include_str!("machines.sql"));
        push_ids(&mut sql, " where m.id in ", &ids);
        sql.push(" order by m.id");
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        let machines = self.with_losses(rows.iter().map(machine_row).collect::<sqlx::Result<_>>()?).await?;
        let mut newest = self.newest_logs(&ids, wanted.setting.unwrap_or_default()).await?;
        let mut groups = BTreeMap::new();
        for group in self.groups(&filter.of_machines(&ids), Dimension::Machine).await? {
            let key = group.key.get(Dimension::Machine.as_str()).and_then(|key| key.as_str()).map(str::to_owned);
            groups.insert(key.unwrap_or_default(), group);
        }
        let browsed = machines.into_iter().map(|machine| {
            let (newest, settings) = newest.remove(&machine.id).unzip();
            Browsed { group: groups.remove(&machine.id), newest, settings: settings.unwrap_or_default(), machine }
        });
        Ok((browsed.collect(), next))
    }

    async fn browsed_ids(
        &self,
        filter: &Filter,
        Wanted { prefix, setting }: Wanted<'_>,
        after: &str,
        limit: u32,
    ) -> sqlx::Result<Vec<String>> {
        if setting.is_none()
            && *filter != Filter::default()
            && let Some(picked) = self.counting().await?.picked(filter).await?
        {
            let mut ids: Vec<_> =
                picked.machines().map(|number| &*picked.words().machines.values()[number as usize]).collect();
            ids.retain(|id| *id > after && id.starts_with(prefix));
            ids.sort_unstable();
            return Ok(ids.into_iter().take(limit as usize + 1).map(str::to_owned).collect());
        }
        let mut sql = Sql::default();
        let column = if *filter == Filter::default() {
            sql.push("select m.id from machines m");
            "m.id"
        } else {
            sql.push("select distinct l.machine from logs l");
            filter.push_where(&mut sql);
            "l.machine"
        };
        // Ids are hex digits, so everything that begins like this sorts in front of it with a `g` behind.
        let (after, first, last) =
            (sql.bind(after.to_owned()), sql.bind(prefix.to_owned()), sql.bind(format!("{prefix}g")));
        if let Some(name) = setting {
            let named = sql.bind(naming(name));
            sql.and(&format!("{} like {named}", settings_of(column, &named)));
        }
        let limit = sql.bind(i64::from(limit) + 1);
        sql.and(&format!("{column} > {after} and {column} >= {first} and {column} < {last}"));
        sql.push(&format!(" order by {column} limit {limit}"));
        sqlx::query_scalar_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await
    }

    /// The newest log of each machine, and its settings where they tell of this one.
    async fn newest_logs(&self, ids: &[String], setting: &str) -> sqlx::Result<BTreeMap<String, Newest>> {
        let mut sql = Sql::default();
        let named = sql.bind(naming(setting));
        sql.push(&format!(
            "select l.machine, l.id, l.started_s, {} from machines m join logs l on l.id =
                 (select n.id from logs n where n.machine = m.id order by n.started_s desc, n.id desc limit 1)",
            settings_of("m.id", &named)
        ));
        push_ids(&mut sql, " where m.id in ", ids);
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                let settings: Option<&str> = row.try_get(3)?;
                let settings = settings.map(serde_json::from_str).transpose().map_err(corrupt)?.unwrap_or_default();
                Ok((row.try_get(0)?, ((row.try_get(1)?, row.try_get(2)?), settings)))
            })
            .collect()
    }
}

/// What `logs.settings` is like where it names this variable; where it names any, for an empty name.
fn naming(setting: &str) -> String {
    // The column holds names as JSON does; a quote in a value stands behind a backslash, so it ends no name.
    if setting.is_empty() { "%".to_owned() } else { format!("%\"{setting}\":%") }
}

/// SQL for the settings of a machine. A log that does not name the variable says that it is not set only when it tells how the
/// weave ran: the log of a client of the service, or of a process without a session, says nothing about it.
fn settings_of(machine: &str, named: &str) -> String {
    format!(
        "(select n.settings from logs n
           where n.machine = {machine} and (n.settings like {named} or n.split <> 'unknown')
           order by n.started_s desc, n.id desc limit 1)"
    )
}

fn push_ids(sql: &mut Sql, lead: &str, ids: &[String]) {
    let ids: Vec<_> = ids.iter().map(|id| sql.bind(id.clone())).collect();
    sql.push(&format!("{lead}({})", ids.join(", ")));
}
