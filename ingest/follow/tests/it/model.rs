//! Whatever happens to files, in whatever order: what was read of each says what one reading of it says.

use std::collections::BTreeMap;
use std::time::Duration;

use follow::{Disk as _, Limits, RealDisk};
use proptest::prelude::*;

use crate::common::{FOOTER, Machine, event, header, name, noise};

/// Something that happens. Files are numbers; a file that is not there is made where that makes sense.
#[derive(Clone, Copy, Debug)]
enum Step {
    Append {
        file: u8,
        what: Piece,
    },
    Truncate {
        file: u8,
        keep_percent: u8,
    },
    Rewrite {
        file: u8,
        records: u8,
    },
    Rename {
        from: u8,
        to: u8,
    },
    Copy {
        from: u8,
        to: u8,
    },
    Delete {
        file: u8,
    },
    /// Looks and reads everything.
    Poll,
    /// Looks, reads a range of every log, and keeps only every other one before it stops and starts again.
    Crash,
    Restart,
    Wait {
        minutes: u8,
    },
}

#[derive(Clone, Copy, Debug)]
enum Piece {
    Events(u8),
    Noise(u8),
    Half(u8),
    Newline,
    Continuation,
    Nul(u8),
    Footer,
    Header,
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => (1_u8..40).prop_map(Piece::Events),
        2 => (1_u8..80).prop_map(Piece::Noise),
        2 => (1_u8..200).prop_map(Piece::Half),
        1 => Just(Piece::Newline),
        1 => Just(Piece::Continuation),
        1 => (1_u8..200).prop_map(Piece::Nul),
        1 => Just(Piece::Footer),
        1 => Just(Piece::Header),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let file = || 0_u8..4;
    prop_oneof![
        8 => (file(), piece()).prop_map(|(file, what)| Step::Append { file, what }),
        1 => (file(), 0_u8..100).prop_map(|(file, keep_percent)| Step::Truncate { file, keep_percent }),
        1 => (file(), 0_u8..60).prop_map(|(file, records)| Step::Rewrite { file, records }),
        1 => (file(), 0_u8..6).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => (file(), 4_u8..6).prop_map(|(from, to)| Step::Copy { from, to }),
        1 => (0_u8..6).prop_map(|file| Step::Delete { file }),
        6 => Just(Step::Poll),
        1 => Just(Step::Crash),
        1 => Just(Step::Restart),
        1 => (1_u8..70).prop_map(|minutes| Step::Wait { minutes }),
    ]
}

/// The first four are named as the runtime names them, the others are not.
fn file_name(file: u8) -> String {
    if file < 4 { name("A.exe", u32::from(file)) } else { format!("other {file}.txt") }
}

/// The machine beside what its files hold.
struct World {
    machine: Machine,
    files: BTreeMap<u8, Vec<u8>>,
    /// No two records are alike, so no two contents are.
    number: u32,
}

impl World {
    fn apply(&mut self, step: Step) {
        match step {
            Step::Append { file, what } => {
                let more = self.piece(file, what);
                self.files.entry(file).or_insert_with(|| header("A.exe", u32::from(file)).into_bytes()).extend(more);
                self.write(file);
            }
            Step::Truncate { file, keep_percent } => {
                if let Some(content) = self.files.get_mut(&file) {
                    content.truncate(content.len() * usize::from(keep_percent) / 100);
                    self.write(file);
                }
            }
            Step::Rewrite { file, records } => {
                let mut content = header("A.exe", u32::from(file)).into_bytes();
                content.extend(self.piece(file, Piece::Events(records)));
                self.files.insert(file, content);
                self.write(file);
            }
            Step::Rename { from, to } => {
                if from != to
                    && let Some(content) = self.files.remove(&from)
                {
                    self.machine.rename(&file_name(from), &file_name(to));
                    self.files.insert(to, content);
                }
            }
            Step::Copy { from, to } => {
                if let Some(content) = self.files.get(&from).cloned() {
                    self.files.insert(to, content);
                    self.write(to);
                }
            }
            Step::Delete { file } => {
                if self.files.remove(&file).is_some() {
                    self.machine.remove(&file_name(file));
                }
            }
            Step::Poll => {
                self.machine.poll();
            }
            Step::Crash => {
                for (at, log) in self.machine.look().changed.into_iter().enumerate() {
                    if at % 2 == 0 {
                        self.machine.read(&log);
                    } else {
                        self.machine.read_and_lose(&log);
                    }
                }
                self.machine.restart();
            }
            Step::Restart => self.machine.restart(),
            Step::Wait { minutes } => self.machine.pass(u64::from(minutes) * 60),
        }
    }

    fn piece(&mut self, file: u8, what: Piece) -> Vec<u8> {
        let mut next = || {
            self.number += 1;
            self.number
        };
        match what {
            Piece::Events(count) => (0..count).map(|_| event(next())).collect::<String>().into_bytes(),
            Piece::Noise(count) => (0..count).map(|_| noise(next())).collect::<String>().into_bytes(),
            Piece::Half(len) => event(next()).as_bytes()[..usize::from(len)].to_vec(),
            Piece::Newline => b"\r\n".to_vec(),
            Piece::Continuation => format!("\tcontinued {}\r\n", next()).into_bytes(),
            Piece::Nul(len) => vec![0; usize::from(len)],
            Piece::Footer => FOOTER.as_bytes().to_vec(),
            Piece::Header => header("A.exe", u32::from(file)).into_bytes(),
        }
    }

    /// Writes in place, so that the file stays the same one to the disk.
    fn write(&self, file: u8) {
        self.machine.write(&file_name(file), &self.files[&file]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn ranges_add_up_to_the_files_whatever_happens(steps in prop::collection::vec(step(), 1..40), small in 0..3_u8, lists_sizes: bool, seldom: bool) {
        let mut world = World { machine: Machine::new(), files: BTreeMap::new(), number: 0 };
        let limits = [(2 << 20, 16 << 20, 64 * 1024), (8_000, 10_000, 4096), (1, 1, 600)];
        let (json_bytes, log_bytes, buffer_bytes) = limits[usize::from(small)];
        world.machine.limits = Limits { json_bytes, log_bytes };
        world.machine.buffer_bytes = buffer_bytes;
        world.machine.lists_sizes = lists_sizes;
        if seldom {
            world.machine.config.full_every = Duration::from_secs(20);
        }
        for step in steps {
            world.apply(step);
        }
        let World { mut machine, files, .. } = world;
        // Everything has come to rest.
        for _ in 0..5 {
            machine.poll();
            machine.pass(3601);
        }
        machine.pass(60);
        let look = machine.poll();
        prop_assert_eq!((look.changed.len(), look.waiting.len(), look.losses.len()), (0, 0, 0));
        prop_assert!(machine.problems.is_empty(), "{:?}", machine.problems);

        // Each file is a log that says what the file says; files that are one log begin with the same bytes.
        let by_path: BTreeMap<_, _> = machine.follower().positions()
            .filter(|(_, position)| position.gone_s.is_none())
            .map(|(log, position)| (position.path.clone(), log.to_string()))
            .collect();
        let mut followed = 0;
        let root = RealDisk.canonical(&machine.path(".")).expect("it is there");
        for (file, content) in &files {
            let path = root.join(file_name(*file)).to_string_lossy().into_owned();
            let Some(log) = by_path.get(&path) else {
                let is_copy = files.iter().any(|(other, longer)| other != file && longer.starts_with(content));
                let has_header = content.starts_with(b"=== DisplayXR Log Started ===")
                    && (content.len() >= 4096 || content.windows(3).any(|blank| blank == b"\n\r\n"));
                let is_nothing = *file >= 4 && !has_header;
                prop_assert!(is_copy || is_nothing, "{} is not followed", path);
                continue;
            };
            machine.assert_holds(log, content);
            followed += 1;
        }
        prop_assert_eq!(by_path.len(), followed);

        // Logs whose file is gone leave no gap either, and no log is told twice.
        for log in machine.logs() {
            let mut end = 0;
            for range in machine.ranges_of(&log) {
                prop_assert!(range.segment.start <= end && range.segment.end >= end);
                prop_assert_eq!(range.segment.facts.bytes.total(), range.segment.end);
                end = range.segment.end;
            }
        }
    }
}
