//! The list of the files that make up a copy; what it does not name does not count.

use serde::{Deserialize, Serialize};

use super::{Copy, Error};

/// The manifest's name in the copy.
pub(super) const NAME: &str = "manifest.json";
/// Its own format.
const SCHEMA: &str = "weavewatch.columnar/1";
/// The version of the columns (`cells.rs`). A copy with other columns is written anew, day by day.
pub(super) const COLUMNS: u32 = 1;

/// The file `manifest.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// `weavewatch.columnar/1`.
    pub schema: String,
    /// Version of the columns.
    pub columns: u32,
    /// Name of the database that this is a copy of.
    pub database: String,
    /// When it was written, RFC 3339.
    pub written: String,
    /// Rising; the day of logs without a date, named null, comes first.
    pub days: Vec<Day>,
}

/// One local day.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Day {
    /// `2026-09-14`; null for logs without a date.
    pub day: Option<String>,
    /// The database's stamp of the day when its files were begun. While it is the same there, the files are up to date.
    pub stamp: String,
    /// None when there are no logs of that day any more.
    pub files: Vec<File>,
}

/// One Parquet file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct File {
    /// `logs` or `events`.
    pub table: String,
    /// From the manifest's folder.
    pub path: String,
    /// Rows in it.
    pub rows: u64,
    /// Size.
    pub bytes: u64,
    /// SHA-256 in hex digits.
    pub sha256: String,
}

impl Manifest {
    /// Of an empty copy.
    pub(super) fn new(database: String) -> Self {
        Self { schema: SCHEMA.to_owned(), columns: COLUMNS, database, written: String::new(), days: Vec::new() }
    }

    /// What is there; none in an empty place.
    pub(super) async fn read(copy: &Copy) -> Result<Option<Self>, Error> {
        let Some(bytes) = copy.read(NAME).await? else { return Ok(None) };
        let unreadable = |error| Error::Damaged(format!("{NAME} cannot be read: {error}"));
        let known: serde_json::Value = serde_json::from_slice(&bytes).map_err(unreadable)?;
        if known["schema"] != SCHEMA {
            return Err(Error::Foreign(format!(
                "{NAME} has the schema {}, this program writes {SCHEMA}",
                known["schema"]
            )));
        }
        serde_json::from_value(known).map(Some).map_err(unreadable)
    }

    pub(super) async fn write(&self, copy: &Copy) -> Result<(), Error> {
        let json = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        copy.write(NAME, json).await
    }

    /// The stamp at which a day was written.
    pub(super) fn stamp(&self, day: &str) -> Option<&str> {
        let found = self.days.iter().find(|known| known.is(day));
        found.map(|known| known.stamp.as_str())
    }

    /// Puts a day in its place, instead of what was said of it.
    pub(super) fn put(&mut self, day: Day) {
        self.days.retain(|known| known.day != day.day);
        let place = self.days.partition_point(|known| known.day < day.day);
        self.days.insert(place, day);
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.days.iter().flat_map(|day| &day.files)
    }
}

impl Day {
    fn is(&self, day: &str) -> bool {
        self.day.as_deref().unwrap_or_default() == day
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_in_order_and_each_is_there_once() {
        let mut manifest = Manifest::new("d".to_owned());
        for (day, stamp) in [("2026-09-15", "a"), ("", "b"), ("2026-09-14", "c"), ("2026-09-15", "d"), ("", "e")] {
            let day = Some(day.to_owned()).filter(|day| !day.is_empty());
            manifest.put(Day { day, stamp: stamp.to_owned(), files: Vec::new() });
        }
        let days: Vec<_> = manifest.days.iter().map(|day| (day.day.as_deref(), day.stamp.as_str())).collect();
        assert_eq!(days, [(None, "e"), (Some("2026-09-14"), "c"), (Some("2026-09-15"), "d")]);
        assert_eq!(
            (manifest.stamp(""), manifest.stamp("2026-09-14"), manifest.stamp("x")),
            (Some("e"), Some("c"), None)
        );
    }
}
