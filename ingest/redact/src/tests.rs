//! What must go, what must stay, and the laws of both.

mod fields;
mod fixtures;
mod laws;
mod rules;

use crate::{Counts, Policy, Redactor};

/// A redactor that knows one machine with its domain and two people.
fn redactor() -> Redactor {
    Redactor::new(Policy {
        hosts: vec!["WERK-PC07.lab.example.com".to_owned()],
        users: vec!["quillberg".to_owned(), "Zoë Müller".to_owned()],
        ..Policy::default()
    })
}

fn text(text: &str) -> String {
    redactor().text(text, &mut Counts::default()).into_owned()
}
