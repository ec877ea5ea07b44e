//! The page at `/`: how the weave fared over all logs, over time, by kind of PC, and on how many machines.

use askama::Template;

use wire::Crossing;

use crate::Outcome;
use crate::frame::Frame;
use crate::grid::{Cell, Grid};
use crate::selection::Selection;
use crate::share::{Percent, Share, counted, thousands};
use crate::spread::{self, MOST_MARKS, Spread};
use crate::table::{self, ShareRow, ShareTable, behind};

/// How much: logs, and distinct machines among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of logs.
    pub logs: u64,
    /// Number of distinct machines that these logs come from.
    pub machines: u64,
}

impl Tally {
    /// `4,100 logs`.
    pub(crate) fn logs(self) -> String {
        counted(self.logs, "log")
    }

    /// `96 machines`.
    pub(crate) fn machines(self) -> String {
        counted(self.machines, "machine")
    }
}

/// One group of a `group by`: its key, and how much is in it. The page knows the words for the keys, the order of rows and
/// the links; groups with nothing in them may be left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// The contract's word, such as `every_present`, or a name from a log; `None` when the logs do not tell.
    pub key: Option<String>,
    /// Logs and machines in the group.
    pub tally: Tally,
}

/// A period beside the one before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trend {
    /// How long each is.
    pub days: u32,
    /// The last day of the newer one.
    pub until: String,
    /// The newer one.
    pub now: Spread,
    /// The older one.
    pub before: Spread,
}

/// The page at `/`. All counts are of the logs that [`Self::selection`] lets through, but for [`Self::trend`], which sets its own days.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "fleet.html")]
pub struct FleetPage {
    /// What stands around it.
    pub frame: Frame,
    /// Which logs.
    pub selection: Selection,
    /// Where agents find this server, `http://127.0.0.1:8787`; for the command that an empty page shows.
    pub server_url: String,
    /// By [`crate::Outcome::as_str`] of each log's verdict.
    pub by_outcome: Vec<Count>,
    /// By [`wire::Split::as_str`].
    pub by_split: Vec<Count>,
    /// By [`wire::Crossing::as_str`].
    pub by_crossing: Vec<Count>,
    /// By token. A log with two reasons is in two groups; a log without one is in none.
    pub by_reason: Vec<Count>,
    /// By [`wire::Path::as_str`].
    pub by_path: Vec<Spread>,
    /// By the value that the filter `gpu_pair` takes.
    pub by_gpu_pair: Vec<Spread>,
    /// By version of the runtime.
    pub by_runtime: Vec<Spread>,
    /// By program.
    pub by_exe: Vec<Spread>,
    /// By kind of PC, with its label.
    pub by_cohort: Vec<Spread>,
    /// By local day of the start.
    pub by_day: Vec<Spread>,
    /// The newest days against those before; `None` when there are none before.
    pub trend: Option<Trend>,
}

/// One of the five numbers.
struct Headline {
    label: &'static str,
    mark: Option<Outcome>,
    big: String,
    below: Vec<String>,
    delta: String,
    href: String,
}

impl FleetPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    /// What the page finds, in one sentence.
    pub(crate) fn finding(&self) -> String {
        let total = self.selection.total;
        let logs = total.logs;
        let of_all = |tally: Tally| {
            format!(
                "{} of {}, on {} of {}",
                thousands(tally.logs),
                total.logs(),
                thousands(tally.machines),
                total.machines()
            )
        };
        let crossing = tally(&self.by_crossing, Crossing::EveryPresent.as_str());
        let unknown = tally(&self.by_outcome, Outcome::Unknown.as_str());
        if self.selection.whole.logs == 0 {
            "No logs yet".to_owned()
        } else if logs == 0 {
            "No log fits these filters".to_owned()
        } else if crossing.logs > 0 {
            format!("Every frame crosses between GPUs in {}", of_all(crossing))
        } else if unknown.logs * 2 > logs {
            format!("Nobody can tell where the weave ran in {}", of_all(unknown))
        } else {
            format!("No frame crosses needlessly in any of {}", total.logs())
        }
    }

    /// The five numbers: how many, and how they fared.
    fn headlines(&self) -> Vec<Headline> {
        let total = self.selection.total;
        let query = &self.selection.query;
        let sum = |counts: fn(&Trend) -> [(u64, u64); 2], noun: &str| {
            self.trend.as_ref().map_or_else(String::new, |trend| {
                let [(now, _), (before, _)] = counts(trend);
                format!("{} in {}, {} before", counted(now, noun), days(trend), thousands(before))
            })
        };
        let mut headlines = vec![
            Headline {
                label: "Logs",
                mark: None,
                big: thousands(total.logs),
                below: vec![format!("of {}", self.selection.whole.logs())],
                delta: sum(|trend| [(trend.now.tally.logs, 0), (trend.before.tally.logs, 0)], "log"),
                href: behind(query),
            },
            Headline {
                label: "Machines",
                mark: None,
                big: thousands(total.machines),
                below: vec![format!("of {}", self.selection.whole.machines())],
                delta: sum(|trend| [(trend.now.tally.machines, 0), (trend.before.tally.machines, 0)], "machine"),
                href: query.filters_only().href("/machines"),
            },
        ];
        for outcome in [Outcome::Engaged, Outcome::Killed, Outcome::Crossing] {
            let own = tally(&self.by_outcome, outcome.as_str());
            let logs = Share { count: own.logs, total: total.logs };
            let machines = Share { count: own.machines, total: total.machines };
            headlines.push(Headline {
                label: outcome.label(),
                mark: Some(outcome),
                big: logs.percent(),
                below: vec![
                    format!("{logs} logs, {}", logs.interval()),
                    format!("{machines} machines, {}", machines.interval()),
                ],
                delta: self.trend.as_ref().map_or_else(String::new, |trend| change(trend, outcome)),
                href: behind(&query.with("outcome", outcome.as_str())),
            });
        }
        headlines
    }

    /// Logs in which every frame crosses, whatever the reason, with the way to them.
    fn crossing(&self) -> Option<(String, String)> {
        let crossing = tally(&self.by_crossing, Crossing::EveryPresent.as_str());
        let href = behind(&self.selection.query.with("crossing", Crossing::EveryPresent.as_str()));
        (crossing.logs > 0).then(|| (crossing.logs(), href))
    }

    /// The six outcomes: for the stacked bar and its table.
    fn outcomes(&self) -> ShareTable {
        self.table("outcome", &self.by_outcome)
    }

    /// The finding of the stacked bar.
    fn picture_title(&self) -> String {
        let largest = self.outcomes().rows.into_iter().rev().max_by_key(|row| row.logs.count);
        largest.map_or_else(String::new, |row| {
            format!("Most often: {}, in {} logs ({})", row.word.label, row.logs, row.logs.percent())
        })
    }

    /// The stacked bar, left to right, without the outcomes that do not occur.
    fn segments(&self) -> Vec<Segment> {
        let mut start = 0.0;
        let mut segments = Vec::new();
        for row in self.outcomes().rows {
            let Some(outcome) = row.word.mark.filter(|_| row.logs.count > 0) else { continue };
            let width = row.logs.fraction();
            segments.push(Segment {
                outcome,
                start: Percent(start),
                width: Percent(width),
                middle: Percent(start + width / 2.0),
                // Narrower than this, the number would touch its neighbours on a phone.
                has_label: width >= 0.16,
                row,
            });
            start += width;
        }
        segments
    }

    /// Kinds of PC, those first on which most machines have something to repair.
    fn worst(&self) -> Grid {
        let mut rows: Vec<_> = self.by_cohort.iter().filter(|own| own.bad() > 0).collect();
        rows.sort_by_key(|own| spread::urgency(own));
        let mut grid = Grid::new(
            "Worst kinds of PC: where frames cross needlessly in most logs",
            &[
                "Kind of PC",
                "#Machines",
                "#Logs",
                "#Crosses every present",
                "#Killed",
                "#Taken back",
                "#Share",
                "#95 % interval",
            ],
        );
        for own in rows.into_iter().take(MOST_MARKS) {
            let query = self.selection.query.with("cohort", own.key());
            let count = |outcome: Outcome| {
                Cell::link(thousands(own.of(outcome)), behind(&query.with("outcome", outcome.as_str())))
            };
            let share = own.bad_share();
            grid.rows.push(vec![
                Cell::link(own.name("cohort"), behind(&query)),
                Cell::link(thousands(own.tally.machines), query.filters_only().href("/machines")),
                Cell::link(thousands(own.tally.logs), behind(&query)),
                count(Outcome::Crossing),
                count(Outcome::Killed),
                count(Outcome::TakenBack),
                share.percent().into(),
                share.interval().into(),
            ]);
        }
        grid
    }

    /// The tables with something to say.
    fn tables(&self) -> Vec<ShareTable> {
        vec![
            self.table("split", &self.by_split),
            self.table("crossing", &self.by_crossing),
            self.table("reason", &self.by_reason),
        ]
    }

    fn table(&self, name: &'static str, counts: &[Count]) -> ShareTable {
        let (title, column, note) = match name {
            "outcome" => {
                ("What became of the logs", "Outcome", "Each log counts once, so the shares add up to all logs.")
            }
            "split" => ("Split: where the weave ran", "Split", ""),
            "crossing" => ("Crossing: what goes from one GPU to the other", "Crossing", ""),
            _ => (
                "Reason: why a split is off",
                "Reason",
                "A log can have several reasons, and none when the split engaged or an old build printed none.",
            ),
        };
        ShareTable { title, column, note, rows: table::rows(name, counts, self.selection.total, &self.selection.query) }
    }
}

/// A part of the stacked bar.
struct Segment {
    outcome: Outcome,
    start: Percent,
    width: Percent,
    middle: Percent,
    has_label: bool,
    row: ShareRow,
}

fn tally(counts: &[Count], key: &str) -> Tally {
    counts.iter().find(|count| count.key.as_deref() == Some(key)).map(|count| count.tally).unwrap_or_default()
}

fn days(trend: &Trend) -> String {
    format!("the {} days to {}", trend.days, trend.until)
}

/// `7.9 % in the 30 days to 2026-09-14, 2.3 points less than before`.
fn change(trend: &Trend, outcome: Outcome) -> String {
    let share = |own: &Spread| Share { count: own.of(outcome), total: own.tally.logs };
    let (now, before) = (share(&trend.now), share(&trend.before));
    if before.total == 0 || now.total == 0 {
        return String::new();
    }
    let points = (now.fraction() - before.fraction()) * 100.0;
    let how = if points.abs() < 0.05 {
        "as before".to_owned()
    } else {
        format!("{:.1} points {} than before", points.abs(), if points > 0.0 { "more" } else { "less" })
    };
    format!("{} in {}, {how}", now.percent(), days(trend))
}
