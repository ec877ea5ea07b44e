//! Outcomes on a terminal: one word with a mark and a colour, because a reader first wants one word.

use comfy_table::Color;
use wire::Outcome;

/// Told apart by people who do not see red and green as two colours.
pub const fn color(outcome: Outcome) -> Color {
    match outcome {
        Outcome::Engaged => Color::Blue,
        Outcome::Local => Color::Cyan,
        Outcome::Crossing => Color::Red,
        Outcome::Killed => Color::Magenta,
        Outcome::TakenBack => Color::Yellow,
        Outcome::Unknown => Color::DarkGrey,
    }
}
