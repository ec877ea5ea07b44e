//! The topology as a small drawing: a box for each adapter, a line to each monitor that it drives, the panel marked, an
//! arrow where pictures go from one adapter to the other, and what that costs.
//!
//! The boxes that take part come first, render above scanout, whatever their order in the machine; the rest stands below.

use wire::{Crossing, Luid, Machine, Replay, Split};

use super::words;

/// Adapters without a part in the session that are drawn; more are counted.
const OTHERS_MAX: usize = 3;
/// Between the borders of a box.
const WIDTH: usize = 48;

struct Box {
    title: String,
    name: String,
    about: String,
    outputs: Vec<String>,
}

/// The lines of the drawing.
pub fn draw(machine: &Machine, answer: &Replay) -> Vec<String> {
    let render = answer.render.as_ref().map(|own| (own.name.as_str(), own.luid));
    let scanout = answer.scanout.as_ref().map(|own| (own.name.as_str(), own.luid));
    let place = |(name, luid): (&str, Option<Luid>)| {
        let by_luid = machine.adapters.iter().position(|own| luid.is_some() && own.luid == luid);
        by_luid.or_else(|| machine.adapters.iter().position(|own| own.luid.is_none() && own.name == name))
    };
    let (render_at, scanout_at) = (render.and_then(place), scanout.and_then(place));
    let together = answer.crossing == Crossing::None;
    let off = answer.split == Split::Off;
    let mut lines = Vec::new();
    let roles = |who: &[&str]| who.join(" + ");
    match (render, scanout) {
        (Some((name, luid)), Some(_)) if together => {
            let weave = if answer.split == Split::Unknown {
                &["RENDER", "SCANOUT"][..]
            } else {
                &["RENDER", "WEAVE", "SCANOUT"]
            };
            lines.extend(part(machine, answer, &roles(weave), name, luid, render_at, true).draw());
        }
        _ => {
            let weave = if off { &["RENDER", "WEAVE"][..] } else { &["RENDER"] };
            lines.extend(match render {
                Some((name, luid)) => part(machine, answer, &roles(weave), name, luid, render_at, false).draw(),
                None => unknown("RENDER", "not known").draw(),
            });
            lines.extend(arrow(answer));
            let weave = if answer.split == Split::Engaged { &["WEAVE", "SCANOUT"][..] } else { &["SCANOUT"] };
            lines.extend(match scanout {
                Some((name, luid)) => part(machine, answer, &roles(weave), name, luid, scanout_at, true).draw(),
                None => unknown("SCANOUT", "not found").draw(),
            });
        }
    }
    let others: Vec<_> =
        (0..machine.adapters.len()).filter(|at| ![render_at, scanout_at].contains(&Some(*at))).collect();
    for at in others.iter().take(OTHERS_MAX) {
        let adapter = &machine.adapters[*at];
        lines.extend(part(machine, answer, "", &adapter.name, adapter.luid, Some(*at), false).draw());
    }
    if let Some(more @ 1..) = others.len().checked_sub(OTHERS_MAX) {
        lines.push(format!("and {more} more adapters that take no part"));
    }
    lines
}

/// One adapter. `panel`: it drives the panel, where no monitor says so.
fn part(
    machine: &Machine,
    answer: &Replay,
    role: &str,
    name: &str,
    luid: Option<Luid>,
    at: Option<usize>,
    panel: bool,
) -> Box {
    let title = match (at, role) {
        (Some(_), _) if !is_ordered(machine) => if role.is_empty() { "no part" } else { role }.to_owned(),
        (Some(at), "") => format!("GPU {at}"),
        (Some(at), _) => format!("GPU {at}: {role}"),
        (None, _) => format!("not listed: {role}"),
    };
    let ranked = at.and_then(|at| answer.ranking.get(at));
    let mut about = Vec::new();
    about.push(luid.map_or("LUID not told".to_owned(), |luid| luid.to_string()));
    about.extend(ranked.and_then(|own| own.dedicated_vram_mib).map(|mib| format!("{mib} MiB")));
    match ranked.map(|own| (own.rank, own.excluded.as_deref())) {
        Some((_, Some(why))) => about.push(format!("left out: {why}")),
        Some((Some(rank), None)) => about.push(format!("rank {rank}")),
        _ => {}
    }
    let mut outputs: Vec<_> = machine
        .monitors
        .iter()
        .filter(|monitor| match monitor.path_luid {
            Some(path) => luid == Some(path),
            None => luid.is_some_and(|luid| monitor.enumerated_by.first() == Some(&luid)),
        })
        .map(|monitor| {
            let rect = monitor.rect;
            let mark = if machine.panel == Some(rect) { "  ◄ 3D PANEL" } else { "" };
            format!("{} {}x{} at {},{}{mark}", monitor.gdi_name, rect.width, rect.height, rect.left, rect.top)
        })
        .collect();
    if panel && !outputs.iter().any(|output| output.contains("3D PANEL")) {
        let size = machine.panel.map(|rect| format!(" {}x{}", rect.width, rect.height)).unwrap_or_default();
        outputs.insert(0, format!("3D PANEL{size}"));
    }
    Box { title, name: name.to_owned(), about: about.join(" · "), outputs }
}

/// Names that a log mentions here and there stand in no order, so they have no number; a listing tells more than names.
fn is_ordered(machine: &Machine) -> bool {
    machine.adapters.iter().any(|own| own.dedicated_vram_mib.is_some() || own.software.is_some())
}

fn unknown(role: &str, why: &str) -> Box {
    Box { title: role.to_owned(), name: why.to_owned(), about: String::new(), outputs: Vec::new() }
}

/// What goes from the upper box to the lower one.
fn arrow(answer: &Replay) -> Vec<String> {
    let what = match answer.crossing {
        Crossing::AtlasPerFrame => "one atlas a rendered frame crosses here",
        Crossing::EveryPresent => "EVERY PRESENT CROSSES HERE",
        Crossing::Unknown => "what crosses here cannot be told",
        Crossing::None => return Vec::new(),
    };
    let cost = answer.cost.map(|own| format!(": {}", words::cost(own))).unwrap_or_default();
    let at = " ".repeat(8);
    vec![format!("{at}║  {what}{cost}"), format!("{at}▼")]
}

impl Box {
    fn draw(&self) -> Vec<String> {
        let title: String = self.title.chars().take(WIDTH - 4).collect();
        let mut lines = vec![format!("┌─ {title} {}┐", "─".repeat(WIDTH - 2 - title.chars().count()))];
        let mut outputs = self.outputs.iter();
        let rows = [&self.name, &self.about].into_iter().filter(|row| !row.is_empty()).map(String::as_str);
        let rows: Vec<&str> = rows.chain(std::iter::repeat_n("", self.outputs.len().saturating_sub(2))).collect();
        for row in rows {
            let cut: String = if row.chars().count() > WIDTH - 1 {
                row.chars().take(WIDTH - 2).chain(['…']).collect()
            } else {
                row.to_owned()
            };
            let gap = " ".repeat(WIDTH - cut.chars().count());
            lines.push(match outputs.next() {
                Some(output) => format!("│ {cut}{gap}├──── {output}"),
                None => format!("│ {cut}{gap}│"),
            });
        }
        lines.push(format!("└{}┘", "─".repeat(WIDTH + 1)));
        lines
    }
}
