//! One log as QA wants it: verdict, adapters, evidence, expected beside observed, what to try, what to ask, what to doubt.

use resolver::replay::cost;
use wire::{Agreement, Outcome, Severity};

use super::dossier::Dossier;
use super::{caveats, questions, verdict};
use crate::document::{Block, Document, Table};
use crate::reading;
use crate::replay::{picture, words};

/// The whole page.
pub fn page(dossier: &Dossier) -> Document {
    let report = &dossier.report;
    let outcome = Outcome::of(&report.verdict);
    let mut page = Document::default();
    page.push(Block::Title(format!("{} {} — {}", outcome.mark(), outcome.label(), reading::base_name(&report.file))));
    page.push(Block::Verdict(verdict::sentence(dossier)));
    page.push(Block::Facts(facts(dossier)));
    let questions = questions::questions(dossier);
    page.section(
        "Ask next",
        [if questions.is_empty() {
            Block::Paragraph(words::nothing(dossier.comparison.result).to_owned())
        } else {
            Block::Bullets(questions)
        }],
    );
    page.section("Adapters", [adapters(dossier)]);
    if report.verdict.render.is_some() || report.verdict.scanout.is_some() {
        let picture = picture::draw(&dossier.told.machine, &observed(dossier));
        page.section("What happened", [Block::Verbatim(picture)]);
    }
    page.section("Findings", [findings(dossier)]);
    page.section("Evidence", [evidence(dossier)]);
    page.section("Expected beside observed", replay(dossier));
    page.section("What to try", [advice(dossier)]);
    page.section("Keep in mind", [Block::Bullets(caveats::caveats(dossier))]);
    page
}

fn facts(dossier: &Dossier) -> Vec<(String, String)> {
    let report = &dossier.report;
    let mut facts = Vec::new();
    let mut tell = |name: &str, value: String| facts.push((name.to_owned(), value));
    tell("File", report.file.clone());
    if let Some(process) = &report.process {
        let started = process.started.as_ref().map(|time| format!(", started {}", time.replacen('T', " ", 1)));
        tell("Process", format!("{} (PID {}){}", process.exe, process.pid, started.unwrap_or_default()));
    }
    let runtime = &report.runtime;
    let version =
        runtime.version.clone().or_else(|| runtime.build.clone()).unwrap_or_else(|| "version not told".to_owned());
    let build = runtime.build.as_ref().filter(|build| **build != version).map(|build| format!(" ({build})"));
    let generation = runtime.generation.map(|own| format!(", generation {}", own.as_str()));
    tell("Runtime", format!("{version}{}{}", build.unwrap_or_default(), generation.unwrap_or_default()));
    tell("Compositor", report.path.as_str().to_owned());
    if let Some(plugin) = &dossier.seen.plugin {
        tell(
            "Display",
            [Some(plugin.clone()), dossier.seen.display.clone()].into_iter().flatten().collect::<Vec<_>>().join(", "),
        );
    }
    for beside in &dossier.beside {
        let told = if beside.told.is_empty() { "nothing new".to_owned() } else { beside.told.join(", ") };
        tell("Beside it", format!("{}, {}; it tells {told}", beside.file, beside.kind));
    }
    tell("Verdict is", verdict::basis(report.verdict.basis).to_owned());
    if let Some(cost) = cost(report.verdict.crossing, dossier.told.machine.panel).filter(|own| own.bytes_per_second > 0)
    {
        tell("Cost", format!("{} (60 Hz, copy speed of the reference laptop)", words::cost(cost)));
    }
    let settings = &dossier.told.machine.settings;
    for (store, whose) in
        [(&settings.env, "environment"), (&settings.user, "user settings"), (&settings.machine, "machine settings")]
    {
        for (name, value) in store {
            tell("Setting", format!("{name}='{value}' ({whose})"));
        }
    }
    facts
}

fn adapters(dossier: &Dossier) -> Block {
    let verdict = &dossier.report.verdict;
    let parts = [
        ("render", verdict.render.as_ref()),
        ("panel", verdict.scanout.as_ref()),
        ("app's picture", dossier.seen.surface.as_ref()),
    ];
    let mut rows = Vec::new();
    let mut listed = Vec::new();
    for own in &dossier.answer.ranking {
        let is = |adapter: &wire::Adapter| match own.luid {
            Some(luid) => adapter.luid == luid,
            None => adapter.name == own.name,
        };
        let roles: Vec<_> =
            parts.iter().filter(|(_, adapter)| adapter.is_some_and(is)).map(|(role, _)| *role).collect();
        listed.extend(own.luid);
        let rank = match (&own.excluded, own.rank) {
            (Some(why), _) => format!("left out: {why}"),
            (None, Some(rank)) => format!("ranked {rank}"),
            (None, None) => String::new(),
        };
        let memory = own.dedicated_vram_mib.map_or("not told".to_owned(), |mib| format!("{mib} MiB"));
        let luid = own.luid.map_or("not told".to_owned(), |luid| luid.to_string());
        rows.push(vec![roles.join(" + "), own.name.clone(), luid, memory, rank]);
    }
    for (role, adapter) in parts {
        if let Some(adapter) = adapter.filter(|adapter| !listed.contains(&adapter.luid)) {
            rows.push(vec![
                role.to_owned(),
                adapter.name.clone(),
                adapter.luid.to_string(),
                "not told".to_owned(),
                String::new(),
            ]);
        }
    }
    Block::Table(Table { columns: vec!["Role", "Name", "LUID (this boot)", "Memory", "Resolver"], rows })
}

fn findings(dossier: &Dossier) -> Block {
    let mut findings: Vec<_> = dossier.report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let row = |finding: &&wire::Finding| {
        let severity = match finding.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        let line = finding.line.map_or("–".to_owned(), |line| line.to_string());
        vec![line, severity.to_owned(), finding.code.clone(), finding.message.clone()]
    };
    let rows = findings.iter().map(row).collect();
    Block::Table(Table { columns: vec!["Line", "Severity", "Finding", "What it is"], rows })
}

/// The verdict in the form that can be drawn.
fn observed(dossier: &Dossier) -> wire::Replay {
    let verdict = &dossier.report.verdict;
    let mut observed = dossier.answer.clone();
    observed.render = verdict.render.as_ref().map(|own| wire::ReplayRender {
        name: own.name.clone(),
        luid: Some(own.luid),
        provenance: None,
    });
    observed.scanout = verdict.scanout.as_ref().map(|own| wire::ReplayScanout {
        name: own.name.clone(),
        luid: Some(own.luid),
        via: None,
    });
    observed.cost = cost(verdict.crossing, dossier.told.machine.panel);
    observed.split = verdict.split;
    observed.crossing = verdict.crossing;
    observed
}

/// The records that decide, with what they mean; a mark at the one that gives the verdict.
fn evidence(dossier: &Dossier) -> Block {
    let deciding = dossier.report.verdict.line;
    let entries = dossier.timeline.entries();
    let quiet = entries.iter().all(super::timeline::Entry::is_background);
    let row = |entry: &super::timeline::Entry| {
        let mark = if deciding == Some(entry.line) { "►" } else { "" };
        let again = match entry.times {
            1 => String::new(),
            times => format!(" ({times} times, last on line {})", entry.last_line),
        };
        let time = entry.time.as_deref().and_then(|time| time.get(11..)).unwrap_or("–").to_owned();
        vec![format!("{}{mark}", entry.line), time, format!("{}{again}{}", entry.meaning, detail(entry))]
    };
    let rows = entries.iter().filter(|entry| quiet || !entry.is_background() || entry.times > 1).map(row).collect();
    Block::Table(Table { columns: vec!["Line", "Time", "What it means (► decides)"], rows })
}

/// What the record itself says, where the meaning alone would hide it.
fn detail(entry: &super::timeline::Entry) -> String {
    const CHARS: usize = 110;
    let Some(text) = &entry.text else { return String::new() };
    let mut short: String = text.chars().take(CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!(" «{short}»")
}

fn replay(dossier: &Dossier) -> Vec<Block> {
    let comparison = &dossier.comparison;
    let observed = dossier.timeline.entries().iter().rfind(|entry| entry.shape.starts_with("wp."));
    let result = words::agreement(comparison);
    let mut facts = vec![("Result".to_owned(), result), ("Rules".to_owned(), words::policy(dossier.policy).to_owned())];
    let expected = words::sentence(&dossier.answer).replace(" (below)", "");
    facts.push(("Expected".to_owned(), expected));
    let mut blocks = vec![Block::Facts(facts)];
    let lines: Vec<_> = [
        dossier.answer.line.as_ref().map(|line| format!("expected: {line}")),
        observed.and_then(|entry| entry.text.as_ref()).map(|line| format!("observed: {line}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    blocks.push(Block::Verbatim(lines));
    if comparison.result == Agreement::Disagrees {
        blocks.push(Block::Verbatim(picture::draw(&dossier.told.machine, &dossier.answer)));
    }
    blocks
}

fn advice(dossier: &Dossier) -> Block {
    Block::Bullets(dossier.advice.iter().map(words::advice).collect())
}
