//! Two things that cargo does not notice by itself: a new migration, and the fixture logs that `demo` carries inside the
//! program so that it works far from the repository.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=../migrations");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("fleet.rs"), fleet(&root.join("../fixtures/fleet"))?)
}

/// A table of (machine, file name, bytes), one row for each `fixtures/fleet/<machine>/<log>.log`, sorted by name.
fn fleet(folder: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::from("/// (machine, file name, bytes) of every fixture log.\n");
    table.push_str("pub const FLEET: &[(&str, &str, &[u8])] = &[\n");
    for machine in sorted(folder)?.iter().filter(|entry| entry.is_dir()) {
        println!("cargo::rerun-if-changed={}", machine.display());
        for log in sorted(machine)?.iter().filter(|entry| entry.extension().is_some_and(|end| end == "log")) {
            let path = log.canonicalize()?;
            let row = format!("    ({:?}, {:?}, include_bytes!({:?})),", name(machine), name(log), path.display());
            writeln!(table, "{row}").expect("a string takes everything");
        }
    }
    table.push_str("];\n");
    Ok(table)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
