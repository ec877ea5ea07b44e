//! View values to HTML pages.
//!
//! The server fills a page struct with what its queries return (counts, wire reports, lines of evidence) and gets HTML
//! back; words, order, links, intervals and escaping are decided here. This crate knows no SQL, no HTTP framework and no
//! file format: it depends on `wire` and on the template engine.
//!
//! A page is a struct with plain fields and a template of its name (`FleetPage`, `templates/fleet.html`) that extends
//! `base.html` and draws with `macros.html`. A new page gets its entry in the rail of `base.html`.

mod admin_pages;
pub mod alert_lines;
pub mod chart;
mod compare_page;
mod costs;
mod costs_page;
mod drift_page;
mod embed_page;
mod error_page;
mod explore;
mod filter;
mod fleet;
mod fleet_charts;
mod frame;
mod glossary;
pub mod grid;
pub mod health_page;
mod letters;
mod live_page;
mod log_page;
mod log_row;
mod logs_page;
mod machine_page;
mod machines_page;
mod names;
mod pieces;
pub mod query;
mod report_page;
mod selection;
mod sentence;
pub mod share;
mod sign_in;
mod spread;
pub mod statics;
mod table;
mod told;
mod topology;
mod triage_page;
mod two_logs_page;
mod visible;
mod what_if_page;
mod words;

pub use admin_pages::{AuditPage, DeedLine, TokenLine, TokensPage};
pub use askama::Error;
pub use compare_page::{ComparePage, Measure, Pair, SIDES, Side};
pub use costs::{CostRow, Costs};
pub use costs_page::{CostsPage, Crossed, CrossedBy, CurveView, PointView, REFERENCE};
pub use drift_page::{DriftBuild, DriftPage, DriftWord, NearWord};
pub use embed_page::{EMBEDDED, EmbedPage};
pub use error_page::ErrorPage;
pub use explore::{Combination, DIMENSIONS, ExplorePage};
pub use fleet::{Count, FleetPage, Tally, Trend};
pub use frame::{Filling, Frame};
pub use live_page::{LivePage, LiveRow};
pub use log_page::{Former, Ledger, LogPage, Moment, Told};
pub use log_row::{EvidenceRow, LogRow};
pub use logs_page::LogsPage;
pub use machine_page::{BootRow, Flag, LogAt, MachinePage, SettingRow, test_flags};
pub use machines_page::{FLAGGED, KILLED, MachineRow, MachinesPage};
pub use names::Names;
pub use pieces::Known;
pub use query::Query;
pub use report_page::{NoteLine, ReportPage, Standing};
pub use selection::{Period, Selection};
pub use sign_in::{Account, SignInPage};
pub use spread::{Spread, version};
pub use topology::{Gpu, Output, Topology};
pub use triage_page::{REPORT_FILTERS, ReportLine, TriagePage};
pub use two_logs_page::{LogsRow, LogsSide, LoneRecord, TwoLogsPage};
pub use what_if_page::{EffectView, EndView, GroupView, WhatIfPage, WhatIfView};
pub use wire::{Outcome, ReportState};

/// The policy that the pages are written for: style, scripts and icons of our own, questions and forms to ourselves, nothing
/// else, and nothing inline.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The same for a page that other pages may show in a frame: these, as `frame-ancestors` spells them.
pub fn policy_within(ancestors: &str) -> String {
    CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", &format!("frame-ancestors {ancestors}"))
}
