//! What must not be shown: passwords, header values, addresses of webhooks. They come from the environment or a file.

use std::fmt;
use std::path::Path;

use anyhow::Context;

/// A text that no log and no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// From a variable or a file, without the line end behind it; `None` when neither is named.
    ///
    /// # Errors
    /// When it cannot be read, is empty, or both are named.
    pub fn read(what: &str, variable: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<Self>> {
        let (secret, place) = match (variable, file) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => anyhow::bail!("{what}_env and {what}_file exclude each other"),
            (Some(name), None) => {
                let secret = std::env::var(name);
                (secret.with_context(|| format!("failed to read the variable {name}"))?, name.to_owned())
            }
            (None, Some(path)) => {
                let place = path.display().to_string();
                (std::fs::read_to_string(path).with_context(|| format!("failed to read {place}"))?, place)
            }
        };
        let secret = secret.trim_end_matches(['\r', '\n']);
        anyhow::ensure!(!secret.is_empty(), "{place} is empty");
        Ok(Some(Self(secret.to_owned())))
    }

    /// What was written in the open.
    pub fn open(text: String) -> Self {
        Self(text)
    }

    /// The text, for whom it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
