//! Takes out of texts and events what must not leave a machine: names of people and hosts, addresses, secrets, and, where
//! the policy says so, names of programs. In their place stands what they were: `<user>`, `<host>`, `<e-mail>`, `<secret>`.
//!
//! A [`Redactor`] knows what it was made with and learns nothing on the way, so a text is redacted the same whatever came
//! before it, and a range of a log that is read again gives the same events. Names that stand in a path, a share or an
//! address are found by where they stand. A bare name is found only when the [`Policy`] names it ([`user_names`] collects
//! names from the paths of a log for that), as a whole word, long enough, and when it is no word of the runtime's own
//! records: a PC called `render` must not change what a record says. In doubt the text goes, not the privacy.
//!
//! This crate opens no file and asks the system for nothing: whoever calls it says what the machine is called.

mod counts;
mod edit;
mod emails;
mod exes;
mod hosts;
mod phrases;
mod policy;
mod secrets;
mod segment;
mod signs;
mod users;
mod utf16;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use counts::Counts;
pub use policy::{ExeNames, Key, Policy};
pub use users::user_names;

use crate::edit::Edit;
use crate::exes::Exes;
use crate::hosts::Hosts;
use crate::users::Users;

/// A text is looked through again until nothing is left to do, because what one rule puts in can uncover something for
/// another. Two rounds do nearly always; the bound is for texts that were made to be slow.
const MAX_ROUNDS: usize = 16;

/// A policy, ready to be applied.
#[derive(Clone, Debug)]
pub struct Redactor {
    exes: Exes,
    users: Users,
    hosts: Hosts,
}

impl Redactor {
    /// Makes a policy ready.
    pub fn new(policy: Policy) -> Self {
        Self { exes: Exes::new(policy.exe), users: Users::new(&policy.users), hosts: Hosts::new(&policy.hosts) }
    }

    /// The same, and the name of one log's program is known: with [`ExeNames::Hash`] it is then found in every text of that
    /// log, also without its ending, with blanks inside, or where it never had an `.exe`.
    #[must_use]
    pub fn knowing(&self, exe: &str) -> Self {
        Self { exes: self.exes.knowing(exe), ..self.clone() }
    }

    /// A text without what must go.
    pub fn text<'a>(&self, text: &'a str, counts: &mut Counts) -> Cow<'a, str> {
        match self.bytes(text.as_bytes(), counts) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(into_text(bytes)),
        }
    }

    /// A line of a log as it stands in the file, with or without its newline. Bytes that are not UTF-8 stay as they are. A
    /// line that is UTF-16 inside a log of bytes (an editor or a shell appended it) comes back as UTF-8 when something in it
    /// had to go; a file that is UTF-16 from its start has to be decoded before it is cut into lines.
    pub fn line<'a>(&self, line: &'a [u8], counts: &mut Counts) -> Cow<'a, [u8]> {
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(text) = utf16::read(body)
            && let Cow::Owned(mut redacted) = self.bytes(text.as_bytes(), counts)
        {
            redacted.extend_from_slice(&line[body.len()..]);
            return Cow::Owned(redacted);
        }
        self.bytes(line, counts)
    }

    /// The base name of a file. It stays a name that every file system takes, and one that tells the program, its process
    /// id and its start: markers stand in parentheses.
    pub fn file_name<'a>(&self, name: &'a str, counts: &mut Counts) -> Cow<'a, str> {
        match self.text(name, counts) {
            Cow::Owned(text) => Cow::Owned(text.replace('<', "(").replace('>', ")")),
            unchanged @ Cow::Borrowed(_) => unchanged,
        }
    }

    fn bytes<'a>(&self, text: &'a [u8], counts: &mut Counts) -> Cow<'a, [u8]> {
        let known = || self.users.are_in(text) || self.hosts.are_in(text);
        if !self.exes.could_be_in(text) && !signs::are_in(text) && !known() {
            return Cow::Borrowed(text);
        }
        let mut text = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            let changed = apply(&mut text, |edit| self.exes.apply(edit, counts))
                | apply(&mut text, |edit| secrets::apply(edit, counts))
                | apply(&mut text, |edit| users::apply_where_names_stand(edit, counts))
                | apply(&mut text, |edit| emails::apply(edit, counts))
                | apply(&mut text, |edit| self.hosts.apply(edit, counts))
                | apply(&mut text, |edit| self.users.apply(edit, counts));
            if !changed {
                break;
            }
        }
        text
    }
}

/// Runs one rule over a text; true when it changed something.
fn apply(text: &mut Cow<'_, [u8]>, rule: impl FnOnce(&mut Edit<'_>)) -> bool {
    let mut edit = Edit::new(text);
    rule(&mut edit);
    match edit.finish() {
        Some(changed) => {
            *text = Cow::Owned(changed);
            true
        }
        None => false,
    }
}

/// The rules cut at ASCII bytes only, so what was UTF-8 stays UTF-8; if one ever did not, the text would still be one.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
