//! What the server will never take: kept beside the queue with the server's reason, for a person to look at.
//!
//! The folder is bounded: beyond its size the oldest go. Each file is one entry of the queue and says why it is there.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::home::{Home, read_json, write_whole};
use crate::agent::live;
use crate::agent::memory::Entry;

/// Most bytes of the folder.
const MOST_BYTES: u64 = 16 << 20;

/// A rejected entry.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rejected {
    /// When, RFC 3339.
    pub at: String,
    /// The server's words.
    pub reason: String,
    /// Base name of the log.
    pub file: String,
    /// The segment as it was sent.
    pub segment: Box<RawValue>,
}

/// Keeps an entry under the time and its number: the queue may start its numbers anew one day.
///
/// # Errors
/// When the folder cannot be written.
pub fn keep(home: &Home, number: u64, entry: &Entry, reason: &str) -> io::Result<()> {
    let folder = home.rejected();
    fs::create_dir_all(&folder)?;
    let rejected = Rejected {
        at: live::now(),
        reason: reason.to_owned(),
        file: entry.position.file.clone(),
        segment: entry.segment.clone(),
    };
    let now_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis());
    write_whole(&folder.join(format!("{now_ms:015}-{number:020}.json")), &serde_json::to_vec(&rejected)?, true)?;
    let mut files = list(&folder)?;
    let mut bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    while bytes > MOST_BYTES && files.len() > 1 {
        let (oldest, its) = files.remove(0);
        fs::remove_file(oldest)?;
        bytes -= its;
    }
    Ok(())
}

/// How many entries are there, and the newest of them.
///
/// # Errors
/// When the folder cannot be read.
pub fn newest(home: &Home) -> io::Result<(u64, Option<Rejected>)> {
    let files = list(&home.rejected())?;
    let newest = files.last().map(|(path, _)| read_json(path)).transpose()?.flatten();
    Ok((files.len() as u64, newest))
}

/// Deletes all of them.
///
/// # Errors
/// When the folder cannot be written.
pub fn purge(home: &Home) -> io::Result<()> {
    for (path, _) in list(&home.rejected())? {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// By name, which is by time.
fn list(folder: &std::path::Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        files.push((entry.path(), entry.metadata()?.len()));
    }
    files.sort_unstable();
    Ok(files)
}
