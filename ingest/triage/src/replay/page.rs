//! An answer as people read it: the sentence, the drawing, what every rule said, what is missing, the line.

use std::borrow::Cow;

use resolver::replay::{advise, depends_on, topology};
use wire::{Machine, Replay, Split};

use super::{picture, words};
use crate::document::{Block, Document, Table};

/// What a reader should know of the input.
pub struct Open {
    /// Facts that it leaves open, for which the defaults stand in.
    pub missing: Vec<Cow<'static, str>>,
    /// In sentences.
    pub notes: Vec<String>,
}

/// The whole page.
pub fn page(machine: &Machine, answer: &Replay, origin: &str, open: &Open, set: &[(String, String)]) -> Document {
    let mut page = Document::default();
    page.push(Block::Title(format!("What {} should do", words::who(answer.path))));
    page.push(Block::Verdict(words::sentence(answer)));
    let mut facts =
        vec![("Machine".to_owned(), origin.to_owned()), ("Rules".to_owned(), words::policy(answer.policy).to_owned())];
    if !set.is_empty() {
        let set: Vec<_> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        facts.push(("Set here".to_owned(), set.join(" ")));
    }
    if let Some(cost) = answer.cost.filter(|cost| cost.bytes_per_second > 0) {
        facts.push(("Cost".to_owned(), format!("{} (60 Hz, copy speed of the reference laptop)", words::cost(cost))));
    }
    facts.push(("Device mask".to_owned(), format!("{} (bit 0 is GPU 0)", answer.device_mask)));
    page.push(Block::Facts(facts));
    page.section("Topology", [Block::Verbatim(picture::draw(machine, answer))]);
    page.section("Line", [line(answer)]);
    if answer.split != Split::Unknown {
        let advice = advise(machine, answer.path, answer.policy);
        page.section("What to try", [Block::Bullets(advice.iter().map(words::advice).collect())]);
    }
    page.section("Rules, in the order of asking", [rules(answer)]);
    page.section("Overrides", [overrides(answer)]);
    page.section("Other lines that the runtime would print", [Block::Verbatim(other_lines(answer))]);
    if tells_the_tool(machine) {
        // Its TABs would be spelled out here.
        let lines = topology(machine).into_iter().map(|line| line.replace('\t', "    ")).collect();
        page.section("GPU topology as the runtime's own tool would print it", [Block::Verbatim(lines)]);
    }
    page.section("Missing facts", [missing(answer)]);
    let asked = |fact: &&Cow<'static, str>| depends_on(answer.path, answer.policy, fact);
    let usual: Vec<_> =
        open.missing.iter().filter(asked).map(|fact| format!("{} ({fact})", words::usual(fact))).collect();
    if !usual.is_empty() {
        let text = format!(
            "The input does not tell these, so what is usual stands in for them: {}. Give a machine file to set them.",
            usual.join("; ")
        );
        page.section("Taken for granted", [Block::Paragraph(text)]);
    }
    page.section("Keep in mind", [Block::Bullets(open.notes.clone())]);
    page
}

fn line(answer: &Replay) -> Block {
    match &answer.line {
        Some(line) => Block::Verbatim(vec![line.clone()]),
        None => Block::Paragraph("No placement line can be told for this session.".to_owned()),
    }
}

fn rules(answer: &Replay) -> Block {
    let rows = answer.rules.iter().map(|own| vec![own.rule.to_string(), own.outcome.to_string()]).collect();
    Block::Table(Table { columns: vec!["Rule", "Outcome"], rows })
}

fn overrides(answer: &Replay) -> Block {
    let rows = answer
        .overrides
        .iter()
        .map(|own| {
            let honoured = match own.honoured {
                Some(true) => "followed",
                Some(false) => "ignored",
                None => "cannot be told",
            };
            // Quoted, because a blank at the end is the usual fault.
            vec![own.name.to_string(), format!("'{}'", own.value), own.source.as_str().to_owned(), honoured.to_owned()]
        })
        .collect();
    Block::Table(Table { columns: vec!["Variable", "Value", "Set by", "Outcome"], rows })
}

fn other_lines(answer: &Replay) -> Vec<String> {
    let mut lines = answer.warnings.clone();
    lines.extend(answer.deposit.iter().flat_map(|own| own.lines.clone()));
    lines.extend(answer.gl.iter().flat_map(|own| own.lines.clone()));
    lines.extend(answer.service.iter().flat_map(|own| own.lines.clone()));
    lines
}

/// Only what a machine file tells in full can be printed without inventing ids.
fn tells_the_tool(machine: &Machine) -> bool {
    machine.told_scanout.is_none()
        && machine.adapters.iter().all(|own| own.luid.is_some() && own.dedicated_vram_mib.is_some())
}

fn missing(answer: &Replay) -> Block {
    let needed = |fact: &Cow<'static, str>| format!("{fact}: a rule needs it and the input does not tell it");
    Block::Bullets(answer.missing.iter().map(needed).collect())
}
