//! Which findings rest on records of a kind? Where a build words such records in a way that nobody knows, a log without the
//! finding says nothing.

use wire::Kind;

use super::Code;

/// Findings that come from reason tokens: an unknown one may stand for any of them.
pub const ON_TOKENS: &[Code] = &[Code::Retired, Code::Killed, Code::CrossingEveryPresent, Code::ReplayMismatch];

/// The findings that records of this kind give, or that they decide about.
pub const fn rests_on(kind: Kind) -> &'static [Code] {
    match kind {
        Kind::Placement | Kind::PlacementUnreadable | Kind::PlacementChanged => &[
            Code::PlacementCorrected,
            Code::Retired,
            Code::Killed,
            Code::CrossingEveryPresent,
            Code::ReplayMismatch,
            Code::NoPlacement,
        ],
        Kind::SplitDisabled | Kind::RenderOff => &[Code::PlacementCorrected, Code::Retired, Code::Killed],
        Kind::SplitNoop
        | Kind::SplitEngaged
        | Kind::BridgeEngaged
        | Kind::SplitRefused
        | Kind::SplitRetired
        | Kind::StageTook
        | Kind::DeviceFailed => &[Code::PlacementCorrected, Code::Retired, Code::CrossingEveryPresent],
        Kind::BridgeDegraded | Kind::RenderSplit => &[Code::BridgeDegraded],
        Kind::GlAdvisory | Kind::GlInterop | Kind::GlCrossing => &[Code::GlInteropCrossing],
        Kind::ClientCrossing => &[Code::ClientCrossingOverride],
        Kind::OverrideFollowed | Kind::OverrideIgnored => &[Code::OverrideNotHonoured],
        Kind::Ingest | Kind::IngestForced => &[Code::IngestForced],
        Kind::DeviceRemoved => &[Code::DeviceRemoved],
        Kind::SuggestedGpuMissing => &[Code::VkSuggestedGpuMissing],
        Kind::Plugin | Kind::PluginFallback => &[Code::PluginFallback],
        Kind::Device | Kind::RenderCandidate | Kind::RenderSkipped | Kind::RenderChoice | Kind::Scanout => {
            &[Code::ReplayMismatch]
        }
        _ => &[],
    }
}
