//! The pictures of the page at `/`: over time, by reason, from adapter to adapter, by kind of everything.

use crate::chart::{self, Chart, Flow, Size};
use crate::grid::{Cell, Grid};
use crate::query::NOT_TOLD;
use crate::share::{Share, counted, thousands};
use crate::spread::{self, MOST_MARKS};
use crate::table::behind;
use crate::{Count, FleetPage, Outcome, words};

impl FleetPage {
    /// Every picture that has something to show; the first is the widest.
    pub fn charts(&self) -> Vec<Chart> {
        let query = &self.selection.query;
        let mut charts = vec![self.days()];
        charts.extend(self.reasons());
        charts.extend(self.flow());
        charts.extend(self.pairs());
        charts.extend(spread::stack("builds", "runtime", "build", &self.by_runtime, query));
        charts.extend(spread::stack("paths", "path", "path", &self.by_path, query));
        charts.extend(spread::stack("programs", "exe", "program", &self.by_exe, query));
        charts
    }

    /// The picture alone.
    pub(crate) fn embed(&self, chart: &Chart) -> String {
        self.selection.query.filters_only().href(&format!("/embed/{}", chart.name))
    }

    pub(crate) fn days(&self) -> Chart {
        let query = &self.selection.query;
        let all: Vec<_> = spread::in_order("day", &self.by_day).into_iter().filter(|own| own.key.is_some()).collect();
        let most = all.iter().map(|own| own.bad()).max().unwrap_or_default();
        let mut worst = all.iter().filter(|own| own.bad() == most && most > 0);
        let title = match (worst.next(), worst.count() as u64) {
            (Some(own), 0) => format!(
                "Worst day: {}, with {} of {} crossing needlessly",
                own.name("day"),
                thousands(most),
                own.tally.logs()
            ),
            (Some(own), more) => format!(
                "Worst days: {} and {}, with {} each crossing needlessly",
                own.name("day"),
                counted(more, "other"),
                counted(most, "log")
            ),
            _ => "No frame crossed needlessly on any day".to_owned(),
        };
        let axis: Vec<_> = all.iter().map(|own| own.name("day")).collect();
        Chart {
            name: "days",
            title,
            note: "Logs by the local day on which their process started. Needlessly: every present crosses, a setting killed the split, or it was taken \
                   back."
                .to_owned(),
            size: Size::Middle,
            option: chart::stacked(&axis, &spread::layers("day", &all, query), "logs"),
            table: spread::table("Logs by day and outcome", "Day", "day", &all, query),
        }
    }

    fn reasons(&self) -> Option<Chart> {
        let mut all: Vec<_> = self.by_reason.iter().filter(|count| count.tally.logs > 0).collect();
        all.sort_by(|a, b| b.tally.logs.cmp(&a.tally.logs).then_with(|| a.key.cmp(&b.key)));
        let first = all.first()?;
        let link =
            |count: &Count| behind(&self.selection.query.with("reason", count.key.as_deref().unwrap_or(NOT_TOLD)));
        let name = |count: &Count| count.key.clone().unwrap_or_else(|| "not told".to_owned());
        let share = Share { count: first.tally.logs, total: self.selection.total.logs };
        let alike = all.iter().filter(|own| own.tally.logs == first.tally.logs).count() as u64 - 1;
        let title = match alike {
            0 => format!(
                "The most frequent reason is {}, in {share} logs ({})",
                chart::short(&name(first)),
                share.percent()
            ),
            more => format!(
                "The most frequent reasons are {} and {}, each in {share} logs ({})",
                chart::short(&name(first)),
                counted(more, "other"),
                share.percent()
            ),
        };
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
            title,
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
                let count = own.of(outcome);
                if count == 0 {
                    continue;
                }
                let query = self.selection.query.with("outcome", outcome.as_str());
                add((0, render), (1, outcome.label()), count, outcome, behind(&query.with("render", render)));
                add((1, outcome.label()), (2, scanout), count, outcome, behind(&query.with("scanout", scanout)));
            }
        }
        let most = flows.iter().filter(|flow| flow.from.0 == 0).map(|flow| flow.count).max()?;
        let mut widest = flows.iter().filter(|flow| flow.from.0 == 0 && flow.count == most);
        let first = widest.next()?;
        let (render, became) = (chart::short(&first.from.1), first.to.1.to_lowercase());
        let title = match widest.count() as u64 {
            0 => format!("The widest stream: {render} renders, {became} in {}", counted(most, "log")),
            more => format!(
                "The widest streams, of {} each: {render} renders, {became}; and {}",
                counted(most, "log"),
                counted(more, "other")
            ),
        };
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
        let all = spread::in_order("gpu_pair", &self.by_gpu_pair);
        let title = spread::worst(&all).map_or_else(
            || "No GPU pair crosses needlessly".to_owned(),
            |own| {
                let share = own.bad_share();
                format!("Worst GPU pair: {}, {share} logs ({})", chart::pair(&own.name("gpu_pair")), share.percent())
            },
        );
        let drawn: Vec<_> = all.iter().take(MOST_MARKS).map(|own| (own.name("gpu_pair"), own.outcomes)).collect();
        if drawn.is_empty() {
            return None;
        }
        let href = |row: usize, outcome: Outcome| {
            behind(&self.selection.query.with("gpu_pair", all[row].key()).with("outcome", outcome.as_str()))
        };
        Some(Chart {
            name: "pairs",
            title,
            note: "Renders on → drives the panel. The shade is the outcome’s share of the pair’s logs, the number counts them.".to_owned(),
            size: Size::Tall,
            option: chart::heat_map(&drawn, &href),
            table: spread::table("Logs by GPU pair and outcome", "GPU pair", "gpu_pair", &all, &self.selection.query),
        })
    }
}

/// The two adapters of a pair. A name that holds the arrow itself cannot be told apart, and is not drawn.
fn sides(pair: &str) -> Option<(&str, &str)> {
    let mut sides = pair.split(" → ");
    match (sides.next(), sides.next(), sides.next()) {
        (Some(render), Some(scanout), None) => Some((render, scanout)),
        _ => None,
    }
}
