//! The page at `/`: how the weave fared over all logs, over time, by kind of PC, and on how many machines.

use askama::Template;

use wire::Crossing;

use crate::chart::{self, Chart, Flow, Layer, Size};
use crate::frame::Frame;
use crate::grid::{Cell, Grid};
use crate::selection::Selection;
use crate::share::{Percent, Share, counted, thousands, wilson_95};
use crate::table::{self, ShareRow, ShareTable, behind};
use crate::{Outcome, words};

/// Rows of a heat map, nodes of a flow picture, builds: beyond that a picture is no picture any more.
const MOST_MARKS: usize = 12;
/// Rows of the table below a picture; `/explore` has them all.
const MOST_ROWS: usize = 40;

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

/// One group with its logs by outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spread {
    /// As in [`Count`].
    pub key: Option<String>,
    /// What people call it, where that is not the key.
    pub label: Option<String>,
    /// All of it.
    pub tally: Tally,
    /// Logs in the order of [`Outcome::ALL`].
    pub outcomes: [u64; 6],
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
    fn finding(&self) -> String {
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

    /// Every picture that has something to show; the first is the widest.
    pub fn charts(&self) -> Vec<Chart> {
        let mut charts = vec![self.days()];
        charts.extend(self.reasons());
        charts.extend(self.flow());
        charts.extend(self.pairs());
        charts.extend(self.stack("builds", "runtime", "build", &self.by_runtime));
        charts.extend(self.stack("paths", "path", "path", &self.by_path));
        charts.extend(self.stack("programs", "exe", "program", &self.by_exe));
        charts
    }

    /// Kinds of PC, those first on which most machines have something to repair.
    fn worst(&self) -> Grid {
        let mut rows: Vec<_> = self.by_cohort.iter().filter(|own| bad(own) > 0).collect();
        rows.sort_by_key(|own| std::cmp::Reverse((bad(own), own.tally.machines)));
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
            let key = own.key.as_deref().unwrap_or(crate::query::NOT_TOLD);
            let query = self.selection.query.with("cohort", key);
            let count = |outcome: Outcome| {
                Cell::link(thousands(of(own, outcome)), behind(&query.with("outcome", outcome.as_str())))
            };
            let share = Share { count: bad(own), total: own.tally.logs };
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

    fn days(&self) -> Chart {
        let mut all: Vec<_> = self.by_day.iter().filter(|own| own.key.is_some()).collect();
        all.sort_by(|a, b| a.key.cmp(&b.key));
        let peak = all.iter().max_by_key(|own| of(own, Outcome::Crossing) + of(own, Outcome::Killed));
        let title = match peak {
            Some(own) if bad(own) > 0 => format!(
                "Worst day: {}, with {} of {} crossing every present or killed",
                own.name("day"),
                thousands(of(own, Outcome::Crossing) + of(own, Outcome::Killed)),
                own.tally.logs()
            ),
            _ => "No frame crossed needlessly on any day".to_owned(),
        };
        let axis: Vec<_> = all.iter().map(|own| own.name("day")).collect();
        Chart {
            name: "days",
            title,
            note: "Logs by the local day on which their process started.".to_owned(),
            size: Size::Middle,
            option: chart::stacked(&axis, &self.layers("day", &all), "logs"),
            table: self.spread_table("Logs by day and outcome", "Day", "day", &all),
        }
    }

    fn reasons(&self) -> Option<Chart> {
        let mut all: Vec<_> = self.by_reason.iter().filter(|count| count.tally.logs > 0).collect();
        all.sort_by(|a, b| b.tally.logs.cmp(&a.tally.logs).then_with(|| a.key.cmp(&b.key)));
        let first = all.first()?;
        let link = |count: &Count| {
            behind(&self.selection.query.with("reason", count.key.as_deref().unwrap_or(crate::query::NOT_TOLD)))
        };
        let name = |count: &Count| count.key.clone().unwrap_or_else(|| "not told".to_owned());
        let share = Share { count: first.tally.logs, total: self.selection.total.logs };
        let bars: Vec<_> =
            all.iter().take(MOST_MARKS).map(|count| (name(count), count.tally.logs, link(count))).collect();
        let mut table = Grid::new(
            "Reasons by logs",
            &["Reason", "What it means", "#Logs", "#Share", "#95 % interval", "#Machines"],
        );
        for count in &all {
            let share = Share { count: count.tally.logs, total: self.selection.total.logs };
            let meaning = words::word("reason", count.key.as_deref().unwrap_or_default()).meaning;
            table.rows.push(vec![
                Cell::link(name(count), link(count)),
                meaning.into(),
                share.to_string().into(),
                share.percent().into(),
                share.interval().into(),
                thousands(count.tally.machines).into(),
            ]);
        }
        Some(Chart {
            name: "reasons",
            title: format!(
                "The most frequent reason is {}, in {} logs ({})",
                chart::short(&name(first)),
                share,
                share.percent()
            ),
            note: "A log can have several reasons, and none when the split engaged.".to_owned(),
            size: Size::Middle,
            option: chart::pareto(&bars),
            table,
        })
    }

    /// From the adapter that renders through what became of it to the adapter that drives the panel.
    fn flow(&self) -> Option<Chart> {
        let mut pairs: Vec<_> =
            self.by_gpu_pair.iter().filter_map(|own| Some((own, sides(own.key.as_deref()?)?))).collect();
        pairs.sort_by_key(|(own, _)| std::cmp::Reverse(own.tally.logs));
        let left_out = pairs.len().saturating_sub(MOST_MARKS);
        pairs.truncate(MOST_MARKS);
        let mut flows: Vec<Flow> = Vec::new();
        let mut add = |from: (usize, &str), to: (usize, &str), count: u64, outcome: Outcome, href: String| {
            let known = flows.iter_mut().find(|flow| {
                flow.outcome == outcome
                    && (flow.from.0, flow.from.1.as_str()) == from
                    && (flow.to.0, flow.to.1.as_str()) == to
            });
            match known {
                Some(flow) => flow.count += count,
                None => flows.push(Flow {
                    from: (from.0, from.1.to_owned()),
                    to: (to.0, to.1.to_owned()),
                    count,
                    outcome,
                    href,
                }),
            }
        };
        for (own, (render, scanout)) in &pairs {
            for outcome in Outcome::ALL {
                let count = of(own, outcome);
                if count == 0 {
                    continue;
                }
                let query = self.selection.query.with("outcome", outcome.as_str());
                add((0, render), (1, outcome.label()), count, outcome, behind(&query.with("render", render)));
                add((1, outcome.label()), (2, scanout), count, outcome, behind(&query.with("scanout", scanout)));
            }
        }
        let largest = flows.iter().filter(|flow| flow.from.0 == 0).max_by_key(|flow| flow.count)?;
        let title = format!(
            "The widest stream: {} renders, {} in {}",
            chart::short(&largest.from.1),
            largest.to.1.to_lowercase(),
            counted(largest.count, "log")
        );
        let mut table = Grid::new("Streams from adapter to adapter", &["From", "To", "#Logs"]);
        for flow in &flows {
            table.rows.push(vec![
                flow.from.1.as_str().into(),
                flow.to.1.as_str().into(),
                Cell::link(thousands(flow.count), flow.href.clone()),
            ]);
        }
        let note = if left_out == 0 {
            String::new()
        } else {
            format!("{} with fewer logs are not drawn.", counted(left_out as u64, "GPU pair"))
        };
        Some(Chart {
            name: "flow",
            title,
            note: format!("Left: renders the app. Middle: what became of the split. Right: drives the panel. {note}"),
            size: Size::Tall,
            option: chart::sankey(&flows),
            table,
        })
    }

    fn pairs(&self) -> Option<Chart> {
        let mut all: Vec<_> = self.by_gpu_pair.iter().filter(|own| own.tally.logs > 0).collect();
        all.sort_by_key(|own| std::cmp::Reverse(own.tally.logs));
        let worst = all.iter().filter(|own| bad(own) > 0).max_by(|a, b| surely(a).total_cmp(&surely(b)));
        let title = worst.map_or_else(
            || "No GPU pair crosses needlessly".to_owned(),
            |own| {
                let share = Share { count: bad(own), total: own.tally.logs };
                format!("Worst GPU pair: {}, {} of its logs", chart::short(&own.name("gpu_pair")), share.percent())
            },
        );
        let drawn: Vec<_> = all.iter().take(MOST_MARKS).map(|own| (own.name("gpu_pair"), own.outcomes)).collect();
        if drawn.is_empty() {
            return None;
        }
        let href = |row: usize, outcome: Outcome| {
            let key = all[row].key.as_deref().unwrap_or(crate::query::NOT_TOLD);
            behind(&self.selection.query.with("gpu_pair", key).with("outcome", outcome.as_str()))
        };
        Some(Chart {
            name: "pairs",
            title,
            note: "Renders on → drives the panel. The shade is the outcome’s share of the pair’s logs, the number counts them.".to_owned(),
            size: Size::Tall,
            option: chart::heat_map(&drawn, &href),
            table: self.spread_table("Logs by GPU pair and outcome", "GPU pair", "gpu_pair", &all),
        })
    }

    fn stack(&self, name: &'static str, dimension: &'static str, noun: &str, groups: &[Spread]) -> Option<Chart> {
        let mut all: Vec<_> = groups.iter().filter(|own| own.tally.logs > 0).collect();
        all.sort_by_key(|own| std::cmp::Reverse(own.tally.logs));
        let worst = all.iter().filter(|own| bad(own) > 0).max_by(|a, b| surely(a).total_cmp(&surely(b))).map_or_else(
            || format!("No {noun} crosses needlessly"),
            |own| {
                let share = Share { count: bad(own), total: own.tally.logs };
                format!(
                    "Worst {noun}: {}, {} of {} ({})",
                    chart::short(&own.name(dimension)),
                    thousands(share.count),
                    own.tally.logs(),
                    share.percent()
                )
            },
        );
        let mut drawn: Vec<_> = all.iter().take(MOST_MARKS).copied().collect();
        if dimension == "runtime" {
            drawn.sort_by_cached_key(|own| version(own.key.as_deref().unwrap_or_default()));
        }
        if drawn.is_empty() {
            return None;
        }
        let axis: Vec<_> = drawn.iter().map(|own| own.name(dimension)).collect();
        Some(Chart {
            name,
            title: worst,
            note: String::new(),
            size: Size::Middle,
            option: chart::stacked(&axis, &self.layers(dimension, &drawn), "logs"),
            table: self.spread_table(&format!("Logs by {noun} and outcome"), noun, dimension, &all),
        })
    }

    fn layers(&self, dimension: &str, groups: &[&Spread]) -> Vec<Layer> {
        let query = &self.selection.query;
        let mark = |own: &Spread, outcome: Outcome| {
            let key = own.key.as_deref().unwrap_or(crate::query::NOT_TOLD);
            (of(own, outcome), behind(&query.with(dimension, key).with("outcome", outcome.as_str())))
        };
        let layers = Outcome::ALL
            .into_iter()
            .map(|outcome| Layer { outcome, marks: groups.iter().map(|own| mark(own, outcome)).collect() });
        layers.filter(|layer| layer.marks.iter().any(|(count, _)| *count > 0)).collect()
    }

    fn spread_table(&self, caption: &str, heading: &str, dimension: &str, groups: &[&Spread]) -> Grid {
        let labels = Outcome::ALL.map(|outcome| format!("#{}", outcome.label()));
        let mut columns = vec![heading, "#Logs", "#Machines"];
        columns.extend(labels.iter().map(String::as_str));
        columns.extend(["#Needless", "#95 % interval"]);
        let mut grid = Grid::new(caption, &columns);
        for own in groups.iter().take(if dimension == "day" { groups.len() } else { MOST_ROWS }) {
            let query = self.selection.query.with(dimension, own.key.as_deref().unwrap_or(crate::query::NOT_TOLD));
            let mut row = vec![
                Cell::link(own.name(dimension), behind(&query)),
                thousands(own.tally.logs).into(),
                thousands(own.tally.machines).into(),
            ];
            row.extend(Outcome::ALL.map(|outcome| match of(own, outcome) {
                0 => Cell::from("0"),
                count => Cell::link(thousands(count), behind(&query.with("outcome", outcome.as_str()))),
            }));
            let share = Share { count: bad(own), total: own.tally.logs };
            row.extend([share.percent().into(), share.interval().into()]);
            grid.rows.push(row);
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

impl Spread {
    /// What the page calls it.
    pub(crate) fn name(&self, dimension: &str) -> String {
        if let Some(label) = &self.label {
            return label.clone();
        }
        words::word(dimension, self.key.as_deref().unwrap_or(crate::query::NOT_TOLD)).label
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

/// Logs of a group with this outcome.
pub(crate) fn of(own: &Spread, outcome: Outcome) -> u64 {
    Outcome::ALL.iter().position(|one| *one == outcome).map_or(0, |place| own.outcomes[place])
}

/// Logs of a group in which something could be better.
pub(crate) fn bad(own: &Spread) -> u64 {
    [Outcome::Crossing, Outcome::Killed, Outcome::TakenBack].into_iter().map(|outcome| of(own, outcome)).sum()
}

/// The share that a group has at least, whatever chance did: so one bad log of one is not the worst group.
fn surely(own: &Spread) -> f64 {
    wilson_95(bad(own), own.tally.logs).map_or(0.0, |(low, _)| low)
}

/// The two adapters of a pair. A name that holds the arrow itself cannot be told apart, and is not drawn.
fn sides(pair: &str) -> Option<(&str, &str)> {
    let mut sides = pair.split(" → ");
    match (sides.next(), sides.next(), sides.next()) {
        (Some(render), Some(scanout), None) => Some((render, scanout)),
        _ => None,
    }
}

/// Numbers in a version sort as numbers.
pub(crate) fn version(text: &str) -> Vec<(u64, String)> {
    let parts = text.split(['.', '-']);
    parts.map(|part| (part.trim_start_matches('v').parse().unwrap_or(u64::MAX), part.to_owned())).collect()
}

fn days(trend: &Trend) -> String {
    format!("the {} days to {}", trend.days, trend.until)
}

/// `7.9 % in the 30 days to 2026-09-14, 2.3 points less than before`.
fn change(trend: &Trend, outcome: Outcome) -> String {
    let share = |own: &Spread| Share { count: of(own, outcome), total: own.tally.logs };
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
