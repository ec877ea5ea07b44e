//! Is each dependency named once, at the root, with a reason?

use std::collections::BTreeSet;

use super::Violation;

/// Checks a member's manifest: every dependency comes from the workspace.
pub fn member(name: &str, text: &str, found: &mut BTreeSet<Violation>) {
    let mut add = |breach: String| {
        let note = "the root manifest names versions and features' base, once for all".to_owned();
        found.insert(Violation { member: name.to_owned(), breach, note });
    };
    for (section, line) in entries(text) {
        if section.split('.').any(|part| part.ends_with("dependencies")) {
            if !section.ends_with("dependencies") {
                add(format!("spreads [{section}] over lines"));
            } else if !inherits(line) {
                add(format!("names `{}` itself", line.trim()));
            }
        }
    }
}

/// Checks the root manifest: every group of dependencies starts with its reason, and none is left over.
pub fn root(text: &str, used: &BTreeSet<String>, found: &mut BTreeSet<Violation>) {
    let mut add = |breach: String, note: &str| {
        found.insert(Violation { member: "workspace".to_owned(), breach, note: note.to_owned() });
    };
    let mut inside = false;
    let mut reason = false;
    let mut names = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
            if line.starts_with("[workspace.dependencies.") {
                add(format!("spreads {line} over lines"), "one dependency, one line");
            }
            reason = false;
        } else if !inside || line.is_empty() {
            reason = false;
        } else if let Some(comment) = line.strip_prefix('#') {
            reason |= !comment.trim().is_empty();
        } else if let Some((name, _)) = line.split_once('=') {
            let name = name.split('.').next().unwrap_or(name).trim().trim_matches('"').to_owned();
            if !reason {
                add(format!("gives no reason for {name}"), "a comment opens each group of dependencies");
            }
            if !used.contains(&name) {
                add(format!("names {name} for nobody"), "no member uses it");
            }
            if !names.insert(name.clone()) {
                add(format!("names {name} twice"), "one dependency, one line");
            }
        }
    }
}

/// The key lines of a manifest with the section they stand in.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut section = "";
    text.lines().map(str::trim).filter_map(move |line| {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']']);
            return None;
        }
        (!line.is_empty() && !line.starts_with('#')).then_some((section, line))
    })
}

fn inherits(line: &str) -> bool {
    let squeezed: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
    squeezed.split_once('=').is_some_and(|(name, value)| {
        (name.ends_with(".workspace") && value.starts_with("true"))
            || (value.starts_with('{') && value.contains("workspace=true"))
    })
}
