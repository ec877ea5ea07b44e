//! An upload's bytes to checked segments: unpacked within limits, read one by one, refused one by one.
//!
//! Only a body that is no batch at all is an error. A segment that makes no sense is left out with its reason; the others
//! are good.

use std::io::{BufReader, Read};

use serde::Deserialize;
use serde_json::value::RawValue;
use wire::{BATCH_SCHEMA, Clock, Segment};

use crate::at_most::AtMost;
use crate::error::Error;
use crate::refusals::Refusals;
use crate::store::{DeadLetter, OF_A_MACHINE};
use crate::text;
use crate::told::{self, Told};

/// The largest body that is read.
pub const PACKED_LIMIT_BYTES: usize = 8 << 20;
/// The largest batch that comes out of it.
pub const PLAIN_LIMIT_BYTES: usize = 64 << 20;
/// Segments in one batch; an agent sends some hundreds at a time.
pub const SEGMENTS: usize = 5_000;
/// The longest name of a file or program, many times what any system allows.
const NAME_BYTES: usize = 4 << 10;
/// The longest text of any other kind, as JSON spells it: several times what the parser looks at of a line.
const TEXT_BYTES: usize = 256 << 10;
/// zstd may ask for a window of any size; larger ones than this never pay on batches.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// `Content-Encoding`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// As it is.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// A batch whose segments all make sense.
#[derive(Debug, Default)]
pub struct Checked {
    /// Pseudonym of the PC.
    pub machine: String,
    /// In the order of the batch, each with its place there.
    pub segments: Vec<(u64, Segment)>,
    /// What was left out.
    pub refused: Refusals,
    /// The first of them, to be kept.
    pub dead_letters: Vec<DeadLetter>,
    /// What the agent says of itself.
    pub told: Told,
    /// What was left out of that, with reasons.
    pub left_out: Vec<String>,
}

/// The envelope of [`wire::Batch`] with its segments unread, so that one bad segment spoils no other.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    agent: String,
    #[serde(borrow)]
    segments: AtMost<&'a RawValue, SEGMENTS>,
    #[serde(borrow, default)]
    heartbeat: Option<&'a RawValue>,
    #[serde(borrow, default)]
    losses: AtMost<&'a RawValue, { told::LOSSES }>,
}

/// What every version of a batch tells first.
#[derive(Deserialize)]
struct Head {
    schema: String,
    machine: String,
}

/// The parts of a batch whose own shape is another than ours.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Loose<'a> {
    #[serde(borrow)]
    agent: Option<&'a RawValue>,
    #[serde(borrow)]
    segments: Option<&'a RawValue>,
    #[serde(borrow)]
    heartbeat: Option<&'a RawValue>,
    #[serde(borrow)]
    losses: Option<&'a RawValue>,
}

impl Encoding {
    /// Reads the header; none means identity.
    ///
    /// # Errors
    /// [`Error::UnsupportedEncoding`] for everything else, chains included.
    pub fn from_header(value: Option<&str>) -> Result<Self, Error> {
        match value.map(|value| value.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Ok(Self::Identity),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip),
            Some("zstd") => Ok(Self::Zstd),
            Some(_) => Err(Error::UnsupportedEncoding),
        }
    }
}

/// Unpacks and checks; slow for a large batch, so not for an async thread.
///
/// # Errors
/// [`Error::TooLarge`] above a limit, [`Error::BadBatch`] when the body is no batch.
pub fn decode(encoding: Encoding, body: &[u8]) -> Result<Checked, Error> {
    let plain = unpack(encoding, body)?;
    let no_batch = |error: serde_json::Error| Error::BadBatch(format!("the body is no batch: {error}"));
    let Head { schema, machine } = serde_json::from_slice(&plain).map_err(no_batch)?;
    let is_newer = is_newer(&schema)?;
    let batch =
        if is_newer { loosely(&plain).map_err(no_batch)? } else { serde_json::from_slice(&plain).map_err(no_batch)? };
    if batch.segments.more > 0 {
        return Err(Error::TooLarge("5,000 segments"));
    }
    let mut checked = Checked { machine, ..Checked::default() };
    let machine_is_id = text::is_id(&checked.machine);
    for (place, raw) in (0..).zip(batch.segments.items) {
        let read = if machine_is_id { segment(raw.get()) } else { Err("the machine is not 32 hex digits".to_owned()) };
        match read {
            Ok(segment) => checked.segments.push((place, segment)),
            Err(reason) => {
                let reason = if is_newer { format!("of a newer version: {reason}") } else { reason };
                checked.refused.add(place, &reason);
                // One without a pseudonym names its machine by we do not know what.
                if machine_is_id && checked.dead_letters.len() < OF_A_MACHINE {
                    let letter = DeadLetter::new(&checked.machine, place, &reason, raw.get());
                    checked.dead_letters.push(letter.map_err(|error| Error::Internal(error.into()))?);
                }
            }
        }
    }
    let (told, mut left_out) = Told::read(&batch.agent, batch.heartbeat, &batch.losses.items, batch.losses.more);
    if machine_is_id {
        checked.told = told;
    } else if !told.is_empty() {
        left_out.push("the machine is not 32 hex digits".to_owned());
    }
    if is_newer {
        left_out.insert(
            0,
            format!("the batch is of a newer version ({}): what is unknown was left out", text::brief(&schema)),
        );
    }
    checked.left_out = told::at_most_a_few(left_out);
    Ok(checked)
}

/// Whether the schema is a later version of ours.
fn is_newer(schema: &str) -> Result<bool, Error> {
    let (name, own) = BATCH_SCHEMA.rsplit_once('/').unwrap_or_default();
    let version = schema.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'));
    let version: Option<u64> = version.and_then(|version| version.parse().ok());
    match (version, own.parse()) {
        (Some(version), Ok(own)) if version > own => Ok(true),
        _ if schema == BATCH_SCHEMA => Ok(false),
        _ => Err(Error::BadBatch(format!("the schema of the batch is not {BATCH_SCHEMA}"))),
    }
}

/// Reads what has the shape that we know, and nothing of the rest.
fn loosely(plain: &[u8]) -> serde_json::Result<Envelope<'_>> {
    fn known<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> T {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }
    let Loose { agent, segments, heartbeat, losses } = serde_json::from_slice(plain)?;
    Ok(Envelope { agent: known(agent), segments: known(segments), heartbeat, losses: known(losses) })
}

fn unpack(encoding: Encoding, body: &[u8]) -> Result<Vec<u8>, Error> {
    let broken = |error: std::io::Error| Error::BadBatch(format!("the body cannot be unpacked: {error}"));
    match encoding {
        Encoding::Identity => Ok(body.to_vec()),
        Encoding::Gzip => read_within(flate2::bufread::MultiGzDecoder::new(body), broken),
        Encoding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(BufReader::new(body)).map_err(broken)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(broken)?;
            read_within(decoder, broken)
        }
    }
}

fn read_within(reader: impl Read, broken: impl FnOnce(std::io::Error) -> Error) -> Result<Vec<u8>, Error> {
    let mut plain = Vec::new();
    reader.take(PLAIN_LIMIT_BYTES as u64 + 1).read_to_end(&mut plain).map_err(broken)?;
    if plain.len() > PLAIN_LIMIT_BYTES {
        return Err(Error::TooLarge("64 MiB unpacked"));
    }
    Ok(plain)
}

/// Reads one segment and checks that it makes sense.
fn segment(raw: &str) -> Result<Segment, String> {
    let longest = longest_text(raw);
    if longest > TEXT_BYTES {
        return Err(format!("a text of {longest} bytes is longer than the {TEXT_BYTES} that are taken"));
    }
    let mut segment: Segment =
        serde_json::from_str(raw).map_err(|error| format!("the segment cannot be read: {error}"))?;
    if !text::is_id(&segment.log) {
        return Err("the log is not 32 hex digits".to_owned());
    }
    let exe = segment.facts.process.as_ref().map(|process| process.exe.as_str());
    for (what, name) in [("file", Some(segment.file.as_str())), ("program", exe)] {
        let length = name.unwrap_or_default().len();
        if length > NAME_BYTES {
            return Err(format!(
                "the name of the {what} has {length} bytes, more than the {NAME_BYTES} that are taken"
            ));
        }
    }
    if segment.file.contains('\0') {
        return Err("the file name holds a NUL character".to_owned());
    }
    if segment.start > segment.end {
        return Err(format!("the range starts at {} and ends before, at {}", segment.start, segment.end));
    }
    if i64::try_from(segment.end).is_err() {
        return Err("the range ends beyond what a file can hold".to_owned());
    }
    let inside = segment.start..segment.end;
    for observation in &segment.observations {
        if !inside.contains(&observation.offset()) {
            return Err(format!("an observation at {} is outside the range", observation.offset()));
        }
        if i64::try_from(observation.line()).is_err() {
            return Err("a line number is beyond what a file can hold".to_owned());
        }
    }
    if let Some(Clock { zone: Some(zone), .. }) = &mut segment.clock {
        *zone = text::for_column(zone);
    }
    Ok(segment)
}

/// The bytes of the longest string in a JSON text, names included, escapes counted as they stand.
fn longest_text(json: &str) -> usize {
    let mut longest = 0;
    let mut rest = json.as_bytes();
    // Quotes stand around strings only, so every other one begins one.
    while let Some(begin) = rest.iter().position(|byte| *byte == b'"') {
        let text = &rest[begin + 1..];
        let mut end = 0;
        while end < text.len() && text[end] != b'"' {
            end += if text[end] == b'\\' { 2 } else { 1 };
        }
        longest = longest.max(end);
        rest = text.get(end + 1..).unwrap_or_default();
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "00000000000000000000000000000001";

    fn batch(segments: &str) -> String {
        format!(r#"{{"schema":"weavewatch.batch/1","machine":"{LOG}","agent":"1","segments":[{segments}]}}"#)
    }

    fn segment_json(range: &str, observations: &str) -> String {
        let facts = serde_json::to_string(&wire::LogFacts::default()).expect("plain data");
        format!(r#"{{"log":"{LOG}","file":"a.log",{range},"facts":{facts},"observations":[{observations}]}}"#)
    }

    fn refusals(segments: &str) -> Vec<(u64, String)> {
        let checked = decode(Encoding::Identity, batch(segments).as_bytes()).expect("a batch");
        checked.refused.into_list().into_iter().map(|refusal| (refusal.segment, refusal.reason)).collect()
    }

    #[test]
    fn a_bad_segment_is_refused_alone() {
        let flaw = |offset: &str| format!(r#"{{"flaw":{{"offset":{offset},"line":1,"kind":"truncated"}}}}"#);
        let good = segment_json(r#""start":0,"end":10"#, &flaw("9"));
        let cases = [
            segment_json(r#""start":5,"end":4"#, ""),
            segment_json(r#""start":0,"end":10"#, &flaw("10")),
            segment_json(r#""start":5,"end":10"#, &flaw("4")),
            segment_json(r#""start":0,"end":18446744073709551615"#, ""),
            good.replace(LOG, "pc"),
            good.replace("a.log", "a\\u0000.log"),
            "7".to_owned(),
            "{}".to_owned(),
            good.replace("a.log", &"x".repeat(4_097)),
            good.replace("\"process\":null", &process(&"x".repeat(4_097))),
            good.replace("\"offset\":9", &format!("\"offset\":9,\"marker\":\"{}\"", "x".repeat(TEXT_BYTES + 1))),
            good.replace("\"offset\":9", &format!("\"offset\":9,\"{}\":0", "x".repeat(TEXT_BYTES + 1))),
        ];
        assert_eq!(refusals(&good.replace("\"process\":null", &process(&"x".repeat(4_096)))), []);
        for bad in &cases {
            let refused = refusals(&[good.as_str(), bad, &good].join(","));
            assert_eq!(refused.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1], "{bad}: {refused:?}");
        }
    }

    fn process(exe: &str) -> String {
        format!(r#""process":{{"exe":"{exe}","pid":1,"started":null}}"#)
    }

    #[test]
    fn the_longest_text_is_found() {
        for (json, longest) in [
            ("7", 0),
            (r#""""#, 0),
            (r#"{"a":"bc","def":["g"]}"#, 3),
            (r#"["\"\"","a"]"#, 4),
            (r#"["\\","abc"]"#, 3),
            (r#"["ü"]"#, 2),
        ] {
            assert_eq!(longest_text(json), longest, "{json}");
        }
    }

    #[test]
    fn a_small_batch_of_nonsense_makes_no_large_answer() {
        let nonsense = vec!["7"; SEGMENTS].join(",");
        let refused = refusals(&nonsense);
        assert!(refused.iter().map(|(place, _)| *place).eq(0..SEGMENTS as u64));
        assert!(refused.iter().map(|(_, reason)| reason.len()).sum::<usize>() < 60 * SEGMENTS);
        let quoted = format!("\"{}\"", "x".repeat(1_000_000));
        assert!(refusals(&quoted)[0].1.len() < 300);

        let too_many = batch(&vec!["7"; SEGMENTS + 1].join(","));
        assert!(matches!(decode(Encoding::Identity, too_many.as_bytes()), Err(Error::TooLarge(_))));
    }

    #[test]
    fn what_is_no_batch_is_an_error() {
        for body in ["", "{", "[]", "{}", &batch("").replace("batch/1", "batch/0"), "\u{0}\u{1}"] {
            let error = decode(Encoding::Identity, body.as_bytes()).expect_err(body);
            assert!(matches!(error, Error::BadBatch(_)), "{body}");
        }
        assert!(matches!(decode(Encoding::Zstd, b"no zstd"), Err(Error::BadBatch(_))));
        assert!(matches!(decode(Encoding::Gzip, b"no gzip"), Err(Error::BadBatch(_))));
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let zeros = vec![b' '; PLAIN_LIMIT_BYTES + 1];
        let packed = zstd::encode_all(zeros.as_slice(), 1).expect("memory suffices");
        assert!(packed.len() < PACKED_LIMIT_BYTES);
        assert!(matches!(decode(Encoding::Zstd, &packed), Err(Error::TooLarge(_))));
        let mut gzip = flate2::read::GzEncoder::new(zeros.as_slice(), flate2::Compression::fast());
        let mut packed = Vec::new();
        gzip.read_to_end(&mut packed).expect("memory suffices");
        assert!(matches!(decode(Encoding::Gzip, &packed), Err(Error::TooLarge(_))));
    }

    #[test]
    fn encodings_by_name() {
        assert!(matches!(Encoding::from_header(None), Ok(Encoding::Identity)));
        assert!(matches!(Encoding::from_header(Some("ZSTD")), Ok(Encoding::Zstd)));
        assert!(matches!(Encoding::from_header(Some("gzip, zstd")), Err(Error::UnsupportedEncoding)));
    }
}
