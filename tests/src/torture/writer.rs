//! Writers: each has some places in the folder, writes logs there by turns, and does to them what happens to logs.
//!
//! A place is careful or careless. A careful writer destroys a content only when the server has all of it, so that all of
//! it must be there in the end. A careless one does not look, so that of what it destroys any part may never have been read.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::content::{Content, Writing};
use crate::http::Http;
use crate::random::Random;

/// Places of one writer; every other one is careful.
const PLACES: u64 = 4;
/// A process ends, one way or another, behind so many records.
const MOST_RECORDS: u32 = 120;
/// What was written is on the server long before, also on a busy machine. Only something that is stuck reaches it.
const PATIENCE: Duration = Duration::from_mins(4);

/// A way to destroy a content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Destroy {
    /// The file is cut at a line.
    Cut,
    /// The file is emptied and written anew, at once.
    Rewrite,
    /// The file is deleted, and some time later there is another one.
    Delete,
    /// The file is deleted and there is another one at once.
    Recreate,
}

/// A place in the folder, with the log that is being written there.
struct Place {
    careful: bool,
    exe: String,
    path: PathBuf,
    /// `None` between a deletion and the next file.
    content: Option<Content>,
    /// What is still to be written of a line.
    rest: Vec<u8>,
    /// What is written behind a deletion.
    next: Option<Content>,
    /// What is to be done as soon as the server has everything, and since when.
    wish: Option<(Destroy, Instant)>,
    /// Names that renamed files got.
    names: u32,
}

/// Writes until `stop`. Tells everything that ever stood in a file.
///
/// # Panics
/// When the folder cannot be written, or the server does not get what was written.
pub fn write(folder: &Path, number: u64, mut random: Random, http: &Http, stop: &AtomicBool) -> Vec<Content> {
    let mut done = Vec::new();
    let mut places: Vec<Place> =
        (0..PLACES).map(|place| Place::new(folder, &format!("W{number}P{place}.exe"), place % 2 == 0)).collect();
    while !stop.load(Ordering::Relaxed) {
        let place = random.below(PLACES) as usize;
        places[place].step(&mut random, http, &mut done);
        std::thread::sleep(Duration::from_millis(random.below(120)));
    }
    for mut place in places {
        place.end(&mut random, &mut done);
    }
    done
}

impl Place {
    fn new(folder: &Path, exe: &str, careful: bool) -> Self {
        let folder = folder.join(exe);
        fs::create_dir_all(folder.join("old")).expect("a writable folder");
        let content = Content::new(Writing::next(exe));
        let path = folder.join(content.process.file_name());
        let mut place = Self {
            careful,
            exe: exe.to_owned(),
            path,
            content: None,
            rest: Vec::new(),
            next: None,
            wish: None,
            names: 0,
        };
        place.create(content);
        place
    }

    /// Does one thing.
    fn step(&mut self, random: &mut Random, http: &Http, done: &mut Vec<Content>) {
        let Some(content) = &self.content else {
            let next = self.next.take().expect("a place without a content will have one");
            return self.create(next);
        };
        if let Some((how, since)) = self.wish {
            if has_all(http, content) {
                self.wish = None;
                self.destroy(how, random, done);
            } else {
                assert!(since.elapsed() < PATIENCE, "{}: never arrived", self.path.display());
            }
            return;
        }
        // Every content that is left alone or destroyed has something to be known by.
        let known = !content.events(content.bytes.len()).is_empty();
        let full = content.records() >= MOST_RECORDS;
        match random.below(100) {
            0..52 if !full => self.append(random),
            52..70 if !full => self.half(random),
            70..74 => self.cut_half(),
            _ if !known => self.append(random),
            74..79 => self.rename(),
            79..83 => self.rotate(done),
            83..87 => self.next_process(random, done),
            _ if full => self.next_process(random, done),
            87..94 => {
                let how = random.one_of(&[Destroy::Cut, Destroy::Rewrite, Destroy::Delete, Destroy::Recreate]);
                if self.careful {
                    self.complete();
                    self.wish = Some((how, Instant::now()));
                } else {
                    self.destroy(how, random, done);
                }
            }
            _ => self.append(random),
        }
    }

    /// Leaves the place as it stays: often with a last line that is not whole.
    fn end(&mut self, random: &mut Random, done: &mut Vec<Content>) {
        if self.content.as_ref().is_some_and(|content| content.events(content.bytes.len()).is_empty()) {
            self.append(random);
        }
        if random.chance(50) {
            self.half(random);
        }
        self.leave(done);
    }

    fn create(&mut self, content: Content) {
        fs::write(&self.path, &content.bytes).expect("a writable folder");
        self.rest.clear();
        self.content = Some(content);
    }

    /// Some records, which may begin with the rest of a line.
    fn append(&mut self, random: &mut Random) {
        self.complete();
        for _ in 0..=random.below(4) {
            if let Some(content) = &mut self.content {
                let record = content.record(random);
                self.add(&record);
            }
        }
    }

    /// A part of a record.
    fn half(&mut self, random: &mut Random) {
        self.complete();
        let Some(content) = &mut self.content else { return };
        let record = content.record(random);
        let (half, rest) = record.split_at(1 + random.below(record.len() as u64 - 1) as usize);
        self.add(half);
        rest.clone_into(&mut self.rest);
    }

    fn complete(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.add(&rest);
    }

    fn add(&mut self, bytes: &[u8]) {
        let Some(content) = self.content.as_mut().filter(|_| !bytes.is_empty()) else { return };
        let mut file = OpenOptions::new().append(true).open(&self.path).expect("nobody else touches the file");
        file.write_all(bytes).expect("a writable folder");
        content.bytes.extend_from_slice(bytes);
    }

    /// Takes a line back that is not whole. Nobody has read it, so the content goes on.
    fn cut_half(&mut self) {
        if std::mem::take(&mut self.rest).is_empty() {
            return;
        }
        let Some(content) = &mut self.content else { return };
        content.take_half_back();
        cut_file(&self.path, content.bytes.len());
    }

    /// Gives the file another name and writes a new one in its place, with the same header.
    fn rotate(&mut self, done: &mut Vec<Content>) {
        self.complete();
        let path = self.path.clone();
        self.rename();
        if let Some(next) = self.content.as_ref().map(Content::anew) {
            self.leave(done);
            self.path = path;
            self.create(next);
        }
    }

    /// Gives the file another name, in another folder.
    fn rename(&mut self) {
        self.names += 1;
        let folder = self.path.parent().expect("a file in a folder");
        let folder =
            if folder.ends_with("old") { folder.parent().expect("a place's folder") } else { &folder.join("old") };
        let name = self.content.as_ref().expect("there is a file").process.file_name();
        let to = folder.join(format!("{name}.{}", self.names));
        fs::rename(&self.path, &to).expect("nobody else touches the file");
        self.path = to;
    }

    /// The process ends well, or in the middle of a line; the next one writes a log of its own.
    fn next_process(&mut self, random: &mut Random, done: &mut Vec<Content>) {
        if random.chance(60) {
            self.complete();
            self.add(b"\r\n=== DisplayXR Log Ended ===\r\n");
        }
        self.leave(done);
        let content = Content::new(Writing::next(&self.exe));
        let place = self.path.ancestors().find(|folder| folder.ends_with(&self.exe)).expect("a place's folder");
        self.path = place.join(content.process.file_name());
        self.create(content);
    }

    /// The content stays as it is, in its file.
    fn leave(&mut self, done: &mut Vec<Content>) {
        done.extend(self.content.take().map(Content::into_whole));
    }

    fn destroy(&mut self, how: Destroy, random: &mut Random, done: &mut Vec<Content>) {
        let Some(content) = &self.content else { return };
        let ends = content.line_ends();
        let mut next = if how == Destroy::Cut {
            // Not at its end: that would be the same content.
            let Some(end) =
                ends.get(random.below(ends.len() as u64) as usize).filter(|end| **end < content.bytes.len())
            else {
                return;
            };
            content.cut(*end)
        } else {
            content.anew()
        };
        let mut gone = content.clone();
        if self.careful {
            gone = gone.into_whole();
            // What was read to its end has lost nothing.
            next.cut_bytes = 0;
        }
        match how {
            Destroy::Cut => {
                cut_file(&self.path, next.bytes.len());
                self.rest.clear();
                self.content = Some(next);
            }
            Destroy::Rewrite => self.create(next),
            Destroy::Delete => {
                fs::remove_file(&self.path).expect("nobody else touches the file");
                self.content = None;
                self.next = Some(next);
            }
            Destroy::Recreate => {
                fs::remove_file(&self.path).expect("nobody else touches the file");
                self.create(next);
            }
        }
        done.push(gone);
    }
}

fn cut_file(path: &Path, end: usize) {
    let file = OpenOptions::new().write(true).open(path).expect("nobody else touches the file");
    file.set_len(end as u64).expect("a writable folder");
}

/// The server has a log of this process with everything up to the last byte.
fn has_all(http: &Http, content: &Content) -> bool {
    let Writing { exe, started, .. } = &content.process;
    let from = started.replace(' ', "T");
    let Some(answer) = http.ask(&format!("/api/v1/logs?limit=500&exe={exe}&from={from}Z")) else { return false };
    if answer.status != 200 {
        // Such as 503 while it starts.
        return false;
    }
    answer.json()["items"].as_array().is_some_and(|logs| {
        logs.iter().any(|log| {
            log["counts"]["bytes"] == content.bytes.len()
                && log["verdict"]["render"]["luid"].as_str() == content.last_luid()
        })
    })
}
