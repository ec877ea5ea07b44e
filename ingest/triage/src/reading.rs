//! Reads one input from its first byte to its last, in bounded memory, for every command alike.
//!
//! The bytes go to the parser in chunks of one buffer that the caller lends, or in the pieces in which they come; what the
//! parser sees goes to the caller's sink. At the end the file name fills in what the header did not say.

use std::io::{self, Read};

use parser::LogReader;
use wire::{LogFacts, Observation};

/// Big enough that a system call costs little beside its bytes, small enough that they are still in the processor's
/// inner cache when the parser looks at them. Measured on 200 MiB: 64 KiB takes 51 ms, 256 KiB 59 ms, 4 MiB 70 ms.
pub const BUFFER_BYTES: usize = 64 * 1024;

/// What is known of an input after its last byte.
#[derive(Debug)]
pub struct Reading {
    /// Header, end, totals; the process is completed from the file name.
    pub facts: LogFacts,
    /// Why reading stopped before the end; `facts` then hold up to there.
    pub error: Option<io::Error>,
}

/// Reads `input` to its end. `base_name` is its name without folders; `buffer` is only working space.
pub fn read(mut input: impl Read, base_name: &str, buffer: &mut [u8], sink: &mut dyn FnMut(Observation)) -> Reading {
    let mut reader = LogReader::new();
    let error = loop {
        match fill(&mut input, buffer) {
            Ok(0) => break None,
            Ok(filled) => reader.feed(&buffer[..filled], sink),
            Err(error) => break Some(error),
        }
    };
    Reading { facts: complete(reader.finish(sink), base_name), error }
}

/// Reads an input that comes in pieces, such as an upload while it arrives, without copying them. The first error ends it.
pub fn read_pieces<P: AsRef<[u8]>>(
    pieces: impl IntoIterator<Item = io::Result<P>>,
    base_name: &str,
    sink: &mut dyn FnMut(Observation),
) -> Reading {
    let mut reader = LogReader::new();
    let mut error = None;
    for piece in pieces {
        match piece {
            // The parser looks twice at what it is fed: parts of a large piece are still in the processor's cache then.
            Ok(piece) => {
                for chunk in piece.as_ref().chunks(BUFFER_BYTES) {
                    reader.feed(chunk, sink);
                }
            }
            Err(own) => {
                error = Some(own);
                break;
            }
        }
    }
    Reading { facts: complete(reader.finish(sink), base_name), error }
}

/// Reads until the buffer is full or the input ends, because a pipe hands out little at a time. An error is reported
/// by the call after the one that handed out the bytes before it.
pub fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if filled > 0 => break,
            // Files are opened so that they never wait, and one that lies on a disk never has to.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::new(
                    error.kind(),
                    "it is a stream of the system that has nothing more to say yet",
                ));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Completes facts with what the file name says: the header knows the process best, the file name its start.
fn complete(mut facts: LogFacts, base_name: &str) -> LogFacts {
    facts.process = parser::file_name::merge(facts.process, base_name);
    facts
}

/// An input whose first bytes have been looked at and will be handed out again.
pub type Peeked<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

/// Looks at the first `count` bytes.
pub fn peek<R: Read>(mut input: R, count: usize) -> io::Result<(Vec<u8>, Peeked<R>)> {
    let mut head = vec![0; count];
    let filled = fill(&mut input, &mut head)?;
    head.truncate(filled);
    Ok((head.clone(), io::Cursor::new(head).chain(input)))
}

/// The last part of a name, whichever system made the name.
pub fn base_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use wire::Process;

    use super::*;

    /// Hands out what it was made of, piece by piece; an empty piece is an error.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.first_mut() else { return Ok(0) };
            if piece.is_empty() {
                return Err(io::Error::other("torn"));
            }
            let count = piece.len().min(buffer.len());
            buffer[..count].copy_from_slice(&piece[..count]);
            *piece = &piece[count..];
            if piece.is_empty() {
                self.0.remove(0);
            }
            Ok(count)
        }
    }

    #[test]
    fn small_pieces_fill_one_buffer() {
        let mut buffer = [0; 5];
        let mut input = Pieces(vec![b"ab", b"c", b"defg"]);
        assert_eq!(fill(&mut input, &mut buffer).expect("no error was put in"), 5);
        assert_eq!(&buffer, b"abcde");
        assert_eq!(fill(&mut input, &mut buffer).expect("no error was put in"), 2);
        assert_eq!(fill(&mut input, &mut buffer).expect("no error was put in"), 0);
    }

    #[test]
    fn bytes_before_an_error_are_read_and_the_error_is_told() {
        let reading = read(Pieces(vec![b"one\n", b"two\n", b""]), "x.log", &mut [0; 4096], &mut |_| {});
        assert_eq!(reading.facts.counts.bytes, 8);
        assert_eq!(reading.error.expect("the input is torn").to_string(), "torn");
    }

    #[test]
    fn pieces_of_any_size_are_read_like_a_file_up_to_an_error() {
        let log = include_bytes!("../../../fixtures/logs/ok/d3d11_adr039_corrected.log");
        let whole = |sink: &mut Vec<Observation>| {
            read(log.as_slice(), "x.log", &mut [0; 4096], &mut |seen| sink.push(seen)).facts
        };
        let mut expected = Vec::new();
        let facts = whole(&mut expected);
        assert!(!expected.is_empty());
        for size in [1, 7, 1_000, log.len()] {
            let mut seen = Vec::new();
            let reading = read_pieces(log.chunks(size).map(Ok), "x.log", &mut |own| seen.push(own));
            assert_eq!((reading.facts, &seen), (facts.clone(), &expected), "{size}");
        }
        let torn = [Ok("one\n"), Err(io::Error::other("torn")), Ok("two\n")];
        let reading = read_pieces(torn, "x.log", &mut |_| {});
        assert_eq!(reading.facts.counts.bytes, 4);
        assert_eq!(reading.error.expect("the input is torn").to_string(), "torn");
    }

    #[test]
    fn the_start_comes_from_the_name_and_the_rest_from_the_header() {
        let header = Process { exe: "A.exe".into(), pid: 7, started: Some("2026-09-14T12:00:09".into()) };
        let facts = || LogFacts { process: Some(header.clone()), ..LogFacts::default() };
        let named = complete(facts(), "DisplayXR_B.exe.8_2026-09-14_12-00-00.log").process.expect("both tell");
        assert_eq!(
            (named.exe.as_str(), named.pid, named.started.as_deref()),
            ("A.exe", 7, Some("2026-09-14T12:00:00"))
        );
        assert_eq!(complete(facts(), "notes.txt").process, Some(header.clone()));
        assert_eq!(complete(LogFacts::default(), "notes.txt").process, None);
    }

    #[test]
    fn base_names_of_both_systems() {
        for (name, expected) in [("a/b.log", "b.log"), (r"C:\x\b.log", "b.log"), ("b.log", "b.log"), ("a/", "")] {
            assert_eq!(base_name(name), expected);
        }
    }

    #[test]
    fn peeked_bytes_are_not_lost() {
        let (head, mut input) = peek(&b"PK\x03\x04rest"[..], 4).expect("a slice does not fail");
        let mut all = Vec::new();
        input.read_to_end(&mut all).expect("a slice does not fail");
        assert_eq!((head.as_slice(), all.as_slice()), (&b"PK\x03\x04"[..], &b"PK\x03\x04rest"[..]));
    }
}
