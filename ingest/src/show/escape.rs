//! Makes hostile text harmless where it is shown to people: file names, adapter names and reason tokens may hold
//! anything, and sandboxed programs can write into the log folder.

use std::borrow::Cow;
use std::fmt::Write as _;

/// For a terminal: control characters and those that change the direction of text are spelled out, such as `\u{1b}`.
pub fn terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::with_capacity(text.len() + 8), |mut safe, char| {
        if acts(char) {
            safe.extend(char.escape_default());
        } else {
            safe.push(char);
        }
        safe
    }))
}

/// For a cell of a spreadsheet: as for a terminal, and text that a spreadsheet would run as a formula becomes text.
pub fn csv(text: &str) -> Cow<'_, str> {
    let safe = terminal(text);
    // Tab and carriage return also start a formula, but are spelled out by now.
    if safe.starts_with(['=', '+', '-', '@']) { Cow::Owned(format!("'{safe}")) } else { safe }
}

/// For a cell of a Markdown table: as for a terminal, and nothing is markup, HTML, a mention or a new cell.
pub fn markdown(text: &str) -> String {
    terminal(text).chars().fold(String::with_capacity(text.len() + 8), |mut safe, char| {
        match char {
            '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '|' | '!' | '#' => safe.extend(['\\', char]),
            '<' | '>' | '&' | '@' => {
                // Writing to a string cannot fail.
                let _ = write!(safe, "&#{};", u32::from(char));
            }
            _ => safe.push(char),
        }
        safe
    })
}

/// True for characters that do something instead of being seen.
fn acts(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_spelled_out() {
        let cases = [
            ("plain — ünï", "plain — ünï"),
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
            ("\t=1", r"\t=1"),
            ("\r=1", r"\r=1"),
            ("a=1", "a=1"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(csv(text), expected);
        }
    }

    #[test]
    fn markdown_stays_in_its_cell() {
        assert_eq!(markdown("a|b`c`\n<img> @team #1"), r"a\|b\`c\`\\n&#60;img&#62; &#64;team \#1");
    }
}
