//! What a log held, as its writer knows it: the bytes, and which line of them says what. The agent, the parser and the
//! server have no part in it, so it can be held against them.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::random::Random;

/// Every record has a time of its own, so that no two contents end alike.
static TICK: AtomicU32 = AtomicU32::new(0);
/// Every content has a number of its own, which its placement records carry as the adapter's LUID.
static SERIAL: AtomicU32 = AtomicU32::new(0);
/// Processes that wrote a log.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The process that writes a log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Writing {
    /// Name of the program, one for each place in the folder.
    pub exe: String,
    /// Its number.
    pub pid: u32,
    /// Local time of its start, as the header spells it.
    pub started: String,
}

/// One content of a log. A file that is emptied and written anew is another content.
#[derive(Clone, Debug)]
pub struct Content {
    /// Who wrote it.
    pub process: Writing,
    /// Everything in it.
    pub bytes: Vec<u8>,
    /// Where the lines of events start, and the bodies of the events.
    events: Vec<(usize, String)>,
    /// The LUID of the last placement record that was begun.
    last_luid: Option<String>,
    serial: u32,
    records: u32,
    /// It must be on the server from its first byte to its last.
    pub whole: bool,
    /// Bytes that were cut away before anybody may have read them, from this content or from what was in its file before.
    pub cut_bytes: u64,
    /// Of those, in lines of this content that were taken back half written.
    pub half_bytes: u64,
}

impl Writing {
    /// The next process of a program. It starts later than all before.
    pub fn next(exe: &str) -> Self {
        let number = PROCESS.fetch_add(1, Ordering::Relaxed) + 1;
        // More than a day of processes does not occur.
        let second = number * 10;
        let started = format!("2026-09-14 {:02}:{:02}:{:02}", second / 3600 % 24, second / 60 % 60, second % 60);
        Self { exe: exe.to_owned(), pid: 1000 + number, started }
    }

    /// The base name of its log.
    pub fn file_name(&self) -> String {
        let started = self.started.replace(' ', "_").replace(':', "-");
        format!("DisplayXR_{}.{}_{started}.log", self.exe, self.pid)
    }
}

impl Content {
    /// With the header only.
    pub fn new(process: Writing) -> Self {
        let Writing { exe, pid, started } = &process;
        let name = process.file_name();
        let header = format!(
            "=== DisplayXR Log Started ===\r\nLog file: C:\\Users\\user\\AppData\\Local\\DisplayXR\\{name}\r\n\
             Process: {exe} (PID {pid})\r\nTimestamp: {started}\r\n============================\r\n\r\n"
        );
        let (bytes, serial) = (header.into_bytes(), SERIAL.fetch_add(1, Ordering::Relaxed) + 1);
        Self {
            process,
            bytes,
            events: Vec::new(),
            last_luid: None,
            serial,
            records: 0,
            whole: false,
            cut_bytes: 0,
            half_bytes: 0,
        }
    }

    /// Another content with the same header, written into the same file.
    pub fn anew(&self) -> Self {
        Self { cut_bytes: self.cut_bytes + self.bytes.len() as u64, ..Self::new(self.process.clone()) }
    }

    /// It must be on the server from its first byte to its last.
    pub fn into_whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// The first `end` bytes, which are to go on in another way.
    pub fn cut(&self, end: usize) -> Self {
        let mut cut = self.clone();
        cut.bytes.truncate(end);
        cut.events.retain(|(start, _)| *start < end);
        cut.cut_bytes += (self.bytes.len() - end) as u64;
        cut.half_bytes = 0;
        cut.serial = SERIAL.fetch_add(1, Ordering::Relaxed) + 1;
        let luids = cut.events.iter().rev().filter_map(|(_, body)| luid(body));
        cut.last_luid = luids.map(str::to_owned).next();
        cut
    }

    /// Without what stands behind the last newline; this stays the same content.
    pub fn take_half_back(&mut self) {
        let end = self.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let half_bytes = self.half_bytes + (self.bytes.len() - end) as u64;
        *self = Self { half_bytes, ..self.cut(end) };
    }

    /// The next record, with its newline, or two lines of which the second belongs to the record.
    pub fn record(&mut self, random: &mut Random) -> Vec<u8> {
        self.records += 1;
        let number = self.records;
        let (function, body) = match random.below(20) {
            // The first one names the content.
            _ if self.last_luid.is_none() => self.placement(number, random),
            0..9 => self.placement(number, random),
            9 | 10 => (
                "d3d12_split_retire",
                "weave placement: CHANGED — weave/present move back to the RENDER adapter for the rest of this session \
                 (split=0 reason=dp_refused_scanout) (#918)"
                    .to_owned(),
            ),
            11..18 => (
                "submit_fallback",
                format!(
                    "[COMMIT_PROFILE_CLIENT] client=00000219182B64F0 signal_ns={} pre_ipc_ns=12300 ipc_ns={} \
                     post_ipc_ns=0 total_ns=991100",
                    random.below(90_000),
                    random.below(9_000_000)
                ),
            ),
            _ => (
                "oxr_session_locate_views",
                format!("3D-GATE[{number}]: got_eyes=1 valid={} count=2 have_view_state=1", random.below(2)),
            ),
        };
        let event = body.starts_with("weave placement");
        let tick = TICK.fetch_add(1, Ordering::Relaxed);
        let (second, ms) = (tick / 1000, tick % 1000);
        let time = format!("{:02}:{:02}:{:02}.{ms:03}", second / 3600 % 24, second / 60 % 60, second % 60);
        let mut text = format!("[2026-09-14 {time}] [WARN ] [{function}] {body}\r\n");
        if !event && random.chance(20) {
            text.push_str("    the frame before was late\r\n");
        }
        if event {
            self.events.push((self.bytes.len(), body));
        }
        text.into_bytes()
    }

    fn placement(&mut self, number: u32, random: &mut Random) -> (&'static str, String) {
        let luid = format!("{:08x}:{number:08x}", self.serial);
        let outcome = random.one_of(&[
            "weave/present on the SCANOUT adapter (split=1)",
            "weave on the RENDER adapter; every present crosses adapters to reach scanout (split=0 reason=killed_by_env)",
            "weave on the RENDER adapter; every present crosses adapters to reach scanout (split=0 reason=no_hwnd)",
        ]);
        let body = format!(
            "weave placement: render='NVIDIA GeForce RTX 4080 Laptop GPU' LUID={luid}, panel scanout='Intel(R) Iris(R) Xe \
             Graphics' LUID=00000000:00013c07 — {outcome} (#918)"
        );
        self.last_luid = Some(luid);
        ("d3d_log_weave_placement", body)
    }

    /// Records so far.
    pub const fn records(&self) -> u32 {
        self.records
    }

    /// Where lines end behind the header and the first record.
    pub fn line_ends(&self) -> Vec<usize> {
        let first = self.events.first().map_or(self.bytes.len(), |(start, _)| *start);
        let ends = self.bytes.iter().enumerate().skip(first).filter(|(_, byte)| **byte == b'\n');
        ends.map(|(at, _)| at + 1).collect()
    }

    /// The render adapter that the server tells of the log when it has all of it.
    pub fn last_luid(&self) -> Option<&str> {
        self.last_luid.as_deref()
    }

    /// Events whose line is whole within the first `end` bytes: 1-based line and body.
    pub fn events(&self, end: usize) -> Vec<(u64, &str)> {
        let (mut line, mut at) = (1, 0);
        let mut events = Vec::new();
        for (start, body) in &self.events {
            if *start >= end || !self.bytes[*start..end].contains(&b'\n') {
                break;
            }
            line += newlines(&self.bytes[at..*start]);
            at = *start;
            events.push((line, body.as_str()));
        }
        events
    }
}

/// Lines that are whole.
pub fn newlines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

/// The first LUID in a placement record.
fn luid(body: &str) -> Option<&str> {
    body.split_once(" LUID=")?.1.split(',').next()
}
