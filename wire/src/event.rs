//! One log record that the parser understands, as typed values.
//!
//! An event names its shape (how it was spelled) and its kind (what it says). Readers decide on the kind, which is a
//! small closed set; the shape only leads back to the line. So an older server still judges a log whose newer build
//! spells an old thing in a new way. An event holds values, never the line.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Level, Luid, PathHint, Reason};

/// What the parser tells about a log, in file order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// A record that was understood.
    Event(Event),
    /// Something wrong with a record, whether or not it was understood.
    Flaw(Flaw),
}

impl Observation {
    /// Byte offset of the record in its log: with the log's identity, the key of idempotence.
    pub const fn offset(&self) -> u64 {
        match self {
            Self::Event(event) => event.offset,
            Self::Flaw(flaw) => flaw.offset,
        }
    }

    /// 1-based line number of the record.
    pub const fn line(&self) -> u64 {
        match self {
            Self::Event(event) => event.line,
            Self::Flaw(flaw) => flaw.line,
        }
    }
}

/// A record as typed values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Byte offset of the record's first byte in the file.
    pub offset: u64,
    /// 1-based number of the record's first physical line.
    pub line: u64,
    /// Local wall clock as printed, `2026-09-14 12:00:01.370`; no zone. Absent in stderr captures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The level field.
    pub level: Level,
    /// The function field; `[OXR  ]` records have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The row of the vocabulary that it matched, such as `wp.g2.on_render`.
    pub shape: Cow<'static, str>,
    /// What it says.
    pub kind: Kind,
    /// What it tells about the path of its log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<PathHint>,
    /// Printed values, then what the wording itself fixes.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub fields: Fields,
    /// Where the line strayed from the runtime's own spelling; empty nearly always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spelling: Vec<Patch>,
}

/// What a record says. Sections and roles as in contract section 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A full placement record.
    Placement,
    /// A full placement record whose body was lost (a name that the formatter could not convert).
    PlacementUnreadable,
    /// `weave placement: CHANGED`.
    PlacementChanged,
    /// The device of the app or the service became known.
    Device,
    /// The service's ingest adapter.
    Ingest,
    /// Same adapter, so no split was tried.
    SplitNoop,
    /// A split goes up: ADR-039 engagement, a re-route, or `ACTIVE` printed before the placement line.
    SplitEngaged,
    /// A split went up after the placement line: Vulkan's bridge.
    BridgeEngaged,
    /// The split was refused or its set-up failed; the field `cause` holds a token or prose.
    SplitDisabled,
    /// The re-route of a heavy D3D12 session was refused.
    SplitRefused,
    /// How long stage A took; the field `active` tells the outcome.
    StageTook,
    /// Creating the device on the panel's GPU failed.
    DeviceFailed,
    /// The split was taken back for the rest of the session.
    SplitRetired,
    /// Another record of a split: details, counters, teardown.
    SplitDetail,
    /// The bridge gave up; the panel shows its last picture.
    BridgeDegraded,
    /// The bridge reports itself.
    BridgeDetail,
    /// `[RENDER]` with the live state of a split.
    RenderSplit,
    /// `[RENDER] split=0 reason=…`.
    RenderOff,
    /// Another periodic window of counters.
    Window,
    /// OpenGL: where the context is and what the runtime would have picked.
    GlAdvisory,
    /// OpenGL: the interop device and the evidence for it.
    GlInterop,
    /// OpenGL: interop or handoff crosses adapters.
    GlCrossing,
    /// Vulkan or D3D12 deposit, and the transparency bridge's adapter match.
    Deposit,
    /// A candidate of the render resolver.
    RenderCandidate,
    /// An adapter that the render resolver left out.
    RenderSkipped,
    /// What the render resolver chose.
    RenderChoice,
    /// An override that was followed.
    OverrideFollowed,
    /// An override that was not.
    OverrideIgnored,
    /// What the OpenXR client was told to render on.
    Requirements,
    /// A client that crosses adapters because an override says so.
    ClientCrossing,
    /// The scanout resolver.
    Scanout,
    /// The service's ingest device was forced.
    IngestForced,
    /// A client's presenter in the service.
    Presenter,
    /// The adapter of an IPC client.
    ClientAdapter,
    /// The app renders through the service.
    ServiceMode,
    /// Version of the runtime.
    RuntimeVersion,
    /// A plug-in was loaded.
    Plugin,
    /// The plug-in loader had to fall back.
    PluginFallback,
    /// The display: size, place, name.
    Display,
    /// Which compositor a session uses; printed after its placement line.
    Compositor,
    /// A GPU was lost.
    DeviceRemoved,
    /// Presenting failed, or the process died.
    Failure,
    /// The suggested GPU was not found by the Vulkan client.
    SuggestedGpuMissing,
    /// The OpenXR instance, its devices, its sessions.
    Instance,
    /// Known only by the function that wrote it, which tells the path.
    Neighbour,
    /// A kind of a newer build.
    #[serde(other)]
    Unknown,
}

impl Kind {
    /// The first of these after a session's full placement record opens the next session (contract section 2).
    pub const fn opens_session(self) -> bool {
        matches!(
            self,
            Self::Device
                | Self::Ingest
                | Self::SplitNoop
                | Self::SplitEngaged
                | Self::SplitDisabled
                | Self::SplitRefused
                | Self::StageTook
                | Self::DeviceFailed
        )
    }

    /// Says that a split runs.
    pub const fn engages(self) -> bool {
        matches!(self, Self::SplitEngaged | Self::BridgeEngaged)
    }

    /// Takes back what an engaging record said before.
    pub const fn takes_back(self) -> bool {
        matches!(self, Self::SplitRetired | Self::PlacementChanged | Self::SplitDisabled | Self::SplitRefused)
    }
}

/// One printed value. The variant is the type of the conversion that printed it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// `%s`, `%ls`, `%c`: free text.
    Text(String),
    /// A pair of `%08lx`, or a packed `%016llx`.
    Luid(Luid),
    /// A comma list of reason tokens.
    Reasons(Vec<Reason>),
    /// `%u`, `%llu`.
    Uint(u64),
    /// `%d`, `%ld`, `%lld`.
    Int(i64),
    /// `%08lx`, `%x`, `%p`: HRESULTs, masks, handles.
    Hex(u64),
    /// `%.1f` and its kin, kept as printed.
    Decimal(String),
}

/// The values of an event by name, in print order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fields(Vec<(Cow<'static, str>, Value)>);

impl Fields {
    /// An empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a value behind the others.
    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Value) {
        self.0.push((name.into(), value));
    }

    /// True when nothing was printed and nothing is fixed.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In print order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// The value with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(own, value)| (own == name).then_some(value))
    }

    /// A text value.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) | Value::Decimal(text) => Some(text),
            _ => None,
        }
    }

    /// An adapter id.
    pub fn luid(&self, name: &str) -> Option<Luid> {
        match self.get(name)? {
            Value::Luid(luid) => Some(*luid),
            _ => None,
        }
    }

    /// A number, whichever conversion printed it.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Value::Uint(value) | Value::Hex(value) => i64::try_from(*value).ok(),
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A list of reason tokens.
    pub fn reasons(&self, name: &str) -> Option<&[Reason]> {
        match self.get(name)? {
            Value::Reasons(reasons) => Some(reasons),
            _ => None,
        }
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of named values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    fields.push(name, value);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A place where the printed body differs from what the shape would print: a dash that went through a wrong code page,
/// a Latin-1 byte, an upper-case hex digit. With the patches applied, formatting is the exact inverse of reading.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Patch {
    /// Byte offset in the body as the shape prints it.
    pub at: usize,
    /// How many of those bytes are replaced.
    pub len: usize,
    /// What stood there instead.
    pub bytes: Vec<u8>,
}

/// Something wrong with a record (vocabulary 1.4 to 1.6).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flaw {
    /// Byte offset of the record's first byte in the file.
    pub offset: u64,
    /// 1-based number of the record's first physical line.
    pub line: u64,
    /// What is wrong.
    pub kind: FlawKind,
    /// The marker of ours that the body starts with, such as `weave placement:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<Cow<'static, str>>,
    /// What the record tells about the path of its log although nobody knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<PathHint>,
}

/// The ways in which a record can be damaged or strange.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlawKind {
    /// The prefix survived, the body is empty.
    EmptyBody,
    /// Cut at a NUL, or an over-long `[OXR  ]` record that lost its newline.
    Truncated,
    /// Another record's prefix stands inside.
    Spliced,
    /// Starts with a marker of ours and fits no known shape.
    Unrecognised,
    /// A kind of a newer build.
    #[serde(other)]
    Unknown,
}
