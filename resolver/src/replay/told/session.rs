//! What the words of a refusal tell of the session: tokens of gates, and the prose in their place.

use super::MachineFold;

impl MachineFold {
    /// The device on the panel's adapter could not be set up.
    pub(super) fn stage_a_failed(&mut self) {
        self.machine.session.stage_a_ok = false;
        self.tell("session.stage_a_ok");
    }

    /// Takes the session fact that a token, or the prose in its place, denies (vocabulary sections 3 and 5). False when the
    /// words speak of none: of adapters, of the panel, of a setting whose value they do not tell, or of a failed step.
    pub(super) fn denied(&mut self, cause: &str) -> bool {
        let session = &mut self.machine.session;
        let fact = match cause {
            "no_hwnd" | "no HWND" => {
                session.hwnd = false;
                "session.hwnd"
            }
            "shared_texture_session" | "shared-texture session" => {
                session.shared_texture = true;
                "session.shared_texture"
            }
            "no_timeline_semaphore" => {
                session.timeline_semaphore = false;
                "session.timeline_semaphore"
            }
            "legacy_standalone" | "DXR_LEGACY_STANDALONE" => {
                session.legacy_standalone = true;
                "session.legacy_standalone"
            }
            "dp_refused_scanout" | "the display processor declined a weaver on the scanout adapter" => {
                session.dp_accepts_scanout = false;
                "session.dp_accepts_scanout"
            }
            "layers_unsupported" | "authored_mask" => {
                session.unsupported_layers = true;
                "session.unsupported_layers"
            }
            "stage_a_failed" => {
                session.stage_a_ok = false;
                "session.stage_a_ok"
            }
            _ => return false,
        };
        self.tell(fact);
        true
    }
}

/// A stage A that fails gives its step in words where a gate gives its token (vocabulary section 5). Tokens are of small
/// letters; one of a newer build refuses for a reason of its own. `unknown` is what stage A says without words.
pub(super) fn is_prose(cause: &str) -> bool {
    const OF_OLD_GATES: [&str; 2] = ["no panel dimensions", "scanout unresolvable"];
    let is_token = cause.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b',');
    cause == "unknown" || !is_token && !OF_OLD_GATES.contains(&cause)
}
