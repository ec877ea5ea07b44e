//! What was seen in a log, kept beside its report, so that its page is drawn without the file being unpacked and read again.
//!
//! Kept are totals and observations, as an agent would have sent them, and not the page: whatever a newer version says of
//! the same observations it says of this log as well.

use std::io;

use serde::{Deserialize, Serialize};
use triage::explain::{Dossier, Gathering};
use triage::one::Found;
use wire::{LogFacts, Observation};

/// A log with more is read again from its file, which is as fast then.
const MOST: usize = 4_000;
/// Small documents that are read often.
const LEVEL: i32 = 3;

/// The observations of a log that is read.
#[derive(Debug, Default)]
pub struct Seen {
    observations: Vec<Observation>,
    are_too_many: bool,
}

/// What stands in front of them.
#[derive(Serialize, Deserialize)]
struct Head {
    facts: LogFacts,
    /// Why reading stopped early.
    error: Option<String>,
}

impl Seen {
    /// Takes the next one, in file order.
    pub fn push(&mut self, observation: &Observation) {
        if self.observations.len() == MOST {
            self.are_too_many = true;
            self.observations = Vec::new();
        }
        if !self.are_too_many {
            self.observations.push(observation.clone());
        }
    }

    /// All of it as the column takes it; nothing when it is too much.
    ///
    /// # Errors
    /// When an object cannot be written, which is our own fault.
    pub fn pack(&self, facts: &LogFacts, error: Option<&io::Error>) -> io::Result<Option<Vec<u8>>> {
        if self.are_too_many {
            return Ok(None);
        }
        let mut plain = serde_json::to_vec(&Head { facts: facts.clone(), error: error.map(ToString::to_string) })?;
        for observation in &self.observations {
            plain.push(b'\n');
            serde_json::to_writer(&mut plain, observation)?;
        }
        zstd::bulk::compress(&plain, LEVEL).map(Some)
    }
}

/// All about the log, from what [`Seen::pack`] made; `name` is what reports call it.
///
/// # Errors
/// When it is none of that.
pub fn dossier(packed: &[u8], name: String) -> io::Result<Dossier> {
    let plain = zstd::decode_all(packed)?;
    let mut lines = plain.split(|byte| *byte == b'\n');
    let Head { facts, error } = serde_json::from_slice(lines.next().unwrap_or_default())?;
    let mut gathering = Gathering::default();
    for line in lines {
        gathering.push(&serde_json::from_slice(line)?);
    }
    Ok(gathering.finish(Found { name, facts, notes: Vec::new(), error: error.map(io::Error::other) }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use triage::explain::{self, Explained};
    use triage::{document, one};

    use super::*;

    /// Reads a log, and answers what is kept of it beside all about it.
    fn read(log: &[u8], error: Option<&str>) -> (Option<Vec<u8>>, Dossier) {
        let (mut seen, mut gathering) = (Seen::default(), Gathering::default());
        let pieces = [Ok(log)].into_iter().chain(error.map(|error| Err(io::Error::other(error))));
        let found = one::in_pieces(pieces, "a.log".to_owned(), &mut |observation| {
            seen.push(&observation);
            gathering.push(&observation);
        });
        let packed = seen.pack(&found.facts, found.error.as_ref()).expect("plain data");
        (packed, gathering.finish(found))
    }

    fn told(dossier: &Dossier) -> (String, String) {
        let mut page = Vec::new();
        document::markdown(&explain::page(dossier), &mut page).expect("memory takes it");
        let object = serde_json::to_string(&Explained::from(dossier)).expect("plain data");
        (String::from_utf8(page).expect("text"), format!("{object}{:?}{:?}", dossier.measure, dossier.told))
    }

    #[test]
    fn what_is_kept_says_what_the_file_says() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok");
        let mut logs = 0;
        for entry in std::fs::read_dir(folder).expect("the fixtures are there") {
            let path = entry.expect("the folder can be read").path();
            if path.extension().is_none_or(|extension| extension != "log") {
                continue;
            }
            let log = std::fs::read(&path).expect("it can be read");
            for error in [None, Some("torn")] {
                let (packed, expected) = read(&log, error);
                let packed = packed.expect("no fixture is that long");
                let again = dossier(&packed, "a.log".to_owned()).expect("it is ours");
                assert_eq!(told(&again), told(&expected), "{}", path.display());
            }
            logs += 1;
        }
        assert!(logs > 20, "{logs}");
    }

    #[test]
    fn what_is_too_much_is_not_kept() {
        let log = include_bytes!("../../../fixtures/logs/ok/d3d11_adr039_corrected.log");
        let mut seen = Seen::default();
        let mut one = None;
        one::in_pieces([Ok(log.as_slice())], "a.log".to_owned(), &mut |own| one = Some(own));
        let one = one.expect("the log has observations");
        for _ in 0..MOST {
            seen.push(&one);
        }
        assert!(seen.pack(&LogFacts::default(), None).expect("plain data").is_some());
        seen.push(&one);
        seen.push(&one);
        assert_eq!(seen.pack(&LogFacts::default(), None).expect("nothing to write"), None);
        for wrong in [b"no frame".to_vec(), zstd::bulk::compress(b"{}", 1).expect("memory suffices")] {
            assert!(dossier(&wrong, "a.log".to_owned()).is_err());
        }
    }
}
