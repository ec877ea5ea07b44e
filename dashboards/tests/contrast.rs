//! Reads the colours out of the style sheet and checks them as WCAG 2.2 does: 4.5:1 for text, 3:1 for marks, both themes.

use std::collections::BTreeMap;

use dashboards::{Outcome, statics};

/// The custom colours of one theme.
type Theme = BTreeMap<String, [f64; 3]>;

/// Light, and dark on top of it.
fn themes() -> [(&'static str, Theme); 2] {
    let css = std::str::from_utf8(statics::STYLE.bytes).expect("the style sheet is UTF-8");
    let (before, after) =
        css.split_once("@media screen and (prefers-color-scheme: dark) {").expect("there is a dark theme");
    let light = colours(before);
    let mut dark = light.clone();
    let block = colours(after.split("\n}").next().expect("split yields something"));
    assert_eq!(block.keys().collect::<Vec<_>>(), light.keys().collect::<Vec<_>>(), "dark sets every colour anew");
    dark.extend(block);
    [("light", light), ("dark", dark)]
}

fn colours(css: &str) -> Theme {
    css.lines()
        .filter_map(|line| line.trim().strip_prefix("--")?.strip_suffix(';')?.split_once(": #"))
        .map(|(name, hex)| {
            let value = u32::from_str_radix(hex, 16).expect("six hex digits");
            assert_eq!(hex.len(), 6);
            (name.to_owned(), [16, 8, 0].map(|shift| f64::from(value >> shift & 0xff) / 255.0))
        })
        .collect()
}

/// WCAG's relative luminance.
fn luminance(colour: [f64; 3]) -> f64 {
    let [red, green, blue] =
        colour.map(|part| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn the_formula_is_wcags() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    // #777777 on white is the well-known near miss.
    assert!((contrast([f64::from(0x77) / 255.0; 3], [1.0; 3]) - 4.478).abs() < 1e-3);
}

#[test]
fn text_has_at_least_four_and_a_half_to_one() {
    for (name, theme) in themes() {
        let mut pairs: Vec<(String, String)> = ["ink", "quiet", "link"]
            .into_iter()
            .flat_map(|text| ["paper", "wash"].map(|ground| (text.to_owned(), ground.to_owned())))
            .collect();
        // The button, and the numbers inside the bar.
        pairs.push(("paper".to_owned(), "link".to_owned()));
        pairs.extend(Outcome::ALL.map(|outcome| (format!("on-{}", outcome.as_str()), outcome.as_str().to_owned())));
        for (text, ground) in pairs {
            let ratio = contrast(theme[&text], theme[&ground]);
            assert!(ratio >= 4.5, "{name}: {text} on {ground} is {ratio:.2}");
        }
    }
}

#[test]
fn marks_have_at_least_three_to_one() {
    for (name, theme) in themes() {
        for outcome in Outcome::ALL {
            for ground in ["paper", "wash"] {
                let ratio = contrast(theme[outcome.as_str()], theme[ground]);
                assert!(ratio >= 3.0, "{name}: {} on {ground} is {ratio:.2}", outcome.as_str());
            }
        }
        // Bars of tables without an outcome, and the outlines of fields, are drawn in the quiet colour.
        assert!(contrast(theme["quiet"], theme["paper"]) >= 3.0);
    }
}
