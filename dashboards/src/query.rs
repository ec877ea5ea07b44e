//! The query string of a page: which filters are on, and the URL with one more or one fewer.
//!
//! All filters live in the URL, under the names of `GET /api/v1/summary` (contract section 4) plus `outcome`. Values of
//! one name are alternatives. What is no filter is dropped on reading, so a page never repeats a stranger's parameters in
//! its own links.

use std::fmt::Write;

/// The filters in the order in which a page names them.
pub const FILTERS: [&str; 20] = [
    "outcome",
    "split",
    "crossing",
    "killed",
    "retired",
    "reason",
    "path",
    "gpu_pair",
    "render",
    "scanout",
    "runtime",
    "exe",
    "machine",
    "cohort",
    "situation",
    "unknown",
    "unknown_build",
    "day",
    "from",
    "to",
];

/// What else a page's URL may say: how it shows what the filters let through. Kept when a filter changes.
pub const SETTINGS: [&str; 10] = ["group_by", "by", "a", "b", "policy", "set", "numbers", "sort", "state", "q"];

/// Names the page that follows; lost whenever a filter changes, because it belongs to one selection.
pub const CURSOR: &str = "cursor";

/// As the value of a filter: the logs that do not tell.
pub const NOT_TOLD: &str = "null";

/// Filters, settings and cursor of a page's URL.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    pairs: Vec<(&'static str, String)>,
}

impl Query {
    /// Reads a raw query string, without its `?`. Broken percent signs stand for themselves, bytes that are not UTF-8
    /// become U+FFFD, and a name without a value counts as absent (an empty field of a form).
    pub fn parse(raw: &str) -> Self {
        raw.split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (decode(name), decode(value)))
            .collect()
    }

    /// The first value of a filter, or of [`CURSOR`].
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Every value of a filter: alternatives.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(own, _)| *own == name).map(|(_, value)| value.as_str())
    }

    /// The filters that are on, in the order of [`FILTERS`]; never the cursor.
    pub fn filters(&self) -> impl Iterator<Item = &'static str> {
        FILTERS.into_iter().filter(|name| self.get(name).is_some())
    }

    /// True when no filter is on.
    pub fn is_unfiltered(&self) -> bool {
        self.filters().next().is_none()
    }

    /// With this filter on, in place of its former values. A changed filter starts on the first page again; a name that is
    /// no filter changes nothing.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut changed = self.without(name);
        changed.add(name, value);
        changed
    }

    /// Without this filter and on the first page.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        Self { pairs: self.pairs.iter().filter(|(own, _)| *own != name && *own != CURSOR).cloned().collect() }
    }

    /// The same filters, on the page that starts at `cursor`.
    #[must_use]
    pub fn at(&self, cursor: &str) -> Self {
        self.with(CURSOR, cursor)
    }

    /// The filters alone, for a page of another kind.
    #[must_use]
    pub fn filters_only(&self) -> Self {
        Self { pairs: self.pairs.iter().filter(|(own, _)| FILTERS.contains(own)).cloned().collect() }
    }

    /// `path` with the query behind it: `/` alone when nothing is set.
    pub fn href(&self, path: &str) -> String {
        let mut href = path.to_owned();
        for (index, (name, value)) in self.pairs.iter().enumerate() {
            href.push(if index == 0 { '?' } else { '&' });
            href.push_str(name);
            href.push('=');
            encode(value, &mut href);
        }
        href
    }

    /// Adds an alternative; the same one twice is one.
    fn add(&mut self, name: &str, value: &str) {
        let known = FILTERS.into_iter().chain(SETTINGS).chain([CURSOR]).find(|known| *known == name);
        if let Some(known) = known.filter(|_| !value.is_empty() && self.all(name).all(|own| own != value)) {
            self.pairs.push((known, value.to_owned()));
        }
    }
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for Query {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut query = Self::default();
        for (name, value) in pairs {
            query.add(name.as_ref(), value.as_ref());
        }
        query
    }
}

/// Everything but RFC 3986's unreserved characters becomes `%XX`; a blank becomes `%20`, which every reader understands.
pub fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => into.push(char::from(byte)),
            _ => write!(into, "%{byte:02X}").expect("a string takes everything"),
        }
    }
}

/// Undoes [`encode`] and the `+` of HTML forms.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = (byte == b'%').then(|| bytes.get(at + 1..at + 3)).flatten().and_then(hex_byte);
        decoded.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Two hex digits; a sign is none.
fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(*digits.first()?)? * 16 + digit(*digits.get(1)?)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_survives_the_way_through_a_url() {
        for value in [
            "NVIDIA GeForce RTX 4080",
            "a&b=c#d?e",
            "50 % + more",
            "Ünïcode 显卡 \u{202e}",
            "\"'<>",
            "%41",
            "\n\t\u{0}",
        ] {
            let href = Query::default().with("render", value).href("/");
            let raw = href.strip_prefix("/?").expect("a filter is on");
            assert!(raw.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"=%-._~".contains(&byte)), "{raw}");
            assert_eq!(Query::parse(raw).get("render"), Some(value));
        }
    }

    #[test]
    fn a_form_and_a_broken_query_are_read_too() {
        let query = Query::parse(
            "split=off&reason=&exe=My+Viewer.exe&evil=1&path=100%&render=%zz%ff&killed&split=unknown&split=off",
        );
        assert_eq!(query.all("split").collect::<Vec<_>>(), ["off", "unknown"]);
        assert_eq!(query.get("reason"), None);
        assert_eq!(query.get("exe"), Some("My Viewer.exe"));
        assert_eq!(query.get("evil"), None);
        assert_eq!(query.get("path"), Some("100%"));
        assert_eq!(query.get("render"), Some("%zz\u{fffd}"));
        assert_eq!(query.get("killed"), None);
        assert_eq!(Query::parse("").href("/"), "/");
    }

    #[test]
    fn a_changed_filter_starts_on_the_first_page() {
        let query = Query::parse("split=off&path=d3d12&cursor=abc");
        assert_eq!(query.with("split", "engaged").href("/"), "/?path=d3d12&split=engaged");
        assert_eq!(query.without("path").href("/"), "/?split=off");
        assert_eq!(query.at("x y").href("/"), "/?split=off&path=d3d12&cursor=x%20y");
        assert_eq!(query.with("nonsense", "1").href("/"), "/?split=off&path=d3d12");
        assert_eq!(query.filters().collect::<Vec<_>>(), ["split", "path"]);
        assert!(!query.is_unfiltered() && Query::parse("cursor=abc").is_unfiltered());
    }
}
