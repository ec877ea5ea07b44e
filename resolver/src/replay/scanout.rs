//! Which adapter drives the panel (contract section 5; the document, "How it resolves"; vocabulary section 11).
//!
//! Centre of the panel's rectangle, the monitor there, the display-config answer for that monitor, else the first adapter
//! whose outputs claim it. Software adapters are skipped, nothing else is.

use wire::{Machine, Monitor, Rect, Via};

use super::gpu::Gpu;
use super::trace::{Trace, outcomes};

outcomes! {
    /// Does the plug-in say where the panel is?
    Panel {
        /// Size and place.
        Reported => "reported",
        /// No plug-in tells.
        Missing => "not reported",
        /// It tells a size of zero.
        ZeroSize => "zero size",
        /// There is no scanout adapter to find on this system.
        NotWindows => "not windows",
        /// DXGI gives no factory.
        NoDxgi => "no DXGI factory",
        /// A log names the adapter, so nothing has to be found.
        Told => "told by the log",
        /// Neither the monitors nor the answer is told.
        NotTold => "unknown",
    }
}

outcomes! {
    /// Which monitor holds the panel's centre?
    At {
        /// It lies on one.
        Contains => "contains the centre",
        /// It lies on none; the nearest one is taken.
        Nearest => "nearest to the centre",
        /// There is no monitor.
        NoMonitor => "no monitor",
    }
}

outcomes! {
    /// What does the display-config database say?
    DisplayPath {
        /// It names an adapter.
        Named => "names the adapter",
        /// It names a LUID that no hardware adapter has.
        NotListed => "names no hardware adapter",
        /// It knows nothing of this monitor.
        NoPath => "no active path",
    }
}

outcomes! {
    /// Whose outputs claim the monitor?
    Walk {
        /// The first adapter of those that do.
        Claimed => "first adapter that claims it",
        /// Nobody's.
        Unclaimed => "no hardware adapter claims it",
    }
}

/// The answer with its steps; a step that was not asked is null.
#[derive(Clone, Copy, Debug)]
pub struct Scanout {
    pub gpu: Option<Gpu>,
    pub via: Option<Via>,
    pub panel: Panel,
    pub at: Option<At>,
    pub path: Option<DisplayPath>,
    pub walk: Option<Walk>,
}

impl Scanout {
    /// False when neither the answer nor what it would be found from is told.
    pub fn is_told(&self) -> bool {
        self.panel != Panel::NotTold
    }

    /// Writes the steps down.
    pub fn note(&self, trace: &mut Trace) {
        trace.note("scanout.panel", self.panel.as_str());
        if let Some(at) = self.at {
            trace.note("scanout.monitor", at.as_str());
        }
        if let Some(path) = self.path {
            trace.note("scanout.path", path.as_str());
        }
        if let Some(walk) = self.walk {
            trace.note("scanout.walk", walk.as_str());
        }
    }
}

/// The panel as the rule sees it: the service resolves before its display processor exists, at 0,0.
pub fn panel(machine: &Machine, at_origin: bool) -> Option<Rect> {
    let rect = machine.panel?;
    Some(if at_origin { Rect { left: 0, top: 0, ..rect } } else { rect })
}

/// True when the plug-in reports a panel with a size; null when a log leaves that open.
pub fn size_told(machine: &Machine) -> Option<bool> {
    match &machine.told_scanout {
        Some(told) if told.is_open() && machine.panel.is_none() => None,
        _ => Some(has_size(machine)),
    }
}

/// True when the plug-in reports a panel with a size. A scanout adapter was found by it.
pub fn has_size(machine: &Machine) -> bool {
    machine.told_scanout.as_ref().is_some_and(|told| !told.is_open())
        || machine.panel.is_some_and(|rect| rect.width > 0 && rect.height > 0)
}

/// Finds the adapter. `at_origin` is for the service.
pub fn resolve(machine: &Machine, at_origin: bool) -> Scanout {
    let unresolved = |panel| Scanout { gpu: None, via: None, panel, at: None, path: None, walk: None };
    if let Some(told) = &machine.told_scanout {
        if told.is_open() {
            return unresolved(Panel::NotTold);
        }
        let gpu = told.luid.map_or_else(|| by_unique_name(machine, &told.name), |luid| Gpu::by_luid(machine, luid));
        return Scanout { gpu: Some(gpu), via: told.via, ..unresolved(Panel::Told) };
    }
    if !machine.os.eq_ignore_ascii_case("windows") {
        return unresolved(Panel::NotWindows);
    }
    let rect = match panel(machine, at_origin) {
        None => return unresolved(Panel::Missing),
        Some(rect) if rect.width == 0 || rect.height == 0 => return unresolved(Panel::ZeroSize),
        Some(_) if !machine.dxgi => return unresolved(Panel::NoDxgi),
        Some(rect) => rect,
    };
    let Some((monitor, at)) = monitor_at(&machine.monitors, centre(rect)) else {
        return Scanout { at: Some(At::NoMonitor), ..unresolved(Panel::Reported) };
    };
    let found = Scanout { at: Some(at), ..unresolved(Panel::Reported) };
    let path = match monitor.path_luid {
        None => DisplayPath::NoPath,
        Some(luid) => match hardware(machine, |adapter_luid| adapter_luid == luid) {
            Some(gpu) => {
                let path = Some(DisplayPath::Named);
                return Scanout { gpu: Some(gpu), via: Some(Via::DisplayPath), path, ..found };
            }
            None => DisplayPath::NotListed,
        },
    };
    let found = Scanout { path: Some(path), ..found };
    match hardware(machine, |luid| monitor.enumerated_by.contains(&luid)) {
        Some(gpu) => Scanout { gpu: Some(gpu), via: Some(Via::OutputWalk), walk: Some(Walk::Claimed), ..found },
        None => Scanout { walk: Some(Walk::Unclaimed), ..found },
    }
}

/// The first adapter in enumeration order that is not software and whose LUID fits. A `software` that is not told does not
/// skip: only true does.
fn hardware(machine: &Machine, fits: impl Fn(wire::Luid) -> bool) -> Option<Gpu> {
    let index = machine
        .adapters
        .iter()
        .position(|adapter| adapter.software != Some(true) && adapter.luid.is_some_and(&fits))?;
    Some(Gpu::Listed(index))
}

/// An output walk prints no LUID; a name that two adapters share says nothing.
fn by_unique_name(machine: &Machine, name: &str) -> Gpu {
    let mut named = machine.adapters.iter().enumerate().filter(|(_, adapter)| adapter.name == name);
    match (named.next(), named.next()) {
        (Some((index, _)), None) => Gpu::Listed(index),
        _ => Gpu::Told,
    }
}

/// Half the size is rounded down before it is added.
fn centre(rect: Rect) -> (i64, i64) {
    (i64::from(rect.left) + i64::from(rect.width / 2), i64::from(rect.top) + i64::from(rect.height / 2))
}

/// The first monitor that contains the point, else the nearest one; of equally near ones the first listed.
fn monitor_at(monitors: &[Monitor], (x, y): (i64, i64)) -> Option<(&Monitor, At)> {
    let off = |from: i32, size: u32, at: i64| {
        let from = i64::from(from);
        // Windows' rectangles end before their right and bottom edge.
        let inside = from <= at && at < from + i64::from(size);
        (inside, i128::from((from - at).max(at - from - i64::from(size)).max(0)))
    };
    let mut nearest: Option<(i128, &Monitor)> = None;
    for monitor in monitors {
        let (in_x, dx) = off(monitor.rect.left, monitor.rect.width, x);
        let (in_y, dy) = off(monitor.rect.top, monitor.rect.height, y);
        if in_x && in_y {
            return Some((monitor, At::Contains));
        }
        let distance = dx * dx + dy * dy;
        if nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, monitor));
        }
    }
    nearest.map(|(_, monitor)| (monitor, At::Nearest))
}
