//! What must not happen when hostile text is shown: a terminal obeys it, a reader sees another order, a spreadsheet runs it.
//!
//! Adapter names, file names and reason tokens may hold anything, and sandboxed programs can write into a log folder. Every
//! program of ours shows them through these functions, so that the rule stands once.

use std::borrow::Cow;
use std::fmt::Write as _;

/// For a terminal: control characters and those that change the direction of text are spelled out, such as `\u{1b}`.
pub fn terminal(text: &str) -> Cow<'_, str> {
    spell(text, |safe, char| safe.extend(char.escape_default()))
}

/// For a cell of a spreadsheet: as for a terminal, and what a spreadsheet would run as a formula gets an apostrophe, which
/// it takes as "this is text".
///
/// Leading blanks of any kind do not help an attacker: some spreadsheets drop them. The full-width signs are taken for the
/// plain ones in East Asian locales.
pub fn csv(text: &str) -> Cow<'_, str> {
    let safe = terminal(text);
    // Tab and line ends also start a formula, but are spelled out by now.
    let formula = safe.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if formula { Cow::Owned(format!("'{safe}")) } else { safe }
}

/// For a cell that holds a JSON document: the same characters in JSON's own spelling, `\u001b`, so that the document still
/// says the same. They can only stand inside its strings; white space between its tokens must have been left out.
pub fn json(document: &str) -> Cow<'_, str> {
    spell(document, |safe, char| {
        for unit in char.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(safe, "\\u{unit:04x}");
        }
    })
}

fn spell(text: &str, out: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::with_capacity(text.len() + 8), |mut safe, char| {
        if acts(char) {
            out(&mut safe, char);
        } else {
            safe.push(char);
        }
        safe
    }))
}

/// True for characters that do something instead of being seen.
fn acts(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_spelled_out() {
        let cases = [
            ("plain — ünï 显", "plain — ünï 显"),
            ("a\nb\tc", r"a\nb\tc"),
            ("\u{1b}[2J", r"\u{1b}[2J"),
            ("\u{9b}31m", r"\u{9b}31m"),
            ("exe.\u{202e}gol", r"exe.\u{202e}gol"),
            (r"C:\Users\x", r"C:\Users\x"),
        ];
        for (text, expected) in cases {
            assert_eq!(terminal(text), expected);
        }
    }

    #[test]
    fn a_spreadsheet_runs_nothing() {
        let cases = [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@x", "'@x"),
            ("  =1", "'  =1"),
            ("\u{a0}\u{3000}=1", "'\u{a0}\u{3000}=1"),
            ("＝1", "'＝1"),
            ("＋1", "'＋1"),
            ("－1", "'－1"),
            ("＠x", "'＠x"),
            ("\t=1", r"\t=1"),
            ("\r=1", r"\r=1"),
            ("\u{feff}=1", r"\u{feff}=1"),
            ("a=1", "a=1"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(csv(text), expected);
        }
    }

    #[test]
    fn a_document_says_the_same() {
        let text = "\u{1b}\u{7f}\u{202e}\u{e0041}x";
        let document = serde_json::to_string(text).expect("text is always JSON");
        let safe = json(&document);
        assert_eq!(safe, r#""\u001b\u007f\u202e\udb40\udc41x""#);
        assert_eq!(serde_json::from_str::<String>(&safe).expect("still JSON"), text);
    }
}
