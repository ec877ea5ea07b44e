//! How much of a log's past is carried along: sessions inside a budget, the newest one always.

use wire::{Changed, Reason, Session};

use super::code::Code;
use super::findings::Findings;

/// What the sessions before the last may take. A session of a real log takes about 150 bytes, so this is thousands of
/// them, while a log made to fill memory cannot.
const SESSIONS_BUDGET_BYTES: usize = 1 << 20;

/// What the `CHANGED` records of one session may take; the runtime prints one.
pub(crate) const SESSION_BUDGET_BYTES: usize = 64 << 10;

/// Bookkeeping of a record beside the text of its tokens.
const RECORD_BYTES: usize = 64;

/// The sessions of a log in file order.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptSessions {
    sessions: Vec<Session>,
    /// Of all but the newest.
    size_bytes: usize,
    /// Line of the first session that was left out, and how many were.
    omitted: Option<(u64, u64)>,
}

impl KeptSessions {
    /// Takes the next session. The one before it is left out when the budget is used up.
    pub(crate) fn push(&mut self, session: Session) {
        if let Some(before) = self.sessions.last() {
            let size_bytes = session_bytes(before);
            if self.size_bytes + size_bytes > SESSIONS_BUDGET_BYTES {
                let (line, count) = self.omitted.unwrap_or((before.line, 0));
                self.omitted = Some((line, count + 1));
                self.sessions.pop();
            } else {
                self.size_bytes += size_bytes;
            }
        }
        self.sessions.push(session);
    }

    /// In file order; what was left out becomes a finding.
    pub(crate) fn finish(self, findings: &mut Findings) -> Vec<Session> {
        if let Some((line, count)) = self.omitted {
            findings.note(Code::EvidenceOmitted, Some(line), "sessions", || {
                format!("{count} sessions are not listed one by one; the verdict and the last session are exact.")
            });
        }
        self.sessions
    }
}

/// What a `CHANGED` record takes in memory.
pub(crate) fn changed_bytes(changed: &Changed) -> usize {
    RECORD_BYTES + reasons_bytes(&changed.reasons)
}

fn session_bytes(session: &Session) -> usize {
    RECORD_BYTES + reasons_bytes(&session.reasons) + session.changed.iter().map(changed_bytes).sum::<usize>()
}

fn reasons_bytes(reasons: &[Reason]) -> usize {
    reasons.iter().map(|reason| RECORD_BYTES / 2 + reason.as_str().len()).sum()
}
