//! Where the runtime writes its logs (contract section 6, vocabulary 1.1).
//!
//! Pure over an environment, so that the rule of either system can be tested on the other. Windows paths are therefore
//! handled as text.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How much of a folder is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Every file in it and below it.
    Tree,
    /// Files in it that are named like a log: it is a folder of other programs.
    NamedLogs,
}

/// A folder to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder {
    /// In any spelling.
    pub path: PathBuf,
    /// How much of it.
    pub scope: Scope,
    /// It is a problem when it is missing; other folders may appear later.
    pub required: bool,
}

impl Folder {
    /// A folder that somebody named: all of it, and it has to be there.
    pub fn named(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), scope: Scope::Tree, required: true }
    }

    fn usual(path: impl Into<PathBuf>, scope: Scope) -> Self {
        Self { path: path.into(), scope, required: false }
    }
}

/// Whose rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// Profiles of all users.
    Windows,
    /// The data folder of this user.
    Other,
}

impl System {
    /// The system that this program was built for.
    pub const fn here() -> Self {
        if cfg!(windows) { Self::Windows } else { Self::Other }
    }
}

/// What the rule asks of the machine.
pub trait Env {
    /// A variable of the environment.
    fn var(&self, name: &str) -> Option<OsString>;
    /// The folders in a folder, as full paths; none where it cannot be read.
    fn folders(&self, parent: &Path) -> Vec<PathBuf>;
}

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealEnv;

impl Env for RealEnv {
    fn var(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn folders(&self, parent: &Path) -> Vec<PathBuf> {
        // A profile of its own, not a link to another: Windows keeps such links for old programs.
        let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let entries = std::fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok).filter(is_folder);
        let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
        folders.sort_unstable();
        folders
    }
}

/// The folders that the runtime writes to, whether or not they are there yet. Profiles come and go: ask again now and then.
pub fn default_folders(system: System, env: &dyn Env) -> Vec<Folder> {
    match system {
        System::Windows => windows(env),
        System::Other => {
            data_home(env).into_iter().map(|home| Folder::usual(home.join("DisplayXR"), Scope::Tree)).collect()
        }
    }
}

fn variable(env: &dyn Env, name: &str) -> Option<OsString> {
    env.var(name).filter(|value| !value.is_empty())
}

fn data_home(env: &dyn Env) -> Option<PathBuf> {
    let home = || variable(env, "HOME").map(|home| Path::new(&home).join(".local/share"));
    variable(env, "XDG_DATA_HOME").map(PathBuf::from).or_else(home)
}

/// Every profile beside the public one, and whatever this process itself is told: a service has a profile elsewhere, and a
/// user's may have been moved.
fn windows(env: &dyn Env) -> Vec<Folder> {
    let text = |name| variable(env, name).map(|value| value.to_string_lossy().into_owned());
    let mut found = Found::default();
    let own_local = text("LOCALAPPDATA");
    found.local(own_local.as_deref());
    for name in ["TEMP", "TMP"] {
        found.temporary(text(name).as_deref());
    }
    let beside =
        |path: String| path.trim_end_matches(['\\', '/']).rsplit_once(['\\', '/']).map(|(parent, _)| parent.to_owned());
    let parents = [
        text("PUBLIC").and_then(beside),
        text("SystemDrive").map(|drive| format!(r"{drive}\Users")),
        text("USERPROFILE").and_then(beside),
    ];
    let mut seen = Vec::new();
    for parent in parents.into_iter().flatten() {
        let key = parent.to_lowercase();
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        for profile in env.folders(Path::new(&parent)) {
            let profile = profile.to_string_lossy().into_owned();
            found.local(Some(&format!(r"{profile}\AppData\Local")));
            found.temporary(Some(&format!(r"{profile}\AppData\Local\Temp")));
        }
    }
    found.0
}

/// Folders without repetition; Windows does not tell upper from lower case.
#[derive(Default)]
struct Found(Vec<Folder>);

impl Found {
    fn local(&mut self, local: Option<&str>) {
        if let Some(local) = local {
            self.add(format!(r"{local}\DisplayXR"), Scope::Tree);
        }
    }

    fn temporary(&mut self, temporary: Option<&str>) {
        if let Some(temporary) = temporary {
            self.add(temporary.trim_end_matches('\\').to_owned(), Scope::NamedLogs);
        }
    }

    fn add(&mut self, path: String, scope: Scope) {
        let same = |folder: &Folder| folder.path.to_string_lossy().to_lowercase() == path.to_lowercase();
        if !self.0.iter().any(same) {
            self.0.push(Folder::usual(path, scope));
        }
    }
}

#[cfg(test)]
mod tests;
