//! How long a log of 20 MB takes from drop to verdict, against `weavewatch explain` of the same file, by turns in one run
//! (issue 6, acceptance 4).
//!
//! `cargo build --release -p ingest`, then `cargo bench -p server --bench triage -- [FILE]`; without a file a log is made: one of
//! the fixtures, then per-frame records as a long session leaves them. From drop to verdict is the upload of the file over a
//! connection, until the page of the report is there as a whole; the next turn waits until the file is stored, which happens
//! behind that. Ends with an error when the goal is missed.

mod client;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use client::{Client, started};
use server::Store;
use server::auth::Scope;
use server::store::Place;

/// Times of `explain` that it may take.
const MOST_TIMES: f64 = 2.0;
/// Of a log that is made.
const BYTES: usize = 20_000_000;
const TURNS: usize = 15;

fn main() -> ExitCode {
    sqlx::any::install_default_drivers();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let given = std::env::args().skip(1).map(PathBuf::from).find(|path| path.is_file());
    let file = given.unwrap_or_else(|| {
        let file = folder.path().join("DisplayXR_MyViewer.exe.7_2026-09-14_12-00-00.log");
        std::fs::write(&file, made()).expect("there is room");
        file
    });
    let database = folder.path().join("reports.sqlite");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let token = runtime.block_on(async {
        let store = Store::open(&Place::File(database.clone())).await.expect("it opens");
        store.migrate().await.expect("the schema fits");
        let token = store.create_token(Scope::Triager, "bench").await.expect("a token").secret;
        store.close().await;
        token
    });
    let (mut server, address) = started(&["--data", &database.to_string_lossy()]);
    let mut client = Client::new(&address, &token);
    let log = std::fs::read(&file).expect("it is there");
    let (mut told, mut explained, mut uploads, mut stored) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        explained.push(explain(&file));
        let start = Instant::now();
        let brought = client.bring(&log);
        uploads.push(start.elapsed());
        let id = brought["id"].as_str().expect("an id");
        let page = client.get(&format!("/reports/{id}"));
        told.push(start.elapsed());
        assert_eq!(page.status, 200);
        while client.json(&format!("/api/v1/reports/{id}"))["files"][0]["storage"] != "stored" {
            std::thread::sleep(Duration::from_millis(1));
        }
        stored.push(start.elapsed());
    }
    let [told, explained, uploads, stored] = [told, explained, uploads, stored].map(median);
    let times = told / explained;
    println!(
        "{:.1} MB: drop to verdict {:.1} ms (the upload {:.1} ms, the page {:.1} ms), explain {:.1} ms, {times:.2} times, {}; stored after {:.1} ms; medians of {TURNS}",
        log.len() as f64 / 1e6,
        told * 1e3,
        uploads * 1e3,
        (told - uploads) * 1e3,
        explained * 1e3,
        if times <= MOST_TIMES { "met" } else { "MISSED" },
        stored * 1e3
    );
    server.kill().expect("it is ours");
    server.wait().expect("it ends");
    if times <= MOST_TIMES { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn explain(file: &Path) -> Duration {
    let program = Path::new(env!("CARGO_BIN_EXE_weavewatch-server")).with_file_name("weavewatch");
    assert!(program.is_file(), "cargo build --release -p ingest makes {}", program.display());
    let start = Instant::now();
    let done = Command::new(program).arg("explain").arg(file).stdout(Stdio::null()).status().expect("it starts");
    assert!(done.success(), "{done}");
    start.elapsed()
}

fn made() -> Vec<u8> {
    let mut log = include_bytes!("../../fixtures/logs/ok/d3d11_adr039_corrected.log").to_vec();
    let mut frame = 0_u64;
    while log.len() < BYTES {
        frame += 1;
        let number = frame.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let (minute, second, ms) = (frame / 3_600 % 60, frame / 60 % 60, frame % 60 * 16);
        let line = format!(
            "[2026-09-14 12:{minute:02}:{second:02}.{ms:03}] [WARN ] [submit_fallback] [COMMIT_PROFILE_CLIENT] \
             client=00000219182B64F0 signal_ns={} pre_ipc_ns={} ipc_ns={} post_ipc_ns=0 total_ns={}\n",
            number % 50_000,
            number % 30_000,
            number,
            2 * number
        );
        log.extend_from_slice(line.as_bytes());
    }
    log
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}
