//! Logs as the runtime writes them, for tests that need some and do not care what else is in them.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What drives the panel of every machine here.
const SCANOUT: &str = "'Intel(R) Iris(R) Xe Graphics' LUID=00000000:00013c07";
const RENDER: &str = "'NVIDIA GeForce RTX 4080 Laptop GPU' LUID=00000000:00015f3a";

/// How a log's placement line ends.
#[derive(Clone, Copy, Debug)]
pub enum Placement {
    /// The weave runs on the panel's GPU.
    Engaged,
    /// It was switched off.
    Killed,
}

/// A log that grows.
pub struct Log {
    /// Where it lies.
    pub path: PathBuf,
}

impl Log {
    /// Starts a log of process `pid` in `folder`: header and one placement record, no footer.
    ///
    /// # Panics
    /// When the folder cannot be written.
    pub fn start(folder: &Path, pid: u32, placement: Placement) -> Self {
        let name = format!("DisplayXR_Viewer.exe.{pid}_2026-09-14_12-00-00.log");
        let log = Self { path: folder.join(&name) };
        let header = format!(
            "=== DisplayXR Log Started ===\r\nLog file: C:\\Users\\user\\AppData\\Local\\DisplayXR\\{name}\r\n\
             Process: Viewer.exe (PID {pid})\r\nTimestamp: 2026-09-14 12:00:00\r\n\
             ============================\r\n\r\n"
        );
        std::fs::write(&log.path, header).expect("a writable folder");
        let (where_to, state) = match placement {
            Placement::Engaged => ("weave/present on the SCANOUT adapter", "split=1"),
            Placement::Killed => (
                "weave on the RENDER adapter; every present crosses adapters to reach scanout",
                "split=0 reason=killed_by_env",
            ),
        };
        log.record(&format!(
            "[WARN ] [d3d_log_weave_placement] weave placement: render={RENDER}, panel scanout={SCANOUT} — {where_to} \
             ({state}) (#918)"
        ));
        log
    }

    /// The session is taken back.
    pub fn take_back(&self) {
        self.record(
            "[WARN ] [d3d12_split_retire] weave placement: CHANGED — weave/present move back to the RENDER adapter for \
             the rest of this session (split=0 reason=dp_refused_scanout) (#918)",
        );
    }

    /// The process ends well.
    pub fn end(&self) {
        self.append("\r\n=== DisplayXR Log Ended ===\r\n");
    }

    /// Adds a record; the text begins with its level.
    pub fn record(&self, text: &str) {
        self.append(&format!("[2026-09-14 12:00:01.370] {text}\r\n"));
    }

    /// Its base name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn append(&self, text: &str) {
        let mut file = OpenOptions::new().append(true).open(&self.path).expect("the log was started");
        file.write_all(text.as_bytes()).expect("a writable folder");
    }
}
