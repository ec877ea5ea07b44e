//! The evidence of a log in its order: each understood record with its line, what it says, and what that means.
//!
//! A real log is mostly windows of counters. Of each kind of record the first few stand alone and the others are counted in
//! the last of them, so the timeline of a long log stays short and its memory bounded.

use std::collections::BTreeMap;

use serde::Serialize;
use wire::{Event, Flaw, FlawKind, Kind, Observation};

/// Records of one shape that stand alone; a window of counters or a neighbour stands alone once.
const ALONE: u64 = 6;
/// Entries of one log. Only a log that is made to be long has more.
const ENTRIES_MAX: usize = 400;
/// Characters of a record that are kept.
const TEXT_CHARS: usize = 600;

/// One entry.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Entry {
    /// 1-based line of the record.
    pub line: u64,
    /// As printed; null in captures.
    pub time: Option<String>,
    /// The row of the vocabulary, or the name of a flaw.
    pub shape: String,
    /// In plain words.
    pub meaning: String,
    /// What the record says, null where it is not kept.
    pub text: Option<String>,
    /// How many records it stands for.
    pub times: u64,
    /// Line of the last of them.
    pub last_line: u64,
    #[serde(skip)]
    kind: Option<Kind>,
    /// What stays the same between two boots: the values without LUIDs, handles and numbers.
    #[serde(skip)]
    pub likeness: String,
}

/// The entries of one log.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    entries: Vec<Entry>,
    /// How often a shape was seen, and where its newest entry stands.
    shapes: BTreeMap<String, (u64, usize)>,
    omitted: u64,
}

impl Timeline {
    /// Takes the next observation, in file order.
    pub fn push(&mut self, observation: &Observation) {
        match observation {
            Observation::Event(event) => self.event(event),
            Observation::Flaw(flaw) => self.flaw(flaw),
        }
    }

    /// In file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Records that have no entry.
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    fn event(&mut self, event: &Event) {
        let (key, alone) = match event.kind {
            Kind::Window => (event.shape.to_string(), 1),
            // The state of the split is news whenever it changes.
            Kind::RenderSplit => {
                let state = ["split", "xb_degraded"].map(|name| event.fields.int(name));
                (format!("{} {state:?}", event.shape), 1)
            }
            Kind::Neighbour => (format!("{} {:?}", event.shape, event.function), 1),
            _ => (event.shape.to_string(), ALONE),
        };
        if self.counted(&key, alone, event.line) {
            return;
        }
        let text = parser::format::body(event).map(|body| String::from_utf8_lossy(&body).into_owned());
        self.add(
            key,
            Entry {
                line: event.line,
                time: event.time.clone(),
                shape: event.shape.to_string(),
                meaning: meaning(event),
                likeness: likeness(event),
                text: text.filter(|text| !text.is_empty()).map(|text| clip(&text)),
                times: 1,
                last_line: event.line,
                kind: Some(event.kind),
            },
        );
    }

    fn flaw(&mut self, flaw: &Flaw) {
        let (shape, meaning) = match flaw.kind {
            FlawKind::EmptyBody => {
                ("empty_body", "A record lost its text, probably to a name that could not be printed.")
            }
            FlawKind::Truncated => ("truncated_record", "A record was cut, or glued to the one behind it."),
            FlawKind::Spliced => ("spliced_record", "Two records were written into each other; both were read."),
            FlawKind::Unrecognised => {
                ("unrecognised_shape", "A record of ours in words that this version does not know.")
            }
            FlawKind::Unknown => ("unknown_flaw", "Something is wrong with a record."),
        };
        if self.counted(shape, 2, flaw.line) {
            return;
        }
        self.add(
            shape.to_owned(),
            Entry {
                line: flaw.line,
                time: None,
                shape: shape.to_owned(),
                meaning: meaning.to_owned(),
                likeness: shape.to_owned(),
                text: None,
                times: 1,
                last_line: flaw.line,
                kind: None,
            },
        );
    }

    /// True when the record was counted in an entry that stands already.
    fn counted(&mut self, key: &str, alone: u64, line: u64) -> bool {
        let Some((seen, at)) = self.shapes.get_mut(key) else { return false };
        *seen += 1;
        let entry = &mut self.entries[*at];
        if *seen <= alone && self.omitted == 0 {
            return false;
        }
        entry.times += 1;
        entry.last_line = line;
        true
    }

    fn add(&mut self, key: String, entry: Entry) {
        if self.entries.len() >= ENTRIES_MAX {
            self.omitted += 1;
            return;
        }
        let at = self.entries.len();
        self.shapes.entry(key).or_insert((1, at)).1 = at;
        self.entries.push(entry);
    }
}

impl Entry {
    /// Only says which component wrote the log, or counts: in words for people it would be noise.
    pub const fn is_background(&self) -> bool {
        matches!(self.kind, Some(Kind::Neighbour | Kind::Window | Kind::Instance))
    }

    /// A record that is decided by the way the app is built or the frames come, and not by the machine.
    pub const fn is_decision(&self) -> bool {
        !self.is_background()
    }
}

fn meaning(event: &Event) -> String {
    let shape = event.shape.as_ref();
    if let Some(row) = parser::vocabulary::shape(shape.strip_suffix(".other").unwrap_or(shape)) {
        return row.meaning.to_owned();
    }
    match (shape, event.kind) {
        ("path.function", _) => {
            let function = event.function.as_deref().unwrap_or("a function");
            format!("Written by {function}, which tells what kind of process this is.")
        }
        (_, Kind::PlacementUnreadable) => "The placement line, whose text was lost.".to_owned(),
        _ if shape.starts_with("cli.") => "What displayxr-cli reports.".to_owned(),
        _ => "A record of a newer build.".to_owned(),
    }
}

/// Names and words, but no number that another boot or another moment would change.
fn likeness(event: &Event) -> String {
    use wire::Value;
    let mut likeness = event.shape.to_string();
    for (name, value) in event.fields.iter() {
        match value {
            Value::Text(text) => likeness.extend([" ", name, "=", text]),
            Value::Reasons(reasons) => {
                likeness.extend(reasons.iter().flat_map(|reason| [" ", name, "=", reason.as_str()]));
            }
            Value::Uint(number) if ["split", "active", "xb_degraded"].contains(&name) => {
                likeness.extend([" ", name, "=", &number.to_string()]);
            }
            _ => {}
        }
    }
    clip(&likeness)
}

fn clip(text: &str) -> String {
    let mut short: String = text.chars().take(TEXT_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
