//! The static files of the pages: a path with the file's hash in it, so that browsers may keep it for ever.
//!
//! The server answers `GET /static/{name}` with [`get`] and `Cache-Control: public, max-age=31536000, immutable`; a changed
//! file has another path. The files are compiled in, and so is their hash.

/// A file that pages refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaticFile {
    /// Its bytes.
    pub bytes: &'static [u8],
    /// For the header `Content-Type`.
    pub content_type: &'static str,
    stem: &'static str,
    extension: &'static str,
    hash: u64,
}

/// The style of all pages, of one file for each subject.
pub const STYLE: StaticFile = StaticFile::new(
    concat!(
        include_str!("../static/css/base.css"),
        include_str!("../static/css/charts.css"),
        include_str!("../static/css/machines.css"),
        include_str!("../static/css/triage.css"),
    )
    .as_bytes(),
    "text/css; charset=utf-8",
    "weavewatch",
    "css",
);

/// The icon of a browser's tab.
pub const ICON: StaticFile = StaticFile::new(include_bytes!("../static/icon.svg"), "image/svg+xml", "icon", "svg");

/// What every page does with scripts.
pub const PAGE_SCRIPT: StaticFile = StaticFile::new(include_bytes!("../static/js/page.js"), SCRIPT, "page", "js");

/// What draws the pictures of a page.
pub const CHARTS_SCRIPT: StaticFile = StaticFile::new(include_bytes!("../static/js/charts.js"), SCRIPT, "charts", "js");

/// Bringing logs.
pub const TRIAGE_SCRIPT: StaticFile = StaticFile::new(include_bytes!("../static/js/triage.js"), SCRIPT, "triage", "js");

/// What the page of arrivals does with scripts.
pub const LIVE_SCRIPT: StaticFile = StaticFile::new(include_bytes!("../static/js/live.js"), SCRIPT, "live", "js");

/// The line of a demo that fills.
pub const FILLING_SCRIPT: StaticFile =
    StaticFile::new(include_bytes!("../static/js/filling.js"), SCRIPT, "filling", "js");

/// Fragments of pages (0BSD, see `static/vendor`).
pub const HTMX: StaticFile =
    StaticFile::vendored(include_bytes!("../static/vendor/htmx-4.0.1.min.js"), "htmx", "4.0.1");

/// Pictures (Apache-2.0, see `static/vendor`).
pub const ECHARTS: StaticFile =
    StaticFile::vendored(include_bytes!("../static/vendor/echarts-6.1.0.min.js"), "echarts", "6.1.0");

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file there is.
pub const ALL: [StaticFile; 9] =
    [STYLE, ICON, PAGE_SCRIPT, CHARTS_SCRIPT, LIVE_SCRIPT, TRIAGE_SCRIPT, FILLING_SCRIPT, HTMX, ECHARTS];

/// The file at the path of a request, `/static/weavewatch.0123456789abcdef.css`; `None` for another hash too, so that a
/// cache never keeps the wrong bytes under a name.
pub fn get(path: &str) -> Option<StaticFile> {
    ALL.into_iter().find(|file| file.path() == path)
}

impl StaticFile {
    const fn new(
        bytes: &'static [u8],
        content_type: &'static str,
        stem: &'static str,
        extension: &'static str,
    ) -> Self {
        Self { bytes, content_type, stem, extension, hash: fnv1a(bytes) }
    }

    /// A script of others, whose version stands for its bytes: it is too long to be hashed by a compiler.
    const fn vendored(bytes: &'static [u8], stem: &'static str, version: &'static str) -> Self {
        Self { bytes, content_type: SCRIPT, stem, extension: "js", hash: fnv1a(version.as_bytes()) }
    }

    /// The path that pages link to.
    pub fn path(&self) -> String {
        format!("/static/{}.{:016x}.{}", self.stem, self.hash, self.extension)
    }

    /// For the headers `ETag` and `If-None-Match`, with its quotation marks.
    pub fn etag(&self) -> String {
        format!("\"{:016x}\"", self.hash)
    }
}

/// FNV-1a, 64 bits: enough to tell two versions of one of our own files apart, and it can run at compile time.
const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // The reference vectors of the algorithm's authors.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_file_is_served_under_its_own_path_only() {
        for file in ALL {
            assert_eq!(get(&file.path()), Some(file));
            assert!(!file.bytes.is_empty() && file.etag().len() == 18);
            assert_eq!(get(&file.path().replace('.', "/")), None);
        }
        assert_ne!(STYLE.path(), ICON.path());
        assert_eq!(get("/static/weavewatch.css"), None);
    }
}
