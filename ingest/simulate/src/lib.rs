//! A fleet of realistic logs with the truth about each of them, from machine files, a seed and a description.
//!
//! A [`Fleet`] says which machines there are and what happens to them; [`Simulation::machine`] writes the logs of one of them.
//! The description chooses what becomes of a session, the runtime's words come from the vocabulary, and verdict and findings
//! follow from the choice: the resolver is never asked, because it is what the truth is there to judge.
//!
//! Pure: text and numbers in, bytes and truth out. Each log depends on seed, machine and session alone, so machines can be
//! made in any order and at the same time.

mod description;
mod dice;
mod log;
mod mutate;
mod noise;
mod outcome;
mod paths;
mod pc;
mod preamble;
mod totals;
mod truth;
mod writer;

use jiff::ToSpan as _;
use jiff::civil::{DateTime, Time};

pub use description::{
    App, Build, Driver, EXAMPLE, Fault, Fleet, FleetError, FoundBy, Kind, Mutation, Noise, Quirk, Regression, Setting,
    Variable, built_in_machine,
};
pub use log::Made;
pub use totals::{ByCrossing, BySplit, Count, Totals};
pub use truth::{Cohort, Due, Lever, Truth};

use dice::{Dice, Purpose};
use log::{Log, Scene, Writes};
use pc::Pc;

/// A fleet that can be made.
#[derive(Clone, Debug)]
pub struct Simulation {
    fleet: Fleet,
    seed: u64,
}

impl Simulation {
    /// The same fleet and seed give the same bytes.
    pub const fn new(fleet: Fleet, seed: u64) -> Self {
        Self { fleet, seed }
    }

    /// What is simulated.
    pub const fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// The logs of one machine, by start.
    pub fn machine(&self, index: u64) -> Vec<Made> {
        let mut logs = Vec::new();
        self.each_log(index, &mut |made| logs.push(made));
        logs
    }

    /// Hands out the logs of one machine as they are made, by start: a machine of many years fits nowhere at once.
    pub fn each_log(&self, index: u64, each: &mut dyn FnMut(Made)) {
        let Some(pc) = Pc::new(&self.fleet, self.seed, index) else { return };
        for day in 0..i64::from(self.fleet.days) {
            self.day(&pc, day, each);
        }
    }

    fn day(&self, pc: &Pc<'_>, day: i64, each: &mut dyn FnMut(Made)) {
        /// Sessions of a day have numbers below this one.
        const SESSIONS: u64 = 1000;
        let fleet = &self.fleet;
        let key = day.unsigned_abs() * SESSIONS;
        let mut dice = Dice::new(self.seed, pc.index, key, Purpose::Day);
        let wanted = fleet.sessions_a_day;
        // As many whole ones as are below it, and one more as often as its rest says.
        let whole = (1..SESSIONS).take_while(|count| *count as f64 <= wanted).count() as u64;
        let sessions = whole + u64::from(dice.chance(wanted.fract()));
        if sessions == 0 {
            return;
        }
        let date = fleet.first_day.saturating_add(day.days());
        let morning = date.to_datetime(Time::constant(8, 0, 0, 0));
        let step = 12 * 3600 / sessions;
        let make = |number: u64, start: DateTime, pid: u32, app: &App, writes: Writes, each: &mut dyn FnMut(Made)| {
            let row = |purpose| Dice::new(self.seed, pc.index, key + number, purpose);
            let scene = Scene { fleet, pc, day, start, pid, app, writes };
            each(Log::make(&scene, row(Purpose::Outcome), row(Purpose::Noise), row(Purpose::Mutation)));
        };
        for session in 0..sessions {
            let app = dice.weighted(fleet.apps.iter().map(|app| (app, app.share)));
            let Some(app) = app else { return };
            let seconds = session * step + dice.below(step.max(1));
            let start = morning.saturating_add(i64::try_from(seconds).unwrap_or_default().seconds());
            let pid = u32::try_from(dice.between(500, 8000) * 4).unwrap_or(4);
            let late = dice.chance(fleet.quirk(Quirk::SecondLog));
            if session == 0 && pc.kind.service {
                make(1, start.saturating_sub(90.seconds()), pid + 2, app, Writes::Service, each);
            }
            let writes = if pc.kind.service { Writes::Client } else { Writes::App };
            make(2 + 2 * session, start, pid, app, writes, each);
            if late {
                make(3 + 2 * session, start.saturating_add(9.minutes()), pid, app, Writes::Leftover, each);
            }
        }
    }
}
