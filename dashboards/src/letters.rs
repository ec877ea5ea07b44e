//! Two short texts as what both have, what only the known one has and what only the new one has, letter by letter.

/// A piece of the two texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Letters {
    /// In both.
    Both(String),
    /// In the known text only.
    Known(String),
    /// In the new text only.
    New(String),
}

/// Letters that are compared; a near miss is short.
const MOST: usize = 200;

/// The way from the known text to the new one with the fewest letters changed.
pub(crate) fn compare(known: &str, new: &str) -> Vec<Letters> {
    let (known, new): (Vec<char>, Vec<char>) = (known.chars().take(MOST).collect(), new.chars().take(MOST).collect());
    // How many letters both share from here on.
    let mut shared = vec![vec![0_usize; new.len() + 1]; known.len() + 1];
    for (at, own) in known.iter().enumerate().rev() {
        for (place, other) in new.iter().enumerate().rev() {
            shared[at][place] = if own == other {
                shared[at + 1][place + 1] + 1
            } else {
                shared[at + 1][place].max(shared[at][place + 1])
            };
        }
    }
    let (mut pieces, mut at, mut place) = (Vec::new(), 0, 0);
    while at < known.len() || place < new.len() {
        let own = known.get(at);
        let other = new.get(place);
        match (own, other) {
            (Some(own), Some(other)) if own == other => {
                push(&mut pieces, Letters::Both(own.to_string()));
                (at, place) = (at + 1, place + 1);
            }
            (Some(own), other) if other.is_none() || shared[at + 1][place] >= shared[at][place + 1] => {
                push(&mut pieces, Letters::Known(own.to_string()));
                at += 1;
            }
            (_, Some(other)) => {
                push(&mut pieces, Letters::New(other.to_string()));
                place += 1;
            }
            _ => break,
        }
    }
    pieces
}

/// Letters of one kind are one piece.
fn push(pieces: &mut Vec<Letters>, next: Letters) {
    match (pieces.last_mut(), &next) {
        (Some(Letters::Both(text)), Letters::Both(more))
        | (Some(Letters::Known(text)), Letters::Known(more))
        | (Some(Letters::New(text)), Letters::New(more)) => text.push_str(more),
        _ => pieces.push(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(known: &str, new: &str) -> String {
        let piece = |piece: &Letters| match piece {
            Letters::Both(text) => text.clone(),
            Letters::Known(text) => format!("[-{text}]"),
            Letters::New(text) => format!("[+{text}]"),
        };
        compare(known, new).iter().map(piece).collect()
    }

    #[test]
    fn few_letters_change() {
        for (known, new, expected) in [
            ("stage_a_failed", "stage_b_failed", "stage_[-a][+b]_failed"),
            ("no_hwnd", "no_hwnds", "no_hwnd[+s]"),
            ("no_hwnd", "no_hwnd", "no_hwnd"),
            ("", "new", "[+new]"),
            ("old", "", "[-old]"),
            ("", "", ""),
        ] {
            assert_eq!(told(known, new), expected);
        }
        let long = "é".repeat(5_000);
        assert_eq!(compare(&long, &long), [Letters::Both("é".repeat(MOST))]);
    }
}
