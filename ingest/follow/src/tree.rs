//! Which files the folders hold, in one spelling each.
//!
//! Links are followed; a folder that is reached twice, be it by a link back to a folder above, is read once. A folder whose
//! own entry did not change holds the same names as before, so where listings tell names only, it is not listed again.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::disk::{Disk, EntryKind, Stat};
use crate::folders::{Folder, Scope};
use crate::problem::{Problem, Problems};

/// A folder that changed this short before it was listed may change again without another time: no clock of a file system is
/// coarser (FAT counts in twos).
const COARSE: Duration = Duration::from_secs(2);

/// A file that was found; its path is canonical.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub path: PathBuf,
    /// Where finding it told as much.
    pub stat: Option<Stat>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walk {
    pub found: Vec<Found>,
    pub problems: Vec<Problem>,
}

/// The folders, as they were listed last.
#[derive(Debug)]
pub struct Tree {
    roots: Vec<Folder>,
    leave_out: Vec<PathBuf>,
    /// The same in the one spelling, as of the last walk.
    left_out: Vec<PathBuf>,
    folders: HashMap<PathBuf, Listed>,
}

#[derive(Debug)]
struct Listed {
    scope: Scope,
    /// As of just before it was listed; `None` when it has to be listed again.
    stat: Option<Stat>,
    subfolders: Vec<PathBuf>,
}

impl Tree {
    pub fn new(roots: Vec<Folder>, leave_out: Vec<PathBuf>) -> Self {
        Self { roots, leave_out, left_out: Vec::new(), folders: HashMap::new() }
    }

    /// Looks at other folders from now on.
    pub fn set_roots(&mut self, roots: Vec<Folder>) {
        self.roots = roots;
        self.folders.clear();
    }

    /// True for a file directly in one of the folders that would be found there.
    pub fn admits(&self, path: &Path) -> bool {
        let Some(folder) = path.parent().and_then(|parent| self.folders.get(parent)) else { return false };
        folder.scope.admits(path) && !is_in(path, &self.left_out)
    }

    /// True for one of the folders.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains_key(path)
    }

    /// Finds the files of all folders that may hold other names than at the last walk.
    pub fn walk(&mut self, disk: &dyn Disk, problems: &mut Problems) -> Walk {
        let mut walk = Walk::default();
        self.left_out = self.leave_out.iter().map(|path| spelled(disk, path)).collect();
        let mut waiting = self.roots(disk, problems, &mut walk);
        let mut reached = HashSet::new();
        while let Some((path, scope)) = waiting.pop() {
            if is_in(&path, &self.left_out) || !reached.insert(path.clone()) {
                continue;
            }
            match self.folder(&path, scope, disk, problems, &mut walk) {
                Ok(subfolders) => {
                    problems.solved(&path);
                    waiting.extend(subfolders.into_iter().map(|path| (path, scope)));
                }
                Err(error) => walk.problems.extend(problems.note(&path, format!("failed to list it: {error}"))),
            }
        }
        self.folders.retain(|path, _| reached.contains(path));
        walk.found.retain(|found| !is_in(&found.path, &self.left_out));
        walk
    }

    /// Where walking begins; a root that is a file is found as such.
    fn roots(&self, disk: &dyn Disk, problems: &mut Problems, walk: &mut Walk) -> Vec<(PathBuf, Scope)> {
        let mut roots = Vec::new();
        for Folder { path, scope, required } in &self.roots {
            let found = disk.canonical(path).and_then(|path| disk.stat(&path).map(|stat| (path, stat)));
            match found {
                Ok((found, stat)) => {
                    problems.solved(path);
                    match stat.kind {
                        EntryKind::Folder => roots.push((found, *scope)),
                        EntryKind::File => walk.found.push(Found { path: found, stat: Some(stat) }),
                        EntryKind::Link | EntryKind::Special => {}
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound && !required => {}
                Err(error) => walk.problems.extend(problems.note(path, format!("failed to find it: {error}"))),
            }
        }
        // The last is taken first. A folder named twice is looked at as widely as anyone asked.
        roots.sort_by_key(|(_, scope)| *scope == Scope::Tree);
        roots
    }

    /// Lists a folder when its names may have changed; the folders below it.
    fn folder(
        &mut self,
        path: &Path,
        scope: Scope,
        disk: &dyn Disk,
        problems: &mut Problems,
        walk: &mut Walk,
    ) -> io::Result<Vec<PathBuf>> {
        let stat = disk.stat(path)?;
        if let Some(known) = self.folders.get(path)
            && !disk.lists_sizes()
            && (known.stat, known.scope) == (Some(stat), scope)
        {
            return Ok(known.subfolders.clone());
        }
        let settled = stat.modified.checked_add(COARSE).is_some_and(|settled| settled < SystemTime::now());
        let mut subfolders = Vec::new();
        for entry in disk.list(path)? {
            let whole = path.join(&entry.name);
            match entry.kind {
                EntryKind::File if scope.admits(&whole) => walk.found.push(Found { path: whole, stat: entry.stat }),
                EntryKind::Folder if scope == Scope::Tree => subfolders.push(whole),
                EntryKind::Link => match follow(disk, &whole) {
                    Ok(Some((target, stat))) if stat.kind == EntryKind::File && scope.admits(&target) => {
                        walk.found.push(Found { path: target, stat: Some(stat) });
                    }
                    Ok(Some((target, stat))) if stat.kind == EntryKind::Folder && scope == Scope::Tree => {
                        subfolders.push(target);
                    }
                    Ok(_) => problems.solved(&whole),
                    Err(error) => {
                        walk.problems.extend(problems.note(&whole, format!("failed to follow the link: {error}")));
                    }
                },
                EntryKind::File | EntryKind::Folder | EntryKind::Special => {}
            }
        }
        let listed = Listed { scope, stat: settled.then_some(stat), subfolders: subfolders.clone() };
        self.folders.insert(path.to_owned(), listed);
        Ok(subfolders)
    }
}

impl Scope {
    /// Looks at a file of this name.
    fn admits(self, path: &Path) -> bool {
        self == Self::Tree || parser::file_name::process(&base_name(path)).is_some()
    }
}

fn is_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// The last part of a path as text.
pub fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The one spelling of a path that may not be there, of which the folder is.
pub fn spelled(disk: &dyn Disk, path: &Path) -> PathBuf {
    if let Ok(found) = disk.canonical(path) {
        return found;
    }
    match (path.parent().map(|parent| disk.canonical(parent)), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// What a link leads to; `None` where nothing is.
fn follow(disk: &dyn Disk, link: &Path) -> io::Result<Option<(PathBuf, Stat)>> {
    match disk.canonical(link).and_then(|target| disk.stat(&target).map(|stat| (target, stat))) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
