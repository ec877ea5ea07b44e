//! The last log of a machine in which all was well: what another one is compared with.

use sqlx::AssertSqlSafe;

use super::filter::Sql;
use super::{NO_START_S, Store};
use crate::text;

impl Store {
    /// The newest log of the machine that ended well, of this program where it is named, and that started before this local
    /// time where one is told. Never the log `but` itself.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn last_good(
        &self,
        machine: &str,
        exe: Option<&str>,
        before: Option<&str>,
        but: Option<&str>,
    ) -> sqlx::Result<Option<String>> {
        let mut sql = Sql::default();
        let (machine, none) = (sql.bind(machine.to_owned()), sql.bind(NO_START_S));
        sql.push(&format!(
            "select id from logs where machine = {machine} and outcome in ('engaged', 'local') and started_s > {none}"
        ));
        if let Some(exe) = exe {
            let exe = sql.bind(text::for_column(exe));
            sql.push(&format!(" and exe = {exe}"));
        }
        if let Some(before) = before.and_then(text::local_time) {
            let before = sql.bind(text::seconds(before));
            sql.push(&format!(" and started_s < {before}"));
        }
        if let Some(but) = but {
            let but = sql.bind(but.to_owned());
            sql.push(&format!(" and id <> {but}"));
        }
        sql.push(" order by started_s desc, id desc limit 1");
        sqlx::query_scalar_with(AssertSqlSafe(sql.text), sql.arguments).fetch_optional(&self.pool).await
    }
}
