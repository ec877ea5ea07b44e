//! What the runtime printed elsewhere than into its log file: stderr, and stderr as JSON (vocabulary 1.6).

use serde::Deserialize;
use wire::Level;

use crate::prefix::{self, Prefixed};

/// Level words of stderr with their padding, and the bracketed ones of other systems.
const WORDS: [(&[u8], Level); 11] = [
    (b"TRACE ", Level::Trace),
    (b"DEBUG ", Level::Debug),
    (b" INFO ", Level::Info),
    (b" WARN ", Level::Warn),
    (b"ERROR ", Level::Error),
    (b"[TRACE] ", Level::Trace),
    (b"[DEBUG] ", Level::Debug),
    (b"[INFO] ", Level::Info),
    (b"[WARN] ", Level::Warn),
    (b"[ERROR] ", Level::Error),
    (b"[RAW] ", Level::Raw),
];

/// True for a line that starts a record of a stderr capture.
pub fn starts_record(line: &[u8]) -> bool {
    let line = behind_colour(line);
    WORDS.iter().any(|(word, _)| line.starts_with(word) && behind_colour(&line[word.len()..]).starts_with(b"["))
}

/// Takes ` WARN [function] body` apart; terminals of other systems colour the level word.
pub fn read(line: &[u8]) -> Option<Prefixed<'_>> {
    let line = behind_colour(line);
    let (word, level) = WORDS.iter().find(|(word, _)| line.starts_with(word))?;
    let (function, body) = prefix::function(behind_colour(&line[word.len()..]));
    Some(Prefixed { time: None, level: *level, function, body, spliced: false })
}

/// Skips terminal colour sequences.
fn behind_colour(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(b"\x1b[") {
        let Some(end) = rest.iter().position(|byte| *byte == b'm') else { break };
        line = &rest[end + 1..];
    }
    line
}

/// One line of `XRT_JSON_LOG`.
#[derive(Debug, Deserialize)]
pub struct JsonRecord {
    level: String,
    #[serde(default)]
    func: Option<String>,
    message: String,
}

impl JsonRecord {
    /// Reads a line; `None` when it is no such object.
    pub fn read(line: &[u8]) -> Option<Self> {
        if line.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        // Messages are cut at a number of bytes, which can leave half a character behind.
        serde_json::from_str(crate::decode::decode(line).text()).ok()
    }

    /// As a record of a log file.
    pub fn prefixed(&self) -> Prefixed<'_> {
        Prefixed {
            time: None,
            level: Level::from_word(self.level.as_bytes()),
            function: self.func.as_deref().map(str::as_bytes),
            body: self.message.as_bytes(),
            spliced: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(Level, Option<&str>, &str)>) {
        assert_eq!(starts_record(line.as_bytes()), expected.is_some(), "{line}");
        let found = expected.and_then(|_| read(line.as_bytes()));
        let text = |bytes| str::from_utf8(bytes).expect("the test's lines are UTF-8");
        assert_eq!(found.map(|found| (found.level, found.function.map(text), text(found.body))), expected, "{line}");
    }

    #[test]
    fn level_words_are_padded_bracketed_or_coloured() {
        check(" WARN [fn] body", Some((Level::Warn, Some("fn"), "body")));
        check("ERROR [fn] body", Some((Level::Error, Some("fn"), "body")));
        check("[WARN] [fn] body", Some((Level::Warn, Some("fn"), "body")));
        check("\x1b[33m WARN \x1b[0m[fn] body", Some((Level::Warn, Some("fn"), "body")));
        check("WARNING: something else", None);
        check("\tcontinued", None);
    }

    #[test]
    fn json_lines_are_records_and_other_objects_are_not() {
        let record = JsonRecord::read(br#"{"level":"warn","file":"a.cpp","func":"fn","message":"body \u2014"}"#)
            .expect("it is one");
        assert_eq!(record.prefixed().body, "body —".as_bytes());
        assert!(JsonRecord::read(br#"{"gpu_topology":{}}"#).is_none());
        assert!(JsonRecord::read(b"text").is_none());
    }
}
