//! The specific cause behind a reason token: the warning above the placement line that says which step failed.

use wire::{Event, Kind, Observation};

/// Causes kept of one log; one session has two at most.
const CAUSES_MAX: usize = 64;

/// A record that says which step failed or why a split was taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// Its line.
    pub line: u64,
    /// What it says, with an error code in words.
    pub text: String,
    /// It is the step that failed itself, and not the record that gave up because of it.
    step: bool,
}

/// The step that failed last, else the newest record that gave up.
pub fn best(causes: &[Cause]) -> Option<&Cause> {
    causes.iter().rfind(|cause| cause.step).or_else(|| causes.last())
}

/// Collects causes in file order.
#[derive(Clone, Debug, Default)]
pub struct Causes(Vec<Cause>);

impl Causes {
    /// Takes the next observation.
    pub fn push(&mut self, observation: &Observation) {
        let Observation::Event(event) = observation else { return };
        let Some((text, step)) = cause(event) else { return };
        if self.0.len() == CAUSES_MAX {
            // The verdict is that of the last session, so the newest causes matter.
            self.0.remove(0);
        }
        self.0.push(Cause { line: event.line, text, step });
    }

    /// Those behind line `after` up to line `until`.
    pub fn between(&self, after: u64, until: u64) -> impl Iterator<Item = &Cause> {
        self.0.iter().filter(move |cause| after < cause.line && cause.line <= until)
    }
}

/// What the record says, and whether it is the failed step itself.
fn cause(event: &Event) -> Option<(String, bool)> {
    let fields = &event.fields;
    let failed = match event.kind {
        Kind::DeviceFailed => true,
        // A session without its bridge has no split (vocabulary section 5).
        Kind::BridgeDetail => ["xb.fail", "xb.heapfail", "xb.failed"].contains(&event.shape.as_ref()),
        Kind::SplitDetail => {
            const STEPS: [&str; 13] = [
                "dxgifail",
                "objs",
                "heap",
                "dpfail",
                "nodpfactory",
                "swapchain",
                "nodeposit",
                "noctx4",
                "bridge",
                "ingress",
                "egress",
                "testrefuse",
                "nodp",
            ];
            event.shape.split_once('.').is_some_and(|(_, step)| STEPS.contains(&step)) && event.shape != "ssv.ingress"
        }
        Kind::SplitDisabled | Kind::SplitRetired | Kind::SplitRefused => {
            let cause = fields.text("cause")?;
            // A token says no more than the placement line does.
            cause.contains([' ', '(', '#']).then_some(())?;
            return Some((cause.to_owned(), false));
        }
        _ => return None,
    };
    if !failed {
        return None;
    }
    let body = parser::format::body(event).map(|body| String::from_utf8_lossy(&body).into_owned())?;
    let printed = || i64::from_str_radix(fields.text("code")?.trim().strip_prefix("0x")?, 16).ok();
    let code = ["hresult", "error"].iter().find_map(|name| fields.int(name)).or_else(printed).and_then(in_words);
    Some((code.map_or(body.clone(), |words| format!("{body} ({words})")), true))
}

/// The error codes of Windows and DXGI that setting up a device can give.
fn in_words(code: i64) -> Option<&'static str> {
    Some(match u32::try_from(code & 0xffff_ffff).ok()? {
        0x887a_0001 => "DXGI_ERROR_INVALID_CALL: called in a state where it may not be",
        0x887a_0002 => "DXGI_ERROR_NOT_FOUND: no such adapter or output",
        0x887a_0004 => "DXGI_ERROR_UNSUPPORTED: the driver does not support it",
        0x887a_0005 => "DXGI_ERROR_DEVICE_REMOVED: the GPU was lost",
        0x887a_0006 => "DXGI_ERROR_DEVICE_HUNG: the GPU hung",
        0x887a_0007 => "DXGI_ERROR_DEVICE_RESET: the driver was reset",
        0x887a_0022 => "DXGI_ERROR_NOT_CURRENTLY_AVAILABLE: in use by another program",
        0x887a_002d => "DXGI_ERROR_SDK_COMPONENT_MISSING: a debug layer is not installed",
        0x8000_4002 | 0x8000_4001 => "no such interface: the driver or Windows is too old",
        0x8000_4005 => "E_FAIL: the driver gives no reason",
        0x8007_0005 => "E_ACCESSDENIED: a sandbox or policy forbids it",
        0x8007_000e => "E_OUTOFMEMORY: out of memory",
        0x8007_0057 => "E_INVALIDARG: the driver refused an argument",
        _ => return None,
    })
}
