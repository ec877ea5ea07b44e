//! A body that is worked on while it arrives, within a size and a time.
//!
//! Whoever reads a form keeps what it cannot take apart yet, and searches it from the start each time more arrives. So this
//! hands out one piece at a time, and gives up when nothing was made of what was handed out: a slow sender of one endless
//! heading costs no more than its first bytes.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use futures::{Stream, StreamExt as _};
use tokio::time::Sleep;

use super::Fault;

/// What may be handed out without [`Arriving::progress`]: many times the longest name of a file.
const HEADING_BYTES: usize = 64 << 10;

/// The pieces of a body. Clones share it, so that whoever gave it away can still say how far it is.
#[derive(Clone)]
pub struct Arriving(Arc<Mutex<State>>);

struct State {
    body: BodyDataStream,
    /// Of the limit.
    left_bytes: usize,
    /// Handed out since something was made of it.
    idle_bytes: usize,
    /// Something was handed out, and whoever asks again at once should look at that first.
    rests: bool,
    over: Pin<Box<Sleep>>,
}

impl Arriving {
    /// Of at most so many bytes, in at most this time from now.
    pub fn new(body: Body, limit_bytes: usize, timeout: Duration) -> Self {
        Self(Arc::new(Mutex::new(State {
            body: body.into_data_stream(),
            left_bytes: limit_bytes,
            idle_bytes: 0,
            rests: false,
            over: Box::pin(tokio::time::sleep(timeout)),
        })))
    }

    /// What was handed out was good for something.
    pub fn progress(&self) {
        self.state().idle_bytes = 0;
    }

    /// Waits for the end of the body, so that the connection can be used again.
    ///
    /// # Errors
    /// What goes wrong until then.
    pub async fn rest(mut self) -> Result<(), Fault> {
        while let Some(piece) = self.next().await {
            piece?;
            self.progress();
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream for Arriving {
    type Item = Result<Bytes, Fault>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.state();
        if std::mem::take(&mut state.rests) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if state.idle_bytes > HEADING_BYTES {
            return Poll::Ready(Some(Err(Fault::Heading)));
        }
        let Poll::Ready(next) = state.body.poll_next_unpin(context) else {
            ready!(state.over.as_mut().poll(context));
            return Poll::Ready(Some(Err(Fault::TooSlow)));
        };
        let Some(piece) = next else { return Poll::Ready(None) };
        let Ok(piece) = piece else { return Poll::Ready(Some(Err(Fault::EndedEarly))) };
        let Some(left_bytes) = state.left_bytes.checked_sub(piece.len()) else {
            return Poll::Ready(Some(Err(Fault::TooLarge)));
        };
        state.left_bytes = left_bytes;
        state.idle_bytes += piece.len();
        state.rests = true;
        Poll::Ready(Some(Ok(piece)))
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    fn body(pieces: usize, bytes: usize) -> Body {
        let piece = Bytes::from(vec![b'x'; bytes]);
        Body::from_stream(stream::iter((0..pieces).map(move |_| Ok::<_, std::io::Error>(piece.clone()))))
    }

    #[tokio::test]
    async fn it_has_a_size_and_a_time() {
        assert_eq!(Arriving::new(body(3, 10), 30, LONG).rest().await, Ok(()));
        assert_eq!(Arriving::new(body(3, 10), 29, LONG).rest().await, Err(Fault::TooLarge));
        let never = Body::from_stream(stream::pending::<std::io::Result<Bytes>>());
        assert_eq!(Arriving::new(never, 30, Duration::from_millis(20)).rest().await, Err(Fault::TooSlow));
        let torn = Body::from_stream(stream::iter([Ok(Bytes::from("a")), Err(std::io::Error::other("torn"))]));
        assert_eq!(Arriving::new(torn, 30, LONG).rest().await, Err(Fault::EndedEarly));
    }

    #[tokio::test]
    async fn what_nothing_is_made_of_is_not_read_on() {
        let pieces = HEADING_BYTES / 100 + 10;
        let mut idle = Arriving::new(body(pieces, 100), usize::MAX, LONG);
        let mut read = 0;
        let fault = loop {
            match idle.next().await {
                Some(Ok(piece)) => read += piece.len(),
                Some(Err(fault)) => break fault,
                None => panic!("it was read to its end"),
            }
        };
        assert_eq!(fault, Fault::Heading);
        assert!((HEADING_BYTES..HEADING_BYTES + 200).contains(&read), "{read}");
        assert_eq!(Arriving::new(body(pieces, 100), usize::MAX, LONG).rest().await, Ok(()), "all of it is progress");
    }
}
