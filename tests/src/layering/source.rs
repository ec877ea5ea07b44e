//! What a crate's sources say, read the coarse way: comment lines and test modules are left out, everything else
//! counts. A false alarm is a comment to move; a miss would be a hole in the fence, so nothing cleverer is tried.

use std::io;
use std::path::{Path, PathBuf};

/// The sources of the crate in `folder`, `build.rs` included, without its tests.
pub fn of_crate(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    let build = folder.join("build.rs");
    if build.is_file() {
        files.push((build.clone(), without_tests(&std::fs::read_to_string(build)?)));
    }
    collect(&folder.join("src"), &mut files)?;
    Ok(files)
}

/// The 1-based line where `text` first names `path`: `std::fs` also inside `use std::{io, fs}`, a single name anywhere.
pub fn mention(text: &str, path: &str) -> Option<usize> {
    let direct = words(text, path).next();
    let grouped = path.split_once("::").and_then(|(root, leaf)| {
        let opening = format!("{root}::{{");
        let mut groups = text.match_indices(&opening).map(|(at, _)| (at, &text[at + opening.len()..]));
        groups.find_map(|(at, group)| imports(group, leaf).then_some(at))
    });
    direct.into_iter().chain(grouped).min().map(|offset| text[..offset].matches('\n').count() + 1)
}

/// Offsets of `path` in `text` where it is no part of a longer word.
fn words<'t>(text: &'t str, path: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(path).map(|(offset, _)| offset).filter(move |&offset| {
        !is_word(text[..offset].chars().next_back()) && !is_word(text[offset + path.len()..].chars().next())
    })
}

/// True when an item of a `{…}` import starts with `leaf`; `group` is the text behind the opening brace.
fn imports(group: &str, leaf: &str) -> bool {
    let mut depth = 1_u32;
    let mut item_starts = true;
    let mut name = String::new();
    for letter in group.chars() {
        if letter.is_alphanumeric() || letter == '_' {
            if item_starts && depth == 1 {
                name.push(letter);
            }
            continue;
        }
        if name == leaf {
            return true;
        }
        item_starts &= name.is_empty();
        name.clear();
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' => item_starts = true,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    false
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if only_for_tests(&path) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path)?;
            files.push((path, without_tests(&text)));
        }
    }
    Ok(())
}

/// True for a file, or the folder of a module, that its parent declares as `#[cfg(test)] mod name;`.
fn only_for_tests(path: &Path) -> bool {
    let (Some(stem), Some(folder)) = (path.file_stem().and_then(|stem| stem.to_str()), path.parent()) else {
        return false;
    };
    let declaration = format!("#[cfg(test)]\nmod {stem};");
    let parents = [folder.join("lib.rs"), folder.join("main.rs"), folder.join("mod.rs"), folder.with_extension("rs")];
    parents.iter().any(|parent| std::fs::read_to_string(parent).is_ok_and(|text| text.contains(&declaration)))
}

/// Blanks out comment lines and `#[cfg(test)] mod name { … }`; line numbers stay.
fn without_tests(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    let mut in_tests = false;
    while let Some(line) = lines.next() {
        let opens =
            line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
        in_tests |= opens;
        if !in_tests && !line.trim_start().starts_with("//") {
            kept.push_str(line);
        }
        kept.push('\n');
        // The formatter puts the closing brace of a module, and nothing else inside it, at the line's start.
        in_tests &= line != "}";
    }
    kept
}
