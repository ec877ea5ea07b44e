//! Logs to read, and the program to read them with.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use wire::ScanReport;

/// What a run of the program left behind.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// The objects of `ndjson`.
    pub fn reports(&self) -> Vec<ScanReport> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("a line is a scan object")).collect()
    }

    /// The `file` of every report, in order.
    pub fn files(&self) -> Vec<String> {
        self.reports().into_iter().map(|report| report.file).collect()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).expect("everything printed is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("everything printed is UTF-8"),
        }
    }
}

/// The program, started in `folder`, with an environment that does not depend on the machine.
pub fn weavewatch(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weavewatch"));
    command.current_dir(folder).env_remove("WEAVEWATCH_TOKEN").env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// Runs `weavewatch` with these arguments in `folder`.
pub fn run(folder: &Path, args: &[&str]) -> Run {
    weavewatch(folder).args(args).output().expect("the program starts").into()
}

/// Runs `weavewatch` with `input` on standard input.
pub fn run_with_stdin(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    let mut child = weavewatch(folder)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("it was asked for").write_all(input).expect("the program reads");
    child.wait_with_output().expect("the program ends").into()
}

/// The name of a log that started at `time`, such as `12-00-00`.
pub fn log_name(exe: &str, pid: u32, time: &str) -> String {
    format!("DisplayXR_{exe}.{pid}_2026-09-14_{time}.log")
}

/// A whole log of one session whose placement line ends in `state`, such as `split=1`.
pub fn log(exe: &str, pid: u32, state: &str) -> String {
    let place = if state == "split=1" {
        "weave/present on the SCANOUT adapter"
    } else {
        "weave on the RENDER adapter; every present crosses adapters to reach scanout"
    };
    format!(
        "=== DisplayXR Log Started ===\r\n\
         Log file: C:\\x\\{exe}.log\r\n\
         Process: {exe} (PID {pid})\r\n\
         Timestamp: 2026-09-14 12:00:00\r\n\
         ============================\r\n\r\n\
         [2026-09-14 12:00:00.001] [OXR  ] LOG in xrCreateInstance: Instance created\r\n\
         [2026-09-14 12:00:01.000] [WARN ] [d3d_log_weave_placement] weave placement: render='NVIDIA GeForce RTX 4080 Laptop GPU' LUID=00000000:00015f3a, panel scanout='Intel(R) Iris(R) Xe Graphics' LUID=00000000:00013c07 — {place} ({state}) (#918)\r\n\
         [2026-09-14 12:00:02.000] [WARN ] [some_function] something else\r\n\
         \r\n=== DisplayXR Log Ended ===\r\n"
    )
}

/// A zip archive with these members; a name that ends in `/` is a folder.
pub fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, contents) in members {
        if name.ends_with('/') {
            archive.add_directory(*name, options).expect("memory takes it");
        } else {
            archive.start_file(*name, options).expect("memory takes it");
            archive.write_all(contents).expect("memory takes it");
        }
    }
    archive.finish().expect("memory takes it").into_inner()
}
