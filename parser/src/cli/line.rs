//! What does one line of `displayxr-cli` say?
//!
//! Names and values in these lines may hold any text, quotes and parentheses included, so a line is read from both ends
//! towards them. Leading white space of any kind is accepted, because documents show the tool's TABs as blanks. Dashes
//! and section signs may have gone through a wrong code page; what is printed between them is never repaired.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{i64, space1, u64};
use nom::combinator::{all_consuming, map, rest, value};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use super::words::{Gpu, bare, before_dash, dash, gpu, in_parentheses, luid, refuse};

/// One line, or one member of the JSON form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line<'a> {
    /// The first line of a section that we read.
    Heading(Section),
    /// How many adapters there are.
    Adapters(u64),
    /// A row of the adapter table.
    Adapter { index: u64, gpu: Gpu<'a>, vram_mib: u64 },
    /// Which adapter drives the panel.
    Scanout(Choice<'a>),
    /// The adapter with the most memory.
    Render(Choice<'a>),
    /// The verdict on the topology.
    Topology(&'a str),
    /// In the place of the whole section.
    NotEvaluated,
    /// The kill switch; `None` is unset.
    WeaveEnv(Option<&'a str>),
    /// What the service would do.
    ServiceSplit { state: ServiceSplit<'a>, text: &'a str },
    /// The adapter that the service ingests on.
    ServiceIngest { choice: Choice<'a>, provenance: Option<&'a str>, forced: Option<Forced<'a>> },
    /// One check of the self-test.
    Check { name: &'a str, passed: bool, detail: &'a str },
    /// The end of the self-test.
    SelftestEnd { passed: bool, code: Option<i64> },
    /// Where the user's settings are kept; `None` is unavailable.
    Store { path: Option<&'a str>, written: bool },
    /// When they were written.
    Written(&'a str),
    /// A managed setting.
    Lever { name: &'a str, value: Option<&'a str>, source: &'a str },
    /// The closing words of `perf list`.
    Hint,
}

/// An adapter, or the tool's words for why there is none.
pub(super) type Choice<'a> = Result<Gpu<'a>, &'a str>;

/// An override that is set, and what the resolver made of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Forced<'a> {
    pub variable: &'a str,
    pub value: &'a str,
    pub honoured: bool,
}

/// What the service would do with its split, in the words of all generations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ServiceSplit<'a> {
    /// The kill switch, with its value.
    Killed(&'a str),
    /// Before Phase 3: not asked for.
    Off,
    /// One adapter does both, or the topology is unknown.
    Inert,
    /// With the ingress it would use.
    WouldEngage(&'a str),
    /// Words of another build.
    Other,
}

/// The part of the output that a line stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Section {
    /// No heading yet: a piece of output that somebody pasted.
    #[default]
    Any,
    /// `info`, the GPUs.
    Topology,
    /// `selftest`.
    Selftest,
    /// `perf list`.
    Perf,
    /// A section that we do not read.
    Other,
}

/// The section that a heading opens; `None` for every other line.
pub(super) fn section(text: &str) -> Option<Section> {
    let title = bare(text).strip_prefix(":: ")?;
    [
        ("GPU topology", Section::Topology),
        ("DisplayXR CLI self-test", Section::Selftest),
        ("Performance settings", Section::Perf),
    ]
    .into_iter()
    .find_map(|(start, section)| title.starts_with(start).then_some(section))
    // The closing line of the self-test looks like a heading and opens nothing.
    .or_else(|| (!title.starts_with("SELF-TEST ")).then_some(Section::Other))
}

/// Reads a line that stands in `section`; `None` when it is none of ours.
pub(super) fn read(text: &str, section: Section) -> Option<Line<'_>> {
    let line = bare(text);
    if self::section(line).is_some() {
        return (section != Section::Other).then_some(Line::Heading(section));
    }
    let read = match section {
        Section::Any => alt((check, selftest_end, topology, perf)).parse(line),
        Section::Topology => alt((value(Line::NotEvaluated, tag("not evaluated")), topology, check)).parse(line),
        Section::Perf => alt((perf, check)).parse(line),
        // Checks stand at the start of a line and are told by their own grammar, whatever heading came before.
        Section::Selftest | Section::Other => alt((check, selftest_end)).parse(line),
    };
    let (left, said) = read.or_else(|_| selftest_end(line)).ok()?;
    left.trim().is_empty().then_some(said)
}

/// The service's ingest adapter, which the JSON form prints as the same sentence.
pub(super) fn service_ingest(line: &str) -> IResult<&str, Line<'_>> {
    let (text, _) = tag("service ingest: ").parse(line)?;
    let none = |cause| Line::ServiceIngest { choice: Err(cause), provenance: None, forced: None };
    alt((
        map(preceded((tag("UNRESOLVED "), dash, tag(" ")), rest), |cause: &str| none(cause.trim_end())),
        map(preceded(tag("unknown "), in_parentheses), none),
        ingest_adapter,
    ))
    .parse(text)
}

/// The verdict on the topology, which the JSON form and the self-test print as the same sentence.
pub(super) fn verdict(line: &str) -> IResult<&str, Line<'_>> {
    map(preceded(tag("weave-on-scanout topology: "), rest), |text: &str| Line::Topology(text.trim_end())).parse(line)
}

/// What the service would do, which the JSON form prints as the same sentence.
pub(super) fn service_split(line: &str) -> IResult<&str, Line<'_>> {
    let (text, _) = tag("service split: ").parse(line)?;
    let text = text.trim_end();
    let state = if let Some(cause) = text.strip_prefix("KILLED (DXR_WEAVE_ON_SCANOUT=") {
        const WHY: &str = " the default is ON since #918 Phase 3)";
        let value = cause.strip_suffix(WHY).and_then(before_dash);
        value.map_or(ServiceSplit::Other, ServiceSplit::Killed)
    } else if text.starts_with("OFF (") {
        ServiceSplit::Off
    } else if text.starts_with("flag set but INERT (") || text.starts_with("allowed but INERT (") {
        ServiceSplit::Inert
    } else if let Some((_, ingress)) = text.split_once("; ingress ").filter(|_| text.starts_with("WOULD ENGAGE (")) {
        ServiceSplit::WouldEngage(ingress)
    } else {
        ServiceSplit::Other
    };
    Ok(("", Line::ServiceSplit { state, text }))
}

fn topology(line: &str) -> IResult<&str, Line<'_>> {
    alt((
        map(preceded((tag("adapters:"), space1), u64), Line::Adapters),
        adapter,
        map(preceded(tag("panel scanout: "), alt((map(gpu, Ok), map(unresolved, Err)))), Line::Scanout),
        map(preceded(tag("render (default suggestion): "), render), Line::Render),
        verdict,
        weave_env,
        service_split,
        service_ingest,
    ))
    .parse(line)
}

/// `[0] NAME LUID=hhhhhhhh:llllllll  dedicated VRAM 12010 MB`, the name padded to 32 and never cut.
fn adapter(line: &str) -> IResult<&str, Line<'_>> {
    let (text, index) = delimited(tag("["), u64, tag("] ")).parse(line)?;
    let (name, tail) = text.rsplit_once(" LUID=").ok_or_else(|| refuse(text))?;
    let mut tail_of_row = terminated((luid, space1, tag("dedicated VRAM "), u64), tag(" MB"));
    let (left, (luid, _, _, vram_mib)) = tail_of_row.parse(tail)?;
    // Blanks behind a name of fewer than 32 columns are padding; behind a longer one they are its own.
    let name = if name.chars().count() > 32 { name } else { name.trim_end_matches(' ') };
    Ok((left, Line::Adapter { index, gpu: Gpu { name, luid }, vram_mib }))
}

fn render(text: &str) -> IResult<&str, Choice<'_>> {
    alt((map(gpu, Ok), map(tag("<none>"), Err))).parse(text)
}

fn unresolved(text: &str) -> IResult<&str, &str> {
    preceded(tag("UNRESOLVED "), in_parentheses).parse(text)
}

fn weave_env(line: &str) -> IResult<&str, Line<'_>> {
    let (text, _) = tag("DXR_WEAVE_ON_SCANOUT=").parse(line)?;
    // Before Phase 3 nothing stood behind the value, and a blank there belongs to it.
    let text = text.trim_end().strip_suffix(" (kill switch; the split is ON by default)").unwrap_or(text);
    Ok(("", Line::WeaveEnv((text.trim_end() != "<unset>").then_some(text))))
}

/// `'NAME' LUID=… (PROVENANCE) — the adapter clients must share (ADR-037 §7)`, then what became of an override.
fn ingest_adapter(text: &str) -> IResult<&str, Line<'_>> {
    const SHARE: &str = " the adapter clients must share (ADR-037 ";
    text.match_indices(SHARE)
        .find_map(|(at, _)| {
            let (head, tail) = (&text[..at], &text[at + SHARE.len()..]);
            let (name, head) = before_dash(head)?.strip_prefix('\'')?.rsplit_once("' LUID=")?;
            let (provenance, luid) = luid(head).ok()?;
            let provenance = provenance.strip_prefix(" (")?.strip_suffix(')')?;
            let (_, tail) = tail.split_once("7)").filter(|(sign, _)| sign.chars().count() <= 3)?;
            let forced = if tail.trim().is_empty() { None } else { Some(forced(tail)?) };
            let choice = Ok(Gpu { name, luid });
            Some(("", Line::ServiceIngest { choice, provenance: Some(provenance), forced }))
        })
        .ok_or_else(|| refuse(text))
}

/// The value stands exactly as printed: a trailing blank is the usual reason for a refusal.
fn forced(tail: &str) -> Option<Forced<'_>> {
    let (variable, tail) = tail.strip_prefix("; ")?.split_once('=')?;
    let tail = tail.trim_end();
    let refused = || {
        let (value, why) = tail.rsplit_once(" set but NOT honoured ")?;
        why.ends_with(" see the resolver's WARN").then_some((value, false))
    };
    let (value, honoured) = tail.strip_suffix(" HONOURED").map(|value| (value, true)).or_else(refused)?;
    Some(Forced { variable, value, honoured })
}

fn check(line: &str) -> IResult<&str, Line<'_>> {
    let word = alt((value(true, tag("PASS: ")), value(false, tag("FAIL: "))));
    let name = take_while1(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let (detail, (passed, name, _, _)) = (word, name, tag(" "), dash).parse(line)?;
    Ok(("", Line::Check { name, passed, detail: detail.strip_prefix(' ').unwrap_or(detail) }))
}

fn selftest_end(line: &str) -> IResult<&str, Line<'_>> {
    let code = delimited(tag("FAILED (rc="), i64, tag(")"));
    let end = alt((
        value(Line::SelftestEnd { passed: true, code: None }, tag("PASSED")),
        map(code, |code| Line::SelftestEnd { passed: false, code: Some(code) }),
    ));
    preceded(tag(":: SELF-TEST "), end).parse(line)
}

fn perf(line: &str) -> IResult<&str, Line<'_>> {
    alt((
        map(preceded(tag("store: "), rest), store),
        map(preceded(tag("last written: "), rest), |text: &str| Line::Written(text.trim_end())),
        value(Line::Hint, (tag("(env outranks the stores"), rest)),
        lever,
    ))
    .parse(line)
}

fn store(text: &str) -> Line<'_> {
    let bare = text.trim_end().strip_suffix("(not written yet)");
    let path = bare.unwrap_or(text).trim_end();
    Line::Store { path: (path != "<unavailable>").then_some(path), written: bare.is_none() }
}

/// `NAME = VALUE [source]`, the name padded to 24 and the value to 12.
fn lever(line: &str) -> IResult<&str, Line<'_>> {
    let name = take_while1(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let (text, (name, _, _)) = (name, space1, tag("= ")).parse(line)?;
    let (value, source) =
        text.trim_end().strip_suffix(']').and_then(|text| text.rsplit_once(" [")).ok_or_else(|| refuse(text))?;
    all_consuming(take_while1(|c: char| c.is_ascii_lowercase())).parse(source)?;
    let value = if value.chars().count() > 12 { value } else { value.trim_end_matches(' ') };
    Ok(("", Line::Lever { name, value: (value != "<unset>").then_some(value), source }))
}
