//! Which files in the log folders are logs of the runtime, and which log each of them is.
//!
//! All logs begin with the same line, so identity is made from the name, which holds process id and time, and from the
//! header below that line. Contents behind the header change while the process lives and are no part of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::problems::Problems;
use crate::source::{self, walk};
use crate::watch::machine::hex32;

const HEADER: &[u8] = b"=== DisplayXR Log Started ===";
const HEADER_LIMIT: usize = 4096;
const LABEL: &[u8] = b"weavewatch log 1\0";

/// A log that can be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Log {
    pub path: PathBuf,
    pub base_name: String,
    /// 32 hex digits.
    pub identity: String,
    pub size_bytes: u64,
}

/// What the folders hold.
#[derive(Debug, Default)]
pub(super) struct Logs {
    /// By path.
    pub logs: Vec<Log>,
    /// Files that are no logs of the runtime.
    pub others: u64,
}

/// Looks through the folders. The state folder is left out: it is our own output.
pub(super) fn find(dirs: &[PathBuf], state: &Path, problems: &Problems) -> Logs {
    let state = std::fs::canonicalize(state).unwrap_or_else(|_| state.to_owned());
    let mut by_identity: BTreeMap<String, Log> = BTreeMap::new();
    let mut others = 0;
    for file in dirs.iter().flat_map(|dir| walk::files(dir, problems)) {
        if std::fs::canonicalize(&file.path).is_ok_and(|path| path.starts_with(&state)) {
            continue;
        }
        let name = file.path.to_string_lossy().into_owned();
        let base_name = source::file_name(&file.path);
        let head = source::open(&file.path).and_then(|opened| source::peek(opened, HEADER_LIMIT));
        let head = match head {
            Ok((head, _)) => head,
            Err(error) => {
                problems.unreadable(&name, format_args!("failed to open it: {error}"));
                continue;
            }
        };
        let named = parser::file_name::process(&base_name).is_some();
        let header = match header(&head) {
            Header::Block(block) => block,
            Header::None if named => &[],
            Header::Growing if named || head.len() >= HEADER.len() => {
                problems.note(format_args!("{name}: its header is not complete yet; it is sent in the next run"));
                continue;
            }
            Header::None | Header::Growing => {
                others += 1;
                continue;
            }
        };
        let identity = hex32(LABEL, &[base_name.as_bytes(), b"\0", header]);
        let log = Log { path: file.path, base_name, identity: identity.clone(), size_bytes: file.size_bytes };
        match by_identity.get_mut(&identity) {
            None => {
                by_identity.insert(identity, log);
            }
            Some(known) => {
                problems.note(format_args!("{name}: the same log as {}; the longer one is sent", known.path.display()));
                if log.size_bytes > known.size_bytes {
                    *known = log;
                }
            }
        }
    }
    let mut logs: Vec<_> = by_identity.into_values().collect();
    logs.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Logs { logs, others }
}

/// The first bytes of a file, as far as identity goes.
#[derive(PartialEq, Eq, Debug)]
enum Header<'a> {
    /// No log of the runtime starts like this.
    None,
    /// The file is empty or ends within its header: another look later will see more of it.
    Growing,
    /// Up to the blank line, or to the limit.
    Block(&'a [u8]),
}

fn header(head: &[u8]) -> Header<'_> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if !text.starts_with(HEADER) {
        return if HEADER.starts_with(text) { Header::Growing } else { Header::None };
    }
    let blank = [b"\n\r\n".as_slice(), b"\n\n"]
        .into_iter()
        .filter_map(|blank| text.windows(blank.len()).position(|window| window == blank))
        .min();
    match blank {
        Some(end) => Header::Block(&text[..end]),
        None if head.len() < HEADER_LIMIT => Header::Growing,
        None => Header::Block(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"=== DisplayXR Log Started ===\r\nProcess: A.exe (PID 1)\r\n====\r\n\r\n[2026";

    #[test]
    fn the_header_ends_at_the_blank_line() {
        let expected = &WHOLE[..WHOLE.len() - b"\n\r\n[2026".len()];
        assert_eq!(header(WHOLE), Header::Block(expected));
        assert_eq!(header(&[b"\xef\xbb\xbf", WHOLE].concat()), Header::Block(expected));
    }

    #[test]
    fn a_header_that_still_grows_has_no_identity_yet() {
        for cut in 0..WHOLE.len() - b"\n[2026".len() {
            assert_eq!(header(&WHOLE[..cut]), Header::Growing, "{cut}");
        }
        let endless = [HEADER, &[b'x'; HEADER_LIMIT]].concat();
        assert_eq!(header(&endless[..HEADER_LIMIT]), Header::Block(&endless[..HEADER_LIMIT]));
    }

    #[test]
    fn other_files_have_no_header() {
        assert_eq!(header(b"[2026-09-14 12:00:00.001]"), Header::None);
    }
}
