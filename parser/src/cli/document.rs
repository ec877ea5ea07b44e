//! What does a JSON document of `displayxr-cli` say?
//!
//! `info --json` holds the topology as `gpu_topology` (newer builds also as `gpu`, spelled a little differently),
//! `perf list --json` is an object with `levers`, `selftest --json` one with `checks`. They are told by their members,
//! so they may stand anywhere inside a larger document. Each part becomes the same event as its line in the text form,
//! at its place in the file.

use std::collections::BTreeMap;

use nom::Parser;
use nom::branch::alt;
use serde_json::value::RawValue;
use wire::{CliOutput, Event, Luid, Observation};

use super::event;
use super::gather::Gather;
use super::line::{self, Choice, Line};
use super::words::Gpu;

/// Wrappers around the tool's own object that are looked through; nobody nests it deeper.
const MOST_WRAPPERS: usize = 6;

/// Reads a whole document and hands out an event for each part, in document order. `None` when it is no JSON or holds
/// nothing of the tool's. Runtime lines before the document and anything behind it are left alone.
pub fn json(text: &str, sink: &mut dyn FnMut(Observation)) -> Option<CliOutput> {
    let start = document_start(text)?;
    let root = serde_json::Deserializer::from_str(&text[start..]).into_iter::<&RawValue>().next()?.ok()?;
    let mut reader = Reader { text, events: Vec::new(), gather: Gather::default(), topology: false };
    reader.search(root, 0);
    let mut events = reader.events;
    if events.is_empty() {
        return None;
    }
    events.sort_by_key(|event| event.offset);
    let (mut place, mut line) = (0, 1);
    for mut event in events {
        let next = event.offset as usize;
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[place..next]).count() as u64;
        place = next;
        event.line = line;
        sink(Observation::Event(event));
    }
    Some(reader.gather.output)
}

/// The first line that opens an object.
fn document_start(text: &str) -> Option<usize> {
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_start_matches(['\u{feff}', ' ', '\t']);
        if body.starts_with('{') {
            return Some(next + line.len() - body.len());
        }
        next += line.len();
    }
    None
}

type Object<'a> = BTreeMap<String, &'a RawValue>;

struct Reader<'a> {
    text: &'a str,
    events: Vec<Event>,
    gather: Gather,
    /// Newer builds print the topology twice; the first one is enough.
    topology: bool,
}

impl<'a> Reader<'a> {
    fn search(&mut self, raw: &'a RawValue, depth: usize) {
        let mut children = if let Some(members) = object(raw) {
            let topology = ["adapters", "verdict"].iter().any(|name| members.contains_key(*name));
            if topology && members.contains_key("probed") {
                if !std::mem::replace(&mut self.topology, true) {
                    self.read_topology(&members);
                }
                return;
            }
            self.read_perf(&members);
            self.read_selftest(&members);
            members.into_values().collect()
        } else {
            list(raw)
        };
        if depth < MOST_WRAPPERS {
            children.sort_by_key(|child| self.place(child));
            for child in children {
                self.search(child, depth + 1);
            }
        }
    }

    fn read_topology(&mut self, of: &Object<'a>) {
        let verdict = of.get("verdict").copied();
        if of.get("probed").is_some_and(|raw| raw.get() == "false") {
            match verdict {
                Some(raw) if string(raw).is_some_and(|text| text.is_empty()) => self.say(raw, &Line::NotEvaluated),
                _ => self.say_sentence(verdict),
            }
            return;
        }
        if let Some(raw) = of.get("adapters") {
            let rows = list(raw);
            self.say(raw, &Line::Adapters(rows.len() as u64));
            for (index, row) in rows.into_iter().enumerate() {
                self.read_adapter(index as u64, row);
            }
        }
        let note = of.get("note").and_then(|raw| string(raw)).filter(|note| !note.is_empty());
        if let Some((raw, chosen)) = chosen(of, &["scanout"]) {
            self.say(raw, &Line::Scanout(choice(chosen.as_ref(), note.as_deref().unwrap_or("?"))));
        }
        if let Some((raw, chosen)) = chosen(of, &["render_suggestion", "render"]) {
            self.say(raw, &Line::Render(choice(chosen.as_ref(), "<none>")));
        }
        self.say_sentence(verdict);
        // What `gpu_topology` holds itself, `gpu` keeps in an object of its own.
        let inner = of.get("split").and_then(|raw| object(raw)).unwrap_or_default();
        let member = |name| of.get(name).or_else(|| inner.get(name)).copied();
        if let Some(raw) = member("weave_on_scanout_env").or_else(|| member("weave_on_scanout")) {
            match string(raw) {
                Some(value) if value != "<unset>" => self.say(raw, &Line::WeaveEnv(Some(&value))),
                None if raw.get() != "null" => {}
                _ => self.say(raw, &Line::WeaveEnv(None)),
            }
        }
        self.say_sentence(member("service_split"));
        self.read_ingest(of);
    }

    fn read_adapter(&mut self, index: u64, row: &RawValue) {
        let Some(members) = object(row) else { return };
        let number = |name| members.get(name).and_then(|raw| number(raw));
        let vram_mib = number("dedicated_vram_bytes").map(|bytes| bytes >> 20).or_else(|| number("dedicated_vram_mb"));
        let name = text(&members, "name");
        if let (Some(name), Some(luid), Some(vram_mib)) = (name, luid(&members), vram_mib) {
            self.say(row, &Line::Adapter { index, gpu: Gpu { name: &name, luid }, vram_mib });
        }
    }

    /// The sentence tells more than the object, but the tool cuts it where its buffer ends.
    fn read_ingest(&mut self, of: &Object<'a>) {
        let inner = of.get("service_ingest").and_then(|raw| object(raw)).unwrap_or_default();
        let sentence = of.get("service_ingest").into_iter().chain(inner.get("line")).find_map(|raw| {
            let words = string(raw)?;
            line::service_ingest(&words).is_ok().then_some(*raw)
        });
        if sentence.is_some() {
            return self.say_sentence(sentence);
        }
        if let Some((raw, chosen)) = chosen(of, &["service_ingest_adapter", "service_ingest"]) {
            let provenance = object(raw).and_then(|members| text(&members, "provenance"));
            let choice = choice(chosen.as_ref(), "unresolved");
            self.say(raw, &Line::ServiceIngest { choice, provenance: provenance.as_deref(), forced: None });
        }
    }

    fn read_perf(&mut self, of: &Object<'a>) {
        let (Some(levers), Some(file)) = (of.get("levers"), of.get("user_file")) else { return };
        let path = string(file).filter(|path| !path.is_empty());
        let written = text(of, "user_written");
        self.say(file, &Line::Store { path: path.as_deref(), written: written.is_some() });
        if let (Some(raw), Some(when)) = (of.get("user_written"), written) {
            self.say(raw, &Line::Written(&when));
        }
        for row in list(levers) {
            let Some(members) = object(row) else { continue };
            if let (Some(name), Some(source)) = (text(&members, "name"), text(&members, "source")) {
                let value = text(&members, "value");
                self.say(row, &Line::Lever { name: &name, value: value.as_deref(), source: &source });
            }
        }
    }

    fn read_selftest(&mut self, of: &Object<'a>) {
        let (Some(checks), Some(verdict)) = (of.get("checks"), of.get("verdict")) else { return };
        for row in list(checks) {
            let Some(members) = object(row) else { continue };
            let passed = members.get("ok").and_then(|raw| serde_json::from_str(raw.get()).ok());
            if let (Some(name), Some(passed), Some(detail)) = (text(&members, "name"), passed, text(&members, "detail"))
            {
                self.say(row, &Line::Check { name: &name, passed, detail: &detail });
            }
        }
        let code = of.get("result_code").and_then(|raw| serde_json::from_str(raw.get()).ok());
        match string(verdict).as_deref() {
            Some("PASS") => self.say(verdict, &Line::SelftestEnd { passed: true, code: None }),
            Some("FAIL") => self.say(verdict, &Line::SelftestEnd { passed: false, code }),
            _ => {}
        }
    }

    /// A member that holds a whole line of the text form.
    fn say_sentence(&mut self, raw: Option<&RawValue>) {
        let Some((raw, words)) = raw.and_then(|raw| Some((raw, string(raw)?))) else { return };
        if let Ok((_, said)) = alt((line::verdict, line::service_split, line::service_ingest)).parse(words.as_str()) {
            self.say(raw, &said);
        }
    }

    fn say(&mut self, raw: &RawValue, said: &Line<'_>) {
        self.gather.take(said);
        // The line number follows when all parts stand in document order.
        self.events.push(event::event(self.place(raw) as u64, 0, said));
    }

    /// Where a part begins in the document: raw values are slices of it.
    fn place(&self, raw: &RawValue) -> usize {
        raw.get().as_ptr() as usize - self.text.as_ptr() as usize
    }
}

/// The first of these members that says whether it is resolved, and to which adapter.
fn chosen<'a>(of: &Object<'a>, names: &[&str]) -> Option<(&'a RawValue, Option<(String, Luid)>)> {
    let (raw, members) = names.iter().find_map(|name| of.get(*name).and_then(|raw| Some((*raw, object(raw)?))))?;
    match members.get("resolved")?.get() {
        "true" => {
            let name = text(&members, "name").filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| "<not enumerated>".to_owned());
            Some((raw, Some((name, luid(&members)?))))
        }
        "false" => Some((raw, None)),
        _ => None,
    }
}

fn choice<'l>(chosen: Option<&'l (String, Luid)>, none: &'l str) -> Choice<'l> {
    chosen.map(|(name, luid)| Gpu { name, luid: *luid }).ok_or(none)
}

fn object(raw: &RawValue) -> Option<Object<'_>> {
    serde_json::from_str(raw.get()).ok()
}

fn list(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn text(of: &Object<'_>, name: &str) -> Option<String> {
    string(of.get(name)?)
}

fn luid(of: &Object<'_>) -> Option<Luid> {
    text(of, "luid")?.parse().ok()
}

/// The tool's numbers are doubles in C; whole ones may be printed with an exponent.
fn number(raw: &RawValue) -> Option<u64> {
    let number: serde_json::Number = serde_json::from_str(raw.get()).ok()?;
    number.as_u64().or_else(|| {
        let value = number.as_f64().filter(|value| *value >= 0.0)?;
        #[expect(clippy::cast_sign_loss, reason = "it was just seen to be positive, and the cast saturates")]
        let whole = value as u64;
        Some(whole)
    })
}
