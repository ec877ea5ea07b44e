//! What one session remembers: its placement records and the evidence for and against them (contract section 2).
//!
//! The memory is a running state, not a list of events. What it means is decided elsewhere.

use wire::{Changed, Event, Kind, PathHint, Placement, Reason, Split};

use super::code::Code;
use super::findings::Findings;
use super::kept::{self, SESSION_BUDGET_BYTES};
use super::path::Hints;

/// One session, or the records of a log that has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    full: Option<FullRecord>,
    last_changed: Option<ChangedRecord>,
    /// Evidence (a): the last engaging record that nothing has taken back.
    engaging: Option<u64>,
    /// Evidence (b): the last `[RENDER] split=1` with `xb_kb` that nothing has taken back.
    bridging: Option<u64>,
    /// The session ran a split before: a full line with `split=1`, or (a). `RETIRED` ends (a), yet the `CHANGED` that
    /// comes with it must still know; a split that was refused or could not be set up never ran.
    engaged_before: bool,
    retired: Option<RetiredRecord>,
    refusal: Option<Refusal>,
    hints: Hints,
    changed: Vec<Changed>,
    changed_bytes: usize,
    changed_omitted: Option<(u64, u64)>,
}

/// A full placement record.
#[derive(Clone, Debug)]
pub(crate) struct FullRecord {
    /// 1-based.
    pub(crate) line: u64,
    /// `None` when its body was lost.
    pub(crate) placement: Option<Placement>,
}

/// A `CHANGED` record, with what was known when it came.
#[derive(Clone, Debug)]
pub(crate) struct ChangedRecord {
    /// 1-based.
    pub(crate) line: u64,
    /// As printed.
    pub(crate) reasons: Vec<Reason>,
    /// The session's full record came before it.
    pub(crate) behind_full: bool,
    /// The session had run a split by then.
    pub(crate) engaged_before: bool,
}

/// A `RETIRED` record, with what was known when it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetiredRecord {
    /// 1-based.
    pub(crate) line: u64,
    /// The session's full record came before it.
    pub(crate) behind_full: bool,
    /// The session had run a split by then.
    pub(crate) engaged_before: bool,
}

/// `[RENDER] split=0 reason=T` or `DISABLED (T)`, where T is a token.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// 1-based.
    pub(crate) line: u64,
    /// As printed.
    pub(crate) reasons: Vec<Reason>,
}

impl Session {
    /// Takes the next record that belongs to this session.
    pub(crate) fn absorb(&mut self, event: &Event) {
        if let Some(hint) = event.hint {
            self.hints.add(hint);
        }
        match event.kind {
            Kind::Placement | Kind::PlacementUnreadable => self.full_record(event),
            Kind::PlacementChanged => self.changed_record(event),
            Kind::RenderSplit if event.fields.get("xb_kb").is_some() => {
                self.bridging = (event.fields.int("split") == Some(1)).then_some(event.line);
            }
            Kind::RenderOff => self.refused_for(event.line, event.fields.reasons("reasons").map(<[Reason]>::to_vec)),
            Kind::SplitDisabled => self.refused_for(event.line, cause_tokens(event)),
            Kind::SplitRetired => {
                self.retired = Some(RetiredRecord {
                    line: event.line,
                    behind_full: self.full.is_some(),
                    engaged_before: self.engaged_before,
                });
            }
            _ => {}
        }
        if event.kind.engages() {
            self.engaging = Some(event.line);
            self.engaged_before = true;
        }
        if event.kind.takes_back() {
            self.engaging = None;
            self.bridging = None;
            self.engaged_before &= matches!(event.kind, Kind::SplitRetired | Kind::PlacementChanged);
        }
    }

    /// True once the session has its full placement record: the next opener belongs to another one.
    pub(crate) const fn has_full_record(&self) -> bool {
        self.full.is_some()
    }

    /// The full record when it can be read, unless a `CHANGED` came behind it.
    pub(crate) fn stated(&self) -> Option<(u64, &Placement)> {
        let full = self.full.as_ref()?;
        let placement = full.placement.as_ref()?;
        let replaced = self.last_changed.as_ref().is_some_and(|changed| changed.behind_full);
        (!replaced).then_some((full.line, placement))
    }

    /// The last `CHANGED`.
    pub(crate) const fn last_changed(&self) -> Option<&ChangedRecord> {
        self.last_changed.as_ref()
    }

    /// What the full record said, whatever came behind it.
    pub(crate) fn full_placement(&self) -> Option<&Placement> {
        self.full.as_ref()?.placement.as_ref()
    }

    /// Line of the evidence that a split runs, (a) before (b).
    pub(crate) fn runs_split(&self) -> Option<u64> {
        self.engaging.or(self.bridging)
    }

    /// The last `RETIRED`.
    pub(crate) const fn retired(&self) -> Option<RetiredRecord> {
        self.retired
    }

    /// The last record beside the placement that says why there is no split.
    pub(crate) const fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    /// What the session's records say about the path.
    pub(crate) const fn hints(&self) -> Hints {
        self.hints
    }

    /// What the scan object shows of this session; `None` without a full record.
    pub(crate) fn into_report(self, findings: &mut Findings) -> Option<wire::Session> {
        let full = self.full?;
        if let Some((line, count)) = self.changed_omitted {
            let what = format!("{count} CHANGED records of the session at line {}", full.line);
            findings.note(Code::EvidenceOmitted, Some(line), "changed", || {
                format!("{what} are not listed one by one; the verdict and the last of them are exact.")
            });
        }
        let (split, reasons) = match full.placement {
            Some(placement) if placement.split == Split::Engaged => (Split::Engaged, Vec::new()),
            Some(placement) => (placement.split, placement.reasons),
            None => (Split::Unknown, Vec::new()),
        };
        Some(wire::Session { line: full.line, split, reasons, changed: self.changed })
    }

    fn full_record(&mut self, event: &Event) {
        let placement = Placement::from_event(event);
        // What was taken back before this line is over with: only what it says, or what still runs, counts from here on.
        let says_engaged = placement.as_ref().is_some_and(|placement| placement.split == Split::Engaged);
        self.engaged_before = says_engaged || self.engaging.is_some();
        self.full = Some(FullRecord { line: event.line, placement });
    }

    fn changed_record(&mut self, event: &Event) {
        let reasons = event.fields.reasons("reasons").unwrap_or_default().to_vec();
        self.last_changed = Some(ChangedRecord {
            line: event.line,
            reasons: reasons.clone(),
            behind_full: self.full.is_some(),
            engaged_before: self.engaged_before,
        });
        let record = Changed { line: event.line, reasons };
        // The runtime prints one a session. A log that has thousands is hostile: keep the first and the newest.
        let size_bytes = kept::changed_bytes(&record);
        if self.changed_bytes + size_bytes > SESSION_BUDGET_BYTES
            && let Some(newest) = self.changed.pop()
        {
            self.changed_bytes -= kept::changed_bytes(&newest);
            self.changed_omitted = Some(match self.changed_omitted {
                Some((line, count)) => (line, count + 1),
                None => (newest.line, 1),
            });
        }
        self.changed_bytes += size_bytes;
        self.changed.push(record);
    }

    fn refused_for(&mut self, line: u64, reasons: Option<Vec<Reason>>) {
        if let Some(reasons) = reasons.filter(|reasons| !reasons.is_empty()) {
            self.refusal = Some(Refusal { line, reasons });
        }
    }

    /// Takes what a record that nobody knows says about the path all the same.
    pub(crate) fn hint(&mut self, hint: PathHint) {
        self.hints.add(hint);
    }
}

/// The tokens in `DISABLED (…)`: a gate prints a token list, a failed set-up prints prose (vocabulary section 5).
pub(crate) fn cause_tokens(event: &Event) -> Option<Vec<Reason>> {
    let cause = event.fields.text("cause")?;
    let tokens = Reason::list(cause);
    tokens.iter().all(|token| is_token(token.as_str())).then_some(tokens)
}

/// The token grammar of the vocabulary, `[a-z_]+`, with the digits that a token about D3D12 would have. The prose that is
/// known has blanks or capitals in it, save `unknown`, which is a token as well.
fn is_token(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
