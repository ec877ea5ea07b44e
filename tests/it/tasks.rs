//! What people come for, done with nothing but the links, labels and fields that the README names, in at most six clicks.

use std::path::{Path, PathBuf};

use tests::browser::{Browser, Scheme, Tab};
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
    let title = person.reads("h1");
    assert!(title.contains("2.14.0"), "the last build is chosen: {title}");
    assert!(title.contains("got worse") || title.contains("by more than chance"), "{title}");
    assert!(person.reads("table caption").contains("by GPU pair"));
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
    let title = person.reads("h1");
    assert!(title.starts_with("The kill switch is still set on "), "{title}");
    let cells =
        person.tab.ask("[...document.querySelectorAll(\"td[data-label='Still set']\")].map(cell => cell.textContent)");
    let cells: Vec<_> = cells.as_array().expect("a list").iter().filter_map(|cell| cell.as_str()).collect();
    assert!(!cells.is_empty() && cells.iter().all(|cell| cell.contains("DXR_WEAVE_ON_SCANOUT")), "{cells:?}");
    assert!(cells.iter().all(|cell| cell.contains("in the ") || cell.contains("where: not told")), "{cells:?}");
}
