//! How is one entry written in a segment, and which entries are in these bytes, whatever else is there?
//!
//! | bytes | what |
//! |---|---|
//! | 4 | mark `FF 77 71 FE`; `FF` and `FE` never occur in UTF-8, so an entry of text cannot hold a mark |
//! | 4 | CRC-32 of all that follows |
//! | 4 | length of the entry in bytes |
//! | 8 | number of the entry |
//! | 8 | when it was pushed, seconds since 1970 |
//! | … | the entry |
//!
//! Numbers are little-endian. The number inside the checksum keeps a stray copy of old bytes from coming back as an entry.

use std::ops::Range;

/// What an entry takes besides its own bytes.
pub(super) const HEADER_BYTES: usize = 28;
/// Numbers from here on are never given out; one in a file is damage.
pub(super) const TOO_HIGH: u64 = 1 << 62;

const MARK: [u8; 4] = [0xFF, b'w', b'q', 0xFE];
const CHECKED_FROM: usize = 8;

/// One entry as it stands in a segment.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub sequence: u64,
    pub unix_s: u64,
    /// Where it starts in the bytes that were scanned.
    pub offset: usize,
    pub payload: &'a [u8],
}

impl Frame<'_> {
    /// The whole frame, out of the bytes that were scanned.
    pub(super) fn bytes<'a>(&self, scanned: &'a [u8]) -> &'a [u8] {
        &scanned[self.offset..self.offset + HEADER_BYTES + self.payload.len()]
    }

    /// Bytes on disk.
    pub(super) fn size_bytes(&self) -> u64 {
        (HEADER_BYTES + self.payload.len()) as u64
    }
}

/// What some bytes of a segment hold.
pub(super) struct Scan<'a> {
    /// Whole entries, with ascending numbers.
    pub frames: Vec<Frame<'a>>,
    /// Everything else, in order, none of them empty or next to another.
    pub damage: Vec<Range<usize>>,
}

/// Adds one entry to a buffer. Its length must fit 32 bits.
pub(super) fn append(to: &mut Vec<u8>, sequence: u64, unix_s: u64, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("the queue refuses entries that are longer than a segment may be");
    let start = to.len();
    to.extend_from_slice(&MARK);
    to.extend_from_slice(&[0; 4]);
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&sequence.to_le_bytes());
    to.extend_from_slice(&unix_s.to_le_bytes());
    to.extend_from_slice(payload);
    let sum = crc32fast::hash(&to[start + CHECKED_FROM..]);
    to[start + 4..start + CHECKED_FROM].copy_from_slice(&sum.to_le_bytes());
}

/// Finds the whole entries with numbers from `least` on. Behind damage it goes on at the next mark.
pub(super) fn scan(bytes: &[u8], least: u64) -> Scan<'_> {
    let mut found = Scan { frames: Vec::new(), damage: Vec::new() };
    let (mut at, mut least) = (0, least);
    while at < bytes.len() {
        let next = match parse(bytes, at) {
            Some(frame) if (least..TOO_HIGH).contains(&frame.sequence) => {
                found.frames.push(frame);
                least = frame.sequence + 1;
                at += HEADER_BYTES + frame.payload.len();
                continue;
            }
            // Whole, but it has no place here: an old copy.
            Some(frame) => at + HEADER_BYTES + frame.payload.len(),
            None => next_mark(bytes, at + 1),
        };
        match found.damage.last_mut() {
            Some(open) if open.end == at => open.end = next,
            _ => found.damage.push(at..next),
        }
        at = next;
    }
    found
}

fn parse(bytes: &[u8], offset: usize) -> Option<Frame<'_>> {
    let (header, rest) = bytes.get(offset..)?.split_first_chunk::<HEADER_BYTES>()?;
    if header[..4] != MARK {
        return None;
    }
    let length = u32_at(header, 8) as usize;
    let payload = rest.get(..length)?;
    let checked = &bytes[offset + CHECKED_FROM..offset + HEADER_BYTES + length];
    if crc32fast::hash(checked) != u32_at(header, 4) {
        return None;
    }
    Some(Frame { sequence: u64_at(header, 12), unix_s: u64_at(header, 20), offset, payload })
}

fn next_mark(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    rest.windows(MARK.len()).position(|window| window == MARK).map_or(bytes.len(), |distance| from + distance)
}

fn u32_at(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes were taken"))
}

fn u64_at(header: &[u8; HEADER_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes were taken"))
}
