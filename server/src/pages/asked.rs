//! What may the address of a page say? Every page has its settings here, and what is misspelt is answered with what was meant.
//!
//! A setting that is passed over in silence shows numbers of other logs than its reader believes, so it is refused as the API
//! refuses it: with its name, what is allowed, the nearest word, and the same page without it as a link.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use dashboards::{DIMENSIONS, FLAGGED, KILLED, Query, REFERENCE, SIDES, query};
use wire::{Crossing, Outcome, Path, Policy, ReportState, Split};

use crate::error::{Error, Html, Misspelt};
use crate::nearest;
use crate::query::Pairs;
use crate::store::Filter;
use crate::what_if::Question;

/// Filters and settings of the page's own address, all of them known and possible.
pub struct Asked(pub Query);

/// Every page with a query of its own: its path, whether it has the filters of logs, and what else its address may say.
const PAGES: [(&str, bool, &[&str]); 19] = [
    ("/", true, &[]),
    ("/embed/{chart}", true, &[]),
    ("/explore", true, &["group_by"]),
    ("/compare", true, &["by", "a", "b", "group_by"]),
    ("/logs", true, &[query::CURSOR]),
    ("/logs/{id}", false, &[]),
    ("/machines", true, &["q", "state", query::CURSOR]),
    ("/machines/{id}", false, &[]),
    ("/triage", false, &["q", "state", "outcome", "machine", query::CURSOR]),
    ("/reports/{id}", false, &["log", query::CURSOR]),
    ("/reports/compare", false, &["a", "b"]),
    ("/drift", true, &[]),
    ("/what-if", true, &["policy", "set"]),
    ("/costs", true, &["numbers"]),
    ("/health", false, &[]),
    ("/live", false, &[]),
    ("/names", false, &[]),
    ("/tokens", false, &[query::CURSOR]),
    ("/audit", false, &[query::CURSOR]),
];

/// A slip changes at most this many letters.
const SLIP_LETTERS: usize = 3;

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Html;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Html> {
        let Pairs(pairs) = Pairs::from_request_parts(parts, state).await.map_err(Html)?;
        let page = PAGES
            .into_iter()
            .filter(|(own, ..)| is_at(own, parts.uri.path()))
            .min_by_key(|(own, ..)| own.contains('{'));
        let (path, has_filters, settings) = page.unwrap_or(("", false, &[]));
        let known = || query::FILTERS.into_iter().filter(|_| has_filters).chain(settings.iter().copied());
        let wrong: Vec<_> = pairs.iter().map(|(name, value)| wrong(path, known(), name, value)).collect();
        let Some((first, (name, value))) = wrong.iter().zip(&pairs).find_map(|(own, pair)| Some((own.as_ref()?, pair)))
        else {
            return Ok(Self(Query::parse(parts.uri.query().unwrap_or_default())));
        };
        let kept = || wrong.iter().zip(&pairs).filter(|(wrong, _)| wrong.is_none()).map(|(_, pair)| pair.clone());
        let meant = first
            .meant
            .map(|word| if first.is_name { (word.to_owned(), value.clone()) } else { (name.clone(), word.to_owned()) });
        // What was meant may be wrong in its turn: then it is no help.
        let meant = meant.filter(|(name, value)| self::wrong(path, known(), name, value).is_none());
        Err(Html(Error::Misspelt(Box::new(Misspelt {
            happened: first.happened.clone(),
            allowed: first.allowed.clone(),
            without: href(parts.uri.path(), kept()),
            meant: meant.map(|pair| (format!("{}={}", pair.0, pair.1), href(parts.uri.path(), kept().chain([pair])))),
        }))))
    }
}

/// Whether an address is one of a path, whose `{x}` stand for any part.
fn is_at(path: &str, address: &str) -> bool {
    let parts = || path.split('/').zip(address.split('/'));
    path.split('/').count() == address.split('/').count()
        && parts().all(|(own, asked)| own == asked || own.starts_with('{'))
}

/// What is wrong with a pair.
struct Wrong {
    happened: String,
    allowed: String,
    /// The nearest word, in place of the name or of the value.
    meant: Option<&'static str>,
    is_name: bool,
}

fn wrong(path: &str, known: impl Iterator<Item = &'static str>, name: &str, value: &str) -> Option<Wrong> {
    let known: Vec<_> = known.collect();
    let Some(name) = known.iter().copied().find(|own| *own == name) else {
        let allowed = if known.is_empty() {
            "This page has no settings in its address.".to_owned()
        } else {
            format!("It has: {}.", known.join(", "))
        };
        let happened = format!("this page has no setting {name:?}");
        return Some(Wrong { happened, allowed, meant: near(name, &known), is_name: true });
    };
    // An empty field of a form says nothing.
    if value.is_empty() {
        return None;
    }
    let words = words(path, name);
    let fits = |value: &str| words.is_empty() || words.contains(&value);
    let is_list = name == "group_by" && path == "/explore";
    let (happened, part) = if is_list {
        let part = value.split(',').find(|part| !part.is_empty() && !fits(part))?;
        (format!("the setting {name} cannot be {part:?}"), part)
    } else if query::FILTERS.contains(&name) && path != "/triage" {
        let refused = Filter::default().take(name, value).err()?;
        (format!("{refused}: the address says {value:?}"), value)
    } else if name == "policy" || name == "set" {
        (Question::default().take(name, value).err()?.to_string(), value)
    } else if !fits(value) {
        (format!("the setting {name} cannot be {value:?}"), value)
    } else {
        return None;
    };
    let allowed = if words.is_empty() { String::new() } else { format!("It can be: {}.", words.join(", ")) };
    Some(Wrong { happened, allowed, meant: near(part, &words), is_name: false })
}

/// The words that a setting can be; none where it is free text or checked elsewhere.
fn words(path: &str, name: &str) -> Vec<&'static str> {
    match (path, name) {
        ("/machines", "state") => vec![KILLED, FLAGGED],
        ("/triage", "state") => ReportState::ALL.map(ReportState::as_str).to_vec(),
        ("/explore" | "/compare", "group_by") => DIMENSIONS.map(|(name, _)| name).to_vec(),
        ("/compare", "by") => SIDES.map(|(name, _)| name).to_vec(),
        (_, "outcome") => Outcome::ALL.map(Outcome::as_str).to_vec(),
        (_, "path") => Path::ALL.map(Path::as_str).to_vec(),
        (_, "split") => [Split::Engaged, Split::Off, Split::Unknown].map(Split::as_str).to_vec(),
        (_, "crossing") => [Crossing::None, Crossing::AtlasPerFrame, Crossing::EveryPresent, Crossing::Unknown]
            .map(Crossing::as_str)
            .to_vec(),
        (_, "killed" | "retired") => vec!["true", "false"],
        ("/costs", "numbers") => vec![REFERENCE],
        (_, "policy") => Policy::ALL.map(Policy::as_str).to_vec(),
        _ => Vec::new(),
    }
}

/// The known word that looks like a slip of this one.
fn near(word: &str, known: &[&'static str]) -> Option<&'static str> {
    // Nobody types a word of a hundred letters by a slip, and the distance to one takes long.
    let short = word.chars().count() <= 40;
    let (name, far) = nearest::of(word, known.iter().filter(|_| short).map(|own| (*own, *own)))?;
    let name = known.iter().copied().find(|own| *own == name)?;
    (far <= SLIP_LETTERS && far < name.len()).then_some(name)
}

fn href(path: &str, pairs: impl Iterator<Item = (String, String)>) -> String {
    let mut href = path.to_owned();
    for (index, (name, value)) in pairs.filter(|(_, value)| !value.is_empty()).enumerate() {
        href.push(if index == 0 { '?' } else { '&' });
        href.push_str(&name);
        href.push('=');
        query::encode(&value, &mut href);
    }
    href
}

#[cfg(test)]
mod tests {
    use dashboards::REPORT_FILTERS;

    use super::*;
    use crate::router::table;

    #[test]
    fn every_page_says_what_its_address_may_say() {
        // Files, a stream, and the page that reads an address of its own.
        let others = ["/static/{name}", "/live/events", "/sign-in", "/healthz", "/readyz", "/metrics"];
        let routes = table().into_iter().filter(|route| route.method == "GET" && !route.path.starts_with("/api/"));
        let pages: Vec<_> = routes.map(|route| route.path).filter(|path| !others.contains(path)).collect();
        assert_eq!(pages.len(), PAGES.len());
        assert!(pages.iter().all(|path| PAGES.iter().any(|(own, ..)| own == path)), "{pages:?}");
        let triage: Vec<_> = REPORT_FILTERS.into_iter().chain([query::CURSOR]).collect();
        assert_eq!(PAGES.iter().find(|(path, ..)| *path == "/triage").map(|(.., own)| own.to_vec()), Some(triage));
        assert_eq!(near("kiled", &["killed", "retired"]), Some("killed"));
        assert_eq!(near("zz", &["by", "a", "b"]), None);
    }
}
