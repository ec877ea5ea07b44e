//! The record shapes, as a table.

/// A row of the vocabulary.
pub struct Shape {
    /// Such as `wp.g2.on_render`.
    pub id: &'static str,
    /// What the record says, in plain words.
    pub meaning: &'static str,
}

/// The row with this id.
pub fn shape(_id: &str) -> Option<&'static Shape> {
    None
}
