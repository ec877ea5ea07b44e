//! E-mail addresses, also as a URL writes them.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::counts::Counts;
use crate::edit::Edit;

/// A local part, `@`, and a domain whose last label has no digit: `plugin@2.13.0` is none.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u:[^\x00-\x20<>()\[\]{},;:'\x22`|\\/@=&?#]+)(?:@|%40)(?:[\w-]+\.)+[^\W\d_][\w-]*")
        .expect("the pattern is a constant")
});

/// Replaces every address.
pub fn apply(edit: &mut Edit<'_>, counts: &mut Counts) {
    for found in ADDRESS.find_iter(edit.source()) {
        edit.replace(found.range(), b"<e-mail>", &mut counts.emails);
    }
}
