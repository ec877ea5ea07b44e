//! View values to HTML pages.
//!
//! The server fills a page struct with what its queries return (counts, wire reports, lines of evidence) and gets HTML
//! back; words, order, links, intervals and escaping are decided here. This crate knows no SQL, no HTTP framework and no
//! file format: it depends on `wire` and on the template engine.
//!
//! A page is a struct with plain fields and a template of its name (`FleetPage`, `templates/fleet.html`) that extends
//! `base.html` and draws with `macros.html`. A new page gets its entry in the rail of `base.html`.

mod error_page;
mod filter;
mod fleet;
mod log_row;
pub mod query;
mod report_page;
mod sentence;
pub mod share;
mod sign_in;
pub mod statics;
mod table;
mod visible;
mod words;

pub use askama::Error;
pub use error_page::ErrorPage;
pub use fleet::{Count, FleetPage, Tally};
pub use log_row::{EvidenceRow, LogRow};
pub use query::Query;
pub use report_page::{ReportLogView, ReportPage};
pub use sign_in::{Account, SignInPage};
pub use wire::Outcome;

/// The policy that the pages are written for: a style sheet and an icon of our own, forms to ourselves, nothing else.
pub const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
