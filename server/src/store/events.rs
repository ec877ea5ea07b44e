//! The records of a log: those that decide or explain its verdict, and all of them for export.

use std::collections::{BTreeMap, BTreeSet};

use resolver::{Examination, Examiner};
use sqlx::{AnyConnection, Row};
use triage::explain::{Dossier, Gathering};
use triage::one::Found;
use wire::{ByteLedger, Kind, LogFacts, Observation, ScanReport};

use super::bodies::{StoredBody, offset};
use super::{Store, corrupt, stored};
use crate::text;

/// Kinds that bear on a verdict by themselves. The others (windows of counters, details, teardown) are evidence only
/// where the report cites their line.
const DECISIVE: &[Kind] = &[
    Kind::Placement,
    Kind::PlacementUnreadable,
    Kind::PlacementChanged,
    Kind::Device,
    Kind::Ingest,
    Kind::SplitNoop,
    Kind::SplitEngaged,
    Kind::BridgeEngaged,
    Kind::SplitDisabled,
    Kind::SplitRefused,
    Kind::DeviceFailed,
    Kind::SplitRetired,
    Kind::BridgeDegraded,
    Kind::GlAdvisory,
    Kind::GlInterop,
    Kind::GlCrossing,
    Kind::RenderChoice,
    Kind::OverrideFollowed,
    Kind::OverrideIgnored,
    Kind::ClientCrossing,
    Kind::Scanout,
    Kind::IngestForced,
    Kind::Presenter,
    Kind::ClientAdapter,
    Kind::ServiceMode,
    Kind::RuntimeVersion,
    Kind::PluginFallback,
    Kind::Compositor,
    Kind::DeviceRemoved,
    Kind::Failure,
    Kind::SuggestedGpuMissing,
];

/// Ranges that a page of rows looks at together.
const RANGES: i64 = 500;

/// The evidence of one log, in file order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// What the parser saw.
    pub observations: Vec<Observation>,
    /// How many more there are behind the limit.
    pub left_out: u64,
}

/// One observation, flat, for export.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the columns, which the migration explains")]
pub struct EventRow {
    pub log: String,
    pub machine: String,
    pub record_offset: i64,
    pub ordinal: i64,
    pub line: i64,
    pub kind: String,
    pub shape: Option<String>,
    pub body: String,
}

/// Where a page of event rows begins: log, offset, ordinal.
pub type EventCursor = (String, i64, i64);

impl Store {
    /// The records that bear on the verdict of a log, at most `limit`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn evidence(&self, id: &str, report: &ScanReport, limit: u32) -> sqlx::Result<Evidence> {
        let search = Search { cited: cited_lines(report), limit: limit as usize, found: Evidence::default() };
        let mut connection = self.pool.acquire().await?;
        Ok(stored::walk(&mut connection, id, search, Search::take).await?.found)
    }

    /// What one log tells when it is read once more: expected beside observed. `None` when it is gone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn examine(&self, id: &str) -> sqlx::Result<Option<Examination>> {
        let mut connection = self.pool.acquire().await?;
        let row = sqlx::query("select facts from logs where id = $1").bind(id).fetch_optional(&mut *connection).await?;
        let Some(row) = row else { return Ok(None) };
        let facts: LogFacts = serde_json::from_str(row.try_get(0)?).map_err(corrupt)?;
        let push = |examiner: &mut Examiner, observations: &[Observation]| {
            for observation in observations {
                examiner.push(observation);
            }
        };
        let examiner = stored::walk(&mut connection, id, Examiner::new(), push).await?;
        Ok(Some(examiner.finish(&facts)))
    }

    /// Everything that is to be said of one log, as `weavewatch explain` says it of a file. `None` when the log, or what it
    /// was judged by, is gone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn dossier(&self, id: &str) -> sqlx::Result<Option<(Dossier, ByteLedger)>> {
        let mut connection = self.pool.acquire().await?;
        let row = sqlx::query("select file, facts from logs where id = $1 and events_pruned = 0")
            .bind(id)
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let name: String = row.try_get(0)?;
        let facts: LogFacts = serde_json::from_str(row.try_get(1)?).map_err(corrupt)?;
        let bytes = facts.bytes;
        let push = |gathering: &mut Gathering, observations: &[Observation]| {
            for observation in observations {
                gathering.push(observation);
            }
        };
        let gathering = stored::walk(&mut connection, id, Gathering::default(), push).await?;
        Ok(Some((gathering.finish(Found { name, facts, notes: Vec::new(), error: None }), bytes)))
    }

    /// At most `limit` flat rows behind `after`, by log, offset and ordinal. Where a page is full with whole ranges it ends
    /// there, so it may be shorter; only behind the last row it is empty.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn event_rows(&self, after: &EventCursor, limit: u32) -> sqlx::Result<Vec<EventRow>> {
        let mut connection = self.pool.acquire().await?;
        let mut rows = Vec::new();
        // The range that owns the cursor's record, and from there on.
        let mut from = (after.0.clone(), owner(&mut connection, &after.0, after.1).await?);
        loop {
            let (ranges, next) = page(&mut connection, &from).await?;
            let mut rest = ranges.as_slice();
            while let Some(first) = rest.first() {
                let wanted = i64::from(limit) - i64::try_from(rows.len()).unwrap_or(i64::MAX);
                let count = group(rest, wanted);
                if count == 0 && !rows.is_empty() {
                    return Ok(rows);
                }
                let (own, behind) = rest.split_at(count.max(1));
                rest = behind;
                let last = own.last().unwrap_or(first);
                let bodies =
                    stored::bodies(&mut connection, (&first.log, first.start), (&last.log, last.start)).await?;
                let (own, after) = (own.to_vec(), after.clone());
                let read = tokio::task::spawn_blocking(move || flat(&own, &bodies, &after, wanted));
                rows.extend(read.await.map_err(|error| sqlx::Error::Io(error.into()))??);
            }
            match next {
                Some(next) if rows.is_empty() => from = next,
                _ => return Ok(rows),
            }
        }
    }
}

/// Looks through a log.
struct Search {
    cited: BTreeSet<u64>,
    limit: usize,
    found: Evidence,
}

impl Search {
    fn take(&mut self, observations: &[Observation]) {
        for observation in observations {
            let decides = matches!(observation, Observation::Event(event) if DECISIVE.contains(&event.kind));
            if !decides && !self.cited.contains(&observation.line()) {
                continue;
            }
            if self.found.observations.len() < self.limit {
                self.found.observations.push(observation.clone());
            } else {
                self.found.left_out += 1;
            }
        }
    }
}

/// Where a range's rows are.
#[derive(Clone)]
struct Place {
    log: String,
    machine: String,
    start: i64,
    /// Where the next range of the log begins.
    limit: i64,
    observations: i64,
    plain_bytes: i64,
}

/// Where the range starts that owns a record.
async fn owner(connection: &mut AnyConnection, log: &str, record_offset: i64) -> sqlx::Result<i64> {
    sqlx::query("select coalesce(max(start_offset), -1) from log_ranges where log = $1 and start_offset <= $2")
        .bind(log)
        .bind(record_offset)
        .fetch_one(connection)
        .await?
        .try_get(0)
}

/// Some ranges from one on, and where the next ones begin.
async fn page(
    connection: &mut AnyConnection,
    from: &(String, i64),
) -> sqlx::Result<(Vec<Place>, Option<(String, i64)>)> {
    let rows = sqlx::query(
        "select r.log, l.machine, r.start_offset, r.observations, r.plain_bytes
         from log_ranges r join logs l on l.id = r.log
         where (r.log, r.start_offset) >= ($1, $2)
         order by r.log, r.start_offset limit $3",
    )
    .bind(&from.0)
    .bind(from.1)
    .bind(RANGES + 1)
    .fetch_all(connection)
    .await?;
    let mut places = Vec::with_capacity(rows.len());
    for row in &rows {
        let (log, start): (String, i64) = (row.try_get(0)?, row.try_get(2)?);
        if let Some(before) = places.last_mut().filter(|before: &&mut Place| before.log == log) {
            before.limit = start;
        }
        let (machine, observations, plain_bytes) = (row.try_get(1)?, row.try_get(3)?, row.try_get(4)?);
        places.push(Place { log, machine, start, limit: i64::MAX, observations, plain_bytes });
    }
    // One more tells whether there are more, and how far the last one reaches.
    let next = if i64::try_from(rows.len()).is_ok_and(|rows| rows > RANGES) { places.pop() } else { None };
    Ok((places, next.map(|next| (next.log, next.start))))
}

/// How many of the first ranges fit into so many rows, and into memory.
fn group(places: &[Place], rows: i64) -> usize {
    let (mut observations, mut plain_bytes) = (0, 0);
    let fit = places.iter().take_while(|place| {
        observations += place.observations;
        plain_bytes += place.plain_bytes;
        observations <= rows && plain_bytes <= stored::GROUP_BYTES
    });
    fit.count()
}

/// The rows behind `after`, at most `limit`.
fn flat(places: &[Place], bodies: &[StoredBody], after: &EventCursor, limit: i64) -> sqlx::Result<Vec<EventRow>> {
    let bodies: BTreeMap<_, _> = bodies.iter().map(|body| ((body.log.as_str(), body.range.start), body)).collect();
    let mut rows = Vec::new();
    for place in places {
        // Another upload can have taken its place a moment ago.
        let Some(body) = bodies.get(&(place.log.as_str(), place.start)) else { continue };
        let (mut record_offset, mut ordinal) = (-1, 0);
        for observation in body.read(place.limit)? {
            let offset = offset(&observation);
            ordinal = if offset == record_offset { ordinal + 1 } else { 0 };
            record_offset = offset;
            if i64::try_from(rows.len()).is_ok_and(|rows| rows >= limit) {
                return Ok(rows);
            }
            if (place.log.as_str(), offset, ordinal) > (after.0.as_str(), after.1, after.2) {
                rows.push(event_row(place, record_offset, ordinal, &observation)?);
            }
        }
    }
    Ok(rows)
}

fn event_row(place: &Place, record_offset: i64, ordinal: i64, observation: &Observation) -> sqlx::Result<EventRow> {
    let (kind, shape) = match observation {
        Observation::Event(event) => (text::word(&event.kind), Some(text::for_column(&event.shape))),
        Observation::Flaw(flaw) => (text::word(&flaw.kind), None),
    };
    Ok(EventRow {
        log: place.log.clone(),
        machine: place.machine.clone(),
        record_offset,
        ordinal,
        line: i64::try_from(observation.line()).unwrap_or(i64::MAX),
        kind,
        shape,
        body: serde_json::to_string(observation).map_err(corrupt)?,
    })
}

/// The lines that verdict, sessions and findings name.
fn cited_lines(report: &ScanReport) -> BTreeSet<u64> {
    let sessions = report
        .sessions
        .iter()
        .flat_map(|session| [session.line].into_iter().chain(session.changed.iter().map(|changed| changed.line)));
    let findings = report.findings.iter().filter_map(|finding| finding.line);
    report.verdict.line.into_iter().chain(sessions).chain(findings).collect()
}
