//! What crossing cost in a log, as a table of its page: every way to the panel, with the one that happened and the one that the
//! rules expect marked. Numbers come as words with their bounds; `unknown` stays a word.

/// The whole table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Costs {
    /// The answer in a sentence.
    pub conclusion: String,
    /// One a way.
    pub rows: Vec<CostRow>,
    /// What the log measured, by name.
    pub measured: Vec<(String, String)>,
    /// Numbers that went in, with who told them.
    pub inputs: Vec<(String, String)>,
}

/// One way to the panel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostRow {
    /// In words.
    pub way: &'static str,
    /// The log says so.
    pub happened: bool,
    /// The rules expect it.
    pub expected: bool,
    /// Bytes a picture.
    pub per_picture: String,
    /// Bytes a second.
    pub per_second: String,
    /// Part of a refresh period.
    pub frame_share: String,
    /// Whether the link carries it.
    pub verdict: String,
}

impl CostRow {
    /// What is said behind the way.
    pub(crate) const fn mark(&self) -> &'static str {
        match (self.happened, self.expected) {
            (true, true) => "happened, as expected",
            (true, false) => "happened",
            (false, true) => "expected",
            (false, false) => "",
        }
    }
}
