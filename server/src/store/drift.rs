//! Words that the vocabulary does not know: kept for each log beside its verdict, and counted by build.

use std::collections::{BTreeMap, HashMap};

use resolver::{Code, Strange};
use serde::Serialize;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use utoipa::ToSchema;
use wire::{Observation, ReasonFacts, Runtime};

use super::filter::Sql;
use super::ingest::{ROWS_PER_INSERT, placeholders};
use super::{Filter, Store, Write};
use crate::{nearest, text};

/// Different words that are kept of one log; a log with more is damaged or hostile, and its findings say so.
const WORDS_PER_LOG: usize = 100;
/// Columns of a row.
const COLUMNS: usize = 7;

/// The unknown words of one log, while it is judged.
#[derive(Clone, Default)]
pub struct Drift(BTreeMap<(WordKind, String), Seen>);

#[derive(Clone)]
struct Seen {
    records: i64,
    line: i64,
    example: String,
}

/// What kind of word is not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WordKind {
    /// A reason token.
    Token,
    /// A record of ours in an unknown wording.
    Shape,
}

/// An unknown word of one build.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct UnknownWord {
    /// Token or shape.
    pub kind: WordKind,
    /// The token, or the marker that the record starts with: all that travels of a record that nobody knows.
    pub what: String,
    /// Tag of the build, else its version; null when the logs do not tell.
    pub build: Option<String>,
    /// Logs that have it.
    pub logs: i64,
    /// Distinct machines among them.
    pub machines: i64,
    /// Records that have it.
    pub records: i64,
    /// Local day of the first of those logs.
    pub first_seen: Option<String>,
    /// Local day of the last.
    pub last_seen: Option<String>,
    /// One of the places.
    pub example: Example,
    /// The known word that looks most like it.
    pub nearest: Option<Nearest>,
}

/// Where an unknown word can be looked at.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
pub struct Example {
    /// For `/api/v1/logs/{id}`.
    pub log: String,
    /// 1-based line of its first record there.
    pub line: i64,
    /// What the record says, as far as its values tell.
    pub text: String,
}

/// A known word.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct Nearest {
    /// A reason token, or the id of a shape, see `docs/shapes.md`.
    pub name: String,
    /// Letters to insert, remove or replace; of a shape, in as much of its beginning as the marker is long.
    pub distance: u64,
}

impl WordKind {
    /// The word of the column.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Shape => "shape",
        }
    }
}

impl WordKind {
    /// The kind with this word.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        [Self::Token, Self::Shape].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl Drift {
    /// Looks at the next record.
    pub(super) fn take(&mut self, observation: &Observation) {
        for word in resolver::strange(observation) {
            let (kind, word) = match &word {
                Strange::Token(token) => (WordKind::Token, token.as_ref()),
                Strange::Shape(marker) => (WordKind::Shape, *marker),
            };
            let key = (kind, text::brief(word.trim_end()));
            if let Some(seen) = self.0.get_mut(&key) {
                seen.records += 1;
            } else if self.0.len() < WORDS_PER_LOG {
                let line = i64::try_from(observation.line()).unwrap_or(i64::MAX);
                self.0.insert(key, Seen { records: 1, line, example: example(observation, word) });
            }
        }
    }

    /// About what it takes in memory.
    pub(super) fn size_bytes(&self) -> usize {
        self.0.iter().map(|((_, what), seen)| what.len() + seen.example.len() + 100).sum()
    }

    /// Replaces what is stored of the log. `before` is its report until now: its findings tell whether it had any.
    pub(super) async fn put(
        &self,
        write: &mut Write<'_>,
        id: &str,
        before: &str,
        runtime: &Runtime,
    ) -> sqlx::Result<()> {
        let had_some =
            [Code::UnknownReasonToken, Code::UnrecognisedShape].iter().any(|code| before.contains(code.as_str()));
        if self.0.is_empty() && !had_some {
            return Ok(());
        }
        sqlx::query("delete from log_drift where log = $1").bind(id).execute(write.connection()).await?;
        let build = build(runtime);
        let rows: Vec<_> = self.0.iter().collect();
        for chunk in rows.chunks(ROWS_PER_INSERT) {
            let sql = format!(
                "insert into log_drift (log, kind, what, build, records, line, example) values {}",
                placeholders(chunk.len(), COLUMNS)
            );
            // The text holds nothing but a count of placeholders.
            let mut query = sqlx::query(AssertSqlSafe(sql));
            for ((kind, what), seen) in chunk {
                query = query
                    .bind(id)
                    .bind(kind.as_str())
                    .bind(what)
                    .bind(&build)
                    .bind(seen.records)
                    .bind(seen.line)
                    .bind(&seen.example);
            }
            query.execute(write.connection()).await?;
        }
        Ok(())
    }
}

impl Drift {
    /// The rows as text, for comparing: a person reads them.
    pub(super) fn cell(&self, runtime: &Runtime) -> Option<String> {
        let build = build(runtime);
        lines(self.0.iter().map(|((kind, what), seen)| {
            line(kind.as_str(), what, build.as_deref(), seen.records, seen.line, &seen.example)
        }))
    }

    /// The same of what is stored of a log.
    pub(super) async fn stored_cell(connection: &mut AnyConnection, id: &str) -> sqlx::Result<Option<String>> {
        let sql = "select kind, what, build, records, line, example from log_drift where log = $1";
        let rows = sqlx::query(sql).bind(id).fetch_all(connection).await?;
        let rows = rows.iter().map(|row| {
            let build: Option<&str> = row.try_get(2)?;
            let (records, place) = (row.try_get(3)?, row.try_get(4)?);
            Ok(line(row.try_get(0)?, row.try_get(1)?, build, records, place, row.try_get(5)?))
        });
        Ok(lines(rows.collect::<sqlx::Result<Vec<_>>>()?.into_iter()))
    }
}

fn build(runtime: &Runtime) -> Option<String> {
    runtime.build.as_ref().or(runtime.version.as_ref()).map(|build| text::for_column(build))
}

fn line(kind: &str, what: &str, build: Option<&str>, records: i64, line: i64, example: &str) -> String {
    format!("{kind} {what:?} of {}: {records} from line {line}, {example:?}", build.unwrap_or("no build"))
}

/// Sorted here, because databases do not agree on the order of text.
fn lines(rows: impl Iterator<Item = String>) -> Option<String> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    (!rows.is_empty()).then(|| rows.join("; "))
}

/// The record as the runtime put it, where its values tell that.
fn example(observation: &Observation, word: &str) -> String {
    let body = match observation {
        Observation::Event(event) => parser::format::body(event),
        Observation::Flaw(_) => None,
    };
    text::brief(&body.map_or(word.into(), |body| String::from_utf8_lossy(&body).into_owned()))
}

impl Store {
    /// The unknown words of the logs that the filter lets through, by build, those of most logs first, at most `limit`;
    /// and how many more there are.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn drift(&self, filter: &Filter, limit: u32) -> sqlx::Result<(Vec<UnknownWord>, i64)> {
        let mut sql = Sql::default();
        sql.push(
            "select d.kind, d.what, d.build, count(*) as logs, count(distinct l.machine) as machines,
                cast(sum(d.records) as bigint) as records, min(l.day) as first_seen, max(l.day) as last_seen,
                min(d.log) as example, count(*) over () as words
             from log_drift d join logs l on l.id = d.log",
        );
        filter.push_where(&mut sql);
        let limit = sql.bind(i64::from(limit));
        sql.push(" group by d.kind, d.what, d.build order by logs desc, d.kind, d.what, d.build limit ");
        sql.push(&limit);
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        let all: i64 = rows.first().map(|row| row.try_get("words")).transpose()?.unwrap_or(0);
        let mut words = rows.iter().map(word).collect::<sqlx::Result<Vec<_>>>()?;
        self.add_places(&mut words).await?;
        // Sorted here, because databases do not agree on the order of text.
        words.sort_by(|a, b| (b.logs, a.kind, &a.what, &a.build).cmp(&(a.logs, b.kind, &b.what, &b.build)));
        let left_out = all - i64::try_from(words.len()).unwrap_or(i64::MAX);
        Ok((words, left_out))
    }

    /// How many of them [`Store::drift`] would find over all logs, without looking at a log.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unknown_words(&self) -> sqlx::Result<i64> {
        sqlx::query_scalar("select count(*) from (select distinct kind, what, build from log_drift) as words")
            .fetch_one(&self.pool)
            .await
    }

    /// Where the examples stand and what is said there.
    async fn add_places(&self, words: &mut [UnknownWord]) -> sqlx::Result<()> {
        let mut places = HashMap::new();
        let logs: Vec<_> = words.iter().map(|word| word.example.log.clone()).collect();
        for chunk in logs.chunks(ROWS_PER_INSERT) {
            let list: Vec<_> = (1..=chunk.len()).map(|number| format!("${number}")).collect();
            let sql =
                format!("select log, kind, what, line, example from log_drift where log in ({})", list.join(", "));
            let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), sqlx::query::Query::bind);
            for row in query.fetch_all(&self.pool).await? {
                let key: (String, WordKind, String) = (row.try_get("log")?, kind(&row)?, row.try_get("what")?);
                let place: (i64, String) = (row.try_get("line")?, row.try_get("example")?);
                places.insert(key, place);
            }
        }
        for word in words {
            // A log that is gone by now leaves its place open.
            if let Some((line, text)) = places.remove(&(word.example.log.clone(), word.kind, word.what.clone())) {
                (word.example.line, word.example.text) = (line, text);
            }
        }
        Ok(())
    }
}

fn kind(row: &AnyRow) -> sqlx::Result<WordKind> {
    let word: &str = row.try_get("kind")?;
    Ok(if word == WordKind::Token.as_str() { WordKind::Token } else { WordKind::Shape })
}

fn word(row: &AnyRow) -> sqlx::Result<UnknownWord> {
    let kind = kind(row)?;
    let what: String = row.try_get("what")?;
    let nearest = match kind {
        WordKind::Token => nearest::of(&what, ReasonFacts::ALL.iter().map(|facts| (facts.token, facts.token))),
        WordKind::Shape => {
            nearest::of_start(&what, parser::vocabulary::rows().iter().map(|row| (row.shape.id, row.shape.format)))
        }
    };
    Ok(UnknownWord {
        kind,
        build: row.try_get("build")?,
        logs: row.try_get("logs")?,
        machines: row.try_get("machines")?,
        records: row.try_get("records")?,
        first_seen: row.try_get("first_seen")?,
        last_seen: row.try_get("last_seen")?,
        example: Example { log: row.try_get("example")?, ..Example::default() },
        nearest: nearest.map(|(name, distance)| Nearest { name: name.to_owned(), distance: distance as u64 }),
        what,
    })
}
