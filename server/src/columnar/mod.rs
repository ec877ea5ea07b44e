//! The columnar copy: every closed day of logs and events as Parquet files, in a folder or an S3-compatible store.
//!
//! A day's new files come first, under new names; then the manifest that names them; then the files that it does not
//! name any more go. So whoever reads by the manifest never meets half a day. `docs/columnar.md` describes the layout.

mod cells;
mod check;
mod command;
mod manifest;
mod part;
mod place;
mod run;
mod state;

use std::sync::Arc;

use object_store::ObjectStore;

pub use check::{Checked, check};
pub(crate) use command::command;
pub use manifest::{Day, File, Manifest};
pub use run::{Done, keep, run};
pub use state::{State, state};

/// What can go wrong with a copy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was typed names no place.
    #[error("failed to understand the place of the columnar copy: {0}")]
    Place(String),
    /// The folder or the object store said no.
    #[error("failed to use the columnar copy: check the place, its rights and AWS_* in the environment")]
    Store(#[from] object_store::Error),
    /// The database said no.
    #[error("failed to read the database")]
    Database(#[from] sqlx::Error),
    /// Files on the way.
    #[error("failed to write a temporary file")]
    Io(#[from] std::io::Error),
    /// A row does not fit its column.
    #[error("failed to write or read Parquet")]
    Rows(#[from] analytics::Error),
    /// What is stored there cannot be taken for a copy of this database.
    #[error("failed to trust the columnar copy: {0}")]
    Foreign(String),
    /// A file is not what the manifest says.
    #[error("the columnar copy is damaged: {0}; remove its manifest.json to have it written again")]
    Damaged(String),
    /// Another server has the work.
    #[error("another server is writing the columnar copy: it goes on by itself")]
    Busy,
}

/// Where a copy is kept.
#[derive(Clone, Debug)]
pub struct Copy {
    store: Arc<dyn ObjectStore>,
    /// In front of every name in the store.
    prefix: object_store::path::Path,
    /// The folder, when it is one: what is written there is made safe from a power cut.
    folder: Option<std::path::PathBuf>,
    /// As it was typed.
    url: String,
}
