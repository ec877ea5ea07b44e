//! What stands around every page: the rail with the page that is open, and who is signed in.

use crate::Account;
use crate::share::thousands;

/// One entry of the rail: the address and the name of a page.
pub(crate) type Entry = (&'static str, &'static str);

/// The pages that everybody who may read finds in the rail.
pub(crate) const RAIL: [Entry; 10] = [
    ("/", "Fleet"),
    ("/explore", "Explore"),
    ("/logs", "Logs"),
    ("/machines", "Machines"),
    ("/triage", "Triage"),
    ("/drift", "Drift"),
    ("/what-if", "What if"),
    ("/costs", "Costs"),
    ("/health", "Health"),
    ("/live", "Live"),
];

/// Those that administrators find below.
pub(crate) const ADMIN_RAIL: [Entry; 2] = [("/tokens", "Tokens"), ("/audit", "Audit")];

/// The frame of one page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Where its filters lead: its own address, or that of the entry of the rail that it belongs to; empty when it belongs to none.
    pub here: &'static str,
    /// Who is signed in; `None` for whoever needs not be.
    pub account: Option<Account>,
    /// Whether the pages for administrators are open to the reader.
    pub admin: bool,
    /// What is missing of a demo that fills; `None` when nothing is.
    pub filling: Option<Filling>,
}

/// How much of a demo is here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filling {
    /// Machines whose logs are stored.
    pub here: u64,
    /// Machines that there will be.
    pub of: u64,
}

impl Filling {
    pub(crate) fn told(&self) -> String {
        format!("{} of {} machines are here", thousands(self.here), thousands(self.of))
    }
}

impl Frame {
    /// The entry of the rail that the page belongs to.
    pub(crate) fn entry(&self) -> &'static str {
        if self.here == "/compare" { "/explore" } else { self.here }
    }

    /// What the forms of the page send back, so that no foreign page can act for the reader; empty without a session.
    pub fn csrf(&self) -> &str {
        self.account.as_ref().map_or("", |account| &account.csrf)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        RAIL.into_iter().chain(ADMIN_RAIL.into_iter().filter(|_| self.admin))
    }
}
