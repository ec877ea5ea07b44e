//! The page at `/embed/{chart}`: one picture of the page at `/`, for the frame of a wiki or for a wall.

use askama::Template;

use crate::FleetPage;
use crate::chart::Chart;
use crate::frame::Frame;

/// The pictures that can stand alone, as [`FleetPage::charts`] names them.
pub const EMBEDDED: [&str; 7] = ["days", "reasons", "flow", "pairs", "builds", "paths", "programs"];

/// One picture with its finding.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "embed.html")]
pub struct EmbedPage {
    /// Not drawn: there is no rail.
    pub frame: Frame,
    /// One of [`EMBEDDED`].
    pub name: &'static str,
    /// The page that the picture is of; the groups that it does not draw may be missing.
    pub fleet: FleetPage,
    /// When the numbers were asked for, RFC 3339.
    pub as_of: String,
}

impl EmbedPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    /// `None` when these logs have nothing to draw.
    fn chart(&self) -> Option<Chart> {
        let total = self.fleet.selection.total;
        self.fleet.charts().into_iter().find(|chart| chart.name == self.name && total.logs > 0)
    }

    /// The heading where there is no picture.
    fn nothing(&self) -> String {
        let total = self.fleet.selection.total;
        if total.logs == 0 {
            self.fleet.finding()
        } else {
            format!("None of {} tells what is drawn here", total.logs())
        }
    }

    /// The same picture among all others.
    fn whole_page(&self) -> String {
        format!("{}#{}", self.fleet.selection.query.href("/"), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, Outcome, Spread, Tally};

    fn full() -> FleetPage {
        let tally = Tally { logs: 3, machines: 2 };
        let spread = |key: &str| {
            let mut outcomes = [0; 6];
            outcomes[Outcome::ALL.iter().position(|own| *own == Outcome::Crossing).expect("it is one")] = 3;
            vec![Spread { key: Some(key.to_owned()), tally, outcomes, ..Spread::default() }]
        };
        let mut page = FleetPage {
            by_reason: vec![Count { key: Some("no_hwnd".to_owned()), tally }],
            by_path: spread("d3d11"),
            by_gpu_pair: spread("A → B"),
            by_runtime: spread("2.13.0"),
            by_exe: spread("a.exe"),
            by_day: spread("2026-09-14"),
            ..FleetPage::default()
        };
        page.selection.total = tally;
        page.selection.whole = tally;
        page
    }

    #[test]
    fn every_picture_can_stand_alone() {
        let names: Vec<_> = full().charts().iter().map(|chart| chart.name).collect();
        assert_eq!(names, EMBEDDED);
        for name in EMBEDDED {
            let page = EmbedPage { name, fleet: full(), ..EmbedPage::default() }.render().expect("memory");
            assert_eq!(page.matches("<figure").count(), 1, "{name}");
            assert_eq!(page.matches("<h1").count(), 1, "{name}");
        }
    }

    #[test]
    fn without_anything_to_draw_the_heading_says_so() {
        let mut fleet = full();
        fleet.by_reason.clear();
        let page = EmbedPage { name: "reasons", fleet, ..EmbedPage::default() };
        assert!(page.render().expect("memory").contains("<h1>None of 3 logs tells what is drawn here</h1>"));
        let empty = EmbedPage { name: "days", ..EmbedPage::default() };
        assert!(empty.render().expect("memory").contains("<h1>No logs yet</h1>"));
    }
}
