//! What people come for, done with nothing but the links, labels and fields that the README names, in at most six clicks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::browser::{Browser, Scheme, Tab};
use tests::fleet::{self, DEMO};
use tests::server::{Server, free_port};

const DESK_PX: u32 = 1440;

/// A person who counts her clicks.
struct Person<'b> {
    tab: Tab<'b>,
    clicks: u32,
}

impl<'b> Person<'b> {
    fn at(browser: &'b Browser, url: &str) -> Self {
        Self { tab: browser.open(url, DESK_PX, Scheme::Light), clicks: 0 }
    }

    /// Clicks the link, button or summary that says this, and waits for what comes.
    #[track_caller]
    fn click(&mut self, says: &str) {
        self.clicks += 1;
        assert!(self.clicks <= 6, "the seventh click, on {says:?}");
        let marked = self.tab.ask(&format!(
            "(() => {{ document.querySelectorAll('[data-click]').forEach(own => own.removeAttribute('data-click')); \
             const own = [...document.querySelectorAll('a, button, summary')].find(own => own.textContent.trim() === {says:?} && own.checkVisibility()); \
             if (own) {{ own.setAttribute('data-click', ''); own.scrollIntoView({{block: 'center'}}); }} return Boolean(own); }})()"
        ));
        assert_eq!(marked, true, "nothing on {} says {says:?}", self.tab.ask_text("location.href"));
        self.tab.click("[data-click]");
        self.tab.wait_for("!document.querySelector('[data-click]:not(summary)') || document.readyState !== 'complete' ? document.readyState === 'complete' : true");
    }

    #[track_caller]
    fn reads(&self, selector: &str) -> String {
        self.tab.ask_text(&format!("document.querySelector({selector:?})?.textContent ?? ''"))
    }

    #[track_caller]
    fn waits_for(&self, condition: &str) {
        self.tab.wait_for(&format!("document.readyState === 'complete' && ({condition})"));
    }
}

#[test]
fn here_is_a_log_is_it_a_fault_and_whose() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let mut person = Person::at(&browser, &demo.url);
    person.click("Triage");
    person.waits_for("location.pathname === '/triage'");
    let log = log();
    person.tab.choose("input[type=file]", &log);
    person.click("Read it");
    // A refusal is said in the page.
    person.waits_for(
        "location.pathname.startsWith('/reports/') || document.querySelector('.complaint:not([hidden])') !== null",
    );
    assert_eq!(person.reads(".complaint:not([hidden])"), "");
    let page = person.reads("main");
    assert!(page.contains("Ask next") || page.contains("Findings"), "{page}");
    assert!(person.reads("h1").len() > 10, "the verdict in a sentence");
    assert_eq!(person.tab.complaints(), Vec::<String>::new());
}

/// A log of the fixtures. Browsers read no path with `..` in it.
fn log() -> PathBuf {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok/d3d11_adr039_corrected.log");
    log.canonicalize().expect("a fixture")
}

#[test]
fn a_file_that_is_dropped_on_the_page_is_read() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&format!("{}/triage", demo.url), DESK_PX, Scheme::Light);
    tab.drop_file(&log());
    tab.wait_for("location.pathname.startsWith('/reports/') && document.readyState === 'complete'");
    assert!(tab.ask_text("document.querySelector('main').textContent").contains("d3d11_adr039_corrected.log"));
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn which_gpu_pair_got_worse_with_the_last_build() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let mut person = Person::at(&browser, &demo.url);
    person.click("Explore");
    person.waits_for("location.pathname === '/explore'");
    person.click("Compare two builds, kinds of PC or periods");
    person.waits_for("location.pathname === '/compare'");
    let (pair, build) = regression();
    let title = person.reads("h1");
    assert!(title.contains(&format!(" got worse with {build}: ")), "{title}");
    assert!(person.reads("table caption").contains("by GPU pair"));
    assert_eq!(person.reads("table.grid tbody tr th").trim(), pair, "what is beyond chance stands first");
}

/// What the demo is made of, with the truth about each log.
fn truths() -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fleet = folder.path().join("fleet");
    fleet::simulate(&DEMO, &fleet);
    fleet::truths(&fleet)
}

/// The pair of GPUs whose splits fail much more often with the last build than with the one before, and that build.
fn regression() -> (String, String) {
    let truths = truths();
    let numbers =
        |version: &str| -> Vec<u32> { version.split('.').map(|own| own.parse().expect("a number")).collect() };
    let versions = truths.iter().filter_map(|log| log["version"].as_str());
    let mut newest = versions.map(|own| (numbers(own), own)).collect::<BTreeSet<_>>().into_iter().rev();
    let (last, before) = (newest.next().expect("a build").1, newest.next().expect("one before").1);
    let mut shares: BTreeMap<String, [(f64, f64); 2]> = BTreeMap::new();
    for log in &truths {
        let adapter = |which: &str| log["verdict"][which]["name"].as_str().unwrap_or_default();
        let side = [before, last].iter().position(|version| log["version"] == *version);
        let Some(side) = side.filter(|_| !adapter("scanout").is_empty()) else { continue };
        let pair = shares.entry(format!("{} → {}", adapter("render"), adapter("scanout"))).or_default();
        let failed = log["cohort"]["outcomes"].as_array().is_some_and(|all| all.contains(&"stage_a_failed".into()));
        pair[side].0 += f64::from(u8::from(failed));
        pair[side].1 += 1.0;
    }
    let rise = |[before, last]: &[(f64, f64); 2]| last.0 / last.1.max(1.0) - before.0 / before.1.max(1.0);
    let (pair, shares) = shares.into_iter().max_by(|a, b| rise(&a.1).total_cmp(&rise(&b.1))).expect("a pair");
    assert!(rise(&shares) > 0.1, "{pair} is the story of the demo: {shares:?}");
    (pair, last.to_owned())
}

#[test]
fn which_machines_still_run_with_the_kill_switch_set_and_who_set_it() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let mut person = Person::at(&browser, &demo.url);
    person.click("Machines");
    person.waits_for("location.pathname === '/machines'");
    person.click("With the kill switch still set");
    person.waits_for("location.search.includes('state=killed')");
    let set_by = killed();
    let title = person.reads("h1");
    assert_eq!(title.trim(), format!("The kill switch is still set on {} machines", set_by.len()));
    let cells =
        person.tab.ask("[...document.querySelectorAll(\"td[data-label='Still set']\")].map(cell => cell.textContent)");
    let cells: Vec<_> = cells.as_array().expect("a list").iter().filter_map(|cell| cell.as_str()).collect();
    assert_eq!(cells.len(), set_by.len(), "{cells:?}");
    for cell in cells {
        assert!(cell.contains("DXR_WEAVE_ON_SCANOUT"), "{cell}");
        // The runtime's records of it name no place; one that a log tells has to be a true one.
        let is_true = set_by.iter().any(|source| cell.contains(&format!("in the {source}")));
        assert!(is_true || cell.contains("where: not told"), "{cell}: {set_by:?}");
    }
}

/// Where the kill switch is set, for each machine whose newest log that tells how the weave ran says that it is.
fn killed() -> Vec<String> {
    let truths = truths();
    let mut newest: BTreeMap<&str, &Value> = BTreeMap::new();
    for log in truths.iter().filter(|log| log["verdict"]["split"] != "unknown") {
        let started = |log: &Value| log["process"]["started"].as_str().expect("a start").to_owned();
        let own = newest.entry(log["machine"].as_str().expect("a machine")).or_insert(log);
        if started(log) > started(own) {
            *own = log;
        }
    }
    let killed = newest.into_values().filter(|log| log["verdict"]["killed"] == true);
    let set_by: Vec<_> = killed
        .map(|log| {
            let settings = log["cohort"]["settings"].as_array().expect("settings").iter();
            let mut switch = settings.filter(|own| own["name"] == "DXR_WEAVE_ON_SCANOUT");
            switch.next().and_then(|own| own["source"].as_str()).expect("it is set").to_owned()
        })
        .collect();
    assert!(set_by.len() > 1, "somebody forgot it on some machines of the demo: {set_by:?}");
    set_by
}
