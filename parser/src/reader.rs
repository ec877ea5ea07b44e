//! The front door: feed it a file in chunks of any size, it hands out observations, and at the end what it knows of the
//! whole. Memory does not grow with the file.

use wire::{ByteLedger, CliOutput, InputKind, LogFacts, Observation};

use crate::bare::Bare;
use crate::capture::JsonRecord;
use crate::classify::Place;
use crate::cli::{self, CliReader};
use crate::decode::decode;
use crate::framing::{Checkpoint, Framer, Sink};
use crate::lines::{Line, Lines};
use crate::sniff;
use crate::transcode::{self, Encoding, Utf16};

/// The largest JSON report of `displayxr-cli` that is read as a whole.
const DOCUMENT_MOST: usize = 4 * 1024 * 1024;

/// Reads one input: a log, a capture of stderr, or saved output of `displayxr-cli`.
#[derive(Default)]
pub struct LogReader {
    bytes: u64,
    stage: Stage,
}

enum Stage {
    /// Too few bytes to tell the encoding.
    Mark(Vec<u8>),
    /// The encoding is known, the kind of input is not.
    Start { text: Text, start: Vec<u8> },
    /// Lines flow.
    Body { text: Text, body: Box<Body> },
}

impl Default for Stage {
    fn default() -> Self {
        Self::Mark(Vec::new())
    }
}

/// From bytes of the file to bytes of text.
enum Text {
    Bytes { mark: u64 },
    Utf16(Utf16),
}

/// Reads the text of one kind of input.
struct Body {
    kind: InputKind,
    utf16: bool,
    lines: Lines,
    framer: Framer,
    cli: CliReader,
    bare: Bare,
    /// The whole text, where it may be one JSON object.
    document: Option<Vec<u8>>,
}

impl LogReader {
    /// Ready for the first byte.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and hands out what they complete, in file order.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Observation)) {
        self.bytes += chunk.len() as u64;
        self.step(chunk, false, sink);
    }

    /// What it takes to go on here later, when everything fed so far ends right before a line that begins a record
    /// ([`last_record_start`](crate::last_record_start)). `None` where an input can only be read from its first byte: one
    /// that is no log, a log in UTF-16, and a log of which too little is there to tell.
    ///
    /// Reading on from a checkpoint gives what reading from the first byte gives: the same observations, the same facts.
    pub fn checkpoint(&mut self, sink: &mut dyn FnMut(Observation)) -> Option<Checkpoint> {
        match &mut self.stage {
            Stage::Body { text: Text::Bytes { .. }, body }
                if body.kind == InputKind::Log && body.lines.is_between() =>
            {
                Some(body.framer.checkpoint(sink))
            }
            _ => None,
        }
    }

    /// Ready for the byte at [`Checkpoint::offset`].
    pub fn resume(checkpoint: Checkpoint) -> Self {
        let bytes = checkpoint.offset();
        let text = Text::Bytes { mark: 0 };
        let body = Body { framer: Framer::resume(checkpoint), ..Body::new(InputKind::Log, &text) };
        Self { bytes, stage: Stage::Body { text, body: Box::new(body) } }
    }

    /// Takes the end of the file.
    pub fn finish(mut self, sink: &mut dyn FnMut(Observation)) -> LogFacts {
        self.step(&[], true, sink);
        let Stage::Body { text, mut body } = self.stage else { return LogFacts::default() };
        if let Text::Utf16(decoder) = &text {
            body.feed(decoder.finish().as_bytes(), sink);
        }
        body.finish(self.bytes, sink)
    }

    /// Moves through the stages; `complete` says that no byte will follow.
    fn step(&mut self, chunk: &[u8], complete: bool, sink: Sink<'_>) {
        match &mut self.stage {
            Stage::Mark(start) => {
                start.extend_from_slice(chunk);
                let Some((encoding, mark)) = transcode::detect(start, complete) else { return };
                let rest = start.split_off(mark);
                let text = match encoding {
                    Encoding::Bytes => Text::Bytes { mark: mark as u64 },
                    Encoding::Utf16 { little_endian } => Text::Utf16(Utf16::new(little_endian)),
                };
                self.stage = Stage::Start { text, start: Vec::new() };
                self.step(&rest, complete, sink);
            }
            Stage::Start { text, start } => {
                start.extend_from_slice(text.decode(chunk));
                if start.len() < sniff::ENOUGH && !complete && !sniff::is_settled(start) {
                    return;
                }
                let Stage::Start { text, start } = std::mem::take(&mut self.stage) else { return };
                let mut body = Body::new(sniff::input_kind(&start[..start.len().min(sniff::ENOUGH)]), &text);
                body.feed(&start, sink);
                self.stage = Stage::Body { text, body: Box::new(body) };
            }
            Stage::Body { text, body } => body.feed(text.decode(chunk), sink),
        }
    }
}

impl Text {
    fn decode<'a>(&'a mut self, chunk: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Bytes { .. } => chunk,
            Self::Utf16(decoder) => decoder.feed(chunk).as_bytes(),
        }
    }
}

impl Body {
    fn new(kind: InputKind, text: &Text) -> Self {
        let mut framer = Framer::new(kind == InputKind::Stderr);
        framer.skip(match text {
            Text::Bytes { mark } => *mark,
            Text::Utf16(_) => 2,
        });
        Self {
            kind,
            utf16: matches!(text, Text::Utf16(_)),
            lines: Lines::default(),
            framer,
            cli: CliReader::new(),
            bare: Bare::default(),
            document: (kind == InputKind::Cli).then(Vec::new),
        }
    }

    fn feed(&mut self, text: &[u8], sink: Sink<'_>) {
        if let Some(document) = &mut self.document {
            let room = DOCUMENT_MOST.saturating_sub(document.len());
            document.extend_from_slice(&text[..text.len().min(room)]);
        }
        let Self { kind, utf16, lines, framer, cli, bare, .. } = self;
        framer.nul_seen = framer.nul_seen || memchr::memchr(0, text).is_some();
        match (*kind, *utf16) {
            // The case that has to be fast stands alone, so that nothing is asked again for every line.
            (InputKind::Log, false) => lines.feed(text, |line| framer.line(line, sink)),
            (kind, utf16) => lines.feed(text, |line| take(kind, utf16, framer, (cli, bare), line, sink)),
        }
    }

    fn finish(self, bytes: u64, sink: Sink<'_>) -> LogFacts {
        let Self { kind, utf16, lines, mut framer, mut cli, mut bare, document } = self;
        lines.finish(|line| take(kind, utf16, &mut framer, (&mut cli, &mut bare), line, sink));
        framer.finish(sink);
        let cli = document.map(|document| report(&document, cli, &mut framer, sink));
        if utf16 {
            settle(&mut framer.bytes, bytes);
        }
        let counts = wire::Counts { bytes, ..framer.counts };
        let last_time = framer.last_time();
        let Framer { process, end, bytes, .. } = framer;
        LogFacts { input: kind, process, end, counts, bytes, last_time, cli }
    }
}

/// Reads one line of an input of any kind.
fn take(
    kind: InputKind,
    utf16: bool,
    framer: &mut Framer,
    (cli, bare): (&mut CliReader, &mut Bare),
    line: Line<'_>,
    sink: Sink<'_>,
) {
    let line = if utf16 { Line { len: file_len(line), ..line } } else { line };
    match kind {
        InputKind::Log | InputKind::Stderr => framer.line(line, sink),
        InputKind::Json => match JsonRecord::read(line.bytes) {
            Some(record) => {
                framer.bytes.in_records += line.len;
                // A NUL in a message is spelled as an escape.
                framer.nul_seen = true;
                let place = framer.next_place(line.len);
                framer.prefixed(&record.prefixed(), place, sink);
            }
            None => framer.line(line, sink),
        },
        InputKind::Bare => match bare.read(line.bytes) {
            Some(record) => {
                framer.bytes.in_records += line.len;
                let place = framer.next_place(line.len);
                framer.prefixed(&record, place, sink);
            }
            None => framer.line(line, sink),
        },
        InputKind::Cli => {
            let Place { offset, line: number } = framer.next_place(line.len);
            let text = decode(line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes));
            let told = cli.line(offset, number, text.text(), sink);
            *(if told { &mut framer.bytes.in_records } else { &mut framer.bytes.outside }) += line.len;
            if told {
                framer.counts.records += 1;
                framer.counts.events += 1;
            }
        }
    }
}

/// Bytes of a UTF-16 file that a decoded line came from; exact for lines of ordinary length.
fn file_len(line: Line<'_>) -> u64 {
    let seen = line.bytes.len() as u64;
    transcode::utf16_len(decode(line.bytes).text()) + 2 * line.len.saturating_sub(seen)
}

/// Makes the sums of a UTF-16 file add up: the bytes of a line that is no good UTF-16, or too long, are only known as a
/// whole.
fn settle(sums: &mut ByteLedger, bytes: u64) {
    let mut excess = sums.total().saturating_sub(bytes);
    sums.outside += bytes.saturating_sub(sums.total());
    for sum in [&mut sums.outside, &mut sums.in_records, &mut sums.footer, &mut sums.header] {
        let less = excess.min(*sum);
        *sum -= less;
        excess -= less;
    }
}

/// What the tool said: its text lines, or the JSON object that the text is.
fn report(document: &[u8], cli: CliReader, framer: &mut Framer, sink: Sink<'_>) -> CliOutput {
    let lines = cli.finish();
    if lines != CliOutput::default() {
        return lines;
    }
    let mut events = 0;
    let output = cli::json(decode(document).text(), &mut |observation| {
        events += 1;
        sink(observation);
    });
    framer.counts.records += events;
    framer.counts.events += events;
    output.unwrap_or_default()
}
