//! What one range of a log holds, as it is stored: its observations as JSON, one a line, packed with zstd.
//!
//! A row for every record would take ten times the room and as many insertions. Whoever wants single records reads a range
//! at a time; a range holds no more than one upload brought, or than `ranges.rs` joins.

use std::io;

use sqlx::Row;
use sqlx::any::AnyRow;
use wire::Observation;

use super::corrupt;
use super::ranges::Range;

/// The default of zstd: higher levels cost more than they save on texts that are that much alike.
const LEVEL: i32 = 3;

/// The columns of `log_ranges` that [`StoredBody`] is made of.
pub const COLUMNS: &str = "r.log, r.start_offset, r.end_offset, r.body, r.plain";

/// Observations as a row takes them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// How many.
    pub observations: i64,
    /// Their JSON before it was packed.
    pub plain_bytes: i64,
    /// Packed; none when there are no observations.
    pub packed: Option<Vec<u8>>,
}

/// The row of a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredBody {
    /// The log's id.
    pub log: String,
    /// Where it is in the log.
    pub range: Range,
    packed: Option<Vec<u8>>,
    /// Rows that a migration made are not packed.
    plain: Option<String>,
}

impl Body {
    /// Packs observations, which stand by offset.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn pack(observations: &[Observation]) -> io::Result<Self> {
        if observations.is_empty() {
            return Ok(Self::default());
        }
        let mut plain = Vec::with_capacity(observations.len() * 512);
        for observation in observations {
            serde_json::to_writer(&mut plain, observation)?;
            plain.push(b'\n');
        }
        Ok(Self {
            observations: number(observations.len()),
            plain_bytes: number(plain.len()),
            packed: Some(zstd::bulk::compress(&plain, LEVEL)?),
        })
    }
}

impl StoredBody {
    /// From a row with [`COLUMNS`].
    ///
    /// # Errors
    /// When it is no such row.
    pub fn from_row(row: &AnyRow) -> sqlx::Result<Self> {
        Ok(Self {
            log: row.try_get(0)?,
            range: Range { start: row.try_get(1)?, end: row.try_get(2)? },
            packed: row.try_get(3)?,
            plain: row.try_get(4)?,
        })
    }

    /// Unpacks the observations in front of `limit`, where a later range begins. Slow for a large range, so not for an async
    /// thread.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&self, limit: i64) -> sqlx::Result<Vec<Observation>> {
        let unpacked;
        let plain = match (&self.packed, &self.plain) {
            (Some(packed), _) => {
                unpacked = zstd::decode_all(packed.as_slice()).map_err(|error| sqlx::Error::Decode(error.into()))?;
                unpacked.as_slice()
            }
            (None, Some(plain)) => plain.as_bytes(),
            (None, None) => return Ok(Vec::new()),
        };
        let lines = serde_json::Deserializer::from_slice(plain).into_iter::<Observation>();
        let mut observations = lines.collect::<Result<Vec<_>, _>>().map_err(corrupt)?;
        observations.truncate(observations.partition_point(|one| offset(one) < limit));
        Ok(observations)
    }
}

/// Where an observation stands; offsets were checked to fit when the batch was read.
pub fn offset(observation: &Observation) -> i64 {
    i64::try_from(observation.offset()).unwrap_or(i64::MAX)
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use wire::{Flaw, FlawKind};

    use super::*;

    fn flaw(offset: u64) -> Observation {
        Observation::Flaw(Flaw { offset, line: 1, kind: FlawKind::Spliced, marker: None, hint: None })
    }

    fn stored(packed: Option<Vec<u8>>, plain: Option<&str>) -> StoredBody {
        StoredBody { log: "a".to_owned(), range: Range { start: 0, end: 100 }, packed, plain: plain.map(str::to_owned) }
    }

    #[test]
    fn what_is_packed_comes_back_up_to_the_limit() {
        let all: Vec<_> = [3, 7, 7, 50].map(flaw).into();
        let body = Body::pack(&all).expect("memory suffices");
        assert_eq!(body.observations, 4);
        let stored = stored(body.packed, None);
        assert_eq!(stored.read(100).expect("it is ours"), all);
        assert_eq!(stored.read(50).expect("it is ours"), all[..3]);
        assert_eq!(stored.read(7).expect("it is ours"), all[..1]);
    }

    #[test]
    fn nothing_takes_no_room_and_lines_are_read_as_well() {
        assert_eq!(Body::pack(&[]).expect("memory suffices"), Body::default());
        assert_eq!(stored(None, None).read(100).expect("nothing to read"), []);
        let line = |offset| serde_json::to_string(&flaw(offset)).expect("plain data");
        let lines = format!("{}\n{}", line(1), line(2));
        assert_eq!(stored(None, Some(&lines)).read(100).expect("it is ours"), [flaw(1), flaw(2)]);
        assert!(stored(None, Some("{")).read(100).is_err());
        assert!(stored(Some(b"no frame".to_vec()), None).read(100).is_err());
    }
}
