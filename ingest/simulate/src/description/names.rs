//! Faults, quirks and damage by the names that descriptions and truths use.

use serde::Deserialize;

macro_rules! named {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$of])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in descriptions and in the truth.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

named! {
    /// What can go wrong in a session. Those of set-up and take-back concern sessions that would split.
    Fault {
        /// The device on the panel's GPU cannot be set up.
        StageAFailed => "stage_a_failed",
        /// The display plug-in refuses the panel's GPU.
        DpRefused => "dp_refused",
        /// An app draws a mask that cannot be carried: the split is taken back.
        AuthoredMask => "authored_mask",
        /// The log ends between `RETIRED` and `CHANGED`.
        CutBehindRetired => "cut_behind_retired",
        /// No window.
        NoWindow => "no_hwnd",
        /// Presents through a shared texture.
        SharedTexture => "shared_texture",
        /// The session's own adapter cannot be told.
        RenderUnresolvable => "render_unresolvable",
        /// A Vulkan device without timeline semaphores.
        NoTimeline => "no_timeline_semaphore",
        /// The bridge gives up after a while.
        BridgeDegraded => "bridge_degraded",
        /// A GPU is lost.
        DeviceRemoved => "device_removed",
        /// The process dies: a stack, no footer.
        Crash => "crash",
        /// The process ends before it opens a session.
        NoSession => "no_session",
        /// The plug-in loader falls back.
        PluginFallback => "plugin_fallback",
        /// A Vulkan client misses the suggested GPU.
        SuggestedGpuMissing => "suggested_gpu_missing",
        /// OpenGL interop crosses adapters although its context does not.
        GlHandoff => "gl_handoff",
        /// A client crosses by its own override.
        ClientOverride => "client_override",
        /// The placement line contradicts what the log's own resolvers say.
        Contradiction => "contradiction",
        /// Only errors are logged (`XRT_LOG=error`).
        OnlyErrors => "only_errors",
    }
}

named! {
    /// What is odd about a file and is no fault.
    Quirk {
        /// LF line ends.
        Lf => "lf",
        /// A byte order mark, from an editor.
        Utf8Mark => "utf8_mark",
        /// UTF-16, from an editor.
        Utf16 => "utf16",
        /// The sandbox's temporary folder in the header.
        Sandbox => "sandbox",
        /// A second session in one process.
        SecondSession => "second_session",
        /// A second log with the same process id.
        SecondLog => "second_log",
        /// Logging starts anew in the same file behind the footer.
        Reopened => "reopened",
        /// The clock goes back by an hour: the end of summer time.
        SummerTimeEnds => "summer_time_ends",
        /// Somebody sets the clock back.
        ClockSetBack => "clock_set_back",
        /// A record that is too long: cut at a NUL.
        LongLine => "long_line",
        /// An OpenXR record that is too long and loses its newline.
        GluedRecord => "glued_record",
        /// The process still runs: no footer.
        StillRunning => "still_running",
    }
}

named! {
    /// Damage that is done to a finished log; the truth stays what happened.
    Mutation {
        /// Another record's prefix stands before the placement line.
        SplicedLine => "spliced_line",
        /// The placement line is cut at a NUL.
        CutLine => "cut_line",
        /// The placement line has other keys.
        RenamedKey => "renamed_key",
        /// The windows have other keys.
        RenamedWindowKey => "renamed_window_key",
        /// The placement line has a reason that nobody knows.
        NewToken => "new_token",
        /// The file ends in the middle of its last record.
        CutFile => "cut_file",
    }
}
