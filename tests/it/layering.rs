//! The fences hold, and the check behind them can fail: every rule is broken once in a made-up workspace.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tests::layering::{FENCES, OWNED, Violation, violations};

#[test]
fn this_workspace_keeps_its_fences() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace");
    let found = violations(root).expect("cargo describes the workspace");
    assert!(found.is_empty(), "broken fences:\n{}", lines(&found));
}

#[test]
fn a_clean_made_up_workspace_has_no_violation() {
    assert_eq!(MadeUp::clean().violations(), Vec::<String>::new());
}

#[test]
fn every_forbidden_package_is_caught_directly_and_through_another() {
    for fence in FENCES {
        let mut direct = MadeUp::clean();
        let mut deep = MadeUp::clean();
        for package in fence.forbidden() {
            direct.depend(fence.member, package);
            // A package between the two, as a crate with an innocent name would be.
            let innocent = format!("innocent-{package}");
            deep.vendor(&innocent, &[package]);
            deep.depend(fence.member, &innocent);
        }
        let breaches = |package: &str| format!("{} reaches {package}", fence.member);
        direct.expect_all(fence.forbidden().map(breaches));
        deep.expect_all(fence.forbidden().map(breaches));
    }
}

#[test]
fn every_edge_between_our_crates_that_is_not_drawn_is_caught() {
    let drawn = MadeUp::clean();
    for fence in FENCES {
        drawn.depend_on_members(fence.member, fence.may_use);
    }
    assert_eq!(drawn.violations(), Vec::<String>::new(), "all drawn edges at once");

    for fence in FENCES {
        let made_up = MadeUp::clean();
        for other in FENCES.iter().filter(|other| other.member != fence.member) {
            made_up.depend_on_members(other.member, other.may_use);
        }
        // An edge against a drawn one would close a circle, which cargo itself refuses.
        let astray: Vec<&str> = FENCES
            .iter()
            .map(|other| other.member)
            .filter(|other| *other != fence.member && !fence.may_use.contains(other) && !leads_to(other, fence.member))
            .collect();
        made_up.depend_on_members(fence.member, &astray);
        made_up.expect_all(astray.iter().map(|other| format!("{} uses {other}", fence.member)));
    }
}

#[test]
fn every_owned_dependency_is_caught_elsewhere() {
    let mut astray = MadeUp::clean();
    let mut at_home = MadeUp::clean();
    let mut breaches = Vec::new();
    for owned in OWNED {
        for fence in FENCES {
            if owned.owners.contains(&fence.member) {
                at_home.depend(fence.member, owned.dependency);
            } else {
                astray.depend(fence.member, owned.dependency);
                breaches.push(format!("{} names {}", fence.member, owned.dependency));
            }
        }
    }
    astray.expect_all(breaches);
    assert_eq!(at_home.violations(), Vec::<String>::new());
}

#[test]
fn every_forbidden_word_is_caught_in_every_spelling() {
    let spellings = |path: &str| match path.split_once("::") {
        Some((root, leaf)) => vec![
            format!("fn f() {{ {path}::f(); }}\n"),
            format!("use {root}::{{cell::Cell, {leaf}}};\n"),
            format!("use {root}::{{\n    io::{{self, Read}},\n    {leaf}::{{self, X}},\n}};\n"),
        ],
        None => vec![format!("fn f() {{ {path}::now(); }}\n"), format!("use a::{{b, {path}}};\n")],
    };
    for fence in FENCES {
        let made_up = MadeUp::clean();
        let mut breaches = Vec::new();
        for (at, path) in fence.must_not_say.iter().enumerate() {
            for (spelled, spelling) in spellings(path).into_iter().enumerate() {
                let file = format!("src/deep/word_{at}_{spelled}.rs");
                made_up.source(fence.member, &file, &format!("//! Words.\n{spelling}"));
                breaches.push(format!("{} says {path} ({file}:2", fence.member));
            }
        }
        made_up.expect_all(breaches);
    }
}

#[test]
fn tests_comments_and_longer_words_are_not_the_source() {
    let made_up = MadeUp::clean();
    let tests = "fn f() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    made_up.source("parser", "src/lib.rs", &format!("// std::fs is for others\n{tests}#[cfg(test)]\nmod laws;\n"));
    made_up.source("parser", "src/laws.rs", "mod files;\nuse std::fs;\n");
    made_up.source("parser", "src/laws/files.rs", "use std::fs;\n");
    made_up.source("parser", "src/words.rs", "use std::fsync;\nuse std::io::{self, fs_like};\nstruct Instantly;\n");
    assert_eq!(made_up.violations(), Vec::<String>::new());

    made_up.source("parser", "src/lib.rs", &format!("{tests}use std::env;\n"));
    made_up.expect("parser says std::env (src/lib.rs:6");
}

#[test]
fn dev_dependencies_may_look_over_the_fence() {
    let mut made_up = MadeUp::clean();
    made_up.vendor("tokio", &[]);
    made_up.manifest("resolver", "\n[dev-dependencies]\ntokio.workspace = true\nparser.workspace = true\n");
    assert_eq!(made_up.violations(), Vec::<String>::new());
}

#[test]
fn a_crate_without_a_row_in_the_table_is_caught() {
    let mut made_up = MadeUp::clean();
    made_up.member("newcomer");
    made_up.expect("newcomer has no fence");
}

#[test]
fn dependencies_that_are_not_named_at_the_root_are_caught() {
    let mut itself = MadeUp::clean();
    itself.vendor("serde", &[]);
    itself.depend("server", "serde");
    itself.manifest("wire", "serde = { path = \"../vendor/serde\" }\n");
    itself.expect("wire names `serde = { path = \"../vendor/serde\" }` itself");

    let mut spread = MadeUp::clean();
    spread.vendor("serde", &[]);
    spread.depend("server", "serde");
    spread.manifest("wire", "\n[dependencies.serde]\nworkspace = true\n");
    spread.expect("wire spreads [dependencies.serde] over lines");

    let mut for_windows = MadeUp::clean();
    for_windows.vendor("sqlx", &[]);
    for_windows.depend("server", "sqlx");
    for_windows.manifest("ingest", "\n[target.'cfg(windows)'.dependencies]\nsqlx.workspace = true\n");
    for_windows.expect("ingest reaches sqlx");
}

#[test]
fn dependencies_without_a_reason_or_a_user_are_caught() {
    let mut idle = MadeUp::clean();
    idle.vendor("serde", &[]);
    idle.expect("workspace names serde for nobody");

    let mut bare = MadeUp::clean();
    bare.vendor("serde", &[]);
    bare.depend("wire", "serde");
    bare.reason = "";
    bare.expect("workspace gives no reason for serde");
}

/// A workspace with the members and the drawn edges of ours, and packages of well-known names beside it.
struct MadeUp {
    folder: tempfile::TempDir,
    members: Vec<String>,
    vendored: Vec<String>,
    /// The comment above its third-party dependencies.
    reason: &'static str,
}

impl MadeUp {
    fn clean() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut made_up = Self { folder, members: Vec::new(), vendored: Vec::new(), reason: "# Because.\n" };
        for fence in FENCES {
            made_up.member(fence.member);
        }
        made_up
    }

    fn member(&mut self, name: &str) {
        self.members.push(name.to_owned());
        self.write(&format!("{name}/src/lib.rs"), "//! A crate.\n");
        self.write(&format!("{name}/Cargo.toml"), &package(name));
    }

    /// A third-party package with other third-party packages inside, named at the root.
    fn vendor(&mut self, name: &str, inside: &[&str]) {
        if self.vendored.iter().any(|vendored| vendored == name) {
            return;
        }
        self.vendored.push(name.to_owned());
        let mut manifest = package(name);
        for other in inside {
            writeln!(manifest, "{other} = {{ path = \"../{other}\" }}").expect("strings grow");
            self.write(&format!("vendor/{other}/Cargo.toml"), &package(other));
            self.write(&format!("vendor/{other}/src/lib.rs"), "");
        }
        self.write(&format!("vendor/{name}/Cargo.toml"), &manifest);
        self.write(&format!("vendor/{name}/src/lib.rs"), "");
    }

    fn depend(&mut self, member: &str, package: &str) {
        self.vendor(package, &[]);
        self.manifest(member, &format!("{package}.workspace = true\n"));
    }

    fn depend_on_members(&self, member: &str, others: &[&str]) {
        for other in others {
            self.manifest(member, &format!("{other}.workspace = true\n"));
        }
    }

    /// Adds text to a member's manifest, whose last table is that of its dependencies.
    fn manifest(&self, member: &str, text: &str) {
        let path = self.folder.path().join(member).join("Cargo.toml");
        let old = fs::read_to_string(&path).expect("the member exists");
        fs::write(path, old + text).expect("a writable folder");
    }

    fn source(&self, member: &str, file: &str, text: &str) {
        self.write(&format!("{member}/{file}"), text);
    }

    fn run(&self) -> Result<Vec<String>, String> {
        let mut root = "[workspace]\nresolver = \"3\"\nexclude = [\"vendor\"]\n".to_owned();
        writeln!(root, "members = {:?}\n\n[workspace.dependencies]\n# Ours.", self.members).expect("strings grow");
        for member in &self.members {
            writeln!(root, "{member} = {{ path = \"{member}\" }}").expect("strings grow");
        }
        write!(root, "\n{}", self.reason).expect("strings grow");
        for package in &self.vendored {
            writeln!(root, "{package} = {{ path = \"vendor/{package}\" }}").expect("strings grow");
        }
        self.write("Cargo.toml", &root);
        let found = violations(self.folder.path()).map_err(|error| error.to_string())?;
        // Nobody uses our own crates here unless a test draws an edge.
        let idle = |violation: &Violation| {
            self.members.iter().any(|member| violation.breach == format!("names {member} for nobody"))
        };
        Ok(found.iter().filter(|violation| !idle(violation)).map(ToString::to_string).collect())
    }

    fn violations(&self) -> Vec<String> {
        self.run().expect("cargo describes the made-up workspace")
    }

    /// Fails unless some violation starts with `breach`.
    #[track_caller]
    fn expect(&self, breach: &str) {
        self.expect_all([breach.to_owned()]);
    }

    #[track_caller]
    fn expect_all(&self, breaches: impl IntoIterator<Item = String>) {
        let found = self.violations();
        for breach in breaches {
            assert!(found.iter().any(|violation| violation.starts_with(&breach)), "wanted `{breach}`, got {found:?}");
        }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().expect("files lie in folders")).expect("a writable folder");
        fs::write(path, text).expect("a writable folder");
    }
}

/// True when the drawn edges lead from one crate to the other.
fn leads_to(from: &str, to: &str) -> bool {
    let fence = FENCES.iter().find(|fence| fence.member == from).expect("every crate has a row");
    fence.may_use.iter().any(|next| *next == to || leads_to(next, to))
}

fn package(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n")
}

fn lines(found: &[Violation]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
