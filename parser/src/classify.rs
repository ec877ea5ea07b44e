//! From a record to what it says: event, none of our business, or a shape that nobody knows.
//!
//! Nearly all records are per-frame noise, so the question "could this be ours?" is answered from the first four bytes of
//! the body, with a look at the function field for the few shapes that begin with free text. Only then is a body decoded
//! and a short list of rows tried in order.

use std::borrow::Cow;
use std::sync::LazyLock;

use wire::{Event, Fields, Kind, Path, PathHint};

use crate::decode::decode;
use crate::prefix::Prefixed;
use crate::template::Reading;
use crate::vocabulary::{self, Row};
use crate::window;

/// Where a record stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Byte offset in the file.
    pub offset: u64,
    /// 1-based line number.
    pub line: u64,
}

/// What a record turned out to be.
#[derive(Debug)]
pub enum Class {
    /// Understood.
    Event(Box<Event>),
    /// None of our business.
    Ignored,
    /// Starts with this marker of ours and fits no known shape.
    Unrecognised(&'static str),
}

/// The rows by the first four bytes of their bodies.
struct Index {
    /// First bytes that occur at all.
    first: [bool; 256],
    /// Sorted by head.
    heads: Vec<([u8; 4], Vec<&'static Row>)>,
    /// Rows that begin with free text, by function.
    by_function: Vec<(&'static [u8], Vec<&'static Row>)>,
    /// Lengths of all function names that matter, as bits: most records are turned away by this alone.
    function_lengths: u64,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { first: [false; 256], heads: Vec::new(), by_function: Vec::new(), function_lengths: 0 };
    for head in window::TAGS {
        index.add_head(four(head.as_bytes()).expect("tags are longer than four bytes"), None);
    }
    for row in vocabulary::rows() {
        if let Some(head) = four(row.template.head().as_bytes()) {
            index.add_head(head, Some(row));
            continue;
        }
        for function in row.shape.functions.split_ascii_whitespace() {
            match index.by_function.iter_mut().find(|(known, _)| *known == function.as_bytes()) {
                Some((_, rows)) => rows.push(row),
                None => index.by_function.push((function.as_bytes(), vec![row])),
            }
        }
    }
    for function in index.by_function.iter().map(|(function, _)| *function).chain(NEIGHBOURS.map(|(name, _)| name)) {
        index.function_lengths |= length_bit(function);
    }
    index
});

impl Index {
    fn add_head(&mut self, head: [u8; 4], row: Option<&'static Row>) {
        self.first[usize::from(head[0])] = true;
        match self.heads.binary_search_by_key(&head, |(known, _)| *known) {
            Ok(at) => self.heads[at].1.extend(row),
            Err(at) => self.heads.insert(at, (head, row.into_iter().collect())),
        }
    }

    /// Rows whose bodies start like this one; `None` when no row does.
    #[inline]
    fn by_head(&self, body: &[u8]) -> Option<&[&'static Row]> {
        let head = four(body)?;
        if !self.first[usize::from(head[0])] {
            return None;
        }
        let at = self.heads.binary_search_by_key(&head, |(known, _)| *known).ok()?;
        Some(&self.heads[at].1)
    }

    #[inline]
    fn has_function(&self, function: Option<&[u8]>) -> bool {
        function.is_some_and(|function| self.function_lengths & length_bit(function) != 0)
            && (!self.by_function(function).is_empty() || neighbour(function).is_some())
    }

    fn by_function(&self, function: Option<&[u8]>) -> &[&'static Row] {
        let function = function.unwrap_or_default();
        self.by_function.iter().find(|(known, _)| *known == function).map_or(&[], |(_, rows)| rows)
    }
}

const fn length_bit(function: &[u8]) -> u64 {
    1 << (function.len() & 63)
}

#[inline]
fn four(bytes: &[u8]) -> Option<[u8; 4]> {
    bytes.first_chunk().copied()
}

/// A quick no for records that are none of our business: no decoding, no copy.
#[inline]
pub fn is_candidate(record: &Prefixed<'_>) -> bool {
    let index = &*INDEX;
    index.by_head(record.body).is_some()
        || index.has_function(record.function)
        || is_split(record.body)
        || is_lost_placement(record)
}

/// Tells what a candidate says.
pub fn classify(record: &Prefixed<'_>, place: Place) -> Class {
    if is_lost_placement(record) {
        return Class::Event(Box::new(event(record, place, "wp.empty", Kind::PlacementUnreadable)));
    }
    let body = decode(record.body);
    let rows = INDEX.by_head(record.body).unwrap_or_default().iter().chain(INDEX.by_function(record.function));
    for row in rows {
        if let Some(reading) = row.template.read(&body) {
            return Class::Event(Box::new(of_row(record, place, row, reading)));
        }
    }
    if let Some(found) = window::read(body.text()) {
        let mut event = event(record, place, found.shape, found.kind);
        event.fields = found.fields;
        event.hint = found.hint.or(event.hint);
        return Class::Event(Box::new(event));
    }
    match vocabulary::marker(body.text()) {
        Some(marker) => Class::Unrecognised(marker),
        None if neighbour(record.function).is_some() => {
            Class::Event(Box::new(event(record, place, "path.function", Kind::Neighbour)))
        }
        None => Class::Ignored,
    }
}

fn of_row(record: &Prefixed<'_>, place: Place, row: &Row, reading: Reading) -> Event {
    let mut event = event(record, place, row.shape.id, row.shape.kind);
    event.fields = reading.fields;
    event.spelling = reading.spelling;
    for (name, fixed) in row.shape.fixed {
        event.fields.push(*name, fixed.value());
    }
    // A neighbour that section 12.2 names outranks what the function suggests.
    event.hint = match (row.shape.hint, event.hint) {
        (Some(row), Some(function)) if function.named && !row.named => Some(function),
        (row, function) => row.or(function),
    };
    event
}

fn event(record: &Prefixed<'_>, place: Place, shape: &'static str, kind: Kind) -> Event {
    let text = |bytes: &[u8]| decode(bytes).text().to_owned();
    Event {
        offset: place.offset,
        line: place.line,
        time: record.time.map(text),
        level: record.level,
        function: record.function.map(text),
        shape: Cow::Borrowed(shape),
        kind,
        hint: neighbour(record.function).or_else(|| component(record)),
        fields: Fields::new(),
        spelling: Vec::new(),
    }
}

/// What a record that nobody knows still tells about the path: vocabulary 12.2 goes by how it starts and who wrote it.
pub fn unrecognised_hint(record: &Prefixed<'_>) -> Option<PathHint> {
    let starts = [
        (&b"vk deposit"[..], Path::Vulkan),
        (b"VK output-device split", Path::Vulkan),
        ("ADR-037 §5".as_bytes(), Path::OpenGl),
    ];
    let named = starts.into_iter().find(|(start, _)| record.body.starts_with(start));
    let by_start = named.map(|(_, path)| PathHint { path, named: true });
    neighbour(record.function).or(by_start).or_else(|| component(record))
}

/// Functions whose every record tells the path (vocabulary 12.2).
const NEIGHBOURS: [(&[u8], Path); 4] = [
    (b"comp_d3d11_compositor_create", Path::D3d11),
    (b"client_d3d11_compositor_create", Path::IpcClient),
    (b"client_d3d12_compositor_create", Path::IpcClient),
    (b"client_vk_compositor_create", Path::IpcClient),
];

fn neighbour(function: Option<&[u8]>) -> Option<PathHint> {
    let function = function?;
    let (_, path) = NEIGHBOURS.into_iter().find(|(name, _)| *name == function)?;
    Some(PathHint { path, named: true })
}

/// What the function's name says about the component, where no neighbour tells.
fn component(record: &Prefixed<'_>) -> Option<PathHint> {
    let function = record.function?;
    if function.starts_with(b"d3d12_") {
        let named = record.body.starts_with(b"#918 output-device split");
        return Some(PathHint { path: Path::D3d12, named });
    }
    let path = match function {
        b"service_split_stage_a" => Path::Service,
        _ if function.starts_with(b"comp_vk_") => Path::Vulkan,
        _ => return None,
    };
    Some(PathHint { path, named: false })
}

/// `WORD output-device split`, whatever the word.
fn is_split(body: &[u8]) -> bool {
    const SPLIT: &[u8] = b"output-device split";
    const LONGEST_WORD: usize = 16;
    let window = &body[..body.len().min(LONGEST_WORD)];
    memchr::memchr(b' ', window).is_some_and(|blank| body[blank + 1..].starts_with(SPLIT))
}

/// The prefix of a placement record survived, its body did not: a name that the formatter could not convert
/// (vocabulary 1.5).
pub fn is_lost_placement(record: &Prefixed<'_>) -> bool {
    record.body.trim_ascii().is_empty() && record.function == Some(b"d3d_log_weave_placement")
}
