//! Makes hostile text harmless where it is shown to people: file names, adapter names and reason tokens may hold
//! anything, and sandboxed programs can write into the log folder. The rules for terminals, spreadsheets and JSON are those
//! of all programs; markdown is only written here.

use std::fmt::Write as _;

pub use wire::cell::{csv, json, terminal};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_stays_in_its_cell() {
        assert_eq!(markdown("a|b`c`\n<img> @team #1"), r"a\|b\`c\`\\n&#60;img&#62; &#64;team \#1");
    }
}
