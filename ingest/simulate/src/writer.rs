//! From records to the bytes of a log: prefixes, line numbers, a clock, and where each record of ours stands.
//!
//! Records of ours go through the parser's formatter, the inverse of reading; everything else is text. Lines end with LF in
//! here; [`finish`](Writer::finish) gives the file the line ends and the encoding that it shall have.

use std::ops::Range;

use jiff::civil::DateTime;
use wire::{Event, Fields, Level, Luid, Reason, Value};

use parser::{format, vocabulary};

/// How the bytes of a file come to lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Spelling {
    /// As the runtime writes on Windows.
    #[default]
    Crlf,
    /// As a copy through other systems has it.
    Lf,
    /// CRLF behind a UTF-8 byte order mark.
    Utf8Mark,
    /// UTF-16, little endian.
    Utf16,
}

/// A record of ours in the text.
#[derive(Clone, Debug)]
pub struct Mark {
    /// 1-based.
    pub line: u64,
    /// The whole line, without its end.
    pub bytes: Range<usize>,
    /// Where its body starts.
    pub body: usize,
    /// Row of the vocabulary.
    pub shape: &'static str,
}

/// A log in the making.
#[derive(Debug)]
pub struct Writer {
    /// What stands there so far.
    pub text: Vec<u8>,
    /// Records of ours, in order.
    pub marks: Vec<Mark>,
    lines: u64,
    now_ms: i64,
    second: (i64, String),
    /// Names of adapters with letters that come out as one Latin-1 byte.
    latin1: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A record that is being put together.
#[derive(Debug)]
pub struct Record {
    shape: &'static str,
    fields: Fields,
    function: Option<&'static str>,
    /// A wide name in it cannot be printed.
    unprintable: bool,
}

/// Starts a record of this row of the vocabulary.
pub const fn record(shape: &'static str) -> Record {
    Record { shape, fields: Fields::new(), function: None, unprintable: false }
}

impl Record {
    /// A text.
    pub fn text(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.fields.push(name, Value::Text(text.into()));
        self
    }

    /// A wide text: what is beyond Latin-1 makes the runtime's formatter fail (vocabulary 1.5).
    pub fn wide(mut self, name: &'static str, text: &str) -> Self {
        self.unprintable |= text.chars().any(|letter| letter > '\u{ff}');
        self.text(name, text)
    }

    /// An adapter id.
    pub fn luid(mut self, name: &'static str, luid: Luid) -> Self {
        self.fields.push(name, Value::Luid(luid));
        self
    }

    /// `%u`.
    pub fn uint(mut self, name: &'static str, value: u64) -> Self {
        self.fields.push(name, Value::Uint(value));
        self
    }

    /// `%d`.
    pub fn int(mut self, name: &'static str, value: i64) -> Self {
        self.fields.push(name, Value::Int(value));
        self
    }

    /// `%08lx`, `%p`.
    pub fn hex(mut self, name: &'static str, value: u64) -> Self {
        self.fields.push(name, Value::Hex(value));
        self
    }

    /// `%.1f`, as printed.
    pub fn decimal(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.fields.push(name, Value::Decimal(text.into()));
        self
    }

    /// Reason tokens, separated by commas.
    pub fn reasons(mut self, name: &'static str, tokens: &str) -> Self {
        self.fields.push(name, Value::Reasons(Reason::list(tokens)));
        self
    }

    /// Its row.
    pub const fn shape(&self) -> &'static str {
        self.shape
    }

    /// Nothing but its prefix will be printed.
    pub const fn is_unprintable(&self) -> bool {
        self.unprintable
    }

    /// The function that prints it, where the vocabulary knows none or several.
    pub const fn by(mut self, function: &'static str) -> Self {
        self.function = Some(function);
        self
    }
}

impl Writer {
    /// An empty log whose clock stands at this local time.
    pub fn new(now: DateTime, names: &[String]) -> Self {
        let latin1 = |name: &String| {
            let bytes = name.chars().map(|letter| u8::try_from(letter).ok()).collect::<Option<Vec<_>>>()?;
            (!name.is_ascii()).then(|| (name.clone().into_bytes(), bytes))
        };
        Self {
            text: Vec::with_capacity(16 << 10),
            marks: Vec::new(),
            lines: 0,
            now_ms: ms(now),
            second: (i64::MIN, String::new()),
            latin1: names.iter().filter_map(latin1).collect(),
        }
    }

    /// Lets time go by, or back.
    pub const fn pass(&mut self, ms: i64) {
        self.now_ms += ms;
    }

    /// The number of the next line.
    pub const fn next_line(&self) -> u64 {
        self.lines + 1
    }

    /// A line, or several, that are no record.
    pub fn plain(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'\n');
        self.lines += 1 + memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    }

    /// A record of no concern to us; answers its line.
    pub fn noise(&mut self, level: Level, function: &str, body: &[u8]) -> u64 {
        let line = self.next_line();
        self.prefix(level, Some(function).filter(|_| level != Level::Oxr));
        let start = self.text.len();
        self.text.extend_from_slice(body);
        self.end_record(start);
        line
    }

    /// A record that loses its newline, so that the next one is glued to it; answers their line.
    pub fn unended(&mut self, level: Level, body: &mut dyn FnMut(usize) -> Vec<u8>) -> u64 {
        let line = self.next_line();
        let start = self.text.len();
        self.prefix(level, None);
        let body = body(self.text.len() - start);
        self.text.extend_from_slice(&body);
        line
    }

    /// A record of ours; answers its line. One with a name that cannot be printed keeps its prefix only.
    pub fn put(&mut self, record: Record) -> u64 {
        let Some(row) = vocabulary::shape(record.shape) else { return self.next_line() };
        let start = self.text.len();
        let known = || row.functions.split_ascii_whitespace().next();
        let function = if row.level == Level::Oxr { None } else { record.function.or_else(known).or(Some("?")) };
        let line = self.next_line();
        self.prefix(row.level, function);
        let body = self.text.len();
        if !record.unprintable {
            let printed = format::body(&Event {
                offset: 0,
                line,
                time: None,
                level: row.level,
                function: None,
                shape: record.shape.into(),
                kind: row.kind,
                hint: row.hint,
                fields: record.fields,
                spelling: Vec::new(),
            });
            debug_assert!(printed.is_some(), "{} lacks a value", record.shape);
            let mut printed = printed.unwrap_or_default();
            for (name, latin1) in &self.latin1 {
                printed = replaced(&printed, name, latin1);
            }
            self.text.extend_from_slice(&printed);
        }
        self.marks.push(Mark { line, bytes: start..self.text.len(), body, shape: record.shape });
        self.end_record(body);
        line
    }

    /// The file's bytes.
    pub fn finish(self, spelling: Spelling) -> Vec<u8> {
        let crlf = |text: &[u8]| {
            let mut out = Vec::with_capacity(text.len() + text.len() / 64);
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                match line.split_last() {
                    Some((b'\n', own)) => {
                        out.extend_from_slice(own);
                        out.extend_from_slice(b"\r\n");
                    }
                    _ => out.extend_from_slice(line),
                }
            }
            out
        };
        match spelling {
            Spelling::Lf => self.text,
            Spelling::Crlf => crlf(&self.text),
            Spelling::Utf8Mark => [b"\xef\xbb\xbf", crlf(&self.text).as_slice()].concat(),
            Spelling::Utf16 => {
                let text = String::from_utf8_lossy(&crlf(&self.text)).into_owned();
                std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
            }
        }
    }

    /// The prefix that the next record would have.
    pub fn prefix(&mut self, level: Level, function: Option<&str>) {
        let second = self.now_ms.div_euclid(1000);
        if self.second.0 != second {
            self.second = (second, text_of(second));
        }
        self.text.push(b'[');
        self.text.extend_from_slice(self.second.1.as_bytes());
        let ms = self.now_ms.rem_euclid(1000);
        self.text.extend_from_slice(format!(".{ms:03}] [{}] ", level.in_file()).as_bytes());
        if let Some(function) = function {
            self.text.extend_from_slice(format!("[{function}] ").as_bytes());
        }
    }

    /// Ends a record whose body starts at `body` and may have lines of its own.
    fn end_record(&mut self, body: usize) {
        self.lines += 1 + memchr::memchr_iter(b'\n', &self.text[body..]).count() as u64;
        self.text.push(b'\n');
    }
}

/// `2026-09-14 12:00:00` of a second since 1970.
fn text_of(second: i64) -> String {
    let start = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let now = start.saturating_add(jiff::SignedDuration::from_secs(second));
    now.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn ms(now: DateTime) -> i64 {
    let start = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    i64::try_from(now.duration_since(start).as_millis()).unwrap_or_default()
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}
