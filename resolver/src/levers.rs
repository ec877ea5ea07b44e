//! What somebody set, as far as one log tells it: which variable, its value, where it stands, and whether it was followed.
//!
//! Records of overrides quote the variable with its value, or the provenance `user-forced: igpu`, which has the source. A
//! refusal by the kill switch tells that `DXR_WEAVE_ON_SCANOUT` is set somewhere, not where nor to what. What no record
//! tells stays null.

use std::collections::BTreeMap;

use wire::{Event, Fields, Kind, Source};

use crate::replay::{D3D_FORCE_GPU, VK_FORCE_GPU, WEAVE_ON_SCANOUT};

/// One setting that a log tells of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lever {
    /// Its value; null where the log tells only what came of it.
    pub value: Option<String>,
    /// Who set it.
    pub source: Option<Source>,
    /// Whether the runtime followed it.
    pub honoured: Option<bool>,
}

/// Folds the events of a log into its settings, by name; the last record of each wins.
#[derive(Clone, Debug, Default)]
pub struct Levers(BTreeMap<&'static str, Lever>);

impl Levers {
    /// The next event, in file order.
    pub fn push(&mut self, event: &Event) {
        let fields = &event.fields;
        match event.kind {
            Kind::OverrideFollowed | Kind::IngestForced | Kind::ClientCrossing => self.forced(fields, true),
            Kind::OverrideIgnored => self.forced(fields, false),
            Kind::Placement | Kind::PlacementChanged | Kind::RenderOff | Kind::SplitDisabled | Kind::SplitRefused => {
                let reasons = fields.reasons("reasons").unwrap_or_default();
                let killed = |word: &str| word == "killed_by_env";
                if reasons.iter().any(|reason| killed(reason.as_str())) || fields.text("cause").is_some_and(killed) {
                    self.0.entry(WEAVE_ON_SCANOUT).or_default().honoured = Some(true);
                }
            }
            _ => {}
        }
    }

    /// What was told, by name.
    pub fn finish(self) -> BTreeMap<&'static str, Lever> {
        self.0
    }

    /// The two variables that force a GPU.
    fn forced(&mut self, fields: &Fields, honoured: bool) {
        let (variable, provenance) = (fields.text("variable"), fields.text("provenance"));
        let forced = provenance.and_then(|words| words.split_once("-forced: "));
        let name = match variable {
            Some(VK_FORCE_GPU) => VK_FORCE_GPU,
            Some(D3D_FORCE_GPU) => D3D_FORCE_GPU,
            // Only this variable has a provenance (vocabulary section 9.1).
            None if forced.is_some() => D3D_FORCE_GPU,
            _ => return,
        };
        let index = || fields.int("index").map(|index| index.to_string());
        let value = match (fields.text("value"), forced) {
            (Some(value), _) => Some(value.to_owned()),
            (None, Some((_, "index"))) => index(),
            (None, Some((_, keyword))) => Some(keyword.to_owned()),
            (None, None) => None,
        };
        let source = forced.and_then(|(source, _)| match source {
            "env" => Some(Source::Env),
            "user" => Some(Source::User),
            "machine" => Some(Source::Machine),
            _ => None,
        });
        let own = self.0.entry(name).or_default();
        // Several records tell of one decision, each a part of it; another value is another decision.
        if value.is_some() && own.value.is_some() && value != own.value {
            *own = Lever::default();
        }
        own.value = value.or(own.value.take());
        own.source = source.or(own.source);
        own.honoured = Some(honoured);
    }
}

#[cfg(test)]
mod tests {
    use wire::{Level, Reason, Value};

    use super::*;

    fn told(records: &[(Kind, &[(&'static str, Value)])]) -> BTreeMap<&'static str, Lever> {
        let mut levers = Levers::default();
        for (kind, values) in records {
            let mut fields = Fields::new();
            values.iter().for_each(|(name, value)| fields.push(*name, value.clone()));
            levers.push(&Event {
                offset: 0,
                line: 1,
                time: None,
                level: Level::Warn,
                function: None,
                shape: "x".into(),
                kind: *kind,
                hint: None,
                fields,
                spelling: Vec::new(),
            });
        }
        levers.finish()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn lever(value: Option<&str>, source: Option<Source>, honoured: Option<bool>) -> Lever {
        Lever { value: value.map(str::to_owned), source, honoured }
    }

    #[test]
    fn each_record_tells_its_part_and_nothing_is_guessed() {
        let ignored: &[_] = &[("variable", text(D3D_FORCE_GPU)), ("value", text("scanout "))];
        let forced: &[_] = &[("provenance", text("user-forced: igpu"))];
        let by_number: &[_] = &[("provenance", text("env-forced: index")), ("index", Value::Uint(1))];
        let numberless: &[_] = &[("provenance", text("env-forced: index"))];
        let ranked: &[_] = &[("provenance", text("most VRAM"))];
        let vulkan: &[_] = &[("variable", text(VK_FORCE_GPU)), ("value", text("1")), ("index", Value::Uint(1))];
        let cases = [
            (Kind::OverrideIgnored, ignored, D3D_FORCE_GPU, lever(Some("scanout "), None, Some(false))),
            (Kind::OverrideFollowed, forced, D3D_FORCE_GPU, lever(Some("igpu"), Some(Source::User), Some(true))),
            (Kind::OverrideFollowed, by_number, D3D_FORCE_GPU, lever(Some("1"), Some(Source::Env), Some(true))),
            (Kind::ClientCrossing, numberless, D3D_FORCE_GPU, lever(None, Some(Source::Env), Some(true))),
            (Kind::OverrideFollowed, vulkan, VK_FORCE_GPU, lever(Some("1"), None, Some(true))),
        ];
        for (kind, values, name, expected) in cases {
            assert_eq!(told(&[(kind, values)]), BTreeMap::from([(name, expected)]), "{values:?}");
        }
        assert_eq!(told(&[(Kind::OverrideFollowed, ranked)]), BTreeMap::new());
        let both = told(&[(Kind::OverrideFollowed, by_number), (Kind::ClientCrossing, numberless)]);
        assert_eq!(both[D3D_FORCE_GPU], lever(Some("1"), Some(Source::Env), Some(true)));
    }

    #[test]
    fn a_kill_is_told_without_its_value_and_source() {
        let killed = vec![Reason::new("killed_by_env")];
        let reasons: &[_] = &[("reasons", Value::Reasons(killed))];
        let cause: &[_] = &[("cause", text("killed_by_env"))];
        let expected = BTreeMap::from([(WEAVE_ON_SCANOUT, lever(None, None, Some(true)))]);
        for (kind, values) in [(Kind::Placement, reasons), (Kind::RenderOff, reasons), (Kind::SplitDisabled, cause)] {
            assert_eq!(told(&[(kind, values)]), expected);
        }
        let other: &[_] = &[("cause", text("stage_a_failed"))];
        assert_eq!(told(&[(Kind::SplitDisabled, other)]), BTreeMap::new());
    }
}
