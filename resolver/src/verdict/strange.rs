//! Which words of a record does the vocabulary not know? Findings tell a reader of one log, a fleet counts them by build.

use std::borrow::Cow;

use wire::{Event, FlawKind, Kind, Observation, Reason};

use super::session::cause_tokens;

/// A word that is not in the vocabulary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strange<'a> {
    /// A reason token outside the known ones.
    Token(Cow<'a, str>),
    /// A record that starts with this marker of ours and goes on in an unknown wording.
    Shape(&'a str),
}

/// All of them in a record, in print order (contract section 3, `unknown_reason_token` and `unrecognised_shape`).
pub fn strange(observation: &Observation) -> Vec<Strange<'_>> {
    match observation {
        Observation::Event(event) => match reasons(event) {
            Cow::Borrowed(reasons) => {
                let unknown = reasons.iter().filter(|reason| !reason.is_known());
                unknown.map(|reason| Strange::Token(Cow::Borrowed(reason.as_str()))).collect()
            }
            Cow::Owned(reasons) => {
                let unknown = reasons.into_iter().filter(|reason| !reason.is_known());
                unknown.map(|reason| Strange::Token(Cow::Owned(reason.to_string()))).collect()
            }
        },
        Observation::Flaw(flaw) if flaw.kind == FlawKind::Unrecognised => {
            vec![Strange::Shape(flaw.marker.as_deref().unwrap_or_default())]
        }
        Observation::Flaw(_) => Vec::new(),
    }
}

/// The reason tokens of a record that can have some.
pub(crate) fn reasons(event: &Event) -> Cow<'_, [Reason]> {
    match event.kind {
        Kind::Placement | Kind::PlacementChanged | Kind::RenderOff => {
            Cow::Borrowed(event.fields.reasons("reasons").unwrap_or_default())
        }
        Kind::SplitDisabled => Cow::Owned(cause_tokens(event).unwrap_or_default()),
        _ => Cow::Borrowed(&[]),
    }
}
