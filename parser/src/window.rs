//! Periodic windows of counters whose keys drift from build to build: `key=value` pairs behind a tag.
//!
//! The rows of the vocabulary come first; this reads what they do not. A `[RENDER]` record is known by its first key,
//! whatever keys follow (vocabulary section 6, contract section 3).

use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take_while, take_while1};
use nom::character::complete::{char, space0};
use nom::combinator::{all_consuming, map, opt};
use nom::multi::many0;
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use wire::{Fields, Kind, Path, PathHint, Reason, Value};

/// Tags of the windows that are read here.
pub const TAGS: [&str; 4] = ["[RENDER] ", "[HEALTH] ", "[FENCE] ", "[MUTEX] "];

/// Pairs that one record may have; the longest window of the runtime has 14.
const MOST_PAIRS: usize = 64;

/// A window that was read.
pub struct Window {
    /// Shape of the record.
    pub shape: &'static str,
    /// What it says.
    pub kind: Kind,
    /// Path that it speaks for.
    pub hint: Option<PathHint>,
    /// Every pair under its own key.
    pub fields: Fields,
}

/// Reads a window; `None` for other records, and for a `[RENDER]` record whose first key nobody knows.
pub fn read(body: &str) -> Option<Window> {
    let tag = TAGS.into_iter().find(|tag| body.starts_with(tag))?;
    let rest = &body[tag.len()..];
    let (_, words) = all_consuming(words).parse(rest).ok()?;
    let fields = fields(&words);
    let service = |named| Some(PathHint { path: Path::Service, named });
    let (shape, kind, hint) = match tag {
        "[RENDER] " => match words.first()?.key {
            "capture_renders" => ("rd.capture.other", Kind::Window, service(true)),
            "pipe_active_present" => ("rd.pipe.other", Kind::Window, service(false)),
            "split" if fields.get("xb_kb").is_some() => ("rd.split.other", Kind::RenderSplit, None),
            "split" if fields.get("reasons").is_some() && fields.int("split") == Some(0) => {
                ("rd.split_off.other", Kind::RenderOff, service(false))
            }
            "split" => ("rd.split.other", Kind::Window, None),
            "plane" => ("rd.plane.other", Kind::Window, None),
            "sideband" => ("rd.sideband.other", Kind::Window, None),
            _ => return None,
        },
        "[HEALTH] " => ("t.health.other", Kind::Window, service(false)),
        "[FENCE] " => ("t.fence", Kind::Window, None),
        _ => ("t.mutex", Kind::Window, None),
    };
    Some(Window { shape, kind, hint, fields })
}

/// `key=value`, or a bare word.
struct Word<'a> {
    key: &'a str,
    value: Option<&'a str>,
}

fn words(input: &str) -> IResult<&str, Vec<Word<'_>>> {
    many0(terminated(alt((pair, bare)), space0)).parse(input)
}

fn pair(input: &str) -> IResult<&str, Word<'_>> {
    let key = take_while1(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    let quoted = delimited(char('\''), take_while(|letter| letter != '\''), char('\''));
    let value = preceded(tag("="), alt((quoted, map(opt(is_not(" \t")), Option::unwrap_or_default))));
    map((key, value), |(key, value)| Word { key, value: Some(value) }).parse(input)
}

fn bare(input: &str) -> IResult<&str, Word<'_>> {
    map(is_not(" \t"), |key| Word { key, value: None }).parse(input)
}

/// Bare words carry no value and are left out: they can be free text.
fn fields(words: &[Word<'_>]) -> Fields {
    let mut fields = Fields::new();
    let pairs = words.iter().filter_map(|word| Some((word.key, word.value?)));
    for (key, value) in pairs.take(MOST_PAIRS) {
        match key {
            "reason" if !value.is_empty() => fields.push("reasons", Value::Reasons(Reason::list(value))),
            _ => fields.push(key.to_owned(), typed(value)),
        }
    }
    fields
}

fn typed(value: &str) -> Value {
    let unsigned = value.parse().map(Value::Uint);
    unsigned.or_else(|_| value.parse().map(Value::Int)).unwrap_or_else(|_| Value::Text(value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: Option<(&str, Kind, usize)>) {
        let found = read(body).map(|window| (window.shape, window.kind, window.fields.iter().count()));
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn a_known_first_key_is_enough() {
        check("[RENDER] split=1 xb_kb=5 brand_new=x window_s=10", Some(("rd.split.other", Kind::RenderSplit, 4)));
        check("[RENDER] split=0 reason=a,b more=1", Some(("rd.split_off.other", Kind::RenderOff, 3)));
        check("[RENDER] sideband copies=3 new=1", Some(("rd.sideband.other", Kind::Window, 2)));
        check("[RENDER] brand_new=1 split=1 xb_kb=5", None);
        check("[RENDER] ", None);
        check("[HEALTH] slot=0 name='My app' x", Some(("t.health.other", Kind::Window, 2)));
    }

    #[test]
    fn values_have_types() {
        let window = read("[HEALTH] a=1 b=-2 c='it is' d= e").expect("it is a window");
        assert_eq!(window.fields.get("a"), Some(&Value::Uint(1)));
        assert_eq!(window.fields.get("b"), Some(&Value::Int(-2)));
        assert_eq!(window.fields.text("c"), Some("it is"));
        assert_eq!(window.fields.text("d"), Some(""));
    }
}
