//! What a replay needs of one session, with nothing in it that names a machine or a boot: equal PCs share it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Machine, Path, Policy};

/// One session on one kind of PC, ready to be replayed under other rules and settings (issue 5, what-if).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Situation {
    /// The rules that the log's own records show.
    pub policy: Policy,
    /// The compositor.
    pub path: Path,
    /// The machine with its settings and session; what the log's placement says of them counts as told. LUIDs are numbered
    /// in order of appearance.
    pub machine: Machine,
    /// Facts that the log leaves open and that have their defaults in `machine`, such as `session.hwnd`.
    #[serde(default)]
    pub missing: Vec<Cow<'static, str>>,
    /// Of a build that splits only where `DXR_WEAVE_ON_SCANOUT` asks for it (generation G1), with nobody who asked; `machine`
    /// then holds the kill switch, which does the same. Left out where false, so that other situations keep their ids.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
}
