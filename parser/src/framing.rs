//! Lines to records: where one begins, what belongs to it, and how its damage is repaired.
//!
//! A line that starts with a prefix begins a record; every other line belongs to the record before it (vocabulary 1.3).
//! A record is told as soon as its first line is read, without a copy. Only `[OXR  ]` records that may be ours are held
//! until the next record begins, because their meaning can stand in a continuation line.

use serde::{Deserialize, Serialize};
use wire::{ByteLedger, Counts, End, Flaw, FlawKind, Observation, PathHint, Process};

use crate::capture;
use crate::classify::{Class, Place, classify, is_candidate, is_lost_placement, unrecognised_hint};
use crate::header::{self, Header};
use crate::lines::Line;
use crate::noise::{LEVEL_AT, Noise};
use crate::prefix::{self, Prefixed};
use crate::vocabulary;

/// Where the runtime cuts an over-long `[OXR  ]` record, losing its newline (vocabulary 1.4).
const OXR_CUT: usize = 4095;

/// Behind the cut a prefix is still accepted within this many bytes: the prefix of the cut record itself (34 bytes) is
/// not counted by every account of the limit. No text of an app can stand there, because the record ends at the cut.
const OXR_SLACK: usize = 64;

/// A time as records print it, `2026-09-14 12:00:00.137`.
const TIME_BYTES: usize = 23;

/// Most bytes of a held record that are kept.
const HELD_MOST: usize = 8 * 1024;

/// Receives what is found.
pub type Sink<'a> = &'a mut dyn FnMut(Observation);

/// Turns the lines of one file into observations and counts.
#[derive(Debug)]
pub struct Framer {
    /// A stderr capture, whose records have another prefix; the same words in a log are a continuation.
    stderr: bool,
    /// A NUL was seen, so that bodies must be searched for one.
    pub nul_seen: bool,
    /// Totals so far; `bytes` is the reader's.
    pub counts: Counts,
    /// Where the bytes of the lines went.
    pub bytes: ByteLedger,
    /// Of the first header.
    pub process: Option<Process>,
    /// As of the last line that was not blank.
    pub end: End,
    /// Of the newest record that has one.
    last_time: Option<[u8; TIME_BYTES]>,
    offset: u64,
    header: Option<Header>,
    /// The rule that closes a header was read; its blank line may follow.
    behind_header: bool,
    open: Option<Open>,
    held: Option<Held>,
    noise: Noise,
}

/// Where reading can go on without the bytes before it. Made by [`LogReader::checkpoint`](crate::LogReader::checkpoint).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    offset: u64,
    counts: Counts,
    bytes: ByteLedger,
    process: Option<Process>,
    nul_seen: bool,
    /// Missing in one that an older build made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_time: Option<String>,
}

impl Checkpoint {
    /// The byte to go on with: the first of a record.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

/// The record that continuation lines belong to.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Written by the OpenXR state tracker.
    oxr: bool,
    /// Bytes since its first, newlines as one byte and as they stand in the file.
    len: [usize; 2],
    /// Blank lines that are a footer's or the record's, as the next line tells.
    blank: u64,
    /// Bytes of the last of them.
    blank_len: u64,
}

impl Open {
    /// Behind its first line.
    const fn behind(line: &[u8], oxr: bool) -> Self {
        Self { oxr, len: [line.len() + 1, line.len() + 2], blank: 0, blank_len: 0 }
    }
}

/// An `[OXR  ]` record that waits for its continuation lines.
#[derive(Debug)]
struct Held {
    place: Place,
    time: Option<Vec<u8>>,
    body: Vec<u8>,
}

impl Framer {
    /// For the lines of a log file, or else of a stderr capture.
    pub fn new(stderr: bool) -> Self {
        Self {
            stderr,
            nul_seen: false,
            counts: Counts::default(),
            bytes: ByteLedger::default(),
            process: None,
            end: End::Missing,
            last_time: None,
            offset: 0,
            header: None,
            behind_header: false,
            open: None,
            held: None,
            noise: Noise::default(),
        }
    }

    /// Counts a line of `len` bytes and says where it stands.
    pub const fn next_place(&mut self, len: u64) -> Place {
        self.counts.lines += 1;
        let offset = self.offset;
        self.offset += len;
        Place { offset, line: self.counts.lines }
    }

    /// Takes the next line.
    #[inline]
    pub fn line(&mut self, line: Line<'_>, sink: Sink<'_>) {
        let place = self.next_place(line.len);
        let bytes = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
        if self.is_noise(bytes) {
            self.close(sink);
            self.begin();
            self.counts.records += 1;
            self.counts.ignored += 1;
            self.bytes.in_records += line.len;
            // Behind the bracket: noise is known by its time, too.
            self.note_time(bytes.get(1..));
            self.open = Some(Open::behind(bytes, false));
            return;
        }
        if self.starts_record(bytes) {
            self.bytes.in_records += line.len;
            self.record(bytes, place, sink);
        } else {
            self.other(bytes, line.len, place, sink);
        }
    }

    #[inline]
    fn starts_record(&self, line: &[u8]) -> bool {
        if self.stderr { capture::starts_record(line) } else { prefix::starts_record(line) }
    }

    #[inline]
    fn read_prefix<'a>(&self, line: &'a [u8]) -> Option<Prefixed<'a>> {
        if self.stderr { capture::read(line) } else { prefix::read(line) }
    }

    /// Skips bytes that are no text of the file, such as a byte order mark.
    pub const fn skip(&mut self, bytes: u64) {
        self.offset += bytes;
        self.bytes.mark += bytes;
    }

    /// What a framer needs to go on at a line that begins a record. Ends the open record, as that line will.
    pub fn checkpoint(&mut self, sink: Sink<'_>) -> Checkpoint {
        self.close(sink);
        Checkpoint {
            offset: self.offset,
            counts: self.counts,
            bytes: self.bytes,
            process: self.process.clone(),
            nul_seen: self.nul_seen,
            last_time: self.last_time(),
        }
    }

    /// Goes on in a log file where a checkpoint was made.
    pub fn resume(checkpoint: Checkpoint) -> Self {
        let Checkpoint { offset, counts, bytes, process, nul_seen, last_time } = checkpoint;
        let last_time = last_time.and_then(|own| own.as_bytes().first_chunk().copied());
        Self { nul_seen, counts, bytes, process, last_time, offset, ..Self::new(false) }
    }

    /// When the newest record was written, as it says itself.
    pub fn last_time(&self) -> Option<String> {
        self.last_time.map(|own| String::from_utf8_lossy(&own).into_owned())
    }

    /// Takes the time in front of `text`, where there is room for one.
    #[inline]
    fn note_time(&mut self, text: Option<&[u8]>) {
        if let Some(time) = text.and_then(<[u8]>::first_chunk) {
            self.last_time = Some(*time);
        }
    }

    /// Takes the end of the file.
    pub fn finish(&mut self, sink: Sink<'_>) {
        self.close(sink);
    }

    /// Counts and tells a record whose first line is already taken apart, such as one of a JSON capture.
    pub fn prefixed(&mut self, record: &Prefixed<'_>, place: Place, sink: Sink<'_>) {
        self.close(sink);
        self.end = End::Missing;
        self.counts.records += 1;
        self.note_time(record.time);
        self.tell(record, place, sink);
        self.open = Some(Open::behind(&[], false));
    }

    fn record(&mut self, line: &[u8], place: Place, sink: Sink<'_>) {
        self.close(sink);
        self.begin();
        let oxr = line.get(LEVEL_AT..).is_some_and(|field| field.starts_with(b"OXR"));
        if oxr && let Some(at) = glue(line, [OXR_CUT; 2]) {
            self.count_record(&line[..at], place, oxr, sink);
            self.flaw(place, FlawKind::Truncated, None, sink);
            self.record(&line[at..], Place { offset: place.offset + at as u64, ..place }, sink);
            return;
        }
        self.count_record(line, place, oxr, sink);
    }

    /// A sound record that begins like one which was none of our business.
    #[inline]
    fn is_noise(&self, line: &[u8]) -> bool {
        !self.nul_seen
            && prefix::starts_record(line)
            && prefix::has_time(line)
            && self.noise.knows(&line[LEVEL_AT..])
            && !self.stderr
    }

    /// A record ends a header, and footers before it.
    #[inline]
    fn begin(&mut self) {
        if self.header.is_some() {
            self.header = None;
        }
        self.behind_header = false;
        self.end = End::Missing;
    }

    fn count_record(&mut self, line: &[u8], place: Place, oxr: bool, sink: Sink<'_>) {
        self.counts.records += 1;
        self.open = Some(Open::behind(line, oxr));
        let record = self.read_prefix(line);
        self.note_time(record.and_then(|own| own.time));
        match record {
            // A prefix that the end of the file, or a splice, tore apart: nothing can be said of it.
            None => self.counts.ignored += 1,
            Some(record) if oxr && !record.spliced && is_candidate(&record) => {
                let (body, time) = (record.body.to_vec(), record.time.map(<[u8]>::to_vec));
                self.held = Some(Held { place, time, body });
            }
            Some(record) => {
                let ignored = !self.tell(&record, place, sink);
                if ignored && !oxr && !self.stderr && is_plain(&record) {
                    self.noise.learn(&line[LEVEL_AT..], line.len() - LEVEL_AT - record.body.len());
                }
            }
        }
    }

    /// Tells a record whose body is complete; false when it is sound and none of our business.
    fn tell(&mut self, record: &Prefixed<'_>, place: Place, sink: Sink<'_>) -> bool {
        let cut = if self.nul_seen { memchr::memchr(0, record.body) } else { None };
        let record = Prefixed { body: &record.body[..cut.unwrap_or(record.body.len())], ..*record };
        let damaged = cut.is_some() || record.spliced || record.body.trim_ascii().is_empty();
        if !damaged && !is_candidate(&record) {
            self.counts.ignored += 1;
            return false;
        }
        if record.spliced {
            self.flaw(place, FlawKind::Spliced, None, sink);
        }
        if cut.is_some() {
            let body = crate::decode::decode(record.body);
            self.flaw(place, FlawKind::Truncated, vocabulary::marker(body.text()), sink);
        } else if record.body.trim_ascii().is_empty() {
            let lost = is_lost_placement(&record).then_some(vocabulary::PLACEMENT);
            self.flaw(place, FlawKind::EmptyBody, lost, sink);
        }
        match classify(&record, place) {
            Class::Event(event) => {
                self.counts.events += 1;
                sink(Observation::Event(*event));
            }
            Class::Unrecognised(marker) if cut.is_none() => {
                let hint = unrecognised_hint(&record);
                self.flaw_with_hint(place, FlawKind::Unrecognised, Some(marker), hint, sink);
            }
            Class::Ignored | Class::Unrecognised(_) => self.counts.ignored += 1,
        }
        true
    }

    fn flaw(&mut self, place: Place, kind: FlawKind, marker: Option<&'static str>, sink: Sink<'_>) {
        self.flaw_with_hint(place, kind, marker, None, sink);
    }

    fn flaw_with_hint(
        &mut self,
        place: Place,
        kind: FlawKind,
        marker: Option<&'static str>,
        hint: Option<PathHint>,
        sink: Sink<'_>,
    ) {
        match kind {
            FlawKind::EmptyBody => self.counts.empty_bodies += 1,
            FlawKind::Truncated => self.counts.truncated += 1,
            FlawKind::Spliced => self.counts.spliced += 1,
            FlawKind::Unrecognised => self.counts.unrecognised += 1,
            FlawKind::Unknown => {}
        }
        let Place { offset, line } = place;
        sink(Observation::Flaw(Flaw { offset, line, kind, marker: marker.map(Into::into), hint }));
    }

    /// A line that starts no record: header, footer, blank, or a continuation.
    fn other(&mut self, line: &[u8], len: u64, place: Place, sink: Sink<'_>) {
        if header::STARTED.contains(&line.trim_ascii_end()) {
            self.bytes.header += len;
            self.close(sink);
            self.end = End::Missing;
            self.header = Some(Header::default());
            return;
        }
        if header::ENDED.contains(&line.trim_ascii_end()) {
            self.bytes.footer += len;
            if let Some(open) = self.open.as_mut().filter(|open| open.blank > 0) {
                // The footer brings a blank line of its own.
                open.blank -= 1;
                self.bytes.in_records -= open.blank_len;
                self.bytes.footer += open.blank_len;
            }
            self.close(sink);
            self.header = None;
            self.end = End::Footer;
            return;
        }
        if let Some(header) = &mut self.header {
            self.bytes.header += len;
            let rule = Header::is_rule(line);
            if rule || !header.take(line) {
                let header = self.header.take().unwrap_or_default();
                self.process = self.process.take().or_else(|| header.process());
                self.behind_header = rule;
            }
            return;
        }
        let behind_header = std::mem::take(&mut self.behind_header);
        if line.trim_ascii().is_empty() {
            if behind_header {
                self.bytes.header += len;
            } else if let Some(open) = &mut self.open {
                self.bytes.in_records += len;
                open.blank += 1;
                open.blank_len = len;
            } else {
                self.bytes.outside += len;
            }
            return;
        }
        self.end = End::Missing;
        if self.open.is_some() {
            self.bytes.in_records += len;
        } else {
            self.bytes.outside += len;
        }
        self.continuation(line, place, sink);
    }

    fn continuation(&mut self, line: &[u8], place: Place, sink: Sink<'_>) {
        let Some(open) = &mut self.open else { return };
        let blank = usize::try_from(std::mem::take(&mut open.blank)).unwrap_or(usize::MAX);
        self.counts.continuations += blank as u64 + 1;
        open.len = [open.len[0].saturating_add(blank), open.len[1].saturating_add(blank.saturating_mul(2))];
        let glued = if open.oxr { glue(line, open.len.map(|len| OXR_CUT.saturating_sub(len))) } else { None };
        let own = glued.map_or(line, |at| &line[..at]);
        open.len = [open.len[0].saturating_add(own.len() + 1), open.len[1].saturating_add(own.len() + 2)];
        if let Some(held) = &mut self.held {
            let room = HELD_MOST.saturating_sub(held.body.len());
            held.body.extend(std::iter::repeat_n(b'\n', blank + 1).chain(own.iter().copied()).take(room));
        }
        if let Some(at) = glued {
            let whole = self.held.as_ref().map_or(place, |held| held.place);
            self.flaw(whole, FlawKind::Truncated, None, sink);
            self.record(&line[at..], Place { offset: place.offset + at as u64, ..place }, sink);
        }
    }

    /// Ends the open record: what was held is told, and blank lines behind it are its own.
    #[inline]
    fn close(&mut self, sink: Sink<'_>) {
        self.counts.continuations += self.open.take().map_or(0, |open| open.blank);
        if let Some(held) = self.held.take() {
            self.tell_held(&held, sink);
        }
    }

    #[cold]
    fn tell_held(&mut self, held: &Held, sink: Sink<'_>) {
        let record = Prefixed {
            time: held.time.as_deref(),
            level: wire::Level::Oxr,
            function: None,
            body: &held.body,
            spliced: false,
        };
        self.tell(&record, held.place, sink);
    }
}

/// A record of which nothing changes with the end of its line: its function field is closed, and its body neither begins
/// like a prefix, which a splice could complete, nor with a blank, which could be all there is.
fn is_plain(record: &Prefixed<'_>) -> bool {
    record.function.is_some()
        && !prefix::starts_record(record.body)
        && record.body.first().is_some_and(|byte| !byte.is_ascii_whitespace())
}

/// Where a glued record begins in a line of an `[OXR  ]` record, given the bytes left to the cut by either account.
fn glue(line: &[u8], left: [usize; 2]) -> Option<usize> {
    let from = left[0].min(left[1]);
    if line.len() < from {
        return None;
    }
    let to = left[0].max(left[1]).saturating_add(OXR_SLACK).min(line.len());
    (from.max(1)..to).find(|at| prefix::starts_record(&line[*at..]))
}
