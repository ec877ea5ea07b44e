//! The findings by name: the table of contract section 3, in the order in which findings of one line are told.

use wire::Severity;

/// What a finding can be. Names and severities are fixed by the contract; a name is never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Code {
    /// A reason token outside the known ones.
    UnknownReasonToken,
    /// A record with a marker of ours that fits no shape.
    UnrecognisedShape,
    /// A prefix with nothing behind it.
    EmptyBody,
    /// A record that was cut, or glued to the next one.
    TruncatedRecord,
    /// A record with another one's prefix inside.
    SplicedRecord,
    /// The Vulkan client did not find the suggested GPU.
    VkSuggestedGpuMissing,
    /// Stronger evidence overruled a placement record.
    PlacementCorrected,
    /// A split ran and was taken back.
    Retired,
    /// The split was switched off by a setting.
    Killed,
    /// Every present crosses adapters.
    CrossingEveryPresent,
    /// OpenGL interop or handoff crosses adapters.
    GlInteropCrossing,
    /// A client crosses adapters because an override says so.
    ClientCrossingOverride,
    /// A force-GPU setting was not followed.
    OverrideNotHonoured,
    /// The service's ingest device was forced.
    IngestForced,
    /// The bridge gave up.
    BridgeDegraded,
    /// A GPU was lost.
    DeviceRemoved,
    /// The plug-in loader had to fall back.
    PluginFallback,
    /// The replay of the log's own topology disagrees with its placement line. Told by `Examiner`, which knows both.
    ReplayMismatch,
    /// Something was left out of the answer to keep it small. Added to the contract's table by this project.
    EvidenceOmitted,
    /// No placement record at all.
    NoPlacement,
    /// The log does not end with its footer.
    NoFooter,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 21] = [
        Self::UnknownReasonToken,
        Self::UnrecognisedShape,
        Self::EmptyBody,
        Self::TruncatedRecord,
        Self::SplicedRecord,
        Self::VkSuggestedGpuMissing,
        Self::PlacementCorrected,
        Self::Retired,
        Self::Killed,
        Self::CrossingEveryPresent,
        Self::GlInteropCrossing,
        Self::ClientCrossingOverride,
        Self::OverrideNotHonoured,
        Self::IngestForced,
        Self::BridgeDegraded,
        Self::DeviceRemoved,
        Self::PluginFallback,
        Self::ReplayMismatch,
        Self::EvidenceOmitted,
        Self::NoPlacement,
        Self::NoFooter,
    ];

    /// The name in findings and behind `--fail-on`.
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// How bad it is.
    pub const fn severity(self) -> Severity {
        self.row().1
    }

    const fn row(self) -> (&'static str, Severity) {
        use Severity::{Error, Info, Warning};
        match self {
            Self::UnknownReasonToken => ("unknown_reason_token", Warning),
            Self::UnrecognisedShape => ("unrecognised_shape", Warning),
            Self::EmptyBody => ("empty_body", Warning),
            Self::TruncatedRecord => ("truncated_record", Warning),
            Self::SplicedRecord => ("spliced_record", Warning),
            Self::VkSuggestedGpuMissing => ("vk_suggested_gpu_missing", Warning),
            Self::PlacementCorrected => ("placement_corrected", Info),
            Self::Retired => ("retired", Warning),
            Self::Killed => ("killed", Warning),
            Self::CrossingEveryPresent => ("crossing_every_present", Warning),
            Self::GlInteropCrossing => ("gl_interop_crossing", Warning),
            Self::ClientCrossingOverride => ("client_crossing_override", Warning),
            Self::OverrideNotHonoured => ("override_not_honoured", Warning),
            Self::IngestForced => ("ingest_forced", Warning),
            Self::BridgeDegraded => ("bridge_degraded", Error),
            Self::DeviceRemoved => ("device_removed", Error),
            Self::PluginFallback => ("plugin_fallback", Warning),
            Self::ReplayMismatch => ("replay_mismatch", Warning),
            Self::EvidenceOmitted => ("evidence_omitted", Warning),
            Self::NoPlacement => ("no_placement", Info),
            Self::NoFooter => ("no_footer", Info),
        }
    }
}
