//! What a placement record says, read from its values.

use serde::{Deserialize, Serialize};

use crate::{Event, Fields, Generation, Kind, Luid, Reason, Split};

/// One GPU as a log names it.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Adapter {
    /// DXGI's description, or `<unknown>`.
    pub name: String,
    /// Valid within one boot of one machine.
    pub luid: Luid,
}

impl Adapter {
    /// The pair of fields `NAME.name` and `NAME.luid`; null where the runtime printed that it does not know.
    fn from_fields(fields: &Fields, name: &str) -> Option<Self> {
        let luid = fields.luid(&format!("{name}.luid"))?;
        let name = fields.text(&format!("{name}.name"))?;
        // The first placement lines printed this pair for "could not be had" (vocabulary section 2).
        let unknown = name == "<unknown>" && luid.is_zero();
        (!unknown).then(|| Self { name: name.to_owned(), luid })
    }
}

/// A readable placement record, full or `CHANGED`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// `Engaged` or `Off`; never `Unknown`.
    pub split: Split,
    /// Tokens in print order; empty when engaged and in generation G1.
    pub reasons: Vec<Reason>,
    /// Where the app renders; null in a `CHANGED` record.
    pub render: Option<Adapter>,
    /// Which adapter drives the panel; null in a `CHANGED` record.
    pub scanout: Option<Adapter>,
    /// With `(split=…)` or without.
    pub generation: Generation,
}

impl Placement {
    /// Reads an event of kind [`Kind::Placement`] or [`Kind::PlacementChanged`]; `None` for every other event.
    pub fn from_event(event: &Event) -> Option<Self> {
        if !matches!(event.kind, Kind::Placement | Kind::PlacementChanged) {
            return None;
        }
        let fields = &event.fields;
        let reasons = fields.reasons("reasons").unwrap_or_default();
        let engaged = fields.int("split")? != 0;
        Some(Self {
            split: if engaged { Split::Engaged } else { Split::Off },
            reasons: reasons.to_vec(),
            render: Adapter::from_fields(fields, "render"),
            scanout: Adapter::from_fields(fields, "scanout"),
            generation: if fields.int("generation") == Some(1) { Generation::G1 } else { Generation::G2 },
        })
    }
}
