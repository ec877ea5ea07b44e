//! Holds what the server and the agent have against what the writers wrote.
//!
//! The laws:
//! - Every log of the server is a content of its process, from the first byte to some byte: the same events on the same
//!   lines, told by the writer, and verdict, sessions, findings and counts as `weavewatch scan` tells them of these bytes.
//! - No two logs are the same content, so nothing is there twice.
//! - A content that was left alone, or destroyed only when the server had it, is there to its last byte.
//! - Of a content that was destroyed unread, what the server was told to be lost is not more than what was cut away.
//! - The agent's ledger closes, nothing waits, no event was dropped or rejected, and its sums are those of the server.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::content::{Content, newlines};
use crate::agent::scan_json;
use crate::http::Http;

/// What there was in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// Contents that were written.
    pub contents: u64,
    /// Of those, the ones that had to be on the server to their last byte.
    pub whole: u64,
    /// Logs on the server.
    pub logs: u64,
    /// Events on the server.
    pub events: u64,
    /// Bytes on the server.
    pub bytes: u64,
    /// Bytes that were destroyed before they were read; what was cut counts although its beginning may have been kept.
    pub destroyed_bytes: u64,
    /// Of those, the ones that the agent had seen and reported.
    pub lost_bytes: u64,
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { contents, whole, logs, events, bytes, destroyed_bytes, lost_bytes } = self;
        write!(
            f,
            "{contents} contents written, {whole} to be whole; {logs} logs, {events} events, {bytes} bytes on the server, none \
             lost, none doubled; {destroyed_bytes} bytes destroyed unread at most, {lost_bytes} of \
             them seen and reported as lost"
        )
    }
}

/// A log as the server tells it.
struct Told {
    detail: Value,
    end: usize,
    /// Bytes that it is told to have lost.
    lost_bytes: u64,
    /// Line and text of each event.
    events: Vec<(u64, String)>,
}

/// Compares. `folder` takes what the server should have, for `scan`.
///
/// # Panics
/// When a law is broken.
pub fn compare(http: &Http, status: &Value, contents: &[Content], folder: &Path) -> Sums {
    let logs: Vec<Told> =
        http.all_items("/api/v1/logs?limit=200").iter().map(|item| Told::ask(http, &item["id"])).collect();
    let found = assign(&logs, &fitting(&logs, contents, folder), contents);
    let pairs: Vec<_> = logs.iter().zip(found.iter().map(|content| &contents[*content])).collect();

    let mut sums = Sums { contents: contents.len() as u64, logs: logs.len() as u64, ..Sums::default() };
    for (log, content) in &pairs {
        let unread = content.cut_bytes + (content.bytes.len() - log.end) as u64;
        assert!(
            log.lost_bytes <= unread,
            "{} bytes are told to be lost of {unread} at most: {}",
            log.lost_bytes,
            log.detail
        );
        sums.events += log.events.len() as u64;
        sums.bytes += log.end as u64;
        sums.lost_bytes += log.lost_bytes;
    }
    sums.whole = contents.iter().filter(|content| content.whole).count() as u64;
    let mut read = vec![0; contents.len()];
    for (log, content) in logs.iter().zip(&found) {
        read[*content] = log.end;
    }
    let unread = contents.iter().zip(read).filter(|(content, _)| !content.whole);
    sums.destroyed_bytes = unread.map(|(content, read)| (content.bytes.len() - read) as u64).sum();
    sums.destroyed_bytes += contents.iter().map(|content| content.half_bytes).sum::<u64>();

    let ledger = &status["ledger"];
    let zero = Value::from(0);
    assert_eq!(status["open_sum"], Value::Null, "{status:#}");
    assert_eq!(
        [&ledger["queued"], &status["queue"]["bytes"], &status["rejected"]["entries"]],
        [&zero; 3],
        "{status:#}"
    );
    assert_eq!(ledger["dropped"], serde_json::json!({}), "{status:#}");
    let known = status["logs"]["followed"].as_u64().zip(status["logs"]["finished"].as_u64());
    assert_eq!(known.map(|(followed, finished)| followed + finished), Some(sums.logs), "{status:#}");
    for (name, sum) in [("events", sums.events), ("acknowledged", sums.events), ("bytes_read", sums.bytes)] {
        assert_eq!(ledger[name], sum, "{name}, and what the server has: {status:#}");
    }
    sums
}

impl Told {
    fn ask(http: &Http, id: &Value) -> Self {
        let detail = http.get(&format!("/api/v1/logs/{}", id.as_str().expect("a log has an id"))).json();
        let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("a number is missing: {detail}"));
        assert_eq!([number(&detail["missing_bytes"]), number(&detail["evidence_left_out"])], [0, 0], "{detail}");
        let records = detail["evidence"].as_array().expect("a log has evidence").iter();
        let events = records.filter(|record| record["shape"].is_string());
        let events: Vec<_> = events
            .map(|event| (number(&event["line"]), event["text"].as_str().unwrap_or_default().to_owned()))
            .collect();
        assert_eq!(events.len() as u64, number(&detail["counts"]["events"]), "rows and sum of {detail}");
        let losses = detail["losses"].as_object().expect("a log has losses").iter();
        let lost_bytes = losses.map(|(reason, loss)| {
            assert!(["truncated", "deleted"].contains(&reason.as_str()) && loss["events"] == 0, "{reason}: {detail}");
            number(&loss["bytes"])
        });
        let (lost_bytes, end) = (lost_bytes.sum(), number(&detail["counts"]["bytes"]) as usize);
        Self { detail, end, lost_bytes, events }
    }

    /// It is the content's beginning.
    fn begins(&self, content: &Content) -> bool {
        let process = &self.detail["process"];
        if process["exe"] != content.process.exe
            || process["pid"] != content.process.pid
            || self.end > content.bytes.len()
        {
            return false;
        }
        let whole = content.events(self.end);
        let lines = newlines(&content.bytes[..self.end]);
        // What stands on a line without its end may be an event or not; `scan` tells.
        let told = self.events.iter().filter(|(line, _)| *line <= lines);
        told.map(|(line, text)| (*line, text.as_str())).eq(whole)
    }
}

/// The contents that each log can be: with the same events, and of which `scan` tells what the server tells.
fn fitting(logs: &[Told], contents: &[Content], folder: &Path) -> Vec<Vec<usize>> {
    let mut by_process: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, content) in contents.iter().enumerate() {
        by_process.entry(u64::from(content.process.pid)).or_default().push(number);
    }
    let mut pairs = Vec::new();
    for (number, log) in logs.iter().enumerate() {
        let same_process = log.detail["process"]["pid"].as_u64().and_then(|pid| by_process.get(&pid));
        let same_events = same_process.into_iter().flatten().filter(|content| log.begins(&contents[**content]));
        pairs.extend(same_events.map(|content| (number, *content)));
    }
    for (number, (log, content)) in pairs.iter().enumerate() {
        let Content { process, bytes, .. } = &contents[*content];
        let folder = folder.join(number.to_string());
        fs::create_dir_all(&folder).expect("a writable folder");
        fs::write(folder.join(process.file_name()), &bytes[..logs[*log].end]).expect("a writable folder");
    }
    let mut possible = vec![Vec::new(); logs.len()];
    let mut differences = vec![Vec::new(); logs.len()];
    for scanned in scan_json(folder) {
        let Value::Object(mut scanned) = scanned else { panic!("scan prints objects: {scanned}") };
        let file = scanned.remove("file");
        let number =
            file.as_ref().and_then(Value::as_str).and_then(|file| Path::new(file).parent()?.file_name()?.to_str());
        let number: usize = number.and_then(|number| number.parse().ok()).expect("the path as it was given");
        let (log, content) = pairs[number];
        let other: Vec<_> = scanned.into_iter().filter(|(name, value)| logs[log].detail[name] != *value).collect();
        if other.is_empty() {
            possible[log].push(content);
        } else {
            differences[log].push(other);
        }
    }
    for ((log, possible), differences) in logs.iter().zip(&possible).zip(&differences) {
        assert!(!possible.is_empty(), "nobody wrote what the server has, {}; scan says {differences:#?}", log.detail);
    }
    possible
}

/// Which content each log is: a matching in which every log has a content of its own, and every content that has to be whole
/// the whole of a log. Contents may be alike in all that the server tells, so a log can fit several.
fn assign(logs: &[Told], possible: &[Vec<usize>], contents: &[Content]) -> Vec<usize> {
    let fits = |log: usize, content: usize| {
        let Content { whole, bytes, .. } = &contents[content];
        possible[log].contains(&content) && (!whole || logs[log].end == bytes.len())
    };
    let fitting: Vec<Vec<usize>> =
        (0..logs.len()).map(|log| (0..contents.len()).filter(|content| fits(log, *content)).collect()).collect();
    let fitted: Vec<Vec<usize>> =
        (0..contents.len()).map(|content| (0..logs.len()).filter(|log| fits(*log, content)).collect()).collect();
    let mut found = vec![None; logs.len()];
    for (number, Content { bytes, process, .. }) in contents.iter().enumerate().filter(|(_, content)| content.whole) {
        let seated = place(number, &fitted, &mut vec![false; logs.len()], &mut found);
        let beginnings = (0..logs.len()).filter(|log| possible[*log].contains(&number));
        let beginnings: Vec<_> = beginnings.map(|log| &logs[log].detail["counts"]).collect();
        assert!(seated, "{} bytes of {process:?} are to be there: {beginnings:#?}", bytes.len());
    }
    let mut taken = vec![None; contents.len()];
    for (log, content) in found.iter().enumerate() {
        if let Some(content) = content {
            taken[*content] = Some(log);
        }
    }
    // A content that has a log keeps one: a path to a free content only passes logs on.
    for (log, unplaced) in found.iter().map(Option::is_none).enumerate() {
        if unplaced {
            let placed = place(log, &fitting, &mut vec![false; contents.len()], &mut taken);
            assert!(placed, "the server has a content twice: {}", logs[log].detail);
        }
    }
    for (content, log) in taken.iter().enumerate() {
        if let Some(log) = log {
            found[*log] = Some(content);
        }
    }
    found.into_iter().map(|content| content.expect("each log has been placed")).collect()
}

/// Finds a seat for somebody, and another one for whoever had it (an augmenting path).
fn place(own: usize, fitting: &[Vec<usize>], tried: &mut [bool], taken: &mut [Option<usize>]) -> bool {
    for seat in fitting[own].iter().copied() {
        if std::mem::replace(&mut tried[seat], true) {
            continue;
        }
        if taken[seat].is_none_or(|other| place(other, fitting, tried, taken)) {
            taken[seat] = Some(own);
            return true;
        }
    }
    false
}
