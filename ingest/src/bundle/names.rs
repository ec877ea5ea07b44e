//! The names that only this machine knows: its own, and those of the people who use it.

use std::path::{Path, PathBuf};

use follow::{Env, RealEnv};
use redact::Policy;

use crate::own_names;

/// Accounts of the system; taking them out of every text would hide nothing and spoil much.
const NOBODY: [&str; 6] = ["root", "system", "administrator", "localservice", "networkservice", "defaultuser0"];

/// Adds the names of this machine and its people to the configured policy.
pub fn add(mut policy: Policy) -> Policy {
    policy.hosts.extend(own_names::hosts());
    learn(&mut policy, own_names::users());
    for folder in profile_parents().iter().flat_map(|parent| RealEnv.folders(parent)) {
        learn(&mut policy, redact::user_names(folder.to_string_lossy().as_bytes()));
    }
    policy
}

/// Adds the names of people.
pub fn learn(policy: &mut Policy, names: impl IntoIterator<Item = String>) {
    for name in names {
        if !policy.users.contains(&name) && !NOBODY.iter().any(|account| name.eq_ignore_ascii_case(account)) {
            policy.users.push(name);
        }
    }
}

/// Where the folders of people lie.
fn profile_parents() -> Vec<PathBuf> {
    if !cfg!(windows) {
        return vec![PathBuf::from("/home")];
    }
    let drive = std::env::var("SystemDrive").ok().map(|drive| PathBuf::from(format!(r"{drive}\Users")));
    let own = std::env::var_os("USERPROFILE").and_then(|profile| Path::new(&profile).parent().map(Path::to_owned));
    drive.into_iter().chain(own).collect()
}
