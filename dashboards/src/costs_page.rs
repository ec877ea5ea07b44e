//! The page at `/costs`: what crosses the bus between GPUs by day and kind of PC, what the machines of each kind measured, and which
//! of them are off the curve. Sums come with their bounds in words; how many logs are in none of them stands beside.

use askama::Template;
use serde_json::json;

use crate::chart::{self, Chart, Size};
use crate::frame::Frame;
use crate::grid::{Cell, Grid};
use crate::query::NOT_TOLD;
use crate::selection::Selection;
use crate::share::{counted, thousands};
use crate::table::behind;

/// The value of the setting `numbers` that takes the reference laptop's for what logs do not tell.
pub const REFERENCE: &str = "reference";
/// Kinds of PC in the table, and points in a picture's table.
const ROWS: usize = 40;
/// Curves that are drawn at once; the others are folded.
const OPEN: usize = 3;

/// Costs of some logs.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "fleet_costs.html")]
pub struct CostsPage {
    /// What stands around it.
    pub frame: Frame,
    /// Which logs; whether the reference laptop's numbers are taken stands in its query under `numbers`.
    pub selection: Selection,
    /// All of them.
    pub total: Crossed,
    /// Days on which one of them started.
    pub days: u64,
    /// By local day; `key` is the day.
    pub by_day: Vec<CrossedBy>,
    /// By kind of PC; `key` is its id.
    pub by_cohort: Vec<CrossedBy>,
    /// What machines measured, those of the most machines first.
    pub curves: Vec<CurveView>,
    /// More of them.
    pub curves_left_out: u64,
}

/// What crossed in some logs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Crossed {
    /// How many.
    pub logs: u64,
    /// Those whose counters tell it.
    pub measured: u64,
    /// Those of which it is known at all.
    pub known: u64,
    /// At least and at most, bytes.
    pub bytes: (f64, f64),
    /// The same in words, in all and for a day of the selection.
    pub words: [String; 2],
}

/// One group.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CrossedBy {
    /// `None` where logs do not tell.
    pub key: Option<String>,
    /// For people, where that is another.
    pub label: Option<String>,
    /// What crossed.
    pub crossed: Crossed,
}

/// What the machines of one kind measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CurveView {
    /// Kind of PC, its id.
    pub cohort: String,
    /// And its name.
    pub label: Option<String>,
    /// The word of the API.
    pub of: &'static str,
    /// How many.
    pub machines: u64,
    /// Enough for a verdict on each.
    pub is_judged: bool,
    /// What a frame takes whatever its bytes, in words.
    pub fixed: String,
    /// What the link carries by the slope, in words.
    pub rate: Option<String>,
    /// What was measured.
    pub points: Vec<PointView>,
    /// More of it.
    pub points_left_out: u64,
    /// Machines that are off: pseudonym, how many times as long, and the verdict.
    pub off: Vec<(String, f64, &'static str)>,
}

/// Frames of about one size of one machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PointView {
    /// Its pseudonym.
    pub machine: String,
    /// Bytes of a frame.
    pub bytes: f64,
    /// The same in words.
    pub size: String,
    /// What such a frame takes, microseconds.
    pub measured_us: f64,
    /// What the curve says, microseconds.
    pub fitted_us: f64,
}

impl CostsPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn is_reference(&self) -> bool {
        self.selection.query.get("numbers") == Some(REFERENCE)
    }

    fn title(&self) -> String {
        let total = &self.total;
        if total.logs == 0 {
            "No logs whose crossings could cost anything".to_owned()
        } else if total.known == 0 {
            "No log here tells what crossed".to_owned()
        } else if total.bytes.1 == 0.0 {
            "Nothing crosses in the logs that tell".to_owned()
        } else {
            format!("{} cross between GPUs a day", total.words[1])
        }
    }

    /// How much of the answer is known, as sentences.
    fn known(&self) -> String {
        let Crossed { logs, measured, known, words, .. } = &self.total;
        let unknown = logs.saturating_sub(*known);
        format!(
            "{} in all, over {}. Known of {} of {}: {} measured by counters of the log, {} estimated or without a crossing. Of {} it is \
             not known; they are in no sum.",
            if *known == 0 { "Unknown" } else { &words[0] },
            counted(self.days, "day"),
            thousands(*known),
            counted(*logs, "log"),
            thousands(*measured),
            thousands(known.saturating_sub(*measured)),
            counted(unknown, "log"),
        )
    }

    /// Both ways to count: words, address, whether it is shown.
    fn numbers(&self) -> [(&'static str, String, bool); 2] {
        let query = &self.selection.query;
        let is_reference = self.is_reference();
        [
            ("What logs tell", query.without("numbers").href("/costs"), !is_reference),
            (
                "With the reference laptop’s numbers for the rest",
                query.with("numbers", REFERENCE).href("/costs"),
                is_reference,
            ),
        ]
    }

    fn json_href(&self) -> String {
        let query = self.selection.query.filters_only();
        let address = query.href("/api/v1/costs");
        format!("{address}{}group_by=cohort", if address.contains('?') { '&' } else { '?' })
    }

    /// What crossed day by day; `None` where no day tells.
    fn chart(&self) -> Option<Chart> {
        let days: Vec<_> = self.by_day.iter().filter(|own| own.key.is_some() && own.crossed.known > 0).collect();
        let most = days.iter().max_by(|one, other| one.crossed.bytes.1.total_cmp(&other.crossed.bytes.1))?;
        if most.crossed.bytes.1 == 0.0 {
            return None;
        }
        let giga = |bytes: f64| (bytes / 1e6).round() / 1e3;
        let query = &self.selection.query;
        let href = |own: &CrossedBy| behind(&query.with("day", own.key.as_deref().unwrap_or(NOT_TOLD)));
        let data = |of: fn(&Crossed) -> f64| {
            let mark = |own: &&CrossedBy| json!({"value": giga(of(&own.crossed)), "href": href(own)});
            days.iter().map(mark).collect::<Vec<_>>()
        };
        let axis: Vec<_> = days.iter().map(|own| own.key.as_deref().unwrap_or_default()).collect();
        let mut table = Grid::new("What crossed, by day", &["Day", "#Logs", "#Measured", "#Not known", "#Crossed"]);
        for own in &days {
            table.rows.push(own.row(href(own)));
        }
        Some(Chart {
            name: "crossed",
            title: format!(
                "Most crossed on {}: {}",
                most.key.as_deref().unwrap_or_default(),
                most.crossed.words[0]
            ),
            note: "Gigabytes (10^9 bytes) over the bus by the local day on which the process started. The truth lies in the light part of \
                   a bar; logs of which it is not known are in none."
                .to_owned(),
            size: Size::Middle,
            option: json!({
                "grid": {"left": 8, "right": 8, "top": 64, "bottom": 8, "containLabel": true},
                "legend": {"type": "scroll", "top": 0, "left": 0, "itemWidth": 12, "itemHeight": 12},
                "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
                "xAxis": {"type": "category", "data": axis, "axisTick": {"show": false}},
                "yAxis": {"type": "value", "name": "GB"},
                "series": [
                    {"name": "at least", "type": "bar", "stack": "all", "barCategoryGap": "12%", "itemStyle": {"color": "@crossing"},
                        "data": data(|own| own.bytes.0)},
                    {"name": "and up to so much more", "type": "bar", "stack": "all",
                        "itemStyle": {"color": "@crossing", "opacity": 0.4}, "data": data(|own| own.bytes.1 - own.bytes.0)},
                ],
            }),
            table,
        })
    }

    fn cohorts(&self) -> Grid {
        let mut table = Grid::new(
            "What crossed, by kind of PC",
            &["Kind of PC", "#Logs", "#Measured", "#Not known", "#Crossed", "#A day"],
        );
        for own in self.by_cohort.iter().take(ROWS) {
            let key = own.key.as_deref().unwrap_or(NOT_TOLD);
            let mut row = own.row(self.selection.query.with("cohort", key).href("/costs"));
            row.push(own.crossed.word(1).into());
            table.rows.push(row);
        }
        table
    }

    fn more_cohorts(&self) -> Option<String> {
        let more = self.by_cohort.len().saturating_sub(ROWS) as u64;
        (more > 0).then(|| format!("{} not shown.", counted(more, "further kind of PC")))
    }

    fn more_curves(&self) -> String {
        counted(self.curves_left_out, "further kind of PC")
    }

    /// Curves, whether they are open, and the picture of the first where there is something to see.
    fn curves(&self) -> impl Iterator<Item = (bool, &CurveView, Option<Chart>)> {
        let picture = |(place, own): (usize, _)| (place < OPEN, own, CurveView::chart(own).filter(|_| place == 0));
        self.curves.iter().enumerate().map(picture)
    }

    /// Machines that are off, of all curves.
    fn off(&self) -> Vec<(&CurveView, &str, String, &'static str)> {
        let mut off = Vec::new();
        for own in &self.curves {
            let words = |ratio: f64| format!("{ratio:.1} times as long");
            off.extend(
                own.off.iter().map(|(machine, ratio, verdict)| (own, machine.as_str(), words(*ratio), *verdict)),
            );
        }
        off
    }
}

impl Crossed {
    fn word(&self, place: usize) -> &str {
        if self.known == 0 { "unknown" } else { &self.words[place] }
    }
}

impl CrossedBy {
    fn row(&self, href: String) -> Vec<Cell> {
        let name = match (&self.label, &self.key) {
            (Some(label), _) => label.as_str(),
            (None, Some(key)) => key,
            (None, None) => "not told",
        };
        let own = &self.crossed;
        vec![
            Cell::link(name, href),
            thousands(own.logs).into(),
            thousands(own.measured).into(),
            thousands(own.logs.saturating_sub(own.known)).into(),
            own.word(0).into(),
        ]
    }
}

impl CurveView {
    fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.cohort)
    }

    fn what(&self) -> &'static str {
        if self.of == "service_frame" {
            "Time that the service takes for a client’s frame"
        } else {
            "Time between two frames over the bridge"
        }
    }

    /// Behind the name, since a kind of PC can have both.
    fn of_words(&self) -> &'static str {
        if self.of == "service_frame" { "the service’s frames" } else { "frames over the bridge" }
    }

    fn anchor(&self) -> String {
        format!("{}-{}", self.of, self.cohort)
    }

    fn finding(&self) -> String {
        let rate = match &self.rate {
            Some(rate) => format!("{} and {rate}", self.fixed),
            None => format!(
                "{}, whatever its bytes: the link does not hold it up, or all frames are of one size",
                self.fixed
            ),
        };
        format!("{}: {rate}", self.what())
    }

    fn judged(&self) -> String {
        let machines = counted(self.machines, "machine");
        match (self.is_judged, self.off.len() as u64) {
            (false, _) => format!("{machines}: too few for a verdict on one of them."),
            (true, 0) => format!("{machines}, none of them off the curve."),
            (true, off) => format!("{machines}, {} off the curve.", thousands(off)),
        }
    }

    /// What each machine measured over the size of a frame, with the curve; `None` for a single point.
    fn chart(&self) -> Option<Chart> {
        let mut points: Vec<_> = self.points.iter().collect();
        points.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
        if points.len() < 2 {
            return None;
        }
        let at = |bytes: f64, us: f64| [(bytes / 1e4).round() / 100.0, (us / 10.0).round() / 100.0];
        let marks: Vec<_> = points
            .iter()
            .map(|own| {
                let what = format!("{}: {} in {}, {} by the curve", own.machine, own.size, ms(own.measured_us), ms(own.fitted_us));
                let is_off = self.off.iter().any(|(machine, ..)| *machine == own.machine);
                json!({"value": at(own.bytes, own.measured_us), "what": what, "href": format!("/machines/{}", own.machine),
                    "itemStyle": {"color": if is_off { "@crossing" } else { "@quiet" }}})
            })
            .collect();
        let line: Vec<_> = points.iter().map(|own| at(own.bytes, own.fitted_us)).collect();
        Some(Chart {
            name: "curve",
            title: format!(
                "{} off the curve of {}",
                counted(self.off.len() as u64, "machine"),
                chart::short(self.name())
            ),
            note: format!(
                "{}, in milliseconds, over the megabytes of a frame. Each mark is a machine’s frames of about one size, the line the \
                 curve that they share.",
                self.what()
            ),
            size: Size::Middle,
            option: json!({
                "grid": {"left": 8, "right": 24, "top": 32, "bottom": 24, "containLabel": true},
                "tooltip": {"trigger": "item"},
                "xAxis": {"type": "value", "name": "MB a frame", "nameLocation": "middle", "nameGap": 24, "min": 0},
                "yAxis": {"type": "value", "name": "ms", "min": 0},
                "series": [
                    {"name": "measured", "type": "scatter", "symbolSize": 10, "data": marks},
                    {"name": "curve", "type": "line", "symbol": "none", "silent": true, "lineStyle": {"color": "@ink", "width": 1},
                        "data": line},
                ],
            }),
            table: self.table(),
        })
    }

    fn more_points(&self) -> Option<String> {
        let more = self.points_left_out + self.points.len().saturating_sub(ROWS) as u64;
        (more > 0).then(|| format!("{} not shown.", counted(more, "further point")))
    }

    fn table(&self) -> Grid {
        let mut table = Grid::new(
            format!("{}: measured, and what the curve says", self.what()),
            &["Machine", "#A frame", "#Measured", "#By the curve", "#Residual"],
        );
        for own in self.points.iter().take(ROWS) {
            table.rows.push(vec![
                Cell::link(own.machine.as_str(), format!("/machines/{}", own.machine)),
                own.size.as_str().into(),
                ms(own.measured_us).into(),
                ms(own.fitted_us).into(),
                residual(own).into(),
            ]);
        }
        table
    }
}

fn ms(us: f64) -> String {
    format!("{:.2} ms", us / 1000.0)
}

/// What was measured less what the curve says, in time and as a part of the latter.
fn residual(own: &PointView) -> String {
    let (by, part) = (own.measured_us - own.fitted_us, own.measured_us / own.fitted_us - 1.0);
    format!("{:+.2} ms, {:+.0} %", by / 1000.0, part * 100.0)
}
