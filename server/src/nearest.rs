//! Which known word looks most like an unknown one: a slip, or something new?

use strsim::levenshtein;

/// The known word with the smallest edit distance to `word`, each given with its name; the first of equals.
pub fn of<'a>(word: &str, known: impl Iterator<Item = (&'a str, &'a str)>) -> Option<(&'a str, usize)> {
    known.map(|(name, text)| (name, levenshtein(word, text))).min_by_key(|(_, far)| *far)
}

/// The same for texts of which only the beginning is compared, as long as `word` is.
pub fn of_start<'a>(word: &str, known: impl Iterator<Item = (&'a str, &'a str)>) -> Option<(&'a str, usize)> {
    let length = word.chars().count();
    let start = |text: &str| text.chars().take(length).collect::<String>();
    known.map(|(name, text)| (name, levenshtein(word, &start(text)))).min_by_key(|(_, far)| *far)
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
