//! How much was taken out, by kind.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// How many places were replaced. A place that another kind covers counts for the kind that took it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Names of people, and Windows security ids of accounts.
    pub users: u64,
    /// Names of machines.
    pub hosts: u64,
    /// E-mail addresses.
    pub emails: u64,
    /// Passwords, tokens, keys.
    pub secrets: u64,
    /// Names of programs, mapped or hashed.
    pub exes: u64,
}

impl Counts {
    /// All kinds together.
    pub const fn total(&self) -> u64 {
        self.users + self.hosts + self.emails + self.secrets + self.exes
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        let Self { users, hosts, emails, secrets, exes } = other;
        self.users += users;
        self.hosts += hosts;
        self.emails += emails;
        self.secrets += secrets;
        self.exes += exes;
    }
}
