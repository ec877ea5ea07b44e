//! The filters of a page as a sentence, and the form that adds one.

use wire::{Crossing, Path, ReasonFacts, Split};

use crate::query::{NOT_TOLD, SETTINGS};
use crate::words::{self, Word};
use crate::{Outcome, Query};

/// One filter that is on, as a clause: "the split is" + "Off".
pub(crate) struct Clause {
    /// The words before the values.
    pub(crate) lead: &'static str,
    /// Alternatives.
    pub(crate) values: Vec<Word>,
    /// The page without this filter.
    pub(crate) remove: String,
}

/// A field of the form.
pub(crate) struct Field {
    /// Of the parameter.
    pub(crate) name: &'static str,
    /// Before the field.
    pub(crate) label: &'static str,
    /// What is set now.
    pub(crate) value: String,
    /// How it is entered.
    pub(crate) input: Input,
}

/// How a field is entered.
pub(crate) enum Input {
    /// One of these: value and label. The empty value is "any".
    Choice(Vec<(String, String)>),
    /// A name, spelled as logs spell it.
    Text,
    /// A day.
    Date,
}

/// The filters that are on, in the order of [`crate::query::FILTERS`].
pub(crate) fn clauses(query: &Query, here: &str) -> Vec<Clause> {
    query
        .filters()
        .map(|name| Clause {
            lead: lead(name),
            values: query.all(name).map(|value| value_word(name, value)).collect(),
            remove: query.without(name).href(here),
        })
        .collect()
}

fn lead(name: &str) -> &'static str {
    match name {
        "outcome" => "the outcome is",
        "split" => "the split is",
        "crossing" => "what crosses is",
        "killed" => "killed by a setting:",
        "retired" => "split taken back:",
        "reason" => "the reason is",
        "path" => "the path is",
        "gpu_pair" => "the GPU pair is",
        "render" => "the app renders on",
        "scanout" => "the panel is driven by",
        "runtime" => "the runtime is",
        "exe" => "the program is",
        "machine" => "the machine is",
        "cohort" => "the kind of PC is",
        "situation" => "what a replay needs is",
        "unknown" => "an unknown word is",
        "unknown_build" => "printed by the build",
        "day" => "the day is",
        "from" => "started from",
        _ => "started up to",
    }
}

fn value_word(name: &str, value: &str) -> Word {
    let mut word = words::word(name, value);
    if matches!(name, "killed" | "retired") {
        match value {
            "true" => "yes".clone_into(&mut word.label),
            "false" => "no".clone_into(&mut word.label),
            _ => {}
        }
    }
    if name == "unknown" {
        // `token:` or `shape:` stands in front.
        value.split_once(':').map_or(value, |(_, word)| word).clone_into(&mut word.label);
    }
    word
}

/// The form's fields with what is set now.
pub(crate) fn fields(query: &Query) -> Vec<Field> {
    let choice = |name: &'static str, values: Vec<&str>| {
        let options = std::iter::once((String::new(), "any".to_owned()))
            .chain(values.into_iter().map(|value| (value.to_owned(), value_word(name, value).label)));
        Input::Choice(options.collect())
    };
    let crossings = [Crossing::None, Crossing::AtlasPerFrame, Crossing::EveryPresent, Crossing::Unknown];
    let splits = [Split::Engaged, Split::Off, Split::Unknown];
    let reasons = ReasonFacts::ALL.iter().map(|facts| facts.token).collect();
    // A time of day in the URL must survive the form, and a date field would drop it.
    let day = |name: &str| match query.get(name) {
        Some(value) if !is_date(value) => Input::Text,
        _ => Input::Date,
    };
    let inputs = [
        ("outcome", "Outcome", choice("outcome", Outcome::ALL.map(Outcome::as_str).to_vec())),
        ("split", "Split", choice("split", splits.map(Split::as_str).to_vec())),
        ("crossing", "What crosses", choice("crossing", crossings.map(Crossing::as_str).to_vec())),
        ("killed", "Killed by a setting", choice("killed", vec!["true", "false"])),
        ("retired", "Taken back", choice("retired", vec!["true", "false"])),
        ("reason", "Reason", choice("reason", reasons)),
        ("path", "Path", choice("path", Path::ALL.map(Path::as_str).to_vec())),
        ("render", "Renders on", Input::Text),
        ("scanout", "Panel driven by", Input::Text),
        ("gpu_pair", "GPU pair", Input::Text),
        ("runtime", "Runtime", Input::Text),
        ("exe", "Program", Input::Text),
        ("machine", "Machine", Input::Text),
        ("cohort", "Kind of PC", Input::Text),
        ("from", "From day", day("from")),
        ("to", "To day", day("to")),
    ];
    inputs
        .into_iter()
        .filter(|(name, ..)| query.all(name).nth(1).is_none())
        .map(|(name, label, input)| {
            let value = query.get(name).unwrap_or_default().to_owned();
            let input = with_current(input, &value);
            Field { name, label, value, input }
        })
        .collect()
}

/// Filters that only a link sets.
const OF_LINKS: [&str; 4] = ["day", "situation", "unknown", "unknown_build"];

/// What is set and has no field, because it has several values or belongs to a link: the form carries it along, and
/// the sentence offers the way out.
pub(crate) fn carried(query: &Query) -> Vec<(&'static str, &str)> {
    let several = |name: &str| query.all(name).nth(1).is_some();
    query
        .filters()
        .filter(|name| OF_LINKS.contains(name) || several(name))
        .chain(SETTINGS)
        .flat_map(|name| query.all(name).map(move |value| (name, value)))
        .collect()
}

/// A value that is set but not offered (a newer token, "not told") is offered too: sending the form must not lose it.
fn with_current(input: Input, value: &str) -> Input {
    match input {
        Input::Choice(mut options) if options.iter().all(|(own, _)| own != value) => {
            let label = if value == NOT_TOLD { "not told" } else { value };
            options.push((value.to_owned(), label.to_owned()));
            Input::Choice(options)
        }
        other => other,
    }
}

/// `YYYY-MM-DD`, which is what a date field takes.
fn is_date(value: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    value.len() == 10 && value.bytes().enumerate().all(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_that_is_on_is_a_clause_with_a_way_out() {
        let query = Query::parse("killed=true&split=off&split=unknown&render=RTX%20%26%20co&reason=null&cursor=z");
        let clauses = clauses(&query, "/");
        let read: Vec<_> = clauses
            .iter()
            .map(|clause| {
                let values: Vec<_> = clause.values.iter().map(|word| word.label.as_str()).collect();
                format!("{} {}", clause.lead, values.join(" or "))
            })
            .collect();
        assert_eq!(
            read,
            [
                "the split is Off or Unknown",
                "killed by a setting: yes",
                "the reason is Not told",
                "the app renders on RTX & co"
            ]
        );
        assert_eq!(clauses[3].remove, "/?killed=true&split=off&split=unknown&reason=null");
    }

    #[test]
    fn the_form_loses_no_filter() {
        let query = Query::parse("split=off&split=unknown&day=2026-09-14&path=d3d12&exe=a.exe");
        let mut sent: Vec<_> = carried(&query).into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        sent.extend(fields(&query).into_iter().map(|field| (field.name, field.value)));
        let sent: Query = sent.into_iter().collect();
        for name in query.filters() {
            assert!(sent.all(name).eq(query.all(name)), "{name}");
        }
    }

    #[test]
    fn the_form_repeats_what_is_set() {
        let query = Query::parse("reason=brand_new&from=2026-09-14T12:00:00Z&to=2026-09-15&machine=ab");
        for field in fields(&query) {
            assert_eq!(field.value, query.get(field.name).unwrap_or_default());
            match (field.name, &field.input) {
                ("from", input) => assert!(matches!(input, Input::Text)),
                ("to", input) => assert!(matches!(input, Input::Date)),
                (_, Input::Choice(options)) => assert!(options.iter().any(|(value, _)| *value == field.value)),
                (..) => {}
            }
        }
    }
}
