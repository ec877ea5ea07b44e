//! `preview` prints the next upload byte for byte, whether or not something waits, and leaves everything as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Run, log, log_name, run};
use crate::server::{Answer, Server};

const UPLOAD: [&str; 8] = ["watch", "--once", "--dir", "logs", "--token", "t", "--state", "state"];

/// Everything that lies below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let bytes = fs::read(&path).expect("it can be read");
            found.insert(path, bytes);
        }
    }
    found
}

fn preview(folder: &Path) -> Run {
    run(folder, &["preview", "--dir", "logs", "--state", "state"])
}

fn upload(folder: &Path, server: &Server) -> Run {
    run(folder, &[UPLOAD.as_slice(), &["--server", &server.url]].concat())
}

fn machine(logs: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir(folder.path().join("logs")).expect("the folder is writable");
    for pid in 1..=logs {
        write(folder.path(), &log_name("A.exe", pid, "12-00-00"), &log("A.exe", pid, "split=1"));
    }
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join("logs").join(name), text).expect("the folder is writable");
}

#[test]
fn before_anything_waits_it_is_what_reading_would_find() {
    let machine = machine(3);
    let folder = machine.path();
    // Its last line has no end yet.
    let growing = log_name("B.exe", 9, "13-00-00");
    let text = log("B.exe", 9, "split=0 reason=killed_by_env");
    write(folder, &growing, &text[..text.len() - 40]);
    let first = preview(folder);
    assert_eq!((first.code, first.stderr.as_str()), (0, ""));
    assert_eq!(preview(folder).stdout, first.stdout, "a look changes nothing");
    let kept: Vec<_> = files(&folder.join("state")).into_keys().collect();
    assert_eq!(kept, [folder.join("state/machine-id")], "nothing but the machine's id was made");

    let server = Server::start(vec![]);
    assert_eq!(upload(folder, &server).code, 0);
    let sent = server.requests();
    assert_eq!((sent.len(), sent[0].batch.segments.len()), (1, 4));
    assert_eq!(String::from_utf8_lossy(&sent[0].body), first.stdout);
    let nothing = preview(folder);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
    assert!(nothing.stderr.contains("nothing is to be sent"), "{}", nothing.stderr);

    // What was added to a log, and nothing else.
    write(folder, &growing, &text);
    let before = files(&folder.join("state"));
    let more = preview(folder);
    assert_eq!(files(&folder.join("state")), before, "queue and positions are as they were");
    assert_eq!(upload(folder, &server).code, 0);
    let sent = server.requests();
    assert_eq!((sent.len(), sent[0].batch.segments.len()), (1, 1));
    assert_eq!(String::from_utf8_lossy(&sent[0].body), more.stdout);
}

#[test]
fn of_what_waits_it_is_the_oldest() {
    let machine = machine(501);
    let folder = machine.path();
    let gone = || Answer { headers: "retry-after: 3600\r\n", ..Answer::status("503 Service Unavailable") };
    let server = Server::start(vec![Box::new(move |_| gone())]);
    assert_eq!(upload(folder, &server).code, 4);
    let refused = server.requests();
    // This one is new, and not next.
    write(folder, &log_name("B.exe", 9, "13-00-00"), &log("B.exe", 9, "split=1"));

    let before = files(&folder.join("state"));
    let shown = preview(folder);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    assert_eq!(files(&folder.join("state")), before, "queue and positions are as they were");
    assert_eq!(String::from_utf8_lossy(&refused[0].body), shown.stdout, "it is offered again as it was");
    assert_eq!(upload(folder, &server).code, 0);
    let sent = server.requests();
    assert_eq!(String::from_utf8_lossy(&sent[0].body), shown.stdout);
    assert_eq!(sent[0].batch.segments.len(), 500);
    let all: usize = sent.iter().map(|request| request.batch.segments.len()).sum();
    assert_eq!(all, 502);
}
