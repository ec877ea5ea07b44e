//! What the service may read and write: its own folder, and the log folders of every user of the machine.
//!
//! LocalService is an account of many services. The rights go to the service's own identity instead, which exists for no
//! other program, so a log folder is opened to the agent and to nothing else.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use follow::{Folder, RealEnv, Scope, System};

use super::{NAME, system_tool};
use crate::service::tool;

/// Lets the service, the system and administrators into the service's own folder, and nobody else: it holds the credential.
///
/// # Errors
/// When the folder cannot be made, or its rights cannot be changed.
pub(super) fn own(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
    // By number, because the names of these two depend on the language of Windows: the system, the administrators.
    let (system, administrators) = ("*S-1-5-18:(OI)(CI)(F)", "*S-1-5-32-544:(OI)(CI)(F)");
    let service = format!("{}:(OI)(CI)(M)", account());
    icacls(folder, &["/inheritance:r", "/grant:r", system, "/grant:r", administrators, "/grant:r", &service])
}

/// Lets the service read the logs of one user: the runtime's folder with everything below, and the files of the temporary
/// folder, where sandboxed apps write theirs.
///
/// # Errors
/// When the rights cannot be changed.
pub(super) fn read(folder: &Folder) -> anyhow::Result<()> {
    let rights = match folder.scope {
        Scope::Tree => "(OI)(CI)(RX)",
        Scope::NamedLogs => "(OI)(NP)(RX)",
    };
    icacls(&folder.path, &["/grant:r", &format!("{}:{rights}", account())])
}

/// Takes that back.
///
/// # Errors
/// When the rights cannot be changed.
pub(super) fn take_back(folder: &Folder) -> anyhow::Result<()> {
    icacls(&folder.path, &["/remove", &account()])
}

/// The folders of every user that are there now.
pub(super) fn log_folders() -> Vec<Folder> {
    let mut folders = follow::default_folders(System::Windows, &RealEnv);
    folders.retain(|folder| folder.path.is_dir());
    folders
}

/// The name of the service's own identity.
fn account() -> String {
    format!(r"NT SERVICE\{NAME}")
}

fn icacls(folder: &Path, args: &[&str]) -> anyhow::Result<()> {
    tool(system_tool("icacls.exe"), [folder.as_os_str()].into_iter().chain(args.iter().map(std::ffi::OsStr::new)))
        .map(drop)
        .with_context(|| format!("failed to change the rights of {}", folder.display()))
}
