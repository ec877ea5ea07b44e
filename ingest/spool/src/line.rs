//! One checked line: eight hexadecimal digits of a CRC-32, a space, JSON, a newline.
//!
//! JSON as serde writes it holds no newline, so a reader that meets a broken line finds the next one. People can read
//! the files with a pager.

use std::io;

use serde::Serialize;

/// Adds one value as a line.
pub(crate) fn append(to: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_vec(value)?;
    to.extend_from_slice(format!("{:08x} ", crc32fast::hash(&json)).as_bytes());
    to.extend_from_slice(&json);
    to.push(b'\n');
    Ok(())
}

/// The JSON of a line without its newline, when its checksum fits.
pub(crate) fn json(line: &[u8]) -> Option<&[u8]> {
    let (sum, json) = line.split_at_checked(8)?;
    let json = json.strip_prefix(b" ")?;
    // `from_str_radix` would take a sign too, so the digits are compared as text.
    (format!("{:08x}", crc32fast::hash(json)).as_bytes() == sum).then_some(json)
}
