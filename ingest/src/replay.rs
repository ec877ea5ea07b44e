//! `weavewatch replay`: from a machine, a path and settings to what the runtime should do there, rule by rule.

use std::path::Path;

use anyhow::Result;
use indicatif::ProgressBar;
use resolver::replay::{SETTINGS, may_be_stored, replay};
use triage::replay::source::{self, Kind, Source};
use triage::replay::{Open, page};
use wire::Settings;

use crate::cli::{AnswerFormat, ReplayArgs};
use crate::exit::Exit;
use crate::problems::Problems;
use crate::source::named;
use crate::{one, show};

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Exit {
    let problems = Problems::new(ProgressBar::hidden());
    let name = args.machine.to_string_lossy();
    let source = match load(&args.machine).and_then(Source::with_topology) {
        Ok(source) => source,
        Err(error) => {
            problems.unreadable(&name, format_args!("{error:#}"));
            return problems.exit();
        }
    };
    let mut machine = source.told.machine;
    for (name, value) in &args.set {
        machine.settings.env.insert(name.clone(), value.clone());
    }
    let answer = replay(&machine, args.path, args.policy);
    let printed = match args.format {
        AnswerFormat::Json => {
            // Programs read the answer; who typed a setting reads this.
            for (name, _) in args.set.iter().filter(|(name, _)| is_unread(name)) {
                problems.note(words_of_unread(name));
            }
            show::json(&answer)
        }
        AnswerFormat::Text => {
            let origin = format!("{name}, {}", source.kind.as_str());
            // What somebody left out of a machine file is meant to be as usual.
            let missing = if source.kind == Kind::MachineFile { Vec::new() } else { source.told.missing };
            let open = Open { missing, notes: [source.notes, unread(&machine.settings)].concat() };
            show::document(&page(&machine, &answer, &origin, &open, &args.set), false)
        }
    };
    if let Err(error) = printed {
        problems.unreadable("output", format_args!("failed to print the answer: {error}"));
    }
    problems.exit()
}

/// Reads the file that `path` means and finds out which kind of machine source it is. A member of a bundle is a log.
///
/// # Errors
/// When it cannot be read, or tells no machine.
pub fn load(path: &Path) -> Result<Source> {
    if named::member(path).is_some() {
        return source::gather(|sink| one::read(path, sink));
    }
    source::read(named::open(path)?, &path.to_string_lossy())
}

/// Settings that change nothing here: misspelled, unknown to the rules, or in a store where the runtime does not look.
fn unread(settings: &Settings) -> Vec<String> {
    let mut notes: Vec<_> =
        settings.env.keys().filter(|name| is_unread(name)).map(|name| words_of_unread(name)).collect();
    for (store, whose) in [(&settings.user, "user"), (&settings.machine, "machine")] {
        for name in store.keys().filter(|name| !may_be_stored(name)) {
            notes.push(format!("{name} of the {whose}'s settings changes nothing: no rule looks for it there."));
        }
    }
    notes
}

/// A variable of the runtime, by its prefix, that no rule knows.
fn is_unread(name: &str) -> bool {
    name.starts_with("DXR_") && !SETTINGS.contains(&name)
}

fn words_of_unread(name: &str) -> String {
    format!("No rule reads {name}, so it changes nothing; is it spelled right?")
}
