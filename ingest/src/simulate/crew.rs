//! Many threads make machines, one takes them in order: memory holds a few machines, however many there are.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, PoisonError};

use simulate::{Simulation, Totals};

use super::json_line;
use super::sink::Form;
use super::zip_stream::Member;

/// Each thread may be so many machines ahead of the one that is written next.
const AHEAD: u64 = 4;

/// What was made of one machine.
#[derive(Default)]
pub(super) struct Part {
    /// Its logs, compressed for a stream; a folder has them already.
    pub members: Vec<Member>,
    /// One line of JSON a log.
    pub truth: Vec<u8>,
    /// Its own totals.
    pub totals: Totals,
}

/// What the threads share.
struct Shared {
    /// The next machine that nobody makes yet.
    next: u64,
    /// The machine that is written next.
    wanted: u64,
    /// Finished ones that wait for their turn.
    done: BTreeMap<u64, io::Result<Part>>,
    /// Nobody wants more.
    stop: bool,
}

/// Makes every machine and hands them to `take` in order, until it fails.
pub(super) fn in_order(
    simulation: &Simulation,
    form: &Form,
    take: &mut dyn FnMut(Part) -> io::Result<()>,
) -> io::Result<()> {
    let machines = simulation.fleet().machines;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let shared = Mutex::new(Shared { next: 0, wanted: 0, done: BTreeMap::new(), stop: false });
    let changed = Condvar::new();
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = |guard| changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let mut guard = lock();
            while !guard.stop && guard.next < machines && guard.next >= guard.wanted + threads * AHEAD {
                guard = wait(guard);
            }
            if guard.stop || guard.next >= machines {
                return;
            }
            let index = guard.next;
            guard.next += 1;
            drop(guard);
            let part = make(simulation, form, index);
            lock().done.insert(index, part);
            changed.notify_all();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
        let end = (0..machines).try_for_each(|index| {
            let mut guard = lock();
            let part = loop {
                if let Some(part) = guard.done.remove(&index) {
                    break part;
                }
                guard = wait(guard);
            };
            guard.wanted = index + 1;
            drop(guard);
            changed.notify_all();
            take(part?)
        });
        lock().stop = true;
        changed.notify_all();
        end
    })
}

/// Makes one machine.
fn make(simulation: &Simulation, form: &Form, index: u64) -> io::Result<Part> {
    let mut part = Part::default();
    let mut failure = None;
    simulation.each_log(index, &mut |made| {
        if failure.is_some() {
            return;
        }
        part.totals.add_own(&made.truth);
        let kept = json_line(&mut part.truth, &made.truth).and_then(|()| form.keep(&made, &mut part.members));
        failure = kept.err();
    });
    failure.map_or(Ok(part), Err)
}
