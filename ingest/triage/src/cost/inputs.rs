//! Every number of the model with who told it: the command line, the log, the machine, the reference laptop, or nobody.

use std::borrow::Cow;

use resolver::cost::{BYTES_PER_PIXEL_BOUNDS, Frame, Measure, Noted, Pixels};
use wire::{CostInput, CostSource, Rect, Span};

use super::Asked;

/// Numbers that somebody gives; they win over everything.
pub type Given = Frame;

/// What the model gets, and what it lacks.
pub(super) struct Inputs {
    pub(super) frame: Frame,
    pub(super) list: Vec<CostInput>,
    pub(super) missing: Vec<&'static str>,
}

/// Puts the frame together.
pub(super) fn gather(asked: &Asked, panel: Option<Rect>, panel_by: CostSource, measure: Option<&Measure>) -> Inputs {
    let panel = panel.filter(|own| own.width > 0 && own.height > 0);
    let told_panel = panel.map(|own| Pixels { width: own.width, height: own.height });
    let told = Frame { panel_px: asked.given.panel_px.or(told_panel), ..asked.given };
    let told = measure.map_or(told, |own| own.fill(told));
    let frame = if asked.reference { told.on_reference() } else { told };
    let mut inputs = Inputs { frame, list: Vec::new(), missing: Vec::new() };
    let given = &asked.given;
    let by = |given: bool, told: bool, teller: CostSource| match (given, told) {
        (true, _) => CostSource::Given,
        (_, true) => teller,
        _ => CostSource::Reference,
    };
    let line = |noted: Option<u64>, given: bool| noted.filter(|_| !given);
    inputs.size(
        "panel_width_px",
        "panel_height_px",
        frame.panel_px,
        by(given.panel_px.is_some(), true, panel_by),
        None,
    );
    let noted = |of: fn(&Measure) -> Option<u64>| measure.and_then(of);
    let atlas = by(given.atlas_px.is_some(), told.atlas_px.is_some(), CostSource::Log);
    let at = line(noted(|own| own.atlas_px.map(|own| own.line)), given.atlas_px.is_some());
    inputs.size("atlas_width_px", "atlas_height_px", frame.atlas_px, atlas, at);
    if frame.atlas_px.is_none()
        && let Some(pixels) = frame.atlas_pixels()
    {
        let at = noted(|own| own.atlas_at_most_px.map(|own| own.line));
        inputs.list.push(input("atlas_px", pixels.real(), CostSource::Bounds, at));
        inputs.missing.push("atlas_px");
    }
    if let Some(views) = frame.views {
        let at = line(noted(|own| own.views.map(|own| own.line)), given.views.is_some());
        let source = by(given.views.is_some(), true, CostSource::Log);
        inputs.list.push(input("views", Span::exact(f64::from(views)), source, at));
    }
    if let Some(each) = frame.bytes_per_pixel {
        let at = line(noted(|own| own.bytes_per_pixel.map(|own| own.line)), given.bytes_per_pixel.is_some());
        let source = by(given.bytes_per_pixel.is_some(), told.bytes_per_pixel.is_some(), CostSource::Log);
        inputs.list.push(input("bytes_per_pixel", Span::exact(each as f64), source, at));
    } else {
        inputs.list.push(input("bytes_per_pixel", BYTES_PER_PIXEL_BOUNDS.real(), CostSource::Bounds, None));
        inputs.missing.push("bytes_per_pixel");
    }
    let at = line(measure.and_then(|own| own.refresh_hz.map(|Noted { line, .. }| line)), given.refresh_hz.is_some());
    let source = by(given.refresh_hz.is_some(), told.refresh_hz.is_some(), CostSource::Log);
    inputs.rate("refresh_hz", frame.refresh_hz, source, at);
    let source = by(given.rendered_hz.is_some(), told.rendered_hz.is_some(), CostSource::Log);
    inputs.rate("rendered_hz", frame.rendered_hz, source, None);
    let source = by(given.link_bytes_per_s.is_some(), told.link_bytes_per_s.is_some(), CostSource::Log);
    inputs.rate("link_bytes_per_second", frame.link_bytes_per_s, source, None);
    if frame.planes_bytes.high > 0 {
        inputs.list.push(input("planes_bytes", frame.planes_bytes.real(), CostSource::Given, None));
    }
    inputs
}

impl Inputs {
    fn size(
        &mut self,
        width: &'static str,
        height: &'static str,
        px: Option<Pixels>,
        source: CostSource,
        line: Option<u64>,
    ) {
        match px {
            Some(px) => {
                self.list.push(input(width, Span::exact(f64::from(px.width)), source, line));
                self.list.push(input(height, Span::exact(f64::from(px.height)), source, line));
            }
            // The atlas has bounds instead.
            None if width == "panel_width_px" => self.missing.push("panel_px"),
            None => {}
        }
    }

    fn rate(&mut self, name: &'static str, rate: Option<Span<f64>>, source: CostSource, line: Option<u64>) {
        match rate {
            Some(rate) => {
                self.list.push(input(name, rate, source, line));
                // What a link carried at least says nothing of its end.
                if !rate.high.is_finite() {
                    self.missing.push(name);
                }
            }
            None => self.missing.push(name),
        }
    }
}

fn input(name: &'static str, span: Span<f64>, source: CostSource, line: Option<u64>) -> CostInput {
    let high = span.high.is_finite().then_some(span.high);
    CostInput { name: Cow::Borrowed(name), low: span.low, high, source, line }
}
