//! Which log a file says it is: its process, from name or header, and the block of lines that opens it (vocabulary 1.2).
//!
//! All logs begin with the same line, so identity is made from the name, which holds process id and time, and from the block
//! below that line. What stands behind the block changes while the process lives and is no part of it.

use parser::LogReader;
use wire::Process;

use crate::position;

/// Bytes of a file that are looked at for this.
pub const LIMIT_BYTES: usize = 4096;

/// First lines of a log; the second is that of the product's first weeks.
const STARTED: [&str; 2] = ["=== DisplayXR Log Started ===", "=== SRMonado Log Started ==="];

/// Last lines likewise.
const ENDED: [&str; 2] = ["=== DisplayXR Log Ended ===", "=== SRMonado Log Ended ==="];

/// How much of a header stands at the start of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// None, and none will come: the first bytes are others.
    None,
    /// The file is empty or ends within it: another look later will see more.
    Growing,
    /// Up to the blank line, or as much as is looked at.
    Whole,
}

/// The start of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// How much of it is there.
    pub extent: Extent,
    /// The first bytes are those of a header, if few.
    pub begun: bool,
    /// Identity of the first content of this process under this header.
    pub base: String,
    /// Checksum of the block.
    pub checksum: u32,
    /// Length of the block in the file, about.
    pub len_bytes: u64,
    /// Whose log it is.
    pub process: Option<Process>,
    /// The file is in UTF-16: little-endian or not.
    pub utf16: Option<bool>,
}

impl Header {
    /// Reads the first [`LIMIT_BYTES`] of a file, or all of a shorter one. `name` is its base name.
    pub fn read(head: &[u8], name: &str) -> Self {
        let utf16 = match head {
            [0xff, 0xfe, ..] => Some(true),
            [0xfe, 0xff, ..] => Some(false),
            _ => None,
        };
        let decoded;
        let text = match utf16 {
            Some(little_endian) => {
                decoded = decode(&head[2..], little_endian);
                decoded.as_bytes()
            }
            None => head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head),
        };
        let (extent, block) = block(text, head.len() >= LIMIT_BYTES);
        let process = process(head, block, name);
        let wide = if utf16.is_some() { 2 } else { 1 };
        Self {
            extent,
            begun: !block.is_empty(),
            base: position::base(process.as_ref(), block),
            checksum: crc32fast::hash(block),
            len_bytes: wide * block.len() as u64,
            process,
            utf16,
        }
    }
}

/// True for the last line of a log whose process ended by itself.
pub fn is_footer(line: &[u8]) -> bool {
    ENDED.iter().any(|ended| ended.as_bytes() == line.trim_ascii_end())
}

fn block(text: &[u8], full: bool) -> (Extent, &[u8]) {
    if !STARTED.iter().any(|started| text.starts_with(started.as_bytes())) {
        let growing = STARTED.iter().any(|started| started.as_bytes().starts_with(text));
        return if growing { (Extent::Growing, text) } else { (Extent::None, &[]) };
    }
    let blank = [b"\n\r\n".as_slice(), b"\n\n"]
        .into_iter()
        .filter_map(|blank| text.windows(blank.len()).position(|window| window == blank))
        .min();
    match blank {
        Some(end) => (Extent::Whole, &text[..end]),
        None if full => (Extent::Whole, text),
        None => (Extent::Growing, text),
    }
}

/// Whose log it is: by the name of the file, else by the name that the header gives the file, else by what the header says
/// of the process. So a copy under any other name is the same log.
fn process(head: &[u8], block: &[u8], name: &str) -> Option<Process> {
    let named_in_header = || {
        let path = block.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Log file:"))?;
        let path = String::from_utf8_lossy(path.trim_ascii());
        parser::file_name::process(path.rsplit(['\\', '/']).next()?)
    };
    let told = || {
        let mut reader = LogReader::new();
        reader.feed(head, &mut |_| {});
        reader.finish(&mut |_| {}).process
    };
    parser::file_name::process(name).or_else(named_in_header).or_else(told)
}

fn decode(bytes: &[u8], little_endian: bool) -> String {
    let (pairs, _) = bytes.as_chunks();
    let units =
        pairs.iter().map(|pair| if little_endian { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) });
    char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "DisplayXR_A.exe.1_2026-09-14_12-00-00.log";
    const WHOLE: &str = "=== DisplayXR Log Started ===\r\nLog file: C:\\x\\DisplayXR_A.exe.1_2026-09-14_12-00-00.log\r\n\
        Process: A.exe (PID 1)\r\nTimestamp: 2026-09-14 12:00:01\r\n============================\r\n\r\n[2026";

    fn read(head: &[u8]) -> Header {
        Header::read(head, NAME)
    }

    #[test]
    fn the_header_ends_at_the_blank_line() {
        let header = read(WHOLE.as_bytes());
        assert_eq!((header.extent, header.len_bytes as usize), (Extent::Whole, WHOLE.len() - "\n\r\n[2026".len()));
        assert_eq!(read(format!("\u{feff}{WHOLE}").as_bytes()), header);
        assert_eq!(read(format!("{WHOLE}-09-14 more").as_bytes()), header);
    }

    #[test]
    fn a_header_that_still_grows_has_no_identity_yet() {
        for cut in 0..WHOLE.len() - "\n[2026".len() {
            assert_eq!(read(&WHOLE.as_bytes()[..cut]).extent, Extent::Growing, "{cut}");
        }
        let endless = [STARTED[0].as_bytes(), &[b'x'; LIMIT_BYTES]].concat();
        assert_eq!(read(&endless[..LIMIT_BYTES]).extent, Extent::Whole);
        assert_eq!(read(b"[2026-09-14 12:00:00.001]").extent, Extent::None);
    }

    #[test]
    fn another_name_or_another_encoding_is_the_same_log_and_another_process_is_not() {
        let header = read(WHOLE.as_bytes());
        assert_eq!(Header::read(WHOLE.as_bytes(), "Copy of a log.txt").base, header.base);
        let utf16: Vec<u8> = format!("\u{feff}{WHOLE}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!((read(&utf16).base, read(&utf16).utf16), (header.base.clone(), Some(true)));
        let other = Header::read(WHOLE.as_bytes(), "DisplayXR_A.exe.1_2026-09-14_12-00-02.log");
        assert_ne!(other.base, header.base);
        assert_eq!(other.checksum, header.checksum);
        // Without the name of its file in the header, the process in it counts.
        let bare = WHOLE.replace("Log file: C:\\x\\DisplayXR_A.exe.1_2026-09-14_12-00-00.log\r\n", "");
        let process = Header::read(bare.as_bytes(), "x.txt").process.expect("the header names it");
        assert_eq!((process.pid, process.started.as_deref()), (1, Some("2026-09-14T12:00:01")));
    }

    #[test]
    fn footers() {
        assert!(is_footer(b"=== DisplayXR Log Ended ===\r"));
        assert!(!is_footer(b"=== DisplayXR Log End"));
    }
}
