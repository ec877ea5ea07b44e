//! Whether a copy is what its manifest says, and what it counts to: read back from the files alone.

use std::path::PathBuf;

use serde::Serialize;

use super::{Copy, Error, Manifest};
use crate::store::Totals;

/// What the files hold.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Checked {
    /// Days with logs.
    pub days: u64,
    /// Files that are there as the manifest names them.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// Rows of the table `events`.
    pub events: u64,
    /// The same counts as those of `GET /api/v1/summary`, over the days in the copy.
    pub total: Totals,
}

/// Reads every file, compares size, checksum and rows, and counts all logs.
///
/// # Errors
/// [`Error::Damaged`] with the name of the file; or when the place fails, or there is no copy.
pub async fn check(copy: &Copy) -> Result<Checked, Error> {
    let manifest = Manifest::read(copy).await?;
    let manifest = manifest.ok_or_else(|| Error::Place(format!("there is no copy at {copy}")))?;
    let folder = tempfile::tempdir()?;
    let mut checked = Checked::default();
    let mut logs: Vec<PathBuf> = Vec::new();
    checked.days = manifest.days.iter().filter(|day| !day.files.is_empty()).count() as u64;
    for (number, file) in manifest.files().enumerate() {
        let here = folder.path().join(format!("{number}.parquet"));
        let (bytes, sha256) = copy.bring(&file.path, &here).await?;
        if (bytes, &sha256) != (file.bytes, &file.sha256) {
            return Err(Error::Damaged(format!("{} is not the file that was written", file.path)));
        }
        checked.files += 1;
        checked.bytes += bytes;
        if file.table == "logs" {
            logs.push(here);
        } else {
            checked.events += file.rows;
            std::fs::remove_file(here)?;
        }
    }
    // Counting is work for a thread of its own.
    let counted = tokio::task::spawn_blocking(move || {
        let (total, _) = analytics::totals(&logs)?;
        // The files have to be there until here.
        drop(folder);
        Ok::<_, analytics::Error>(total)
    });
    checked.total = counted.await.map_err(std::io::Error::other)??.into();
    let rows: u64 = manifest.files().filter(|file| file.table == "logs").map(|file| file.rows).sum();
    if i64::try_from(rows) != Ok(checked.total.logs) {
        return Err(Error::Damaged(format!("{} rows of logs instead of {rows}", checked.total.logs)));
    }
    Ok(checked)
}
