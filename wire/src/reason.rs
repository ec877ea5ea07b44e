//! Why a split is off: the runtime's reason tokens, with what they mean.
//!
//! The tokens are a table (vocabulary section 3). A token that is not in it is data, not an error: it survives as text
//! and is counted as drift.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Path;

/// One token of `reason=…`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Reason {
    /// One of the seventeen that the vocabulary knows.
    Known(&'static ReasonFacts),
    /// A token of a build that is newer than this table.
    Other(String),
}

/// A row of the token table.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ReasonFacts {
    /// As the runtime prints it.
    pub token: &'static str,
    /// Paths whose records can carry it; empty means any.
    pub paths: &'static [Path],
    /// The first build or change that prints it.
    pub since: &'static str,
    /// The last build or change that printed it.
    pub until: Option<&'static str>,
    /// True when there is nothing to repair.
    pub benign: bool,
    /// What happened, in plain words.
    pub meaning: &'static str,
    /// What to ask or look at next.
    pub ask: &'static str,
}

impl Reason {
    /// The token; a known one is recognised.
    pub fn new(token: &str) -> Self {
        ReasonFacts::ALL
            .iter()
            .find(|facts| facts.token == token)
            .map_or_else(|| Self::Other(token.to_owned()), Self::Known)
    }

    /// The printed word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(facts) => facts.token,
            Self::Other(token) => token,
        }
    }

    /// True for the seventeen tokens of the vocabulary.
    pub const fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// Reads a comma list such as `presenter_ineligible,weave_on_ingest`.
    pub fn list(text: &str) -> Vec<Self> {
        text.split(',').map(Self::new).collect()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|token| Self::new(&token))
    }
}

impl ReasonFacts {
    /// Every known token, in the order of vocabulary section 3.
    pub const ALL: &[Self] = &[
        Self {
            token: "killed_by_env",
            paths: &[Path::D3d11, Path::D3d12, Path::Vulkan, Path::Service],
            since: "Phase 3",
            until: None,
            benign: false,
            meaning: "Somebody switched the split off with DXR_WEAVE_ON_SCANOUT.",
            ask: "Which source set it: environment, user settings or machine settings? `displayxr-cli perf list` names it.",
        },
        Self {
            token: "same_adapter",
            paths: &[],
            since: "Phase 3",
            until: None,
            benign: true,
            meaning: "The app renders on the GPU that drives the panel, so there is nothing to split.",
            ask: "Nothing, unless the app was expected to render on the other GPU.",
        },
        Self {
            token: "scanout_unresolvable",
            paths: &[],
            since: "Phase 3",
            until: None,
            benign: false,
            meaning: "The runtime could not tell which GPU drives the panel.",
            ask: "Is the panel connected and active, and does the plug-in report its size and place?",
        },
        Self {
            token: "render_unresolvable",
            paths: &[Path::D3d11, Path::Vulkan],
            since: "Phase 3",
            until: None,
            benign: false,
            meaning: "The runtime could not tell which GPU the app renders on.",
            ask: "Does the graphics device report a LUID? An old driver or a software device does not.",
        },
        Self {
            token: "no_hwnd",
            paths: &[Path::D3d11, Path::D3d12, Path::Vulkan],
            since: "Phase 3",
            until: None,
            benign: true,
            meaning: "The session is off screen: it has no window to present into.",
            ask: "Is an off-screen session what the app intended?",
        },
        Self {
            token: "shared_texture_session",
            paths: &[Path::D3d11, Path::D3d12, Path::Vulkan],
            since: "Phase 3",
            until: None,
            benign: true,
            meaning: "The app presents through a shared texture, which must stay on its own GPU.",
            ask: "Can the app present into a window instead?",
        },
        Self {
            token: "no_panel_dimensions",
            paths: &[Path::D3d12, Path::Vulkan, Path::Service],
            since: "Phase 3",
            until: None,
            benign: false,
            meaning: "The display plug-in reported a panel of zero size.",
            ask: "Which plug-in is active, and does it see the panel?",
        },
        Self {
            token: "legacy_standalone",
            paths: &[Path::Service],
            since: "Phase 3",
            until: None,
            benign: true,
            meaning: "The service runs in its legacy stand-alone mode, which has no split.",
            ask: "Who set DXR_LEGACY_STANDALONE, and is it still needed?",
        },
        Self {
            token: "api_unsupported",
            paths: &[Path::OpenGl, Path::Vulkan],
            since: "Phase 3",
            until: None,
            benign: true,
            meaning: "This graphics API has no split in this build.",
            ask: "For Vulkan: is the build older than v2.12? For OpenGL: can the app be pinned to the panel's GPU in Windows?",
        },
        Self {
            token: "presenter_ineligible",
            paths: &[Path::Service],
            since: "Phase 3",
            until: None,
            benign: true,
            meaning: "The client presents its own pictures, so the service may not weave for it on the panel's GPU.",
            ask: "Is a client texture or a self-presenting client what was wanted here?",
        },
        Self {
            token: "weave_on_ingest",
            paths: &[Path::Service],
            since: "#1172",
            until: None,
            benign: true,
            meaning: "The weave follows an ineligible client onto the GPU that it renders on.",
            ask: "See presenter_ineligible: the two are printed together.",
        },
        Self {
            token: "stage_a_failed",
            paths: &[Path::D3d11, Path::D3d12, Path::Vulkan, Path::Service],
            since: "Phase 3",
            until: None,
            benign: false,
            meaning: "Setting up the device on the panel's GPU failed.",
            ask: "Which step failed? The warning some lines above names it, with the error code.",
        },
        Self {
            token: "dp_refused_scanout",
            paths: &[Path::D3d11, Path::D3d12, Path::Vulkan],
            since: "Phase 3",
            until: None,
            benign: false,
            meaning: "The display plug-in declined to weave on the panel's GPU.",
            ask: "Which plug-in and version? Does its vendor support weaving on that GPU?",
        },
        Self {
            token: "layers_unsupported",
            paths: &[Path::D3d12],
            since: "Phase 3",
            until: Some("D12-4"),
            benign: false,
            meaning: "The app used zones, 2D layers or a mask, which this old build could not carry across.",
            ask: "Does it still happen with a current build? This token is no longer printed.",
        },
        Self {
            token: "authored_mask",
            paths: &[Path::D3d12, Path::Vulkan],
            since: "D12-4",
            until: None,
            benign: false,
            meaning: "The app draws its own mask, and this machine cannot carry masks across GPUs.",
            ask: "Does the bridge say why the mask plane is not available?",
        },
        Self {
            token: "no_timeline_semaphore",
            paths: &[Path::Vulkan],
            since: "#1178 VK-1",
            until: None,
            benign: false,
            meaning: "The app's Vulkan device was made without timeline semaphores, which the bridge needs.",
            ask: "Can the app enable VK_KHR_timeline_semaphore?",
        },
        Self {
            token: "unknown",
            paths: &[],
            since: "Phase 3",
            until: None,
            benign: false,
            meaning: "The runtime gave no reason: a slip in the runtime, or a D3D12 session re-routed to the D3D11 engine.",
            ask: "Is there an ADR-039 or #1264 record nearby? Then the split did run.",
        },
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_seventeen_tokens_once_each() {
        let mut tokens: Vec<_> = ReasonFacts::ALL.iter().map(|facts| facts.token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        assert_eq!(tokens.len(), 17);
    }

    #[test]
    fn unknown_tokens_survive_json() {
        let list = Reason::list("presenter_ineligible,brand_new");
        let json = serde_json::to_string(&list).expect("tokens are strings");
        assert_eq!(json, r#"["presenter_ineligible","brand_new"]"#);
        let back: Vec<Reason> = serde_json::from_str(&json).expect("it was just written");
        assert_eq!(back, list);
        assert!(back[0].is_known() && !back[1].is_known());
    }
}
