//! Alerts on the page of how everything runs: a line for each rule and what it watches.

use crate::share::{Share, counted};

/// What a rule found last, and whether people could be told.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlertLine {
    /// Name of the rule.
    pub rule: String,
    /// A build, or whatever the rule watches one by one.
    pub subject: Option<String>,
    /// The share is above the limit.
    pub above: bool,
    /// Since when it is so, RFC 3339; `None` when nothing was found yet.
    pub since: Option<String>,
    /// Logs that the rule counts, of those that it looks at.
    pub share: Share,
    /// Where the logs that count are listed.
    pub href: String,
    /// When the newest message arrived, RFC 3339.
    pub sent: Option<String>,
    /// Messages that wait for another attempt.
    pub waiting: u64,
    /// Why the newest attempt failed.
    pub error: Option<String>,
}

impl AlertLine {
    pub(crate) const fn state(&self) -> &'static str {
        match (self.above, self.since.is_some()) {
            (true, _) => "above the limit",
            (false, true) => "quiet",
            (false, false) => "nothing to look at",
        }
    }

    /// What went wrong on the way to people; empty when nothing did.
    pub(crate) fn trouble(&self) -> String {
        let waits = (self.waiting > 0).then(|| format!("{} on the way", counted(self.waiting, "message")));
        waits.into_iter().chain(self.error.clone()).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_and_why_is_one_text() {
        let mut line = AlertLine::default();
        assert_eq!((line.state(), line.trouble().as_str()), ("nothing to look at", ""));
        line.since = Some("2026-09-14T12:00:00.000Z".to_owned());
        line.waiting = 2;
        line.error = Some("chat: the webhook answered 503".to_owned());
        assert_eq!(line.trouble(), "2 messages on the way; chat: the webhook answered 503");
        assert_eq!(line.state(), "quiet");
        line.above = true;
        assert_eq!(line.state(), "above the limit");
    }
}
