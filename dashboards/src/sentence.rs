//! A verdict in one or two plain sentences: who rendered, who drives the panel, what crossed, and why.

use wire::{Adapter, Basis, Crossing, Path, Split, Verdict};

use crate::words;

/// A piece of a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Our words.
    Words(String),
    /// A name or token from the log, which pages set apart.
    Name(String),
}

/// The verdict of a log of this path.
pub(crate) fn verdict(verdict: &Verdict, path: Path) -> Vec<Part> {
    let mut told = Sentence { parts: Vec::new(), render: verdict.render.as_ref(), scanout: verdict.scanout.as_ref() };
    let who = if path == Path::Service { "The service" } else { "The app" };
    match (verdict.split, verdict.crossing) {
        (Split::Unknown, _) if path == Path::IpcClient => {
            told.say(
                "The app renders through the service, which decides where the weave runs; look at the service's log.",
            );
        }
        (Split::Unknown, _) => told.say("The log does not tell where the weave ran."),
        (Split::Engaged, Crossing::None) => {
            told.say(&format!("{who} rendered on "));
            told.name_render();
            told.say(", which also drives the panel; the split ran there, so nothing crossed.");
        }
        (Split::Engaged, crossing) => {
            told.say(&format!("{who} rendered on "));
            told.name_render();
            told.say(" and the weave ran on ");
            told.name_scanout();
            told.say(", which drives the panel");
            told.say(if crossing == Crossing::AtlasPerFrame {
                "; only the atlas crossed, once per rendered frame."
            } else {
                ". What crossed is not known."
            });
        }
        (Split::Off, Crossing::None) => {
            told.say(&format!("{who} rendered on "));
            told.name_render();
            told.say(", which also drives the panel, so ");
            if verdict.retired {
                told.say("nothing crossed when the split was taken back");
                told.reason(verdict);
                told.say(".");
            } else {
                told.say("there was nothing to split.");
            }
        }
        (Split::Off, Crossing::Unknown) => {
            told.say("There was no split");
            told.reason(verdict);
            told.say("; which GPUs were involved is not fully known (render: ");
            told.name_render();
            told.say(", panel: ");
            told.name_scanout();
            told.say("), so nobody can tell whether frames crossed.");
        }
        (Split::Off, _) => {
            told.say(&format!("{who} rendered on "));
            told.name_render();
            told.say(" and");
            told.say(if verdict.retired { ", once the split was taken back," } else { "" });
            told.say(" every frame was copied to ");
            told.name_scanout();
            told.say(", which drives the panel");
            told.reason(verdict);
            told.say(".");
        }
    }
    if verdict.interop_crossing {
        told.say(" Interop, or a client by explicit override, crossed adapters as well.");
    }
    if matches!(verdict.basis, Basis::Corrected | Basis::Inferred) {
        told.say(if verdict.basis == Basis::Corrected {
            " (Other records overrule the placement line.)"
        } else {
            " (There is no readable placement line; other records decide.)"
        });
    }
    told.parts
}

struct Sentence<'a> {
    parts: Vec<Part>,
    render: Option<&'a Adapter>,
    scanout: Option<&'a Adapter>,
}

impl Sentence<'_> {
    fn say(&mut self, words: &str) {
        match self.parts.last_mut() {
            Some(Part::Words(last)) => last.push_str(words),
            _ => self.parts.push(Part::Words(words.to_owned())),
        }
    }

    fn name(&mut self, name: &str) {
        self.parts.push(Part::Name(name.to_owned()));
    }

    fn name_render(&mut self) {
        match self.render {
            Some(adapter) => self.name(&adapter.name),
            None => self.say("an unknown GPU"),
        }
    }

    fn name_scanout(&mut self) {
        match self.scanout {
            Some(adapter) => self.name(&adapter.name),
            None => self.say("an unknown GPU"),
        }
    }

    /// Why the split is off, from a comma to the end of the clause.
    fn reason(&mut self, verdict: &Verdict) {
        if verdict.reasons.is_empty() {
            self.say(if verdict.retired { "; the log ends before the reason" } else { "; this log gives no reason" });
            return;
        }
        for (index, reason) in verdict.reasons.iter().enumerate() {
            self.say(if index == 0 { ", because " } else { " and " });
            if let Some(clause) = words::because(reason) {
                self.say(clause);
            } else {
                self.say("of ");
                self.name(reason.as_str());
                self.say(" (a reason this build does not know)");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::{Luid, Reason};

    use super::*;

    fn told(split: Split, crossing: Crossing, reasons: &str, change: impl Fn(&mut Verdict)) -> String {
        let adapter = |name: &str, luid| Some(Adapter { name: name.to_owned(), luid: Luid(luid) });
        let mut made = Verdict {
            split,
            crossing,
            interop_crossing: false,
            reasons: if reasons.is_empty() { Vec::new() } else { Reason::list(reasons) },
            killed: false,
            retired: false,
            basis: Basis::Stated,
            render: adapter("RTX", 1),
            scanout: adapter("Iris", 2),
            line: Some(1),
        };
        change(&mut made);
        verdict(&made, Path::D3d12)
            .into_iter()
            .map(|part| match part {
                Part::Words(words) => words,
                Part::Name(name) => format!("[{name}]"),
            })
            .collect()
    }

    #[test]
    fn verdicts_read_as_sentences() {
        let same = |_: &mut Verdict| {};
        assert_eq!(
            told(Split::Off, Crossing::EveryPresent, "killed_by_env", same),
            "The app rendered on [RTX] and every frame was copied to [Iris], which drives the panel, because the split was \
             switched off by a setting."
        );
        assert_eq!(
            told(Split::Engaged, Crossing::AtlasPerFrame, "", same),
            "The app rendered on [RTX] and the weave ran on [Iris], which drives the panel; only the atlas crossed, once \
             per rendered frame."
        );
        assert_eq!(
            told(Split::Off, Crossing::None, "same_adapter", same),
            "The app rendered on [RTX], which also drives the panel, so there was nothing to split."
        );
        assert_eq!(
            told(Split::Off, Crossing::EveryPresent, "presenter_ineligible,brand_new", |v| v.retired = true),
            "The app rendered on [RTX] and, once the split was taken back, every frame was copied to [Iris], which drives \
             the panel, because the client presents its own pictures and of [brand_new] (a reason this build does not know)."
        );
        assert_eq!(
            told(Split::Off, Crossing::None, "", |v| v.retired = true),
            "The app rendered on [RTX], which also drives the panel, so nothing crossed when the split was taken back; the \
             log ends before the reason."
        );
        assert_eq!(
            told(Split::Off, Crossing::Unknown, "scanout_unresolvable", |v| v.scanout = None),
            "There was no split, because the runtime could not tell which GPU drives the panel; which GPUs were involved is \
             not fully known (render: [RTX], panel: an unknown GPU), so nobody can tell whether frames crossed."
        );
        assert_eq!(
            told(Split::Unknown, Crossing::Unknown, "", |v| v.basis = Basis::Absent),
            "The log does not tell where the weave ran."
        );
        assert!(told(Split::Engaged, Crossing::None, "", |v| v.basis = Basis::Corrected).ends_with("placement line.)"));
    }
}
