//! The page at `/health`: whether logs keep coming. Agents by version and last contact, what waits and what was lost on the
//! way, what was refused, and the server itself.

use askama::Template;

use crate::alert_lines::AlertLine;
use crate::frame::Frame;
use crate::grid::{Cell, Grid};
use crate::share::{Share, counted, thousands};

/// Ages of a contact, in the order of the table.
pub const AGES: [(&str, i64); 4] = [
    ("within the last hour", 3_600),
    ("within a day", 86_400),
    ("within a week", 604_800),
    ("within 30 days", 2_592_000),
];

/// How everything runs.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "health.html")]
pub struct HealthPage {
    /// What stands around it.
    pub frame: Frame,
    /// Machines that are known.
    pub machines: u64,
    /// Machines by [`AGES`] of their last contact; each number holds those before it.
    pub contacts: [u64; 4],
    /// When the newest upload was stored, RFC 3339.
    pub last_upload: Option<String>,
    /// How long ago that was.
    pub lag_s: Option<u64>,
    /// Version, machines, newest contact.
    pub versions: Vec<(Option<String>, u64, Option<String>)>,
    /// The machines that were heard of longest ago: id, version, last contact.
    pub silent: Vec<(String, Option<String>, Option<String>)>,
    /// Agents with something that waits, or that read slowly.
    pub waiting: Vec<Waiting>,
    /// Bytes that wait on the disks of all agents that were asked.
    pub waiting_bytes: u64,
    /// By reason.
    pub losses: Vec<LossRow>,
    /// Refused segments that are kept, and those of the last seven days.
    pub refused: (u64, u64),
    /// The newest of them.
    pub newest_refused: Vec<Refused>,
    /// Unknown words that logs hold.
    pub unknown_words: u64,
    /// What the rules of alerts found; `None` without rules.
    pub alerts: Option<Vec<AlertLine>>,
    /// The server itself: name, value.
    pub server: Vec<(&'static str, String)>,
    /// Why uploads are refused just now; empty when they are not.
    pub trouble: String,
    /// What somebody should do with it some time.
    pub hints: Vec<String>,
}

/// An agent that is behind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// Its machine.
    pub machine: String,
    /// When it said so, RFC 3339.
    pub at: String,
    /// What waits.
    pub queue_bytes: u64,
    /// For how long.
    pub lag_s: u64,
    /// Why it reads slowly.
    pub slowed: Option<String>,
}

/// What was lost for one reason.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LossRow {
    /// As agents name it.
    pub reason: String,
    /// Machines that lost something so.
    pub machines: u64,
    /// Bytes of logs.
    pub bytes: f64,
    /// Events.
    pub events: f64,
}

/// A segment that was refused.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refused {
    /// Which machine sent it.
    pub machine: String,
    /// When, RFC 3339.
    pub received: String,
    /// Why it was refused.
    pub reason: String,
    /// How long it was.
    pub size_bytes: u64,
}

impl HealthPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    /// What the page finds, in one sentence.
    fn finding(&self) -> String {
        let heard = Share { count: self.contacts[1], total: self.machines };
        match self.lag_s {
            _ if !self.trouble.is_empty() => self.trouble.clone(),
            None => "Nothing was ever uploaded".to_owned(),
            Some(lag) if lag > 86_400 => format!("Nothing was uploaded for {}", ago(lag)),
            Some(_) if self.contacts[1] < self.machines => {
                format!("{heard} machines were heard of within a day ({})", heard.percent())
            }
            Some(_) => format!("All {} were heard of within a day", counted(self.machines, "machine")),
        }
    }

    fn lag(&self) -> String {
        self.lag_s.map_or_else(|| "never".to_owned(), |lag| format!("{} ago", ago(lag)))
    }

    /// The numbers of the row at the top: label, number, what it is of.
    fn headlines(&self) -> [(&'static str, String, String, &'static str); 5] {
        let heard = Share { count: self.contacts[1], total: self.machines };
        let lost = self.losses.iter().map(|own| own.events).sum::<f64>();
        [
            ("Newest upload", self.lag(), String::new(), "/live"),
            ("Heard of within a day", heard.percent(), format!("{heard} machines, {}", heard.interval()), "#contact"),
            (
                "Waits on agents",
                bytes(self.waiting_bytes as f64),
                counted(self.waiting.len() as u64, "agent"),
                "#waiting",
            ),
            ("Lost events", float(lost), counted(self.losses.len() as u64, "reason"), "#losses"),
            (
                "Refused segments",
                thousands(self.refused.0),
                format!("{} in seven days", thousands(self.refused.1)),
                "#refused",
            ),
        ]
    }

    fn contact(&self) -> Grid {
        let mut grid =
            Grid::new("Machines by last contact", &["Last contact", "#Machines", "#Share", "#95 % interval"]);
        let ages = AGES.iter().map(|(label, _)| *label).zip(self.contacts).chain([("ever", self.machines)]);
        for (label, count) in ages {
            let share = Share { count, total: self.machines };
            grid.rows.push(vec![
                label.into(),
                Cell::link(share.to_string(), "/machines"),
                share.percent().into(),
                share.interval().into(),
            ]);
        }
        grid
    }

    fn lost(&self) -> Grid {
        let mut grid = Grid::new("What will never arrive, by reason", &["Reason", "#Machines", "#Bytes", "#Events"]);
        for own in &self.losses {
            let row = [thousands(own.machines), bytes(own.bytes), float(own.events)];
            grid.rows.push(std::iter::once(own.reason.clone()).chain(row).map(Cell::from).collect());
        }
        grid
    }

    fn words(&self) -> String {
        counted(self.unknown_words, "unknown word")
    }
}

impl Waiting {
    pub(crate) fn queue(&self) -> String {
        bytes(self.queue_bytes as f64)
    }

    pub(crate) fn lag(&self) -> String {
        if self.lag_s == 0 { "–".to_owned() } else { ago(self.lag_s) }
    }
}

impl Refused {
    pub(crate) fn size(&self) -> String {
        bytes(self.size_bytes as f64)
    }
}

/// `3 minutes`: one unit is enough.
fn ago(seconds: u64) -> String {
    match seconds {
        0..120 => counted(seconds, "second"),
        120..7_200 => counted(seconds / 60, "minute"),
        7_200..172_800 => counted(seconds / 3_600, "hour"),
        _ => counted(seconds / 86_400, "day"),
    }
}

/// `1.4 MB`.
pub fn bytes(number: f64) -> String {
    let (mut number, mut unit) = (number, 0);
    while number >= 1000.0 && unit < 5 {
        number /= 1000.0;
        unit += 1;
    }
    let unit = ["B", "kB", "MB", "GB", "TB", "PB"][unit];
    if unit == "B" { format!("{number:.0}\u{a0}B") } else { format!("{number:.1}\u{a0}{unit}") }
}

/// A whole number that may be beyond all bounds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast stops at both ends")]
fn float(number: f64) -> String {
    if number < 1e15 { thousands(number as u64) } else { format!("{number:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_have_one_unit() {
        let told: Vec<_> = [0.0, 999.0, 1_400.0, 2_500_000.0, 1e30].into_iter().map(bytes).collect();
        assert_eq!(told, ["0\u{a0}B", "999\u{a0}B", "1.4\u{a0}kB", "2.5\u{a0}MB", "1000000000000000.0\u{a0}PB"]);
        assert_eq!(
            [1, 119, 180, 86_400, 864_000].map(ago),
            ["1 second", "119 seconds", "3 minutes", "24 hours", "10 days"]
        );
        assert_eq!((float(1_234.0), float(1e20)), ("1,234".to_owned(), "1.0e20".to_owned()));
    }

    #[test]
    fn the_worst_news_come_first() {
        let mut page = HealthPage { machines: 4, contacts: [1, 4, 4, 4], ..HealthPage::default() };
        assert_eq!(page.finding(), "Nothing was ever uploaded");
        page.lag_s = Some(60);
        assert_eq!(page.finding(), "All 4 machines were heard of within a day");
        page.contacts[1] = 3;
        assert!(page.finding().starts_with("3 of 4 machines"));
        page.lag_s = Some(864_000);
        assert_eq!(page.finding(), "Nothing was uploaded for 10 days");
        "The disk is nearly full".clone_into(&mut page.trouble);
        assert_eq!(page.finding(), "The disk is nearly full");
    }
}
