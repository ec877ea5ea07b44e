//! Findings that one record gives by itself, whatever session it belongs to.

use wire::{Event, Flaw, FlawKind, Kind};

use super::{Findings, quote};
use crate::verdict::code::Code;
use crate::verdict::decision::is_kill;
use crate::verdict::strange::reasons;

impl Findings {
    /// Takes the next event.
    pub(crate) fn event(&mut self, event: &Event) {
        match event.kind {
            Kind::Placement => self.tokens(event, "placement"),
            Kind::PlacementChanged => self.tokens(event, "CHANGED"),
            Kind::SplitDisabled => self.tokens(event, "DISABLED"),
            Kind::RenderOff => {
                self.tokens(event, "[RENDER]");
                if reasons(event).iter().any(is_kill) {
                    self.note(Code::Killed, Some(event.line), "", || {
                        "A [RENDER] record says that DXR_WEAVE_ON_SCANOUT switches the split off; \
                         a placement line can hide this behind another reason."
                            .to_owned()
                    });
                }
            }
            Kind::RenderSplit if event.fields.int("xb_degraded") == Some(1) => self.single(event, Code::BridgeDegraded),
            Kind::BridgeDegraded => self.single(event, Code::BridgeDegraded),
            Kind::GlCrossing => self.single(event, Code::GlInteropCrossing),
            Kind::ClientCrossing => self.single(event, Code::ClientCrossingOverride),
            Kind::IngestForced => self.single(event, Code::IngestForced),
            Kind::DeviceRemoved => self.single(event, Code::DeviceRemoved),
            Kind::SuggestedGpuMissing => self.single(event, Code::VkSuggestedGpuMissing),
            Kind::OverrideIgnored => self.override_ignored(event),
            Kind::PluginFallback => self.plugin_fallback(event),
            _ => {}
        }
    }

    /// Takes a damaged or strange record; records with different markers are different news.
    pub(crate) fn flaw(&mut self, flaw: &Flaw) {
        let (code, what) = match flaw.kind {
            FlawKind::EmptyBody => (
                Code::EmptyBody,
                "has nothing behind its prefix: a name in it has letters that the runtime could not print.",
            ),
            FlawKind::Truncated => (Code::TruncatedRecord, "was cut short by the runtime; its end is lost."),
            FlawKind::Spliced => {
                (Code::SplicedRecord, "has another record's prefix inside it: two threads wrote at one time.")
            }
            FlawKind::Unrecognised => {
                (Code::UnrecognisedShape, "fits no wording of the vocabulary; a newer build may have changed it.")
            }
            // A newer parser's word; nothing can be said of it here.
            FlawKind::Unknown => return,
        };
        let marker = flaw.marker.as_deref().map(quote).unwrap_or_default();
        self.note(code, Some(flaw.line), &marker, || match marker.trim_end() {
            "" => format!("A record {what}"),
            marker => format!("A record of '{marker}' {what}"),
        });
    }

    /// A code that is told once for a log.
    fn single(&mut self, event: &Event, code: Code) {
        let text = |name| event.fields.text(name).map_or_else(String::new, |value| format!(" ({})", quote(value)));
        let luid = |name| event.fields.luid(name).map_or_else(|| "unknown".to_owned(), |luid| luid.to_string());
        self.note(code, Some(event.line), "", || match code {
            Code::GlInteropCrossing => {
                format!("OpenGL shares pictures between two GPUs{}, so each of them crosses the bus.", text("purpose"))
            }
            Code::ClientCrossingOverride => format!(
                "A setting puts the app on the GPU {} while the service takes its pictures in on {}: each crosses.",
                luid("session.luid"),
                luid("ingest.luid"),
            ),
            Code::IngestForced => format!(
                "DXR_D3D_FORCE_GPU chose the service's GPU{}; clients without the same setting cross.",
                text("provenance"),
            ),
            Code::BridgeDegraded => {
                "The bridge between the GPUs gave up; the panel may keep showing the last picture that came over."
                    .to_owned()
            }
            Code::DeviceRemoved => {
                "A GPU was taken away from the process: driver crash, reset, update or unplugging.".to_owned()
            }
            _ => "The Vulkan app did not find the GPU that the runtime suggests and renders on GPU 0; \
                  with two GPUs that can be the wrong one."
                .to_owned(),
        });
    }

    fn override_ignored(&mut self, event: &Event) {
        let variable = event.fields.text("variable").map_or_else(|| "a force-GPU setting".to_owned(), quote);
        let setting = match event.fields.text("value") {
            Some(value) => format!("{variable}='{}'", quote(value)),
            None => variable,
        };
        self.note(Code::OverrideNotHonoured, Some(event.line), &setting, || {
            format!("The runtime does not follow {setting}; it chooses the GPU as if nothing were set.")
        });
    }

    fn plugin_fallback(&mut self, event: &Event) {
        let id = event.fields.text("id").map(|id| format!(" '{}'", quote(id))).unwrap_or_default();
        self.note(Code::PluginFallback, Some(event.line), &format!("{}{id}", event.shape), || {
            format!("The display plug-in{id} could not be used as wanted; another one or a built-in driver took over.")
        });
    }

    fn tokens(&mut self, event: &Event, record: &str) {
        for reason in reasons(event).iter().filter(|reason| !reason.is_known()) {
            let token = quote(reason.as_str());
            self.note(Code::UnknownReasonToken, Some(event.line), &token, || {
                format!(
                    "The reason '{token}' on a {record} record is not in the vocabulary; a newer build may print it."
                )
            });
        }
    }
}
