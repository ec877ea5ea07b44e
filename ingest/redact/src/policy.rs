//! What to take out, as a configuration says it and the caller completes it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// What a redactor has to know. User names in paths, shares, addresses and secrets go whatever it says.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// What becomes of the names of programs.
    pub exe: ExeNames,
    /// Names of this machine, short or with their domain; found as whole words of at least three characters.
    pub hosts: Vec<String>,
    /// Names of people; found as whole words of at least four characters. In paths nothing has to be said.
    pub users: Vec<String>,
}

/// What becomes of the names of programs: `"keep"`, `{ map = { "Secret.exe" = "app-a.exe" } }`, `{ hash = { key = "…" } }`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExeNames {
    /// They stay.
    #[default]
    Keep,
    /// These become those, whatever their case; all others stay. A name that is itself put in for another one stays.
    Map(BTreeMap<String, String>),
    /// Each becomes twelve hex digits of a keyed hash of its lower-case name, and keeps its `.exe`. A name that looks like
    /// that already stays.
    Hash {
        /// Who has it can tell whether a name belongs to a hash, nobody else.
        key: Key,
    },
}

/// The key of the hash, 64 hex digits in a configuration. It does not print itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(pub [u8; 32]);

impl From<[u8; 32]> for Key {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut key = [0; 32];
        if text.len() != 2 * key.len() || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(D::Error::custom("expected the key as 64 hex digits"));
        }
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(D::Error::custom)?;
        }
        Ok(Self(key))
    }
}
