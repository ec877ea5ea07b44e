//! Reads the body of a request, within a size and a time: as a whole, or while it arrives.

mod arriving;

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};

pub use arriving::Arriving;

use crate::error::Error;

/// From the first byte to the last, when nobody says otherwise: 8 MiB at 100 kB/s.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(90);

/// Why there is no body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// It is longer than what is read.
    #[error("the body is too large")]
    TooLarge,
    /// A heading within it is.
    #[error("the form has a heading without end")]
    Heading,
    /// It did not come to its end in time.
    #[error("the body is too slow")]
    TooSlow,
    /// The connection broke.
    #[error("the body ended early")]
    EndedEarly,
}

impl Fault {
    /// The answer of a route that words two of the faults itself and took this long at most.
    pub fn answer(
        self,
        timeout: Duration,
        too_large: impl FnOnce() -> Error,
        bad: impl FnOnce(String) -> Error,
    ) -> Error {
        match self {
            Self::TooLarge | Self::Heading => too_large(),
            Self::TooSlow => Error::TooSlow(timeout),
            Self::EndedEarly => bad(self.to_string()),
        }
    }
}

/// The whole body.
pub async fn read(body: Body, limit_bytes: usize, timeout: Duration) -> Result<Bytes, Fault> {
    match tokio::time::timeout(timeout, to_bytes(body, limit_bytes)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        // axum has one error for a body that is too long and for a connection that broke.
        Ok(Err(error)) => {
            let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            Err(if source.contains("length limit") { Fault::TooLarge } else { Fault::EndedEarly })
        }
        Err(_) => Err(Fault::TooSlow),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper::body::{Body as HttpBody, Frame};

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    /// Sends a byte at a time, each a little later, and never ends.
    struct Drip(Pin<Box<tokio::time::Sleep>>);

    impl HttpBody for Drip {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let ready = self.0.as_mut().poll(context);
            ready.map(|()| {
                self.0 = Box::pin(tokio::time::sleep(Duration::from_millis(1)));
                Some(Ok(Frame::data(Bytes::from_static(b"x"))))
            })
        }
    }

    #[tokio::test]
    async fn a_body_has_a_size_and_a_time() {
        assert_eq!(read(Body::from("abc"), 3, LONG).await.as_deref(), Ok(b"abc".as_slice()));
        assert_eq!(read(Body::from("abcd"), 3, LONG).await, Err(Fault::TooLarge));
        let drip = || Body::new(Drip(Box::pin(tokio::time::sleep(Duration::ZERO))));
        assert_eq!(read(drip(), 10, LONG).await, Err(Fault::TooLarge));
        assert_eq!(read(drip(), usize::MAX, Duration::from_millis(50)).await, Err(Fault::TooSlow));
    }
}
