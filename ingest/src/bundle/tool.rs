//! `displayxr-cli`: where it is, and what it answers within a time limit.
//!
//! Only places that the system's owner controls are looked at. A log may say where the runtime lies, but a log can be
//! written by a sandboxed page, so no program is started because of one.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::manifest::ToolOutcome;

/// The questions, each with the stem of its members.
pub const QUESTIONS: [(&[&str], &str); 3] = [
    (&["info"], "displayxr-cli-info"),
    (&["info", "--json"], "displayxr-cli-info-json"),
    (&["perf", "list"], "displayxr-cli-perf-list"),
];

/// What is kept of an answer; a longer one is a tool gone wrong.
const MOST_BYTES: u64 = 4 << 20;

/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// What a question gave.
pub struct Answer {
    /// How it ended.
    pub outcome: ToolOutcome,
    /// Its exit code, when it had one.
    pub exit_code: Option<i32>,
    /// The first bytes of its output.
    pub stdout: Vec<u8>,
    /// The first bytes of its messages; the runtime's own lines stand among them.
    pub stderr: Vec<u8>,
}

/// The program: in the search path, else beside the runtime that is registered here.
pub fn find() -> Option<PathBuf> {
    let file = format!("displayxr-cli{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let searched: Vec<_> = env::split_paths(&path).chain(runtime_folders()).collect();
    // A relative folder in the search path would let the current folder name the program.
    searched
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&file))
        .find(|file| file.is_file())
}

/// Asks a question. Output goes to files, so that nothing it starts can keep us waiting for the end of a pipe.
pub fn ask(program: &Path, arguments: &[&str], limit: Duration) -> io::Result<Answer> {
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .spawn();
    let Ok(mut child) = started else {
        let message = started.err().map(|error| error.to_string()).unwrap_or_default();
        return Ok(Answer {
            outcome: ToolOutcome::NotStarted,
            exit_code: None,
            stdout: Vec::new(),
            stderr: message.into(),
        });
    };
    let over = Instant::now() + limit;
    let size = |file: &File| file.metadata().map_or(0, |metadata| metadata.len());
    let (outcome, status): (_, Option<ExitStatus>) = loop {
        if let Some(status) = child.try_wait()? {
            break (ToolOutcome::Ended, Some(status));
        }
        let outcome = if size(&stdout).max(size(&stderr)) > MOST_BYTES {
            ToolOutcome::TooMuch
        } else if Instant::now() >= over {
            ToolOutcome::TimedOut
        } else {
            std::thread::sleep(LOOK);
            continue;
        };
        // It may have ended in between; then there is nothing to stop.
        child.kill().or_else(|_| child.try_wait().map(|_| ()))?;
        child.wait()?;
        break (outcome, None);
    };
    let exit_code = status.and_then(|status| status.code());
    Ok(Answer { outcome, exit_code, stdout: first_bytes(stdout)?, stderr: first_bytes(stderr)? })
}

fn first_bytes(mut file: File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Folders of the registered OpenXR runtime: of its manifest, of the library that it names, and where it is installed.
fn runtime_folders() -> Vec<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut manifests: Vec<PathBuf> = variable("XR_RUNTIME_JSON").into_iter().collect();
    let config = variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")));
    if !cfg!(windows) {
        let places = config.into_iter().chain(["/etc/xdg", "/usr/local/share", "/usr/share"].map(PathBuf::from));
        manifests.extend(places.map(|place| place.join("openxr/1/active_runtime.json")));
    }
    let mut folders = Vec::new();
    for manifest in manifests {
        // The manifest is often a link to the runtime's own.
        let Ok(manifest) = fs::canonicalize(manifest) else { continue };
        let Some(folder) = manifest.parent() else { continue };
        folders.push(folder.to_owned());
        let library = library_of(&manifest).map(|library| folder.join(library));
        folders.extend(library.as_deref().and_then(Path::parent).map(Path::to_owned));
    }
    for base in ["ProgramFiles", "ProgramW6432"].into_iter().filter_map(variable) {
        folders.extend([base.join("DisplayXR"), base.join("DisplayXR").join("Runtime")]);
    }
    let with_programs = folders.iter().flat_map(|folder| [folder.clone(), folder.join("bin")]);
    with_programs.collect()
}

/// The library that a manifest of OpenXR names.
fn library_of(manifest: &Path) -> Option<PathBuf> {
    let json: serde_json::Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    json.get("runtime")?.get("library_path")?.as_str().map(PathBuf::from)
}
