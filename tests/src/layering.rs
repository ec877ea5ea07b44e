//! Do the crates know only what they may know?
//!
//! [`violations`] reads a workspace as cargo sees it and as its sources stand, holds it against [`FENCES`] and
//! [`OWNED`], and names every breach. The layering tests run it on this workspace, which must be clean, and on made-up
//! workspaces that each break one rule, which must be caught.

mod fences;
mod manifest;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

pub use fences::{FENCES, Fence, OWNED, Owned};

/// One broken rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Violation {
    /// The crate that breaks it; `workspace` for the root manifest.
    pub member: String,
    /// What it does, such as `reaches sqlx`.
    pub breach: String,
    /// Why that is not wanted, or where it stands.
    pub note: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.member, self.breach, self.note)
    }
}

/// A crate of the workspace, reduced to what the rules look at. Dev-dependencies count for nothing: tests may look
/// over a fence.
#[derive(Clone, Debug, Default)]
struct Member {
    name: String,
    /// Names of direct dependencies, on every platform.
    direct: BTreeSet<String>,
    /// Names of all packages that are linked into it on this platform.
    reach: BTreeSet<String>,
    manifest: PathBuf,
}

/// Every breach in the workspace whose root manifest is `root/Cargo.toml`, sorted.
///
/// # Errors
/// When cargo cannot describe the workspace or a file of it cannot be read.
pub fn violations(root: &Path) -> Result<Vec<Violation>, Box<dyn std::error::Error>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .other_options(["--offline".to_owned(), "--filter-platform".to_owned(), host_triple()?])
        .exec()?;
    let members = members(&metadata)?;
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();

    let mut found = BTreeSet::new();
    for member in &members {
        fence(member, &names, &mut found)?;
        owned(member, &mut found);
        manifest::member(&member.name, &std::fs::read_to_string(&member.manifest)?, &mut found);
    }
    let used: BTreeSet<String> = metadata
        .workspace_packages()
        .iter()
        .flat_map(|package| package.dependencies.iter().map(|dependency| dependency.name.clone()))
        .collect();
    manifest::root(&std::fs::read_to_string(root.join("Cargo.toml"))?, &used, &mut found);
    Ok(found.into_iter().collect())
}

fn fence(member: &Member, names: &BTreeSet<&str>, found: &mut BTreeSet<Violation>) -> std::io::Result<()> {
    let mut add = |breach: String, note: &str| {
        found.insert(Violation { member: member.name.clone(), breach, note: note.to_owned() });
    };
    let Some(fence) = FENCES.iter().find(|fence| fence.member == member.name) else {
        add("has no fence".to_owned(), "give it a row in FENCES that says what it may know");
        return Ok(());
    };
    for name in &member.reach {
        if names.contains(name.as_str()) && !fence.may_use.contains(&name.as_str()) {
            add(format!("uses {name}"), fence.because);
        }
        if fence.forbidden().any(|package| package == name.as_str()) {
            add(format!("reaches {name}"), fence.because);
        }
    }
    for name in member.direct.iter().filter(|name| fence.forbidden().any(|package| package == name.as_str())) {
        add(format!("reaches {name}"), fence.because);
    }
    if fence.must_not_say.is_empty() {
        return Ok(());
    }
    let folder = member.manifest.parent().unwrap_or(Path::new("."));
    for (file, text) in source::of_crate(folder)? {
        for path in fence.must_not_say {
            if let Some(line) = source::mention(&text, path) {
                let place = file.strip_prefix(folder).unwrap_or(&file).display();
                add(format!("says {path}"), &format!("{place}:{line}; {}", fence.because));
            }
        }
    }
    Ok(())
}

fn owned(member: &Member, found: &mut BTreeSet<Violation>) {
    for owned in OWNED {
        if member.direct.contains(owned.dependency) && !owned.owners.contains(&member.name.as_str()) {
            found.insert(Violation {
                member: member.name.clone(),
                breach: format!("names {}", owned.dependency),
                note: format!("only {} may: {}", owned.owners.join(" and "), owned.because),
            });
        }
    }
}

fn members(metadata: &Metadata) -> Result<Vec<Member>, Box<dyn std::error::Error>> {
    let resolve = metadata.resolve.as_ref().ok_or("cargo gave no dependency graph")?;
    let edges: BTreeMap<&PackageId, Vec<&PackageId>> = resolve
        .nodes
        .iter()
        .map(|node| {
            let linked = node.deps.iter().filter(|dep| {
                dep.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development) || dep.dep_kinds.is_empty()
            });
            (&node.id, linked.map(|dep| &dep.pkg).collect())
        })
        .collect();
    let names: BTreeMap<&PackageId, String> =
        metadata.packages.iter().map(|package| (&package.id, package.name.to_string())).collect();

    Ok(metadata
        .workspace_packages()
        .into_iter()
        .map(|package| {
            let mut seen = BTreeSet::new();
            let mut open = vec![&package.id];
            while let Some(id) = open.pop() {
                for &next in edges.get(id).into_iter().flatten() {
                    if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
            Member {
                name: package.name.to_string(),
                direct: package
                    .dependencies
                    .iter()
                    .filter(|dependency| dependency.kind != DependencyKind::Development)
                    .map(|dependency| dependency.name.clone())
                    .collect(),
                reach: seen.into_iter().filter_map(|id| names.get(id).cloned()).collect(),
                manifest: package.manifest_path.clone().into(),
            }
        })
        .collect())
}

/// The platform that the crates in the registry cache were fetched for.
fn host_triple() -> Result<String, Box<dyn std::error::Error>> {
    static HOST: OnceLock<String> = OnceLock::new();
    if let Some(host) = HOST.get() {
        return Ok(host.clone());
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = std::process::Command::new(rustc).arg("-vV").output()?;
    let text = String::from_utf8(answer.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc -vV names no host")?;
    Ok(HOST.get_or_init(|| host.to_owned()).clone())
}
