//! What the databases tell of themselves: size, damage, settings, clock. Here, and only here, each is asked in its own words.

use sqlx::{AssertSqlSafe, Row};

use super::{Place, Store};

/// Problems that are listed; a damaged file has thousands.
const MOST: usize = 20;

/// What a search for damage found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checkup {
    /// In the database's words; empty when it is whole.
    pub problems: Vec<String>,
}

impl Store {
    /// Bytes that the database takes, and how many of them are free for new rows.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn size_bytes(&self) -> sqlx::Result<(u64, u64)> {
        if self.is_file() {
            let mut numbers = [0; 3];
            for (number, pragma) in numbers.iter_mut().zip(["page_size", "page_count", "freelist_count"]) {
                *number = self.number(&format!("pragma {pragma}")).await?;
            }
            let [size, count, free] = numbers.map(i64::cast_unsigned);
            return Ok((size * count, size * free));
        }
        Ok((self.number("select pg_database_size(current_database())").await?.cast_unsigned(), 0))
    }

    /// Looks for damage: pages, indexes and references of SQLite; what PostgreSQL itself has noticed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn integrity(&self) -> sqlx::Result<Checkup> {
        let problems = if self.is_file() {
            let mut said = self.texts(&format!("pragma quick_check({MOST})")).await?;
            said.retain(|line| line != "ok");
            let orphans = self.texts("select distinct \"table\" from pragma_foreign_key_check").await?;
            said.extend(orphans.into_iter().map(|table| format!("rows of {table} refer to rows that are not there")));
            said
        } else {
            self.texts(
                "select 'the index ' || cast(indexrelid::regclass as text) || ' is not valid' from pg_index
                 join pg_class on pg_class.oid = indexrelid
                 where not indisvalid and relnamespace = current_schema()::regnamespace
                 union all
                 select 'pages with a wrong checksum: ' || checksum_failures from pg_stat_database
                 where datname = current_database() and checksum_failures > 0",
            )
            .await?
        };
        Ok(Checkup { problems })
    }

    /// Settings under which a committed write is not safe from a power cut, as `name=value`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unsafe_settings(&self) -> sqlx::Result<Vec<String>> {
        if self.is_file() {
            let mode = self.texts("pragma journal_mode").await?;
            let weak = self.number("pragma synchronous").await? < 2;
            let unsafe_modes = mode.into_iter().filter(|mode| mode == "off" || mode == "memory");
            let mut found: Vec<_> = unsafe_modes.map(|mode| format!("journal_mode={mode}")).collect();
            found.extend(weak.then(|| "synchronous below full".to_owned()));
            return Ok(found);
        }
        self.texts(
            "select name || '=' || setting from pg_settings
             where setting = 'off' and name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name",
        )
        .await
    }

    /// Bytes of SQLite's write-ahead log; `None` for PostgreSQL.
    pub fn wal_bytes(&self) -> Option<u64> {
        let Place::File(file) = &self.place else { return None };
        let mut log = file.clone().into_os_string();
        log.push("-wal");
        Some(std::fs::metadata(log).map_or(0, |log| log.len()))
    }

    /// Age of the oldest open transaction of others; 0 for SQLite.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn oldest_transaction_s(&self) -> sqlx::Result<i64> {
        if self.is_file() {
            return Ok(0);
        }
        self.number(
            "select coalesce(max(cast(extract(epoch from clock_timestamp() - xact_start) as bigint)), 0)
             from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
        )
        .await
    }

    /// The database's clock, in milliseconds since 1970; `None` where it is this machine's.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn database_time_ms(&self) -> sqlx::Result<Option<i64>> {
        if self.is_file() {
            return Ok(None);
        }
        self.number("select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)").await.map(Some)
    }

    /// When the newest upload came, RFC 3339.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn newest_contact(&self) -> sqlx::Result<Option<String>> {
        sqlx::query_scalar("select max(last_contact) from machines").fetch_one(&self.pool).await
    }

    /// How many logs start at or behind a moment, in seconds since 1970 by their own clock.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn logs_from(&self, started_s: i64) -> sqlx::Result<i64> {
        sqlx::query_scalar("select count(*) from logs where started_s >= $1")
            .bind(started_s)
            .fetch_one(&self.pool)
            .await
    }

    /// How many logs the counts that are kept tell, and how many there are.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn counted_logs(&self) -> sqlx::Result<(i64, i64)> {
        // One statement, so that nothing comes in between.
        let row = sqlx::query(
            "select (select cast(coalesce(sum(logs), 0) as bigint) from rollups where dimension = '' and day = 'all'),
                 (select count(*) from logs)",
        )
        .fetch_one(&self.pool)
        .await?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }

    const fn is_file(&self) -> bool {
        matches!(self.place, Place::File(_))
    }

    async fn number(&self, sql: &str) -> sqlx::Result<i64> {
        sqlx::query(AssertSqlSafe(sql)).fetch_one(&self.pool).await?.try_get(0)
    }

    async fn texts(&self, sql: &str) -> sqlx::Result<Vec<String>> {
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&self.pool).await
    }
}
