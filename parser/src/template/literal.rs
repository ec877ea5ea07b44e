//! The fixed text of a format, with the two characters that wrong code pages mangle.

/// A literal of a format.
#[derive(Debug)]
pub struct Literal {
    text: &'static str,
    /// Length of the part before the first mangled character.
    head: usize,
}

/// What an em dash looks like after a trip through code pages: UTF-8 read as Windows-1252, as CP850 and as CP437; a
/// Windows-1252 byte read as Latin-1; an en dash; three replacement characters; plain substitutes. Longest first.
const DASHES: &[&str] = &[
    "\u{e2}\u{20ac}\u{201d}",
    "\u{e2}\u{20ac}\u{2014}",
    "\u{e2}\u{20ac}\u{94}",
    "\u{e2}\u{80}\u{94}",
    "\u{d4}\u{c7}\u{f6}",
    "\u{393}\u{c7}\u{f6}",
    "\u{fffd}\u{fffd}\u{fffd}",
    "???",
    "\u{2014}",
    "\u{2013}",
    "\u{97}",
    "--",
    "\u{fffd}",
    "-",
    "?",
];

/// The same for a section sign.
const SECTIONS: &[&str] = &["\u{c2}\u{a7}", "\u{252c}\u{ba}", "\u{fffd}\u{fffd}", "??", "\u{a7}", "\u{fffd}", "?"];

impl Literal {
    /// Keeps the text and finds its head.
    pub fn new(text: &'static str) -> Self {
        Self { text, head: text.find(['—', '§']).unwrap_or(text.len()) }
    }

    /// As the runtime prints it.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The part that has one spelling only; empty when the literal starts with a dash.
    pub fn head(&self) -> &'static str {
        &self.text[..self.head]
    }

    /// The length of this literal at the start of `input`, in any of its spellings.
    pub fn matches(&self, input: &str) -> Option<usize> {
        let mut rest = input.strip_prefix(self.head())?;
        let mut pattern = &self.text[self.head..];
        while let Some(letter) = pattern.chars().next() {
            let spellings = if letter == '—' { DASHES } else { SECTIONS };
            rest = spellings.iter().find_map(|spelling| rest.strip_prefix(spelling))?;
            pattern = &pattern[letter.len_utf8()..];
            let plain = pattern.find(['—', '§']).unwrap_or(pattern.len());
            rest = rest.strip_prefix(&pattern[..plain])?;
            pattern = &pattern[plain..];
        }
        Some(input.len() - rest.len())
    }
}
