//! Every page and every picture as it is drawn, against the files beside this test: what a change does to the pages can be
//! read in its review.
//!
//! `WEAVEWATCH_BLESS=1` writes the files anew; read the difference before you keep it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dashboards::statics;

#[expect(dead_code, reason = "`pages` uses the rest")]
mod sample;

use sample::pages;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Without what changes with every change of a style or a script.
fn settled(html: &str) -> String {
    let mut html = html.to_owned();
    for file in statics::ALL {
        html =
            html.replace(&file.path(), &format!("/static/{}", file.content_type.split(';').next().unwrap_or_default()));
    }
    html + "\n"
}

/// What differs from the files, or nothing: then the files are written anew where that is asked for.
fn differences(snapshots: impl Iterator<Item = (String, String)>, end: &str) -> Vec<String> {
    let bless = std::env::var_os("WEAVEWATCH_BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, text) in snapshots {
        let path = folder("tests/snapshots").join(format!("{name}.{end}"));
        if bless {
            fs::create_dir_all(folder("tests/snapshots")).expect("a writable folder");
            fs::write(&path, &text).expect("a writable file");
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != text {
            let line = expected.lines().zip(text.lines()).position(|(old, new)| old != new);
            wrong.push(format!(
                "{name}.{end}, from line {}",
                line.map_or("the end on".to_owned(), |line| (line + 1).to_string())
            ));
        }
    }
    wrong
}

#[test]
fn every_page_is_drawn_as_it_was_looked_at() {
    let pages = pages::every(str::to_owned).into_iter().map(|(name, html)| (name.to_owned(), settled(&html)));
    assert_eq!(
        differences(pages, "html"),
        Vec::<String>::new(),
        "bless with WEAVEWATCH_BLESS=1 and read the difference"
    );
}

#[test]
fn every_picture_is_defined_as_it_was_looked_at() {
    let charts = pages::charts(str::to_owned);
    let drawn = charts.iter().map(|chart| {
        let option = serde_json::to_string_pretty(&chart.option).expect("JSON");
        (format!("chart-{}", chart.name), format!("{}\n{}\n{option}\n", chart.title, chart.note))
    });
    assert_eq!(
        differences(drawn, "txt"),
        Vec::<String>::new(),
        "bless with WEAVEWATCH_BLESS=1 and read the difference"
    );
}

#[test]
fn no_page_and_no_picture_is_left_out() {
    // Every template that a struct draws, by the attribute above the struct.
    let mut drawn = BTreeSet::new();
    for file in fs::read_dir(folder("src")).expect("the sources") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a readable file");
        let names = text.split("#[template(path = \"").skip(1).filter_map(|rest| rest.split(".html\"").next());
        drawn.extend(names.map(str::to_owned));
    }
    let sampled: BTreeSet<_> = pages::every(str::to_owned).into_iter().map(|(name, _)| name.to_owned()).collect();
    assert!(drawn.len() > 15, "{drawn:?}");
    assert_eq!(sampled, drawn, "sample/pages.rs draws each");
    if std::env::var_os("WEAVEWATCH_BLESS").is_some() {
        return;
    }
    // And no file lies there that nothing draws.
    let charts = pages::charts(str::to_owned).into_iter().map(|chart| format!("chart-{}.txt", chart.name));
    let expected: BTreeSet<_> = sampled.iter().map(|name| format!("{name}.html")).chain(charts).collect();
    let files = fs::read_dir(folder("tests/snapshots")).expect("the snapshots");
    let files: BTreeSet<_> =
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(files, expected);
}
