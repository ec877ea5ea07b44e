//! Which logs a question is about: the filters of `summary`, `logs` and the page, checked, then spelled in SQL.
//!
//! A name may repeat: its values are alternatives; different names all have to hold. The value `null` selects logs that do
//! not tell. Nothing that a caller typed becomes part of the SQL text.

use dashboards::query::NOT_TOLD;
use jiff::civil::Date;
use sqlx::any::AnyArguments;
use sqlx::{Arguments, Encode, Type};

use super::WordKind;
use super::moment::Moment;
use crate::text;

/// What logs can be grouped and filtered by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dimension {
    /// Local day of the start.
    Day,
    /// Which compositor.
    Path,
    /// Reason token; a log can have several.
    Reason,
    /// Name of the render adapter.
    Render,
    /// Name of the adapter that drives the panel.
    Scanout,
    /// Both names, `RENDER → SCANOUT`.
    GpuPair,
    /// Version of the runtime, else the tag of its build.
    Runtime,
    /// Base name of the program.
    Exe,
    /// Pseudonym of the PC.
    Machine,
    /// The verdict's split.
    Split,
    /// The verdict's crossing.
    Crossing,
    /// The page's one word for a verdict.
    Outcome,
    /// Kind of PC: which adapters it has, in which roles. An id of `cohorts`.
    Cohort,
}

/// Days in a series: ten years.
const MOST_DAYS: i64 = 3_660;

/// Checked filters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    pub(super) values: Vec<(Dimension, Vec<Option<String>>)>,
    pub(super) killed: Option<bool>,
    pub(super) retired: Option<bool>,
    pub(super) from: Option<Moment>,
    pub(super) to: Option<Moment>,
    pub(super) situations: Vec<i64>,
    /// Words that nobody knows; none: any of them, when `unknown_is_asked`.
    unknown: Vec<(WordKind, String)>,
    unknown_is_asked: bool,
    unknown_builds: Vec<Option<String>>,
    pub(super) property: Option<Property>,
}

/// What is counted and has no filter of its own in the API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Property {
    /// With an OpenGL or client crossing.
    InteropCrossing,
    /// Other records overruled the placement line.
    Corrected,
}

/// SQL under construction with its values.
#[derive(Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) arguments: AnyArguments,
    has_where: bool,
}

impl Dimension {
    /// All of them, in the order of contract section 4, then ours.
    pub const ALL: [Self; 13] = [
        Self::Day,
        Self::Path,
        Self::Reason,
        Self::Render,
        Self::Scanout,
        Self::GpuPair,
        Self::Runtime,
        Self::Exe,
        Self::Machine,
        Self::Split,
        Self::Crossing,
        Self::Outcome,
        Self::Cohort,
    ];

    /// The word in queries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Path => "path",
            Self::Reason => "reason",
            Self::Render => "render",
            Self::Scanout => "scanout",
            Self::GpuPair => "gpu_pair",
            Self::Runtime => "runtime",
            Self::Exe => "exe",
            Self::Machine => "machine",
            Self::Split => "split",
            Self::Crossing => "crossing",
            Self::Outcome => "outcome",
            Self::Cohort => "cohort",
        }
    }

    /// The dimension with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dimension| dimension.as_str() == word)
    }

    /// The expression that groups; `r` is the joined reason.
    pub(super) fn column(self) -> String {
        match self {
            Self::Reason => "r.token".to_owned(),
            other => format!("l.{}", other.as_str()),
        }
    }

    /// Whether a value can occur at all.
    fn allows(self, value: &str) -> bool {
        match self {
            Self::Day => value.parse::<Date>().is_ok_and(|date| date.to_string() == value),
            Self::Path => wire::Path::ALL.iter().any(|path| path.as_str() == value),
            Self::Machine => text::is_id(value),
            Self::Split => ["engaged", "off", "unknown"].contains(&value),
            Self::Crossing => ["none", "atlas_per_frame", "every_present", "unknown"].contains(&value),
            Self::Outcome => wire::Outcome::from_word(value).is_some(),
            Self::Cohort => text::is_content_id(value),
            Self::Reason | Self::Render | Self::Scanout | Self::GpuPair | Self::Runtime | Self::Exe => {
                !value.contains('\0')
            }
        }
    }
}

impl Filter {
    /// Takes one `name=value`. `Ok(false)`: the name is no filter. An empty value says nothing, like an empty field of a
    /// form.
    ///
    /// # Errors
    /// What is wrong with the value, for the caller.
    pub fn take(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let wrong = |expected: &str| Err(format!("the value of {name} is not {expected}"));
        match name {
            "killed" | "retired" => {
                let flag = match value {
                    "" => return Ok(true),
                    "true" => true,
                    "false" => false,
                    _ => return wrong("true or false"),
                };
                let slot = if name == "killed" { &mut self.killed } else { &mut self.retired };
                *slot = Some(flag);
            }
            "situation" | "unknown" | "unknown_build" if value.is_empty() => {}
            "situation" => match text::content_id(value) {
                Some(id) => self.situations.push(id),
                None => return wrong("the id of a situation, 16 hex digits"),
            },
            "unknown" => {
                self.unknown_is_asked = true;
                match value.split_once(':').and_then(|(kind, what)| Some((WordKind::from_word(kind)?, what))) {
                    Some((kind, what)) => self.unknown.push((kind, text::for_column(what))),
                    None if value == "any" => {}
                    None => return wrong("any, token:WORD or shape:WORD"),
                }
            }
            "unknown_build" => {
                self.unknown_is_asked = true;
                self.unknown_builds.push((value != NOT_TOLD).then(|| text::for_column(value)));
            }
            "from" | "to" => {
                if value.is_empty() {
                    return Ok(true);
                }
                let Some(moment) = Moment::parse(value) else {
                    return wrong("a date such as 2026-09-14 or an RFC 3339 time");
                };
                let slot = if name == "from" { &mut self.from } else { &mut self.to };
                *slot = Some(moment);
            }
            _ => {
                let Some(dimension) = Dimension::from_word(name) else { return Ok(false) };
                if value.is_empty() {
                    return Ok(true);
                }
                if value != NOT_TOLD && !dimension.allows(value) {
                    return wrong("one that can occur");
                }
                let value = (value != NOT_TOLD).then(|| value.to_owned());
                match self.values.iter_mut().find(|(own, _)| *own == dimension) {
                    Some((_, values)) => values.push(value),
                    None => self.values.push((dimension, vec![value])),
                }
            }
        }
        Ok(true)
    }

    /// The days from `from` to `to` when both are there and no single days are picked. `None` also when they are more than
    /// anybody looks at one by one.
    pub fn days(&self) -> Option<Vec<String>> {
        let (from, to) = (self.from?, self.to?);
        // A time excludes itself, so at midnight the day before is the last one.
        let (first, last) = (from.date(), to.last_whole_day().unwrap_or(to.date()));
        let days = last.duration_since(first).as_hours() / 24 + 1;
        let is_picked = self.values.iter().any(|(dimension, _)| *dimension == Dimension::Day);
        if is_picked || !(0..=MOST_DAYS).contains(&days) {
            return None;
        }
        Some(
            first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last).map(|day| day.to_string()).collect(),
        )
    }

    /// The first and the last day from `from` to `to`, both included, where they are there. `None` when a part of a day is meant, or
    /// a year before our calendar: those days do not sort as text.
    pub(super) fn whole_days(&self) -> Option<[Option<Date>; 2]> {
        let has_year = |day: &Date| day.year() >= 0;
        let first = match self.from {
            Some(moment) => Some(moment.first_whole_day().filter(has_year)?),
            None => None,
        };
        let last = match self.to {
            Some(moment) => Some(moment.last_whole_day().filter(has_year)?),
            None => None,
        };
        Some([first, last])
    }

    /// The logs of these that are killed, or retired, by the name of the flag; `None` when these are just the others.
    pub fn with_flag(mut self, name: &str) -> Option<Self> {
        let slot = if name == "killed" { &mut self.killed } else { &mut self.retired };
        if *slot == Some(false) {
            return None;
        }
        *slot = Some(true);
        Some(self)
    }

    /// The logs of these with one value of a dimension, whichever of its values were filtered for.
    #[must_use]
    pub fn only(mut self, dimension: Dimension, value: &str) -> Self {
        self.values.retain(|(own, _)| *own != dimension);
        self.values.push((dimension, vec![Some(value.to_owned())]));
        self
    }

    /// The logs of these that have a property.
    #[must_use]
    pub const fn having(mut self, property: Property) -> Self {
        self.property = Some(property);
        self
    }

    /// The logs of these that are of one of the machines; those of other machines that are filtered for are left out anyway.
    pub(super) fn of_machines(&self, ids: &[String]) -> Self {
        let mut own = self.clone();
        own.values.retain(|(dimension, _)| *dimension != Dimension::Machine);
        own.values.push((Dimension::Machine, ids.iter().cloned().map(Some).collect()));
        own
    }

    /// Whether only the rows can tell: what is asked for is not counted.
    pub(super) fn is_of_rows(&self) -> bool {
        self.killed.is_some()
            || self.retired.is_some()
            || self.property.is_some()
            || !self.situations.is_empty()
            || self.unknown_is_asked
    }

    /// Whether an index finds its logs by their start: those of one machine, or of a time.
    pub(super) fn is_indexed(&self) -> bool {
        let is_machine =
            |(dimension, values): &(Dimension, Vec<_>)| *dimension == Dimension::Machine && values.len() == 1;
        !self.is_of_rows() && self.values.iter().all(is_machine)
    }

    /// Whether it asks for words that nobody knows, which no column of a log tells.
    pub(super) const fn asks_for_unknown(&self) -> bool {
        self.unknown_is_asked
    }

    /// Logs with words that nobody knows.
    fn unknown_clause(&self, sql: &mut Sql) -> String {
        let mut clauses = vec!["u.log = l.id".to_owned()];
        if !self.unknown.is_empty() {
            let words = self.unknown.iter().map(|(kind, what)| {
                format!("(u.kind = {} and u.what = {})", sql.bind(kind.as_str().to_owned()), sql.bind(what.clone()))
            });
            clauses.push(format!("({})", words.collect::<Vec<_>>().join(" or ")));
        }
        if !self.unknown_builds.is_empty() {
            let builds = self.unknown_builds.iter().map(|build| match build {
                Some(build) => format!("u.build = {}", sql.bind(build.clone())),
                None => "u.build is null".to_owned(),
            });
            clauses.push(format!("({})", builds.collect::<Vec<_>>().join(" or ")));
        }
        format!("exists (select 1 from log_drift u where {})", clauses.join(" and "))
    }

    /// Appends ` where …`, or nothing when every log is meant. The logs go by the name `l`.
    pub(super) fn push_where(&self, sql: &mut Sql) {
        let mut clauses = Vec::new();
        for (dimension, values) in &self.values {
            clauses.push(clause(*dimension, values, sql));
        }
        for (column, flag) in [("killed", self.killed), ("retired", self.retired)] {
            if let Some(flag) = flag {
                clauses.push(format!("l.{column} = {}", sql.bind(i64::from(flag))));
            }
        }
        clauses.extend(self.property.map(|property| match property {
            Property::InteropCrossing => "l.interop_crossing = 1".to_owned(),
            Property::Corrected => "l.basis = 'corrected'".to_owned(),
        }));
        if let Some(from) = self.from {
            clauses.push(format!("l.started_s >= {}", sql.bind(from.start_s())));
        }
        if let Some(to) = self.to {
            clauses.push(format!("l.day is not null and l.started_s < {}", sql.bind(to.end_s())));
        }
        if !self.situations.is_empty() {
            let ids: Vec<_> = self.situations.iter().map(|id| sql.bind(*id)).collect();
            clauses.push(format!("l.situation in ({})", ids.join(", ")));
        }
        if self.unknown_is_asked {
            clauses.push(self.unknown_clause(sql));
        }
        for clause in clauses {
            sql.and(&clause);
        }
    }
}

fn clause(dimension: Dimension, values: &[Option<String>], sql: &mut Sql) -> String {
    let mut alternatives = Vec::new();
    let told: Vec<_> = values.iter().flatten().map(|value| sql.bind(value.clone())).collect();
    let told = told.join(", ");
    let untold = values.contains(&None);
    if dimension == Dimension::Reason {
        let exists = "exists (select 1 from log_reasons f where f.log = l.id";
        if !told.is_empty() {
            alternatives.push(format!("{exists} and f.token in ({told}))"));
        }
        if untold {
            alternatives.push(format!("not {exists})"));
        }
    } else {
        let column = dimension.column();
        if !told.is_empty() {
            alternatives.push(format!("{column} in ({told})"));
        }
        if untold {
            alternatives.push(format!("{column} is null"));
        }
    }
    format!("({})", alternatives.join(" or "))
}

impl Sql {
    /// Begins with text of our own, without conditions.
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Appends text of our own.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a condition that has to hold with those before.
    pub(super) fn and(&mut self, condition: &str) {
        self.push(if self.has_where { " and " } else { " where " });
        self.push(condition);
        self.has_where = true;
    }

    /// Keeps a value and answers its placeholder.
    pub(super) fn bind<T: Encode<'static, sqlx::Any> + Type<sqlx::Any> + 'static>(&mut self, value: T) -> String {
        self.arguments.add(value).expect("text and numbers can always be encoded");
        format!("${}", self.arguments.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(pairs: &[(&str, &str)]) -> String {
        let mut filter = Filter::default();
        for (name, value) in pairs {
            assert_eq!(filter.take(name, value), Ok(true), "{name}={value}");
        }
        let mut sql = Sql::default();
        filter.push_where(&mut sql);
        sql.text
    }

    #[test]
    fn values_never_reach_the_text() {
        assert_eq!(sql(&[]), "");
        assert_eq!(sql(&[("exe", "'; drop table logs --")]), " where (l.exe in ($1))");
        assert_eq!(
            sql(&[("path", "d3d11"), ("path", "null"), ("killed", "true")]),
            " where (l.path in ($1) or l.path is null) and l.killed = $2"
        );
        assert_eq!(
            sql(&[("reason", "brand_new"), ("reason", "null")]),
            " where (exists (select 1 from log_reasons f where f.log = l.id and f.token in ($1)) \
             or not exists (select 1 from log_reasons f where f.log = l.id))"
        );
    }

    #[test]
    fn values_that_cannot_occur_are_told() {
        for (name, value) in [
            ("path", "metal"),
            ("split", "on"),
            ("killed", "1"),
            ("day", "today"),
            ("machine", "PC-1"),
            ("exe", "a\0"),
            ("from", "x"),
        ] {
            assert!(Filter::default().take(name, value).is_err(), "{name}={value}");
        }
        assert_eq!(Filter::default().take("nonsense", "1"), Ok(false));
        assert_eq!(Filter::default().take("split", ""), Ok(true));
    }
}
