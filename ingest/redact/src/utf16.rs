//! UTF-16 inside a log of bytes: a shell's `>>` or an editor appended it.

/// Of this many bytes at least one in four must be a NUL on one side of the pairs.
const LEAST_BYTES: usize = 8;

/// Reads a line that is UTF-16 in either byte order; `None` when it does not look like that. A newline is one byte of a
/// pair, so a line that was cut at newlines can begin or end with half of one.
pub fn read(line: &[u8]) -> Option<String> {
    if line.len() < LEAST_BYTES {
        return None;
    }
    let nuls = |parity: usize| line.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    if even.max(odd) * 4 < line.len() / 2 {
        return None;
    }
    // Where the NUL of a Latin letter stands depends on the byte order, and on where the cut fell. A line behind a
    // little-endian newline begins with the rest of it.
    let low = usize::from(even > odd);
    let pairs = |start: usize, unit: fn([u8; 2]) -> u16| {
        let units = line[start..].chunks_exact(2).map(move |pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    let little = pairs(low, u16::from_le_bytes);
    let big = pairs(1 - low, u16::from_be_bytes);
    // Where all letters are Latin both readings are the same; else the right one has more of the separators.
    let latin = |text: &str| text.chars().filter(char::is_ascii).count();
    Some(if latin(&big) > latin(&little) { big } else { little })
}
