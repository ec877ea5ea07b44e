//! A set of adapters as one number, the way graphics APIs write a node mask.

/// One bit an adapter, the first in enumeration order lowest; as many hexadecimal digits as the machine needs. A place that
/// the machine does not have is left out.
pub fn of(adapters: usize, part: impl IntoIterator<Item = usize>) -> String {
    let mut nibbles = vec![0_u8; adapters.div_ceil(4).max(1)];
    for index in part {
        if let Some(nibble) = nibbles.get_mut(index / 4) {
            *nibble |= 1 << (index % 4);
        }
    }
    let digits = nibbles.iter().rev().map(|nibble| char::from(b"0123456789abcdef"[usize::from(nibble & 15)]));
    ['0', 'x'].into_iter().chain(digits).collect()
}
