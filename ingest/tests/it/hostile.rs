//! Log folders and names that mean harm, or are merely broken.

use std::fs;

use crate::common::{log, run, zip};

#[test]
fn random_bytes_are_each_told() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    // A generator with a fixed seed: xorshift.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for index in 0..300 {
        let length = next() % 2000;
        // No zip archive by chance.
        let bytes: Vec<u8> = std::iter::once(b'?').chain((0..length).map(|_| (next() >> 32) as u8)).collect();
        fs::write(folder.path().join(format!("{index:03}")), bytes).expect("the folder is writable");
    }
    fs::write(folder.path().join("empty"), "").expect("the folder is writable");
    let run = run(folder.path(), &["scan", "."]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.reports().len(), 301);
    for report in run.reports() {
        let counts = report.counts;
        assert_eq!(counts.records, counts.events + counts.ignored + counts.unrecognised, "{}", report.file);
        let size = fs::metadata(folder.path().join(&report.file)).expect("it is there").len();
        assert_eq!(counts.bytes, size, "{}", report.file);
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_with_newlines_and_escape_codes_do_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let name = "evil\n\u{1b}[2J|`<b>\u{202e}.log";
        fs::write(folder.path().join(name), "x\n").expect("the folder is writable");
        assert_eq!(run(folder.path(), &["scan", "."]).files(), [format!("./{name}")]);
        for (format, lines) in [("table", 3), ("markdown", 5), ("csv", 2)] {
            let run = run(folder.path(), &["scan", "--format", format, ".", "missing\u{1b}[31m"]);
            assert_eq!(run.stdout.lines().count(), lines, "{format}: {}", run.stdout);
            for text in [&run.stdout, &run.stderr] {
                assert!(!text.contains(['\u{1b}', '\u{202e}']), "{format}: {text:?}");
            }
            assert!(run.stdout.contains("u{1b}") && run.stderr.contains(r"missing\u{1b}[31m: "), "{format}");
        }
        let markdown = run(folder.path(), &["scan", "--format", "markdown", "."]).stdout;
        assert!(markdown.contains(r"\|\`&#60;b&#62;"), "{markdown}");
    }

    #[test]
    fn a_name_that_is_no_text_is_read() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.log");
        fs::write(folder.path().join(name), "x\n").expect("the folder is writable");
        assert_eq!(run(folder.path(), &["scan", "."]).files(), ["./caf\u{fffd}.log"]);
    }

    #[test]
    fn a_spreadsheet_runs_no_file_name() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let names = ["=1+1.log", " =1+1.log", "\u{a0}@x.log", "＝1+1.log", "\u{3000}－1.log"];
        for name in names {
            fs::write(folder.path().join(name), "x\n").expect("the folder is writable");
            for args in [vec!["scan", "--format", "csv", name], vec!["scan", "--count", "--format", "csv", name]] {
                let csv = run(folder.path(), &args).stdout;
                let row = csv.lines().nth(1).expect("there is a row").trim_start_matches('"');
                assert!(row.starts_with(&format!("'{name}")), "{csv}");
            }
        }
    }

    #[test]
    fn loops_pipes_and_dead_links_are_said_and_the_rest_is_read() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("sub")).expect("the folder is writable");
        fs::write(folder.path().join("sub/good.log"), "x\n").expect("the folder is writable");
        symlink("..", folder.path().join("sub/loop")).expect("links can be made");
        symlink("nowhere", folder.path().join("dead")).expect("links can be made");
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of every Unix");
        let all = run(folder.path(), &["scan", "."]);
        assert_eq!((all.code, all.files()), (3, vec!["./sub/good.log".to_owned()]));
        for said in ["./sub/loop: not followed: it is a loop back to .", "./dead: failed to ", "./pipe: left out"] {
            assert!(all.stderr.contains(said), "{said}: {}", all.stderr);
        }
        assert_eq!(run(folder.path(), &["scan", "pipe"]).code, 3);
    }

    /// Each command would wait for ever: for the other end of the pipe, for the end of the device, for a kernel message.
    #[test]
    fn what_never_ends_is_refused_by_every_command() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("good.log"), "x\n").expect("the folder is writable");
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of every Unix");
        // Kernel messages are a regular file by their mode, and wait like a pipe; where there are none, the link is dead.
        symlink("/proc/kmsg", folder.path().join("messages")).expect("links can be made");
        for input in ["pipe", "/dev/zero", "messages"] {
            for args in [
                vec!["scan", input],
                vec!["scan", "--count", input],
                vec!["explain", input],
                vec!["diff", "good.log", input],
                vec!["replay", "--path", "d3d11", "--machine", input],
            ] {
                let run = run(folder.path(), &args);
                assert_eq!(run.code, 3, "{args:?}: {}", run.stdout);
                assert!(run.stderr.contains(&format!("{input}: ")), "{args:?}: {}", run.stderr);
            }
        }
        let walked = run(folder.path(), &["scan", "."]);
        assert!(walked.files().contains(&"./good.log".to_owned()), "{}", walked.stdout);
        assert!(walked.code == 3 && walked.stderr.contains("./pipe: left out"), "{}", walked.stderr);
    }

    #[test]
    fn a_pipe_of_the_shell_is_read_by_every_command() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("it is writable");
        let log = log("A.exe", 2, "split=1");
        write("a.log", log.as_bytes());
        write("a.zip", &zip(&[("in/a.log", log.as_bytes())]));
        let machine = r#"{"schema":"weavewatch.machine/1","os":"windows","panel":null,"adapters":[]}"#;
        write("machine.json", machine.as_bytes());
        // What `<(cat FILE)` gives on the command line.
        let piped = |args: &str, file: &str| -> crate::common::Run {
            let script = format!("cat '{file}' | \"$0\" {args} /dev/fd/0");
            std::process::Command::new("sh")
                .args(["-c", &script, env!("CARGO_BIN_EXE_weavewatch")])
                .current_dir(folder.path())
                .output()
                .expect("every Unix has a shell")
                .into()
        };
        for args in ["scan --format json", "explain --format json", "diff --format json a.log"] {
            for (file, name) in [("a.log", "/dev/fd/0\""), ("a.zip", "/dev/fd/0!/in/a.log\"")] {
                let run = piped(args, file);
                assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args} {file}");
                assert!(run.stdout.contains(name) && run.stdout.contains("\"A.exe\""), "{args} {file}: {}", run.stdout);
            }
        }
        let replayed = piped("replay --path d3d11 --format json --machine", "machine.json");
        assert_eq!((replayed.code, replayed.stderr.as_str()), (0, ""));
    }

    #[test]
    fn links_that_branch_lead_to_each_folder_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        // Two ways from each of 40 folders to the next one: 2^40 ways to the last.
        for index in 0..40 {
            let from = folder.path().join(index.to_string());
            fs::create_dir(&from).expect("the folder is writable");
            fs::write(from.join("x.log"), "x\n").expect("the folder is writable");
            for way in ["a", "b"] {
                symlink(format!("../{}", index + 1), from.join(way)).expect("links can be made");
            }
        }
        let run = run(folder.path(), &["scan", "0"]);
        assert_eq!(run.reports().len(), 40);
        assert!(run.stderr.contains("not read again"), "{}", run.stderr);
    }

    /// Its first page is never mapped, so reading fails also for root.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_fails_while_it_is_read_is_said() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("good.log"), "x\n").expect("the folder is writable");
        symlink("/proc/self/mem", folder.path().join("bad.log")).expect("links can be made");
        let run = run(folder.path(), &["scan", "--fail-on", "no_footer", "."]);
        assert_eq!((run.code, run.files()), (3, vec!["./good.log".to_owned()]));
        assert!(run.stderr.contains("./bad.log: failed to "), "{}", run.stderr);
    }
}

#[test]
fn members_that_share_their_bytes_are_stopped() {
    // One member of a megabyte of zeros, which packs into a thousandth; then 300 entries for it.
    let mut bundle = zip(&[("x.log", &vec![0; 1 << 20])]);
    let end = bundle.len() - 22;
    let contents = u32::from_le_bytes(bundle[end + 16..end + 20].try_into().expect("four bytes")) as usize;
    let entry = bundle[contents..end].to_vec();
    let mut tail = bundle.split_off(end);
    for _ in 1..300 {
        bundle.extend_from_slice(&entry);
    }
    for at in [8, 10] {
        tail[at..at + 2].copy_from_slice(&300_u16.to_le_bytes());
    }
    tail[12..16].copy_from_slice(&((entry.len() * 300) as u32).to_le_bytes());
    bundle.extend_from_slice(&tail);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("bomb.zip"), &bundle).expect("the folder is writable");
    let run = run(folder.path(), &["scan", "bomb.zip"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("bomb.zip: read only in part"), "{}", run.stderr);
    let unpacked: u64 = run.reports().iter().map(|report| report.counts.bytes).sum();
    assert!(unpacked <= bundle.len() as u64 * 1032 && unpacked > 10 << 20, "{unpacked}");
}

/// Every way of printing, with text from a log, a file name and a machine file: nothing reaches the terminal that acts, and
/// JSON still says the same.
#[test]
fn nothing_that_is_printed_acts() {
    const ACTS: [char; 8] = ['\u{1b}', '\u{7f}', '\u{9b}', '\u{85}', '\u{202e}', '\u{2066}', '\u{2028}', '\u{e0041}'];
    let hostile = format!("GPU{} end", ACTS.iter().collect::<String>());
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let name = "a\u{202e}\u{9b}.log";
    let text = log("A.exe", 2, "split=0 reason=killed_by_env").replace("NVIDIA GeForce RTX 4080 Laptop GPU", &hostile);
    fs::write(folder.path().join(name), text).expect("the folder is writable");
    let machine = serde_json::json!({
        "schema": "weavewatch.machine/1", "os": "windows", "panel": null,
        "adapters": [{"name": hostile, "luid": "0:1", "dedicated_vram_mib": 1}],
    });
    fs::write(folder.path().join("machine.json"), machine.to_string()).expect("the folder is writable");
    for (command, formats) in [
        (vec!["scan", name], vec!["json", "ndjson", "csv", "table", "markdown"]),
        (vec!["scan", "--count", name], vec!["json", "ndjson", "csv", "table", "markdown"]),
        (vec!["explain", name], vec!["text", "markdown", "json"]),
        (vec!["diff", name, name], vec!["text", "markdown", "json"]),
        (vec!["replay", "--path", "d3d11", "--machine", "machine.json"], vec!["text", "json"]),
        (vec!["replay", "--path", "d3d11", "--machine", name], vec!["text", "json"]),
    ] {
        for format in formats {
            let args = [&command[..], &["--format", format]].concat();
            let run = run(folder.path(), &args);
            assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
            let acting = run.stdout.chars().find(|char| *char != '\n' && (char.is_control() || ACTS.contains(char)));
            assert_eq!(acting, None, "{args:?}: {}", run.stdout);
            if format == "json" || format == "ndjson" {
                let value: serde_json::Value = serde_json::from_str(&run.stdout).expect("it is one document");
                let value = value.to_string();
                let inside = serde_json::Value::from(if command.contains(&"--count") { name } else { &hostile });
                assert!(value.contains(inside.to_string().trim_matches('"')), "{args:?}: {value}");
            }
        }
    }
}
