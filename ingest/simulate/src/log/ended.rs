//! How a session ended, and what is left to say when its placement line has lost its text.

use wire::{Adapter, Basis, Crossing, Reason, Split};

/// How a session ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub split: Split,
    pub reasons: Vec<Reason>,
    pub retired: bool,
    pub basis: Basis,
    pub render: Option<Adapter>,
    pub scanout: Option<Adapter>,
    pub line: Option<u64>,
}

impl Ended {
    /// Nothing tells.
    pub(crate) const fn absent() -> Self {
        Self {
            split: Split::Unknown,
            reasons: Vec::new(),
            retired: false,
            basis: Basis::Absent,
            render: None,
            scanout: None,
            line: None,
        }
    }

    /// Another record overrules the placement line (contract section 2, stronger evidence).
    pub(crate) fn corrected(self, split: Split, line: u64) -> Self {
        Self { split, reasons: Vec::new(), basis: Basis::Corrected, line: Some(line), ..self }
    }

    pub(crate) fn crossing(&self) -> Crossing {
        match (&self.render, &self.scanout, self.split) {
            (Some(render), Some(scanout), _) if render.luid == scanout.luid => Crossing::None,
            (Some(_), Some(_), Split::Engaged) => Crossing::AtlasPerFrame,
            (Some(_), Some(_), Split::Off) => Crossing::EveryPresent,
            _ => Crossing::Unknown,
        }
    }

    pub(crate) fn killed(&self) -> bool {
        self.reasons.iter().any(|reason| reason.as_str() == "killed_by_env")
    }
}

/// What the records of the open session say beside its placement line, as far as their text survived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// The last record that says a split runs.
    pub engaging: Option<u64>,
    /// The last `[RENDER] split=1` with `xb_kb`.
    pub bridging: Option<u64>,
    /// The last refusal with a token.
    pub refusal: Option<(u64, String)>,
    /// A record said so at some time, and no refusal followed: what `CHANGED` takes back then had run.
    pub ran: bool,
    /// The placement line has lost its text.
    pub lost: bool,
}

impl Evidence {
    /// The placement line has lost its text: what the other records say (contract section 2).
    pub(crate) fn without_line(&self, ended: Ended) -> Ended {
        // `CHANGED` names no adapter, so it keeps its text. That a split ran before it must then stand in another record.
        if ended.retired && ended.basis == Basis::Stated {
            return Ended { retired: self.ran, render: None, scanout: None, ..ended };
        }
        let inferred = |split, line| Ended { split, basis: Basis::Inferred, line: Some(line), ..Ended::absent() };
        if let Some(line) = self.engaging.or(self.bridging) {
            return inferred(Split::Engaged, line);
        }
        if let Some((line, token)) = &self.refusal {
            let line = *line;
            return Ended { reasons: Reason::list(token), ..inferred(Split::Off, line) };
        }
        if ended.retired {
            return Ended { retired: true, ..inferred(Split::Off, ended.line.unwrap_or_default()) };
        }
        Ended::absent()
    }
}
