//! What a rule can count, by the words of `summary`: how many logs that are in a count, which filter finds them, and under
//! which address people see them.

use crate::nearest;
use crate::store::{Dimension, Filter, Property, Totals};

/// What is counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Has a column in every count.
    Column(&'static Column),
    /// Logs with a reason token.
    Reason(String),
}

/// Something that every count holds.
#[derive(Debug)]
pub struct Column {
    /// The word in rules and messages.
    word: &'static str,
    /// The same in a sentence.
    label: &'static str,
    /// Filters that find the logs, alternatives of one name.
    filters: &'static [(&'static str, &'static str)],
    /// Where no filter does.
    property: Option<Property>,
    count: fn(&Totals) -> i64,
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for Column {}

const fn column(
    word: &'static str,
    label: &'static str,
    filters: &'static [(&'static str, &'static str)],
    count: fn(&Totals) -> i64,
) -> Column {
    Column { word, label, filters, property: None, count }
}

const fn property(word: &'static str, label: &'static str, own: Property, count: fn(&Totals) -> i64) -> Column {
    Column { word, label, filters: &[], property: Some(own), count }
}

/// In front of a reason token.
const REASON: &str = "reason=";

static COLUMNS: [Column; 18] = [
    column("killed", "switched off by a setting", &[("killed", "true")], |own| own.killed),
    column("retired", "taken back", &[("retired", "true")], |own| own.retired),
    column("not_engaged", "not engaged", &[("split", "off"), ("split", "unknown")], |own| {
        own.split.off + own.split.unknown
    }),
    property("interop_crossing", "with an OpenGL or client crossing", Property::InteropCrossing, |own| {
        own.interop_crossing
    }),
    property("corrected", "where other records overruled the placement line", Property::Corrected, |own| own.corrected),
    column("split=engaged", "engaged", &[("split", "engaged")], |own| own.split.engaged),
    column("split=off", "on the render adapter", &[("split", "off")], |own| own.split.off),
    column("split=unknown", "with a split that cannot be told", &[("split", "unknown")], |own| own.split.unknown),
    column("crossing=none", "without a crossing", &[("crossing", "none")], |own| own.crossing.none),
    column("crossing=atlas_per_frame", "crossing once a frame", &[("crossing", "atlas_per_frame")], |own| {
        own.crossing.atlas_per_frame
    }),
    column("crossing=every_present", "crossing every present", &[("crossing", "every_present")], |own| {
        own.crossing.every_present
    }),
    column("crossing=unknown", "with a crossing that cannot be told", &[("crossing", "unknown")], |own| {
        own.crossing.unknown
    }),
    column("outcome=engaged", "engaged", &[("outcome", "engaged")], |own| own.outcomes[0]),
    column("outcome=local", "with nothing to split", &[("outcome", "local")], |own| own.outcomes[1]),
    column("outcome=crossing", "crossing unexplained", &[("outcome", "crossing")], |own| own.outcomes[2]),
    column("outcome=killed", "killed", &[("outcome", "killed")], |own| own.outcomes[3]),
    column("outcome=taken_back", "failed or taken back", &[("outcome", "taken_back")], |own| own.outcomes[4]),
    column("outcome=unknown", "with an outcome that cannot be told", &[("outcome", "unknown")], |own| own.outcomes[5]),
];

impl Measure {
    /// The measure with this word.
    ///
    /// # Errors
    /// With the words that there are.
    pub fn parse(word: &str) -> Result<Self, String> {
        if let Some(token) = word.strip_prefix(REASON).filter(|token| !token.is_empty() && !token.contains('\0')) {
            return Ok(Self::Reason(token.to_owned()));
        }
        if let Some(column) = COLUMNS.iter().find(|column| column.word == word) {
            return Ok(Self::Column(column));
        }
        let words = COLUMNS.iter().map(|column| column.word);
        let near = nearest::of(word, words.clone().map(|own| (own, own))).filter(|(_, far)| *far <= 3);
        let near = near.map(|(own, _)| format!(", did you mean {own}?")).unwrap_or_default();
        let all = words.collect::<Vec<_>>().join(", ");
        Err(format!("{word:?} is nothing that can be counted{near} There are: {all}, reason=TOKEN"))
    }

    /// The word in rules and messages.
    pub fn word(&self) -> String {
        match self {
            Self::Column(column) => column.word.to_owned(),
            Self::Reason(token) => format!("{REASON}{token}"),
        }
    }

    /// Behind a number of logs: `of 80 logs are …`.
    pub fn label(&self) -> String {
        match self {
            Self::Column(column) => column.label.to_owned(),
            Self::Reason(token) => format!("with the reason {token}"),
        }
    }

    /// The filter's name that finds such logs, where there is one.
    pub fn filter_name(&self) -> Option<&'static str> {
        match self {
            Self::Column(column) => column.filters.first().map(|(name, _)| *name),
            Self::Reason(_) => Some(Dimension::Reason.as_str()),
        }
    }

    /// The filters for an address; empty where none finds them.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Column(column) => column.filters.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            Self::Reason(token) => vec![(Dimension::Reason.as_str(), token.clone())],
        }
    }

    /// How many logs of a count it is; `None` when only a question of its own tells.
    pub fn of(&self, totals: &Totals) -> Option<i64> {
        match self {
            Self::Column(column) => Some((column.count)(totals)),
            Self::Reason(_) => None,
        }
    }

    /// Only the logs that it counts. The filter must not name what it looks at.
    ///
    /// # Errors
    /// When a token cannot be a filter's value.
    pub fn within(&self, mut filter: Filter) -> Result<Filter, String> {
        for (name, value) in self.pairs() {
            filter.take(name, &value)?;
        }
        Ok(match self {
            Self::Column(Column { property: Some(property), .. }) => filter.having(*property),
            _ => filter,
        })
    }
}
