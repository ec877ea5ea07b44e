//! The record shapes, as tables that can be read and edited without knowing the code.
//!
//! A row quotes the runtime's own format string and names its conversions in order. From that one row come reading,
//! printing, the meaning shown to people, the path evidence and the kind that the resolver decides on. A new record of a
//! new build is a new row. Rows stand in the file of their section; what the vocabulary names in prose only stands in
//! `PROSE` behind them and is tried last.
//!
//! Source: the project's log vocabulary, sections 2 and 5 to 12.

mod adapters;
mod bridge;
mod deposit;
mod opengl;
mod placement;
mod service;
mod split;
mod triage;
mod window;

use std::sync::LazyLock;

use wire::{Kind, Level, Path, PathHint, Reason, Value};

pub use crate::template::{Conversion, Template};

/// A row of the vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Such as `wp.g2.on_render`; stable.
    pub id: &'static str,
    /// What the record says to the resolver.
    pub kind: Kind,
    /// The runtime's `printf` format.
    pub format: &'static str,
    /// Names of its conversions, in order; a pair of halves makes one LUID, `_` is matched and not kept.
    pub names: &'static str,
    /// What the record says to a person.
    pub meaning: &'static str,
    /// Function fields that print it, separated by blanks; empty when not known.
    pub functions: &'static str,
    /// Level field.
    pub level: Level,
    /// Values that the wording fixes.
    pub fixed: &'static [(&'static str, Fixed)],
    /// What it tells about the path of its log.
    pub hint: Option<PathHint>,
    /// First build or change that prints it; empty for "as far back as known".
    pub since: &'static str,
    /// The change after which it is no longer printed; empty for "still printed".
    pub until: &'static str,
}

/// A value that the wording fixes.
#[derive(Clone, Copy, Debug)]
pub enum Fixed {
    /// A number.
    Uint(u64),
    /// A word.
    Text(&'static str),
    /// One reason token.
    Reason(&'static str),
}

impl Fixed {
    /// As an event carries it.
    pub fn value(self) -> Value {
        match self {
            Self::Uint(value) => Value::Uint(value),
            Self::Text(text) => Value::Text(text.to_owned()),
            Self::Reason(token) => Value::Reasons(vec![Reason::new(token)]),
        }
    }
}

const SPLIT_OFF: &[(&str, Fixed)] = &[("split", Fixed::Uint(0))];
const G1_OFF: &[(&str, Fixed)] = &[("split", Fixed::Uint(0)), ("generation", Fixed::Uint(1))];
const G1_ON: &[(&str, Fixed)] = &[("split", Fixed::Uint(1)), ("generation", Fixed::Uint(1))];
const G2_OFF: &[(&str, Fixed)] = &[("split", Fixed::Uint(0)), ("generation", Fixed::Uint(2))];
const G2_ON: &[(&str, Fixed)] = &[("split", Fixed::Uint(1)), ("generation", Fixed::Uint(2))];
const G2_SAME: &[(&str, Fixed)] =
    &[("reasons", Fixed::Reason("same_adapter")), ("split", Fixed::Uint(0)), ("generation", Fixed::Uint(2))];
const G2_UNRESOLVED: &[(&str, Fixed)] =
    &[("reasons", Fixed::Reason("scanout_unresolvable")), ("split", Fixed::Uint(0)), ("generation", Fixed::Uint(2))];
const D3D: &[(&str, Fixed)] = &[("variable", Fixed::Text("DXR_D3D_FORCE_GPU"))];
const D3D_SCANOUT: &[(&str, Fixed)] =
    &[("variable", Fixed::Text("DXR_D3D_FORCE_GPU")), ("value", Fixed::Text("scanout"))];
const VK: &[(&str, Fixed)] = &[("variable", Fixed::Text("DXR_VK_FORCE_GPU"))];
const VK_SCANOUT: &[(&str, Fixed)] =
    &[("variable", Fixed::Text("DXR_VK_FORCE_GPU")), ("value", Fixed::Text("scanout"))];

/// A row with the usual level and nothing else said.
const fn record(
    id: &'static str,
    kind: Kind,
    format: &'static str,
    names: &'static str,
    meaning: &'static str,
) -> Shape {
    Shape {
        id,
        kind,
        format,
        names,
        meaning,
        functions: "",
        level: Level::Warn,
        fixed: &[],
        hint: None,
        since: "",
        until: "",
    }
}

impl Shape {
    const fn by(mut self, functions: &'static str) -> Self {
        self.functions = functions;
        self
    }

    const fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    const fn fixed(mut self, fixed: &'static [(&'static str, Fixed)]) -> Self {
        self.fixed = fixed;
        self
    }

    /// The record is one of the neighbours that section 12.2 names.
    const fn named(mut self, path: Path) -> Self {
        self.hint = Some(PathHint { path, named: true });
        self
    }

    /// Only this path's component prints the record.
    const fn only(mut self, path: Path) -> Self {
        self.hint = Some(PathHint { path, named: false });
        self
    }

    const fn since(mut self, since: &'static str) -> Self {
        self.since = since;
        self
    }

    const fn until(mut self, until: &'static str) -> Self {
        self.until = until;
        self
    }
}

/// A row with its format compiled.
#[derive(Debug)]
pub struct Row {
    /// The row as written.
    pub shape: &'static Shape,
    /// Its format, ready to read and print.
    pub template: Template,
}

/// Every row, in the order in which they are tried.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let sections = [
        placement::SHAPES,
        split::SHAPES,
        bridge::SHAPES,
        window::SHAPES,
        opengl::SHAPES,
        deposit::SHAPES,
        adapters::SHAPES,
        service::SHAPES,
        triage::SHAPES,
        split::PROSE,
        bridge::PROSE,
        opengl::PROSE,
        deposit::PROSE,
        service::PROSE,
        triage::PROSE,
    ];
    let compile = |shape: &'static Shape| Row {
        shape,
        template: Template::compile(shape.format, shape.names)
            .unwrap_or_else(|error| panic!("vocabulary row {}: {error}", shape.id)),
    };
    sections.into_iter().flatten().map(compile).collect()
});

/// How many rows have a format of their own in the vocabulary; the others are named in its prose.
pub const FORMATS: usize = 186;

/// All rows: the first [`FORMATS`] of them with a format of their own, then those of the prose.
pub fn rows() -> &'static [Row] {
    &ROWS
}

/// The row with this id.
pub fn row(id: &str) -> Option<&'static Row> {
    rows().iter().find(|row| row.shape.id == id)
}

/// The row with this id, as written; `None` for shapes of a newer build and for those that no format describes.
pub fn shape(id: &str) -> Option<&'static Shape> {
    row(id).map(|row| row.shape)
}

/// How every placement record starts.
pub const PLACEMENT: &str = "weave placement:";

/// The marker of ours that a body starts with (contract section 3), or `None`.
pub fn marker(body: &str) -> Option<&'static str> {
    const MARKERS: [&str; 6] = [PLACEMENT, "vk deposit:", "[RENDER] ", "ADR-037", "#1264", "GL shared texture"];
    const SPLIT: &str = "output-device split";
    MARKERS.into_iter().find(|marker| body.starts_with(marker)).or_else(|| {
        let (_, rest) = body.split_once(' ')?;
        rest.starts_with(SPLIT).then_some(SPLIT)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_formats_are_counted() {
        let ids: HashSet<_> = rows().iter().map(|row| row.shape.id).collect();
        assert_eq!(ids.len(), rows().len());
        assert_eq!(rows()[FORMATS].shape.id, split::PROSE[0].id);
    }

    #[test]
    fn every_row_says_what_it_means() {
        for row in rows() {
            assert!(row.shape.meaning.ends_with('.'), "{}: {:?}", row.shape.id, row.shape.meaning);
        }
    }

    #[test]
    fn only_the_start_of_a_body_is_a_marker() {
        assert_eq!(marker("weave placement: x"), Some("weave placement:"));
        assert_eq!(marker("VK output-device split: x"), Some("output-device split"));
        assert_eq!(marker("app 'weave placement: x'"), None);
        assert_eq!(marker("the app's output-device split"), None);
    }
}
