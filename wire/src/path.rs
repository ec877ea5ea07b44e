//! Which compositor wrote a log, and which generation of builds it came from.

use serde::{Deserialize, Serialize};

/// The compositor that wrote the log (contract section 1). The order is the order of preference when the records of a
/// log speak for several (vocabulary 12.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Path {
    /// The D3D11 compositor service.
    Service,
    /// In-process OpenGL.
    #[serde(rename = "opengl")]
    OpenGl,
    /// In-process Direct3D 12.
    D3d12,
    /// In-process Direct3D 11.
    D3d11,
    /// In-process Vulkan.
    Vulkan,
    /// An app that renders through the service; it prints no placement line.
    IpcClient,
    /// Nothing in the log tells.
    #[serde(other)]
    Unknown,
}

impl Path {
    /// All seven, in order of preference.
    pub const ALL: [Self; 7] =
        [Self::Service, Self::OpenGl, Self::D3d12, Self::D3d11, Self::Vulkan, Self::IpcClient, Self::Unknown];

    /// The word of the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::OpenGl => "opengl",
            Self::D3d12 => "d3d12",
            Self::D3d11 => "d3d11",
            Self::Vulkan => "vulkan",
            Self::IpcClient => "ipc_client",
            Self::Unknown => "unknown",
        }
    }
}

/// What one record says about the path of its log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct PathHint {
    /// The compositor it speaks for.
    pub path: Path,
    /// True for the neighbours that vocabulary 12.2 names. False for a shape that only one component prints: it decides
    /// where no named neighbour does.
    pub named: bool,
}

/// Age of the build, told by what it prints (contract section 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
pub enum Generation {
    /// Before the placement line existed.
    G0,
    /// A placement line without `(split=…)`.
    G1,
    /// A placement line with `(split=…)`.
    G2,
}

impl Generation {
    /// The word of the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::G0 => "G0",
            Self::G1 => "G1",
            Self::G2 => "G2",
        }
    }
}
