//! Makes any text safe to show: HTML is escaped, and characters that hide or reorder text are written out.
//!
//! Anybody who can write a log chooses its names. askama sends every value of every page through [`Visible`] (see
//! `askama.toml`), so that no template can forget it.

use std::fmt::{self, Write as _};

use askama::filters::{Escaper, Html};

/// The escaper of all templates.
#[derive(Clone, Copy, Debug)]
pub struct Visible;

impl Escaper for Visible {
    fn write_escaped_str<W: fmt::Write>(&self, mut dest: W, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((at, hidden)) = rest.char_indices().find(|(_, char)| is_deceptive(*char)) {
            Html.write_escaped_str(&mut dest, &rest[..at])?;
            write!(dest, "‹U+{:04X}›", u32::from(hidden))?;
            rest = &rest[at + hidden.len_utf8()..];
        }
        Html.write_escaped_str(dest, rest)
    }
}

/// The same for text that is no HTML, such as the labels of a picture.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_deceptive(char) {
            write!(shown, "‹U+{:04X}›", u32::from(char)).expect("a string takes everything");
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Controls, line breaks, bidirectional overrides, and characters that take no room. The joiners U+200C and U+200D are
/// among them although a few scripts need them: in a file name they are more often a disguise.
const fn is_deceptive(char: char) -> bool {
    matches!(char,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}'
        | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut out = String::new();
        Visible.write_escaped_str(&mut out, text).expect("a string takes everything");
        out
    }

    #[test]
    fn markup_and_disguises_are_written_out() {
        assert_eq!(shown("<b a='1' c=\"2\">&"), "&#60;b a=&#39;1&#39; c=&#34;2&#34;&#62;&#38;");
        assert_eq!(shown("exe\u{202e}gol.txt"), "exe‹U+202E›gol.txt");
        assert_eq!(shown("a\u{1b}[31m\nb\u{0}"), "a‹U+001B›[31m‹U+000A›b‹U+0000›");
        assert_eq!(shown("\u{200b}\u{feff}<\u{2066}"), "‹U+200B›‹U+FEFF›&#60;‹U+2066›");
        assert_eq!(shown("Überspaß 显卡 — µ"), "Überspaß 显卡 — µ");
    }
}
