//! What a running agent says of itself, in a small file beside its queue: `status` and `flush` read it.
//!
//! The queue and the positions are on disk anyway and are the truth; this is what only the running process knows.

use std::fs::File;
use std::io::{self, Write as _};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agent::home::{Home, read_json, write_whole};

/// The file's size. A disk counts in blocks of 4 KiB, and what is said has a quarter of that as a rule.
const SIZE_BYTES: usize = 8 << 10;
/// How often a torn file is looked at.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The file's contents. Times are RFC 3339 in UTC.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Live {
    /// The process; it may be gone.
    pub pid: u32,
    /// The server that it sends to.
    pub server: Option<String>,
    /// The last answer of the server that acknowledged something.
    pub last_contact: Option<String>,
    /// The last thing that went wrong, with its time; null when it is over.
    pub last_error: Option<Trouble>,
    /// When the server is asked again.
    pub next_attempt: Option<String>,
    /// Why the agent is slow, or does nothing, just now.
    pub slowed: Option<String>,
    /// Files that cannot be read just now.
    pub unreadable: Vec<String>,
    /// The last wish to send everything now that was answered, and how that went.
    pub flush: Option<Flushed>,
    /// The configuration in force, without secrets.
    pub config: std::collections::BTreeMap<String, String>,
}

/// Something that went wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trouble {
    /// When, RFC 3339.
    pub at: String,
    /// What, in words, and what to do.
    pub what: String,
}

/// An answered wish.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flushed {
    /// The text of the wish.
    pub wish: String,
    /// Everything was acknowledged.
    pub done: bool,
}

impl Live {
    /// Reads the file; a file that is not there, or torn, says nothing.
    pub fn read(home: &Home) -> Self {
        for _ in 1..LOOKS {
            if let Ok(read) = read_json(&home.live()) {
                return read.unwrap_or_default();
            }
            // It may just be written over.
            std::thread::sleep(BETWEEN_LOOKS);
        }
        read_json(&home.live()).ok().flatten().unwrap_or_default()
    }

    /// Writes the file. It is news, not memory: it need not survive a power cut. On a full disk, which is news too, it is
    /// written over the old one, whose size is always enough.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, home: &Home) -> io::Result<()> {
        let bytes = self.padded()?;
        write_whole(&home.live(), &bytes, false).or_else(|_| {
            let mut file = File::options().write(true).open(home.live())?;
            file.write_all(&bytes)?;
            file.set_len(bytes.len() as u64)
        })
    }

    /// With blanks behind it, and so many unreadable files at most that its size is always the same.
    fn padded(&self) -> io::Result<Vec<u8>> {
        let mut live = self.clone();
        loop {
            let mut bytes = serde_json::to_vec_pretty(&live)?;
            let files = live.unreadable.len();
            if bytes.len() < SIZE_BYTES {
                bytes.resize(SIZE_BYTES, b' ');
                return Ok(bytes);
            }
            if files == 0 {
                return Ok(bytes);
            }
            live.unreadable.truncate(files / 2);
        }
    }
}

/// Now, as everything in the file tells time.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
