//! How far a copy is behind its database, without writing anything.

use super::manifest::Manifest;
use super::run::due;
use super::{Copy, Error};
use crate::store::Store;

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing was written there yet.
    Nothing,
    /// It is the copy of another database.
    Foreign,
    /// It is ours.
    Ours {
        /// Days in it.
        days: usize,
        /// When the manifest was written, RFC 3339.
        written: String,
        /// Closed days that changed or came since, which the next run writes.
        due: usize,
        /// Those among them that are not in the copy and could have been for a day.
        late: usize,
    },
}

/// Reads the manifest and holds it against the database.
///
/// # Errors
/// When place, manifest or database cannot be read.
pub async fn state(store: &Store, url: &str, closed_after_days: u32) -> Result<State, Error> {
    let Some(copy) = Copy::look(url)? else { return Ok(State::Nothing) };
    let Some(manifest) = Manifest::read(&copy).await? else { return Ok(State::Nothing) };
    if store.known_identity().await?.as_ref() != Some(&manifest.database) {
        return Ok(State::Foreign);
    }
    let days = store.days().await?;
    let late = due(days.clone(), &manifest, closed_after_days.saturating_add(1));
    Ok(State::Ours {
        days: manifest.days.iter().filter(|day| !day.files.is_empty()).count(),
        late: late.iter().filter(|(day, _)| manifest.stamp(day).is_none()).count(),
        due: due(days, &manifest, closed_after_days).len(),
        written: manifest.written,
    })
}
