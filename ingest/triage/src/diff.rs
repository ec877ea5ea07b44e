//! Two logs side by side, aligned by role and adapter name, and what differs first.

mod page;
mod rows;

use serde::Serialize;
use wire::ScanReport;

use crate::document::Document;
use crate::explain::Dossier;

pub use rows::{Alone, Parting, Record, Row};

/// Name and version of the object.
pub const DIFF_SCHEMA: &str = "weavewatch.diff/1";

/// Two logs and what is between them.
pub struct Diff<'a> {
    a: &'a Dossier,
    b: &'a Dossier,
    rows: Vec<Row>,
    parting: Option<Parting>,
    alone: Alone,
}

/// The same for programs.
#[derive(Serialize)]
pub struct Difference<'a> {
    schema: &'static str,
    a: &'a ScanReport,
    b: &'a ScanReport,
    /// Causes before consequences, so the first one is what differs first.
    differences: Vec<&'a Row>,
    same: Vec<&'a Row>,
    first_record: Option<&'a Parting>,
    only: &'a Alone,
}

impl<'a> Diff<'a> {
    /// Compares them.
    pub fn between(a: &'a Dossier, b: &'a Dossier) -> Self {
        Self { a, b, rows: rows::rows(a, b), parting: rows::parting(a, b), alone: rows::alone(a, b) }
    }

    /// Every aspect, causes before consequences.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Where the two logs part; `None` when they hold the same records.
    pub const fn parting(&self) -> Option<&Parting> {
        self.parting.as_ref()
    }

    /// The records that only one of them has.
    pub const fn alone(&self) -> &Alone {
        &self.alone
    }

    /// For programs.
    pub fn object(&self) -> Difference<'_> {
        let (same, differences) = self.rows.iter().partition(|row| row.is_same());
        Difference {
            schema: DIFF_SCHEMA,
            a: &self.a.report,
            b: &self.b.report,
            differences,
            same,
            first_record: self.parting.as_ref(),
            only: &self.alone,
        }
    }

    /// For people.
    pub fn page(&self) -> Document {
        page::page(self.a, self.b, &self.rows, &self.alone)
    }
}
