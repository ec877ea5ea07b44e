//! `weavewatch bundle`: what is in it, what is not, and what it says of both.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use ingest::bundle::manifest::{Manifest, MemberKind, ToolOutcome};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::common::{Run, log, log_name, run, weavewatch};

/// Names and secrets that stand in the logs and must not stand in a bundle.
const PLANTED: [&str; 7] = ["quillberg", "werk-pc07", "nas-lager3", "amy.lee", "pineapple", "Zo\u{eb}", "s3cr3t"];

/// Lines that hold them all, in the ways in which a log does.
const LINES: &str = "[2026-09-14 12:00:03.000] [INFO ] [oxr_instance_create] DisplayXR runtime v2.13.0 'v2.13.0' loaded from: C:\\Users\\quillberg\\x\\DisplayXRClient.dll (XR_RUNTIME_JSON=\\\\nas-lager3\\rt\\x.json)\r\n\
    [2026-09-14 12:00:03.100] [INFO ] [main] hello Quillberg on WERK-PC07.lab.example.com, mail amy.lee@example.com\r\n\
    [2026-09-14 12:00:03.200] [INFO ] [main] viewer.exe --token pineapple1 https://u:s3cr3t@example.com/ C:\\Users\\Zo\u{eb} X\\y\r\n";

/// A folder with logs and a search path without the tool.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a temporary folder can be made") };
        fs::create_dir_all(place.path().join("logs/sub")).expect("the folder is writable");
        fs::create_dir_all(place.path().join("bin")).expect("the folder is writable");
        place
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), contents).expect("the folder is writable");
    }

    /// Three logs: one of bytes, one of two bytes a letter, one with the first one's name in another folder.
    fn with_logs() -> Self {
        let place = Self::new();
        let planted = |exe| {
            log(exe, 7, "split=1")
                .replace("\r\n\r\n=== DisplayXR Log Ended", &format!("\r\n{LINES}\r\n=== DisplayXR Log Ended"))
        };
        let named = |exe| planted(exe).replace("C:\\x\\", "C:\\Users\\quillberg\\AppData\\Local\\DisplayXR\\");
        place.write(&format!("logs/{}", log_name("a.exe", 7, "12-00-00")), named("a.exe"));
        place.write(&format!("logs/sub/{}", log_name("a.exe", 7, "12-00-00")), planted("a.exe"));
        let units: Vec<u8> =
            format!("\u{feff}{}", planted("b.exe")).encode_utf16().flat_map(u16::to_le_bytes).collect();
        place.write(&format!("logs/{}", log_name("b.exe", 7, "11-00-00")), units);
        place
    }

    fn bundle(&self, args: &[&str]) -> Run {
        weavewatch(self.path())
            .args(["bundle", "--dir", "logs", "--out", "out.zip", "--state", "state"])
            .args(args)
            .env("PATH", self.path().join("bin"))
            .env("HOSTNAME", "WERK-PC07.lab.example.com")
            .env_remove("XR_RUNTIME_JSON")
            .env("HOME", self.path())
            .output()
            .expect("the program starts")
            .into()
    }

    fn unpacked(&self) -> Vec<(String, Vec<u8>)> {
        let file = fs::File::open(self.path().join("out.zip")).expect("it was written");
        let mut archive = zip::ZipArchive::new(file).expect("it is an archive");
        let mut members = Vec::new();
        for at in 0..archive.len() {
            let mut member = archive.by_index(at).expect("it is whole");
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).expect("it is whole");
            members.push((member.name().expect("it is text").into_owned(), bytes));
        }
        members
    }

    fn manifest(&self) -> Manifest {
        let members = self.unpacked();
        let (_, json) = members.iter().find(|(name, _)| name == "manifest.json").expect("it has one");
        serde_json::from_slice(json).expect("it is a manifest")
    }

    /// A `displayxr-cli` in the search path.
    #[cfg(unix)]
    fn tool(&self, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write("bin/displayxr-cli", format!("#!/bin/sh\n{script}\n"));
        let program = self.path().join("bin/displayxr-cli");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("it was just written");
    }
}

#[test]
fn nothing_planted_is_in_any_member() {
    let place = Place::with_logs();
    let done = place.bundle(&[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let members = place.unpacked();
    assert_eq!(members.len(), 6);
    for (name, bytes) in &members {
        let text = String::from_utf8_lossy(bytes).to_lowercase();
        for planted in PLANTED {
            assert!(!text.contains(&planted.to_lowercase()), "{planted} is in {name}: {text}");
        }
    }
    assert!(
        done.stdout.contains("3 logs") && done.stdout.contains("Look through it before you send it"),
        "{}",
        done.stdout
    );
}

#[test]
fn the_manifest_tells_what_is_in_the_bundle_and_what_was_taken_out() {
    let place = Place::with_logs();
    assert_eq!(place.bundle(&[]).code, 0);
    let manifest = place.manifest();
    let members = place.unpacked();
    let listed: Vec<_> = manifest.members.iter().map(|member| member.name.as_str()).collect();
    let there: Vec<_> = members.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "manifest.json").collect();
    assert_eq!(listed, there);
    for (member, (_, bytes)) in manifest.members.iter().zip(&members) {
        let digest = Sha256::digest(bytes);
        let hex: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((member.sha256.as_str(), member.size_bytes), (hex.concat().as_str(), bytes.len() as u64));
    }
    let (a, b) = (log_name("a.exe", 7, "12-00-00"), log_name("b.exe", 7, "11-00-00"));
    assert_eq!(
        listed,
        [&format!("logs/{a}"), &format!("logs/{b}"), &format!("logs/2/{a}"), "report.ndjson", "report.md"]
    );
    let logs = &manifest.members[..3];
    for log in logs {
        let counts = log.redacted;
        assert_eq!((counts.emails, counts.secrets), (1, 2), "{log:?}");
        assert!(counts.users >= 3 && counts.hosts >= 2, "{log:?}");
    }
    assert_eq!(logs[2].file.as_ref(), Some(&a));
    assert_eq!(manifest.machine, None, "nobody has enrolled here");
    assert_eq!(manifest.redacted.secrets, 6);
    assert_eq!((manifest.unreadable, manifest.topology.program), (vec![], None));
}

#[test]
fn scan_of_the_bundle_is_its_report() {
    let place = Place::with_logs();
    assert_eq!(place.bundle(&[]).code, 0);
    let scanned = run(place.path(), &["scan", "out.zip", "--format", "ndjson"]);
    assert_eq!((scanned.code, scanned.stderr.as_str()), (0, ""));
    let members = place.unpacked();
    let (_, report) = members.iter().find(|(name, _)| name == "report.ndjson").expect("it has one");
    assert_eq!(scanned.stdout.replace("out.zip!/", ""), String::from_utf8_lossy(report));
    let reports = scanned.reports();
    assert_eq!(reports.len(), 3);
    assert!(reports.iter().all(|report| report.verdict.split == wire::Split::Engaged), "{reports:?}");

    let explained = run(place.path(), &["explain", "out.zip", "--format", "json"]);
    assert_eq!(explained.code, 0, "{}", explained.stderr);
    let member = format!("out.zip!/logs/{}", log_name("b.exe", 7, "11-00-00"));
    let explained = run(place.path(), &["explain", &member]);
    assert_eq!(explained.code, 0, "{}", explained.stderr);
}

#[test]
fn every_fixture_has_the_same_verdict_in_a_bundle() {
    let place = Place::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok");
    for entry in fs::read_dir(fixtures).expect("the fixtures can be listed") {
        let path = entry.expect("the fixtures can be listed").path();
        if path.extension().is_some_and(|ending| ending == "log") {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            fs::copy(&path, place.path().join("logs").join(name)).expect("the folder is writable");
        }
    }
    assert_eq!(place.bundle(&[]).code, 0);
    let verdicts = |args: &[&str]| {
        let mut found: Vec<_> = run(place.path(), args)
            .reports()
            .into_iter()
            .map(|report| {
                (report.file.rsplit('/').next().map(str::to_owned), report.path, report.verdict, report.sessions)
            })
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    };
    let before = verdicts(&["scan", "logs", "--format", "ndjson"]);
    assert!(before.len() > 40, "only {} fixtures", before.len());
    assert_eq!(verdicts(&["scan", "out.zip", "--format", "ndjson"]), before);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_listed_and_the_rest_is_packed() {
    let place = Place::with_logs();
    let folder = log_name("quillberg.exe", 8, "12-00-00");
    fs::create_dir(place.path().join("logs").join(&folder)).expect("the folder is writable");
    let link = place.path().join("logs").join(log_name("gone.exe", 9, "12-00-00"));
    std::os::unix::fs::symlink("/nowhere/at/all", link).expect("the folder is writable");
    place.write("logs/crash.dmp", "quillberg");
    let done = place.bundle(&["--dir", "no-such-folder"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let manifest = place.manifest();
    let listed: Vec<_> = manifest.unreadable.iter().map(|unreadable| unreadable.file.as_str()).collect();
    let hidden = folder.replace("quillberg", "(user)");
    assert_eq!(listed, [log_name("gone.exe", 9, "12-00-00").as_str(), &hidden, "no-such-folder"]);
    assert!(manifest.unreadable.iter().all(|unreadable| !unreadable.why.is_empty()));
    assert_eq!(manifest.members.iter().filter(|member| member.kind == MemberKind::Log).count(), 3);
    assert_eq!(manifest.left_out.not_logs, 1);
    assert!(done.stdout.contains("3 files could not be read"), "{}", done.stdout);
}

#[cfg(unix)]
#[test]
fn the_tool_is_asked_and_its_answers_are_redacted() {
    let place = Place::with_logs();
    place.tool(
        "case \"$*\" in\n\
         'info') echo 'store C:\\Users\\quillberg\\x'; echo 'on werk-pc07' >&2;;\n\
         'info --json') echo 'unknown option'; exit 2;;\n\
         'perf list') echo 'DXR_WEAVE_ON_SCANOUT = 0 (env)';;\n\
         esac",
    );
    let done = place.bundle(&[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let members = place.unpacked();
    let text = |wanted: &str| {
        let member = members.iter().find(|(name, _)| name == wanted);
        member.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
    };
    assert_eq!(text("topology/displayxr-cli-info.txt").as_deref(), Some("store C:\\Users\\<user>\\x\n"));
    assert_eq!(text("topology/displayxr-cli-info.messages.txt").as_deref(), Some("on <host>\n"));
    assert_eq!(text("topology/displayxr-cli-info-json.json"), None);
    assert!(text("topology/displayxr-cli-perf-list.txt").is_some());
    let runs = place.manifest().topology.runs;
    let ends: Vec<_> = runs.iter().map(|run| (run.arguments.as_str(), run.outcome, run.exit_code)).collect();
    let ended = ToolOutcome::Ended;
    assert_eq!(ends, [("info", ended, Some(0)), ("info --json", ended, Some(2)), ("perf list", ended, Some(0))]);
    assert_eq!(run(place.path(), &["scan", "out.zip"]).code, 0);
}

#[cfg(unix)]
#[test]
fn a_tool_that_hangs_or_floods_is_stopped() {
    let place = Place::with_logs();
    place.tool(
        "case \"$1\" in\n\
         'info') echo started; exec /bin/sleep 600;;\n\
         'perf') while :; do echo 'a line of some length, over and over'; done;;\n\
         esac",
    );
    let done = place.bundle(&["--tool-timeout", "1"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let manifest = place.manifest();
    let outcomes: Vec<_> = manifest.topology.runs.iter().map(|run| run.outcome).collect();
    assert_eq!(outcomes[..2], [ToolOutcome::TimedOut; 2]);
    // A slow machine may not print so much in a second.
    assert!(matches!(outcomes[2], ToolOutcome::TooMuch | ToolOutcome::TimedOut), "{outcomes:?}");
    let largest = manifest
        .members
        .iter()
        .filter(|member| member.kind == MemberKind::Topology)
        .map(|member| member.size_bytes)
        .max();
    assert!(largest.is_some_and(|bytes| bytes <= 4 << 20), "{largest:?}");
    let members = place.unpacked();
    assert!(members.iter().any(|(name, bytes)| name == "topology/displayxr-cli-info.txt" && bytes == b"started\n"));
}

#[test]
fn a_bundle_that_is_there_is_not_replaced_unless_told() {
    let place = Place::with_logs();
    place.write("out.zip", "mine");
    let refused = place.bundle(&[]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(fs::read(place.path().join("out.zip")).expect("it is there"), b"mine");
    assert_eq!(place.bundle(&["--force"]).code, 0);
    assert_eq!(place.unpacked().len(), 6);
    let left: Vec<_> = fs::read_dir(place.path())
        .expect("it can be listed")
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".part")), "{left:?}");
}

#[test]
fn since_leaves_out_what_neither_started_nor_was_written_since() {
    let place = Place::with_logs();
    let old = log_name("a.exe", 7, "12-00-00");
    for name in [format!("logs/{old}"), format!("logs/sub/{old}")] {
        let file = fs::File::options().write(true).open(place.path().join(name)).expect("it is there");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("its time can be set");
    }
    assert_eq!(place.bundle(&["--since", "2026-09-15"]).code, 0);
    let manifest = place.manifest();
    let logs: Vec<_> = manifest.members.iter().filter_map(|member| member.file.as_deref()).collect();
    // The other one was written just now.
    assert_eq!(logs, [log_name("b.exe", 7, "11-00-00")]);
    assert_eq!((manifest.left_out.older, manifest.since.as_deref()), (2, Some("2026-09-15T00:00:00")));
    assert_eq!(place.bundle(&["--since", "yesterday", "--force"]).code, 2);
}

#[test]
fn names_of_programs_go_by_the_configured_policy() {
    let place = Place::with_logs();
    place.write("agent.toml", format!("[redact.exe.hash]\nkey = \"{}\"\n", "07".repeat(32)));
    assert_eq!(place.bundle(&["--config", "agent.toml"]).code, 0);
    let scanned = run(place.path(), &["scan", "out.zip", "--format", "ndjson"]);
    for report in scanned.reports() {
        let process = report.process.expect("the name and the header tell it");
        assert_eq!((process.exe.len(), process.pid), (16, 7), "{}", process.exe);
        assert!(report.file.contains(&format!("DisplayXR_{}.7_2026-09-14_", process.exe)), "{}", report.file);
    }
    for (name, bytes) in place.unpacked() {
        assert!(!String::from_utf8_lossy(&bytes).contains("a.exe"), "{name}");
    }
}
