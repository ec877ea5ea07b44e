//! Reads a large file on a second thread, so that the system copies the next bytes while the parser looks at these.
//!
//! Two threads that each do half of the work: measured on 200 MiB, a scan takes about two thirds of the time. Small files
//! are read without it, because starting a thread costs more than they do.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Files from this size on are read ahead.
pub const AHEAD_FROM_BYTES: u64 = 8 * 1024 * 1024;

/// What is handed from thread to thread at once.
const PIECE_BYTES: usize = 256 * 1024;

/// Pieces on their way, each way; together with the two in hand they bound the memory.
const PIECES: usize = 4;

/// Lets `work` read from `input`, which another thread reads ahead of it.
pub fn ahead<R>(input: impl Read + Send, work: impl FnOnce(&mut dyn Read) -> R) -> R {
    let (filled, pieces) = sync_channel(PIECES);
    let (spare, spares) = sync_channel(PIECES + 1);
    std::thread::scope(|scope| {
        scope.spawn(move || fill_pieces(input, &filled, &spares));
        // Dropped before the scope ends, also when `work` stops early: then the other thread finds its channel closed.
        let mut ahead = Ahead { pieces, spare, piece: Vec::new(), at: 0 };
        work(&mut ahead)
    })
}

/// Sends piece after piece until the input ends, fails, or nobody listens.
fn fill_pieces(mut input: impl Read, filled: &SyncSender<io::Result<Vec<u8>>>, spares: &Receiver<Vec<u8>>) {
    loop {
        let mut piece = spares.try_recv().unwrap_or_default();
        piece.resize(PIECE_BYTES, 0);
        let read = triage::reading::fill(&mut input, &mut piece);
        let done = !matches!(read, Ok(count) if count > 0);
        let sent = match read {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                filled.send(Ok(piece))
            }
            Err(error) => filled.send(Err(error)),
        };
        if done || sent.is_err() {
            return;
        }
    }
}

/// The near end.
struct Ahead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    spare: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            let Ok(next) = self.pieces.recv() else { return Ok(0) };
            let used = std::mem::replace(&mut self.piece, next?);
            self.at = 0;
            // A piece that does not fit is one that nobody needs.
            self.spare.try_send(used).unwrap_or_default();
        }
        let rest = &self.piece[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 31 % 251) as u8).collect()
    }

    #[test]
    fn the_bytes_arrive_whole_and_in_order() {
        for len in [0, 1, PIECE_BYTES, 5 * PIECE_BYTES + 7] {
            let mut found = Vec::new();
            let count =
                ahead(bytes(len).as_slice(), |input| input.read_to_end(&mut found)).expect("a slice does not fail");
            assert_eq!(count, len);
            assert!(found == bytes(len), "{len} bytes");
        }
    }

    #[test]
    fn work_that_stops_early_stops_the_reading() {
        let first = ahead(io::repeat(7), |input| {
            let mut first = [0; 3];
            input.read_exact(&mut first).map(|()| first)
        });
        assert_eq!(first.expect("it never ends"), [7; 3]);
    }

    #[test]
    fn an_error_comes_behind_the_bytes_before_it() {
        struct Torn(usize);
        impl Read for Torn {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or_else(|| io::Error::other("torn"))?;
                buffer.fill(1);
                Ok(buffer.len())
            }
        }
        let mut found = Vec::new();
        let error = ahead(Torn(3), |input| input.read_to_end(&mut found)).expect_err("the input is torn");
        assert_eq!((error.to_string().as_str(), found.len()), ("torn", 3 * PIECE_BYTES));
    }
}
