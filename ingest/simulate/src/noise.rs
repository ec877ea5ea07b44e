//! What surrounds the records of ours: the per-frame warnings that are nearly all of a real log, in its words.

use wire::Level;

use crate::log::Log;

/// The names of extensions that a long record lists.
const EXTENSIONS: [&str; 4] =
    ["XR_EXT_debug_utils", "XR_KHR_composition_layer_depth", "XR_DXR_display_info", "XR_KHR_vulkan_enable2"];

impl Log<'_> {
    /// So many frames of an in-process app, and the time that they take.
    pub(crate) fn frames(&mut self, count: u64, over_ms: u64) {
        for frame in 0..count {
            self.w.pass(i64::try_from(over_ms / (count + 1)).unwrap_or_default());
            let x = self.dice.between(0, 700) as f64 / 10_000.0 - 0.035;
            let y = self.dice.between(0, 700) as f64 / 10_000.0 - 0.035;
            let body = format!(
                "3D-GATE[{frame}]: got_eyes=1 valid=1 count=2 have_view_state=1 is_gl={} has_ext_win=1 \
                 eye0=({x:.4},{y:.4},0.6100) eye1=({:.4},{y:.4},0.6100)",
                u8::from(self.app.path == wire::Path::OpenGl),
                x + 0.063
            );
            self.w.noise(Level::Warn, "oxr_session_locate_views", body.as_bytes());
        }
        self.w.pass(i64::try_from(over_ms / (count + 1)).unwrap_or_default());
    }

    /// So many frames of a client of the service.
    pub(crate) fn commits(&mut self, count: u64, over_ms: u64) {
        for _ in 0..count {
            self.w.pass(i64::try_from(over_ms / (count + 1)).unwrap_or_default());
            let [signal, before, ipc] =
                [(100, 290), (80, 330), (2600, 240_000)].map(|(low, high)| 100 * self.dice.between(low, high));
            let body = format!(
                "[COMMIT_PROFILE_CLIENT] client=00000219182B64F0 signal_ns={signal} pre_ipc_ns={before} ipc_ns={ipc} \
                 post_ipc_ns=0 total_ns={}",
                signal + before + ipc
            );
            self.w.noise(Level::Warn, "submit_fallback", body.as_bytes());
        }
        self.w.pass(i64::try_from(over_ms / (count + 1)).unwrap_or_default());
    }

    /// A record that does not fit the runtime's buffer of 4096 bytes: cut at a NUL (vocabulary 1.4).
    pub(crate) fn long_line(&mut self) -> u64 {
        const KEPT_BYTES: usize = 4093;
        const PREFIX_BYTES: usize = "[2026-09-14 12:00:00.137] [WARN ] [oxr_instance_create] ".len();
        let mut body = format!("enabled extensions: {}", self.extensions(KEPT_BYTES)).into_bytes();
        body.truncate(KEPT_BYTES - PREFIX_BYTES);
        body.push(0);
        self.w.noise(Level::Warn, "oxr_instance_create", &body)
    }

    /// An OpenXR record that is cut at 4095 bytes and loses its newline; the next frame is glued to it.
    pub(crate) fn glued_record(&mut self) -> u64 {
        const CUT_BYTES: usize = 4095;
        let list = self.extensions(CUT_BYTES);
        let line = self.w.unended(Level::Oxr, &mut |prefix| {
            let mut body = format!("LOG in xrCreateInstance: Extension list: {list}").into_bytes();
            body.truncate(CUT_BYTES - prefix);
            body
        });
        self.frames(1, 16);
        line
    }

    /// Two threads write at one time (vocabulary 1.6).
    pub(crate) fn splice(&mut self) -> u64 {
        let line = self.w.next_line();
        self.w.prefix(Level::Warn, Some("submit_fallback"));
        self.w.noise(Level::Warn, "oxr_session_create", b"weave latency probe armed");
        line
    }

    fn extensions(&mut self, bytes: usize) -> String {
        let mut list = String::new();
        while list.len() < bytes {
            list.push_str(self.dice.one_of(&EXTENSIONS).copied().unwrap_or_default());
            list.push_str(", ");
        }
        list
    }
}
