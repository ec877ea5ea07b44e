//! How many bytes a second go through the reader, beside its peer: a bare count of newlines over the same bytes.
//! `cargo bench -p parser`. Compare the ratio within one run, never seconds between machines.

use std::path::Path;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use parser::LogReader;

fn main() {
    divan::main();
}

/// The logs that the verdict tests read, one behind the other.
fn fixtures() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the fixtures are in the repository")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    paths.sort();
    paths.iter().flat_map(|path| std::fs::read(path).expect("the fixture can be read")).collect()
}

/// What nearly all of a real log is: one WARN a frame, none of our business.
fn noise() -> Vec<u8> {
    (0..40_000_u32)
        .flat_map(|frame| {
            format!(
                "[2026-05-04 23:50:{:02}.{:03}] [WARN ] [submit_fallback] [COMMIT_PROFILE_CLIENT] client=00000219182B64F0 \
                 signal_ns={} pre_ipc_ns=9800 ipc_ns={} post_ipc_ns=0 total_ns=11086400\n",
                frame / 1000 % 60,
                frame % 1000,
                frame * 7 % 40_000,
                frame * 13 % 12_000_000,
            )
            .into_bytes()
        })
        .collect()
}

fn read(bytes: &[u8]) -> u64 {
    let mut told = 0;
    let mut reader = LogReader::new();
    for chunk in bytes.chunks(256 * 1024) {
        reader.feed(chunk, &mut |_| told += 1);
    }
    reader.finish(&mut |_| told += 1).counts.records + told
}

fn bench(bencher: Bencher, bytes: &[u8], work: impl Fn(&[u8]) -> u64 + Sync) {
    bencher.counter(BytesCount::of_slice(bytes)).bench(|| work(black_box(bytes)));
}

#[divan::bench]
fn fixtures_read(bencher: Bencher) {
    bench(bencher, &fixtures(), read);
}

#[divan::bench]
fn fixtures_newlines(bencher: Bencher) {
    bench(bencher, &fixtures(), |bytes| memchr::memchr_iter(b'\n', bytes).count() as u64);
}

#[divan::bench]
fn noise_read(bencher: Bencher) {
    bench(bencher, &noise(), read);
}

#[divan::bench]
fn noise_newlines(bencher: Bencher) {
    bench(bencher, &noise(), |bytes| memchr::memchr_iter(b'\n', bytes).count() as u64);
}

#[divan::bench]
fn noise_marker(bencher: Bencher) {
    let finder = memchr::memmem::Finder::new("weave placement");
    bench(bencher, &noise(), |bytes| finder.find_iter(bytes).count() as u64);
}
