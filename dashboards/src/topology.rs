//! A PC as a drawing: a box for each adapter, a line to each output, the 3D panel marked, an arrow where the weave runs, and
//! a bold line where pictures cross from one adapter to the other.
//!
//! The two adapters that matter come first, render above scanout, whatever their order in the PC. Names are made short here,
//! because a box has no room; the tables beside the drawing have them whole.

use wire::{Adapter, Cost, Crossing, Luid, Split, Verdict};

use crate::share::counted;
use crate::{chart, visible};

/// What is drawn.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Topology {
    /// As far as they are told, in any order.
    pub adapters: Vec<Gpu>,
    /// Monitors, where they are told.
    pub outputs: Vec<Output>,
    /// Width and height of the 3D panel in pixels, where they are told.
    pub panel: Option<(u32, u32)>,
    /// What a log of it says.
    pub verdict: Option<Verdict>,
    /// What the crossing costs.
    pub cost: Option<Cost>,
}

/// One adapter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Gpu {
    /// DXGI's description.
    pub name: String,
    /// Within the boot.
    pub luid: Option<Luid>,
    /// Dedicated memory.
    pub vram_mib: Option<u64>,
    /// WARP and its like, a remote desktop's.
    pub set_aside: bool,
}

/// One monitor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The adapter that drives it.
    pub luid: Luid,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// It is the 3D panel.
    pub is_panel: bool,
}

/// The drawing, in its own units: about a pixel each.
pub(crate) struct Drawing {
    pub(crate) height: u32,
    pub(crate) boxes: Vec<DrawnBox>,
    pub(crate) crossing: Option<DrawnCrossing>,
    /// Adapters that were not drawn.
    pub(crate) more: usize,
    /// For those who do not see it.
    pub(crate) label: String,
}

pub(crate) struct DrawnBox {
    pub(crate) y: u32,
    pub(crate) name: String,
    pub(crate) about: String,
    /// `renders, weaves, drives the panel`; empty for one without a part.
    pub(crate) roles: String,
    pub(crate) weaves: bool,
    pub(crate) takes_part: bool,
    pub(crate) outputs: Vec<DrawnOutput>,
}

pub(crate) struct DrawnOutput {
    pub(crate) y: u32,
    pub(crate) label: &'static str,
    pub(crate) size: String,
    pub(crate) is_panel: bool,
}

pub(crate) struct DrawnCrossing {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The word of an outcome, for its colour.
    pub(crate) class: &'static str,
    pub(crate) what: &'static str,
    pub(crate) cost: String,
}

/// Of a box, and between two of them.
const BOX: u32 = 76;
const GAP: u32 = 16;
const CROSSING_GAP: u32 = 64;
/// Outputs beside one box; each needs this much room.
const OUTPUTS: usize = 3;
const OUTPUT: u32 = 52;
/// Adapters without a part that are drawn.
const OTHERS: usize = 3;
/// Letters of a name that a box has room for.
const LETTERS: usize = 30;

impl Topology {
    /// Whether there is anything to draw.
    pub(crate) fn is_told(&self) -> bool {
        !self.adapters.is_empty() || self.render().is_some() || self.scanout().is_some()
    }

    fn render(&self) -> Option<&Adapter> {
        self.verdict.as_ref()?.render.as_ref()
    }

    fn scanout(&self) -> Option<&Adapter> {
        self.verdict.as_ref()?.scanout.as_ref()
    }

    pub(crate) fn drawing(&self) -> Drawing {
        let (render, scanout) = (self.render(), self.scanout());
        let crossing = self.verdict.as_ref().map_or(Crossing::Unknown, |verdict| verdict.crossing);
        let together = match (render, scanout) {
            (Some(render), Some(scanout)) => render.luid == scanout.luid || crossing == Crossing::None,
            _ => false,
        };
        let mut parts: Vec<Gpu> = Vec::new();
        parts.extend(render.map(|own| self.gpu(own)));
        parts.extend(scanout.filter(|_| !together).map(|own| self.gpu(own)));
        let actors = parts.len();
        let others: Vec<_> = self.adapters.iter().filter(|own| parts.iter().all(|part| !is_same(own, part))).collect();
        let more = others.len().saturating_sub(OTHERS);
        parts.extend(others.into_iter().take(OTHERS).cloned());
        let mut drawing = Drawing { height: 0, boxes: Vec::new(), crossing: None, more, label: String::new() };
        let mut y = 4;
        for (at, gpu) in parts.iter().enumerate() {
            let takes_part = at < actors;
            let drawn = self.drawn(gpu, takes_part, y);
            let outputs = drawn.outputs.len() as u32;
            let height = BOX.max(outputs * OUTPUT);
            if at == 0 && actors == 2 {
                drawing.crossing = Some(self.crossing(crossing, y + BOX, y + height + CROSSING_GAP));
                y += height + CROSSING_GAP;
            } else {
                y += height + GAP;
            }
            drawing.boxes.push(drawn);
        }
        drawing.height = (y - GAP + 4).max(BOX);
        drawing.label = label(&drawing);
        drawing
    }

    /// The listed adapter that a verdict names, or one of which no more is told.
    fn gpu(&self, own: &Adapter) -> Gpu {
        let by_luid = self.adapters.iter().find(|gpu| gpu.luid == Some(own.luid));
        let found = by_luid.or_else(|| self.adapters.iter().find(|gpu| gpu.luid.is_none() && gpu.name == own.name));
        let mut gpu = found.cloned().unwrap_or_else(|| Gpu { name: own.name.clone(), ..Gpu::default() });
        gpu.luid = Some(own.luid);
        gpu
    }

    fn drawn(&self, gpu: &Gpu, takes_part: bool, y: u32) -> DrawnBox {
        let is = |own: Option<&Adapter>| takes_part && own.is_some_and(|own| gpu.luid == Some(own.luid));
        let split = self.verdict.as_ref().map(|verdict| verdict.split);
        let (renders, drives) = (is(self.render()), is(self.scanout()));
        let weaves = match split {
            Some(Split::Engaged) => drives,
            Some(Split::Off) => renders,
            Some(Split::Unknown) | None => false,
        };
        let roles = [(renders, "renders"), (weaves, "weaves"), (drives, "drives the panel")];
        let roles: Vec<_> = roles.into_iter().filter(|(is, _)| *is).map(|(_, role)| role).collect();
        let about = [
            gpu.luid.map(|luid| luid.to_string()),
            gpu.vram_mib.map(|mib| format!("{mib} MiB")),
            gpu.set_aside.then(|| "left out of the ranking".to_owned()),
        ];
        let about: Vec<_> = about.into_iter().flatten().collect();
        DrawnBox {
            y,
            name: fitted(&chart::gpu(&gpu.name), LETTERS),
            about: about.join(" · "),
            roles: roles.join(", "),
            weaves,
            takes_part,
            outputs: self.outputs(gpu, drives, y),
        }
    }

    fn outputs(&self, gpu: &Gpu, drives: bool, y: u32) -> Vec<DrawnOutput> {
        let size =
            |(width, height): (u32, u32)| if width == 0 { String::new() } else { format!("{width} × {height}") };
        let own = self.outputs.iter().filter(|output| gpu.luid == Some(output.luid));
        let mut told: Vec<_> = own.map(|output| (output.is_panel, size(output.size))).collect();
        if drives && told.iter().all(|(is_panel, _)| !is_panel) {
            told.insert(0, (true, self.panel.map(size).unwrap_or_default()));
        }
        told.sort_by_key(|(is_panel, _)| !is_panel);
        told.truncate(OUTPUTS);
        let first = if told.len() == 1 { y + (BOX - OUTPUT) / 2 } else { y };
        let drawn = told.into_iter().zip(0..).map(|((is_panel, size), place)| DrawnOutput {
            y: first + place * OUTPUT,
            label: if is_panel { "3D panel" } else { "Monitor" },
            size,
            is_panel,
        });
        drawn.collect()
    }

    fn crossing(&self, crossing: Crossing, from: u32, to: u32) -> DrawnCrossing {
        let (class, what) = match crossing {
            Crossing::AtlasPerFrame => ("engaged", "One atlas per rendered frame crosses"),
            Crossing::EveryPresent => ("crossing", "Every present crosses"),
            Crossing::None | Crossing::Unknown => ("unknown", "What crosses cannot be told"),
        };
        let cost = self.cost.filter(|cost| cost.bytes_per_second > 0).map_or_else(String::new, |cost| {
            let share = cost.frame_share * 100.0;
            format!("{:.1} GB/s, {share:.0} % of a frame’s time", cost.bytes_per_second as f64 / 1e9)
        });
        DrawnCrossing { from, to, class, what, cost }
    }
}

impl Drawing {
    pub(crate) fn more_words(&self) -> String {
        counted(self.more as u64, "further adapter")
    }
}

impl DrawnBox {
    /// Where the middle of its side is.
    pub(crate) fn middle(&self) -> u32 {
        self.y + BOX / 2
    }
}

impl DrawnOutput {
    pub(crate) fn middle(&self) -> u32 {
        self.y + OUTPUT / 2
    }
}

fn is_same(own: &Gpu, other: &Gpu) -> bool {
    match (own.luid, other.luid) {
        (Some(own), Some(other)) => own == other,
        _ => own.name == other.name,
    }
}

fn label(drawing: &Drawing) -> String {
    let told = |own: &DrawnBox| {
        let roles = if own.roles.is_empty() { "takes no part" } else { &own.roles };
        format!("{} {roles}", own.name)
    };
    let mut parts: Vec<_> = drawing.boxes.iter().map(told).collect();
    parts.extend(drawing.crossing.as_ref().map(|own| own.what.to_owned()));
    format!("The PC drawn: {}.", parts.join("; "))
}

/// As much of a name as has room for so many letters: a drawing neither wraps nor grows. Hidden characters are written out
/// first, as they will be shown.
fn fitted(name: &str, letters: usize) -> String {
    let shown = visible::plain(name);
    let mut room = letters * 10;
    let fits = |letter: &char| {
        let width = match *letter {
            'W' | 'M' | 'm' | 'w' | '@' | '%' => 19,
            'A'..='Z' | '\u{80}'..='\u{10ff}' => 13,
            '\u{0}'..='\u{7f}' => 10,
            // Ideographs and pictures.
            _ => 26,
        };
        let fits = room >= width;
        room = room.saturating_sub(width);
        fits
    };
    let kept: String = shown.chars().take_while(fits).collect();
    if kept.len() < shown.len() { kept + "…" } else { kept }
}

#[cfg(test)]
mod tests {
    use wire::Basis;

    use super::*;

    fn gpu(name: &str, luid: u64) -> Gpu {
        Gpu { name: name.to_owned(), luid: Some(Luid(luid)), ..Gpu::default() }
    }

    fn verdict(split: Split, crossing: Crossing, scanout: u64) -> Verdict {
        let adapter = |luid| Some(Adapter { name: format!("gpu {luid}"), luid: Luid(luid) });
        Verdict {
            split,
            crossing,
            interop_crossing: false,
            reasons: Vec::new(),
            killed: false,
            retired: false,
            basis: Basis::Stated,
            render: adapter(1),
            scanout: adapter(scanout),
            line: None,
        }
    }

    #[test]
    fn render_stands_above_scanout_and_the_weave_where_it_ran() {
        let adapters = vec![gpu("gpu 3", 3), gpu("gpu 2", 2), gpu("gpu 1", 1)];
        for (split, crossing, weaves) in [
            (Split::Engaged, Crossing::AtlasPerFrame, [false, true]),
            (Split::Off, Crossing::EveryPresent, [true, false]),
        ] {
            let own = Topology {
                adapters: adapters.clone(),
                verdict: Some(verdict(split, crossing, 2)),
                panel: Some((3840, 2160)),
                ..Topology::default()
            };
            let drawing = own.drawing();
            let names: Vec<_> = drawing.boxes.iter().map(|own| own.name.as_str()).collect();
            assert_eq!(names, ["gpu 1", "gpu 2", "gpu 3"]);
            assert_eq!([drawing.boxes[0].weaves, drawing.boxes[1].weaves], weaves);
            let crossing = drawing.crossing.expect("two adapters take part");
            assert!(crossing.from < crossing.to && crossing.to == drawing.boxes[1].y);
            assert_eq!(drawing.boxes[1].outputs.len(), 1);
            assert_eq!(drawing.boxes[1].outputs[0].size, "3840 × 2160");
        }
    }

    #[test]
    fn one_adapter_does_it_all_and_nobody_else_is_guessed() {
        let own = Topology { verdict: Some(verdict(Split::Off, Crossing::None, 1)), ..Topology::default() };
        let drawing = own.drawing();
        assert_eq!(drawing.boxes[0].roles, "renders, weaves, drives the panel");
        assert!(drawing.crossing.is_none() && drawing.boxes.len() == 1);
        assert!(!Topology::default().is_told());
        let many =
            Topology { adapters: (1..=9).map(|luid| gpu(&"x".repeat(4_000), luid)).collect(), ..Topology::default() };
        let drawing = many.drawing();
        assert_eq!((drawing.boxes.len(), drawing.more), (3, 6));
        assert!(drawing.boxes.iter().all(|own| own.name.chars().count() == LETTERS + 1));
        // Wide letters leave room for fewer.
        assert_eq!(fitted(&"W".repeat(40), LETTERS).chars().count(), 16);
        assert_eq!(fitted("\u{202e}显卡", LETTERS), "‹U+202E›显卡");
    }
}
