//! What an agent says of itself in a batch: its version, its heartbeat, its losses, cut to what a row should hold.
//!
//! One loss that makes no sense is left out with its reason; everything else is good. Nothing here can fail a batch.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use wire::{Heartbeat, Loss};

use crate::text::{for_column, is_id};

/// Losses in one batch. A machine with more logs than that tells of the rest in the next one.
pub const LOSSES: usize = 10_000;
/// Entries of a heartbeat's map; an agent has a few dozen settings and reasons.
const ENTRIES: usize = 200;
/// Reasons for leaving something out that an answer lists; a client reads a few at most.
const REMARKS: usize = 20;

/// What is worth a row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Told {
    /// Version of the agent.
    pub agent: Option<String>,
    /// How it is.
    pub heartbeat: Option<Heartbeat>,
    /// By log (its identity on the machine, empty for none) and reason, so that each is there once and in one order.
    pub losses: BTreeMap<(String, String), Lost>,
}

/// The totals of one log and reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lost {
    /// Base name of the log's file.
    pub file: Option<String>,
    /// Bytes of the log.
    pub bytes: i64,
    /// Events that were read.
    pub events: i64,
}

impl Told {
    /// Reads what stood in the batch, `more` losses left aside, and answers beside it what was left out, with reasons for a person.
    pub fn read(agent: &str, heartbeat: Option<&RawValue>, losses: &[&RawValue], more: usize) -> (Self, Vec<String>) {
        let agent = (!agent.is_empty()).then(|| for_column(agent));
        let mut told = Self { agent, ..Self::default() };
        let mut remarks = Vec::new();
        match heartbeat.map(|raw| serde_json::from_str(raw.get())) {
            None => {}
            Some(Ok(heartbeat)) => told.heartbeat = Some(cut(heartbeat)),
            Some(Err(error)) => remarks.push(for_column(&format!("the heartbeat cannot be read: {error}"))),
        }
        for (index, raw) in losses.iter().enumerate() {
            match loss(raw.get()) {
                Ok((key, lost)) => told.losses.entry(key).or_default().raise(lost),
                Err(reason) => remarks.push(for_column(&format!("loss {index} {reason}"))),
            }
        }
        if more > 0 {
            remarks.push(format!("{more} losses are more than the {LOSSES} of one batch: send them in the next"));
        }
        (told, remarks)
    }

    /// True when there is nothing that would not also be in the next batch.
    pub fn is_empty(&self) -> bool {
        self.heartbeat.is_none() && self.losses.is_empty()
    }
}

impl Lost {
    /// Totals only grow, so the larger one is the later one.
    fn raise(&mut self, other: Self) {
        self.bytes = self.bytes.max(other.bytes);
        self.events = self.events.max(other.events);
        self.file = other.file.or(self.file.take());
    }
}

/// The first of many remarks, and how many more there were.
pub fn at_most_a_few(mut remarks: Vec<String>) -> Vec<String> {
    let more = remarks.len().saturating_sub(REMARKS);
    if more > 0 {
        remarks.truncate(REMARKS);
        remarks.push(format!("and {more} more"));
    }
    remarks
}

fn loss(raw: &str) -> Result<((String, String), Lost), String> {
    let told: Loss = serde_json::from_str(raw).map_err(|error| format!("cannot be read: {error}"))?;
    let log = told.log.unwrap_or_default();
    if !log.is_empty() && !is_id(&log) {
        return Err("is of a log that is not 32 hex digits".to_owned());
    }
    if told.reason.is_empty() {
        return Err("has no reason".to_owned());
    }
    let number = |value| i64::try_from(value).map_err(|_| "has a number beyond what a file can hold".to_owned());
    let (bytes, events) = (number(told.bytes)?, number(told.events)?);
    let file = told.file.as_deref().map(for_column);
    Ok(((log, for_column(&told.reason)), Lost { file, bytes, events }))
}

fn cut(heartbeat: Heartbeat) -> Heartbeat {
    let Heartbeat { config, dropped, slowed, .. } = heartbeat;
    Heartbeat {
        config: config.iter().take(ENTRIES).map(|(name, value)| (for_column(name), for_column(value))).collect(),
        dropped: dropped.iter().take(ENTRIES).map(|(reason, events)| (for_column(reason), *events)).collect(),
        slowed: slowed.as_deref().map(for_column),
        ..heartbeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_most::AtMost;

    const LOG: &str = "00000000000000000000000000000001";

    fn read(heartbeat: Option<&str>, losses: &[String]) -> (Told, Vec<String>) {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).expect("JSON");
        let losses = format!("[{}]", losses.join(","));
        let losses: AtMost<_, LOSSES> = serde_json::from_str(&losses).expect("a list");
        Told::read("1", heartbeat.map(raw).as_deref(), &losses.items, losses.more)
    }

    fn loss_json(log: &str, reason: &str, bytes: u64, events: u64) -> String {
        format!(r#"{{"log":{log},"file":"a.log","reason":{reason},"bytes":{bytes},"events":{events}}}"#)
    }

    #[test]
    fn the_larger_totals_of_one_log_and_reason_are_kept() {
        let log = format!("\"{LOG}\"");
        let losses = [
            loss_json(&log, "\"truncated\"", 10, 2),
            loss_json("null", "\"truncated\"", 1, 1),
            loss_json(&log, "\"truncated\"", 7, 3),
        ];
        let (told, remarks) = read(None, &losses);
        assert_eq!(remarks, Vec::<String>::new());
        let of =
            |log: &str| told.losses.get(&(log.to_owned(), "truncated".to_owned())).map(|one| (one.bytes, one.events));
        assert_eq!((of(LOG), of(""), told.losses.len()), (Some((10, 3)), Some((1, 1)), 2));
    }

    #[test]
    fn a_loss_that_makes_no_sense_is_left_out_alone() {
        let good = loss_json("null", "\"queue_full\"", 1, 1);
        for bad in [
            "7".to_owned(),
            "{}".to_owned(),
            loss_json("\"../x\"", "\"a\"", 1, 1),
            loss_json("null", "\"\"", 1, 1),
            loss_json("null", "\"a\"", u64::MAX, 1),
            loss_json("null", "\"a\"", 1, u64::MAX),
            loss_json("null", "7", 1, 1),
        ] {
            let (told, remarks) = read(None, &[good.clone(), bad.clone(), good.clone()]);
            assert_eq!((told.losses.len(), remarks.len()), (1, 1), "{bad}: {remarks:?}");
            assert!(remarks[0].starts_with("loss 1 "), "{remarks:?}");
        }
    }

    #[test]
    fn nothing_is_taken_at_any_length_or_number() {
        let long = format!("\"{}\"", "x".repeat(5_000));
        let losses: Vec<_> = (0..10_050).map(|n| loss_json("null", &format!("\"r{n}\""), 1, 1)).collect();
        let (told, remarks) = read(None, &losses);
        assert_eq!((told.losses.len(), remarks.len()), (10_000, 1));
        let (told, _) = read(None, &[loss_json("null", &long, 1, 1)]);
        assert!(told.losses.keys().all(|(_, reason)| reason.chars().count() == 301));

        let config: Vec<_> = (0..1_000).map(|n| format!(r#""k{n}":{long}"#)).collect();
        let heartbeat = format!(r#"{{"queue_bytes":5,"slowed":{long},"config":{{{}}}}}"#, config.join(","));
        let heartbeat = read(Some(&heartbeat), &[]).0.heartbeat.expect("it can be read");
        assert_eq!((heartbeat.queue_bytes, heartbeat.config.len()), (5, 200));
        assert!(heartbeat.config.values().chain(heartbeat.slowed.as_ref()).all(|text| text.chars().count() == 301));

        let (told, remarks) = read(Some(&format!(r#"{{"queue_bytes":{long}}}"#)), &[]);
        assert!(told.is_empty() && remarks[0].chars().count() <= 301, "{remarks:?}");
        assert_eq!(at_most_a_few(vec![String::new(); 500]).len(), 21);
    }
}
