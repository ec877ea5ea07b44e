//! Sorting more than memory should hold: sorted runs on disk, merged when they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek as _, Write as _};

/// So many entries wait in memory before they become a run: some ten megabytes.
const RUN_ENTRIES: usize = 1 << 16;

/// Something that can be sorted, written and read again.
pub(super) trait Entry: Ord {
    /// Writes it.
    fn write(&self, out: &mut dyn io::Write) -> io::Result<()>;
    /// Reads it back; `None` at the end.
    fn read(input: &mut dyn Read) -> io::Result<Option<Self>>
    where
        Self: Sized;
}

/// Entries that come out in order, whatever their number.
pub(super) struct Runs<E> {
    /// Sorted runs on disk.
    on_disk: Vec<File>,
    /// What is no run yet.
    waiting: Vec<E>,
    len: usize,
}

impl<E> Default for Runs<E> {
    fn default() -> Self {
        Self { on_disk: Vec::new(), waiting: Vec::new(), len: 0 }
    }
}

impl<E: Entry> Runs<E> {
    /// Adds one.
    pub(super) fn push(&mut self, entry: E) -> io::Result<()> {
        self.waiting.push(entry);
        self.len += 1;
        if self.waiting.len() >= RUN_ENTRIES {
            self.waiting.sort_unstable();
            let mut out = BufWriter::new(tempfile::tempfile()?);
            for entry in self.waiting.drain(..) {
                entry.write(&mut out)?;
            }
            out.flush()?;
            self.on_disk.push(out.into_inner().map_err(io::IntoInnerError::into_error)?);
        }
        Ok(())
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Hands out all of them, in order. It can be asked again.
    pub(super) fn each(&mut self, each: &mut dyn FnMut(&E) -> io::Result<()>) -> io::Result<()> {
        self.waiting.sort_unstable();
        let mut runs = Vec::with_capacity(self.on_disk.len());
        for run in &mut self.on_disk {
            run.rewind()?;
            runs.push(BufReader::new(&*run));
        }
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (at, run) in runs.iter_mut().enumerate() {
            heads.extend(E::read(run)?.map(|entry| Reverse((entry, at))));
        }
        let mut waiting = self.waiting.iter().peekable();
        loop {
            let from_run = match (heads.peek(), waiting.peek()) {
                (None, None) => return Ok(()),
                (Some(Reverse((head, _))), Some(entry)) => head < *entry,
                (head, _) => head.is_some(),
            };
            if !from_run {
                if let Some(entry) = waiting.next() {
                    each(entry)?;
                }
            } else if let Some(Reverse((entry, at))) = heads.pop() {
                each(&entry)?;
                heads.extend(E::read(&mut runs[at])?.map(|entry| Reverse((entry, at))));
            }
        }
    }
}

/// Writes a text with its length.
pub(super) fn write_text(out: &mut dyn io::Write, text: &str) -> io::Result<()> {
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// Writes a number.
pub(super) fn write_number(out: &mut dyn io::Write, number: u64) -> io::Result<()> {
    out.write_all(&number.to_le_bytes())
}

/// Reads a number that [`write_number`] wrote.
pub(super) fn read_number(input: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Reads a text that [`write_text`] wrote.
pub(super) fn read_text(input: &mut dyn Read) -> io::Result<String> {
    let len = read_number(input)?;
    let mut text = String::new();
    input.take(len).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Entry for u64 {
        fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
            write_number(out, *self)
        }

        fn read(input: &mut dyn Read) -> io::Result<Option<Self>> {
            match read_number(input) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                read => read.map(Some),
            }
        }
    }

    #[test]
    fn more_than_a_run_comes_out_in_order_and_again() {
        let count = 3 * RUN_ENTRIES as u64 + 17;
        let mut runs = Runs::default();
        for number in 0..count {
            // A step without a common factor visits each number once, far from in order.
            runs.push(number * 7919 % count).expect("a temporary folder");
        }
        assert_eq!((runs.on_disk.len(), runs.waiting.len(), runs.len()), (3, 17, count as usize));
        for _ in 0..2 {
            let mut next = 0;
            runs.each(&mut |entry| {
                assert_eq!(*entry, next);
                next += 1;
                Ok(())
            })
            .expect("it was just written");
            assert_eq!(next, count);
        }
    }
}
