//! The real agent, run once over a folder.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use crate::program::{Finished, run};

/// `weavewatch watch --once`: everything in `folder` goes to the server at `url`; `state` is the agent's memory.
pub fn upload(folder: &Path, url: &str, token: &str, state: &Path) -> Finished {
    let options: [(&str, OsString); 4] =
        [("--dir", folder.into()), ("--server", url.into()), ("--token", token.into()), ("--state", state.into())];
    let mut arguments: Vec<OsString> = vec!["watch".into(), "--once".into()];
    arguments.extend(options.into_iter().flat_map(|(name, value)| [name.into(), value]));
    run("weavewatch", arguments)
}

/// The lines of `weavewatch scan --format ndjson` over `folder`, as they were printed.
///
/// # Panics
/// When the scan does not end with 0.
#[track_caller]
pub fn scan(folder: &Path) -> Vec<String> {
    let arguments: [OsString; 4] = ["scan".into(), "--format".into(), "ndjson".into(), folder.into()];
    run("weavewatch", arguments).with_code(0).stdout.lines().map(str::to_owned).collect()
}

/// The same as values.
///
/// # Panics
/// When a line is not JSON.
#[track_caller]
pub fn scan_json(folder: &Path) -> Vec<Value> {
    scan(folder).iter().map(|line| serde_json::from_str(line).expect("a line of ndjson")).collect()
}
