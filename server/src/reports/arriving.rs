//! Reads the files of an upload while they arrive: whoever takes the form apart tells each piece on, and a thread of its own
//! reads it meanwhile.
//!
//! What is told on is not copied and does not wait: the pieces are kept anyway, until the report is stored, and the size of an
//! upload is bounded.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use axum::body::Bytes;
use tokio::task::JoinHandle;

use super::analysis::{Analysis, Reader};
use super::limits::ReportLimits;
use crate::error::Error;

/// An upload that is read.
pub struct Reading {
    telling: Sender<Told>,
    thread: JoinHandle<anyhow::Result<Analysis>>,
}

enum Told {
    Begin(String),
    Piece(Bytes),
    End,
}

impl Reading {
    /// Begins. Dropped, it ends as well, and what was read is forgotten.
    pub fn begin(limits: ReportLimits) -> Self {
        let (telling, told) = channel();
        Self { telling, thread: tokio::task::spawn_blocking(move || read(&told, limits)) }
    }

    /// The next file.
    pub fn begin_file(&self, name: &str) {
        self.tell(Told::Begin(name.to_owned()));
    }

    /// The next piece of it.
    pub fn piece(&self, piece: Bytes) {
        self.tell(Told::Piece(piece));
    }

    /// That was all of it.
    pub fn end_file(&self) {
        self.tell(Told::End);
    }

    /// What the files say.
    ///
    /// # Errors
    /// When an object cannot be written, which is our own fault.
    pub async fn end(self) -> Result<Analysis, Error> {
        let Self { telling, thread } = self;
        drop(telling);
        let read = thread.await.map_err(|error| Error::Internal(error.into()))?;
        read.map_err(|error| Error::Internal(error.context("failed to read a report")))
    }

    fn tell(&self, told: Told) {
        // A thread that is gone says why at the end.
        let _ = self.telling.send(told);
    }
}

fn read(told: &Receiver<Told>, limits: ReportLimits) -> anyhow::Result<Analysis> {
    let mut reader = Reader::new(limits);
    while let Ok(begin) = told.recv() {
        let Told::Begin(name) = begin else { continue };
        let mut is_over = false;
        let mut pieces = std::iter::from_fn(|| {
            if is_over {
                return None;
            }
            match told.recv() {
                Ok(Told::Piece(piece)) => Some(Ok(piece)),
                Ok(Told::Begin(_) | Told::End) => {
                    is_over = true;
                    None
                }
                Err(_) => {
                    is_over = true;
                    Some(Err(io::Error::from(io::ErrorKind::UnexpectedEof)))
                }
            }
        });
        reader.file(&name, &mut pieces);
        // A file of which nothing more is wanted.
        pieces.for_each(drop);
    }
    reader.end()
}
