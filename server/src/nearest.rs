//! Which known word looks most like an unknown one: a slip, or something new?

/// The known word with the smallest edit distance to `word`, each given with its name; the first of equals.
pub fn of<'a>(word: &str, known: impl Iterator<Item = (&'a str, &'a str)>) -> Option<(&'a str, usize)> {
    let word: Vec<char> = word.chars().collect();
    known.map(|(name, text)| (name, distance(&word, &text.chars().collect::<Vec<_>>()))).min_by_key(|(_, far)| *far)
}

/// The same for texts of which only the beginning is compared, as long as `word` is.
pub fn of_start<'a>(word: &str, known: impl Iterator<Item = (&'a str, &'a str)>) -> Option<(&'a str, usize)> {
    let word: Vec<char> = word.chars().collect();
    let start = |text: &str| text.chars().take(word.len()).collect::<Vec<_>>();
    known.map(|(name, text)| (name, distance(&word, &start(text)))).min_by_key(|(_, far)| *far)
}

/// Levenshtein's: the least number of characters to insert, remove or replace.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, char) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, with) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(char != with);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_news_is_far() {
        let known = || ["no_hwnd", "stage_a_failed", "unknown"].into_iter().map(|word| (word, word));
        assert_eq!(of("stage_b_failed", known()), Some(("stage_a_failed", 1)));
        assert_eq!(of("no_hwnds", known()), Some(("no_hwnd", 1)));
        assert_eq!(of("unknown", known()), Some(("unknown", 0)));
        assert_eq!(of("", known()), Some(("no_hwnd", 7)));
        assert_eq!(of("x", std::iter::empty()), None);
    }

    #[test]
    fn only_the_start_of_a_longer_text_counts() {
        let known = || [("a", "vk deposit: %s is up"), ("b", "weave placement: CHANGED")].into_iter();
        assert_eq!(of_start("weave placement:", known()), Some(("b", 0)));
        assert_eq!(of_start("vk deposits:", known()), Some(("a", 2)));
    }
}
