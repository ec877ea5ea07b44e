//! The page in a real browser: it fits every screen, breaks no rule of its own, and each number leads to its rows.

use tests::browser::{Browser, Scheme, Tab};
use tests::server::{Database, Server, free_port};

const PHONE_PX: u32 = 360;
const DESK_PX: u32 = 1440;

#[test]
fn the_page_fits_every_screen_in_light_and_dark() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let mut backgrounds = Vec::new();
    for width in [PHONE_PX, DESK_PX] {
        for scheme in [Scheme::Light, Scheme::Dark] {
            let tab = browser.open(&demo.url, width, scheme);
            assert_fits(&tab, width, "closed");
            tab.photograph(&format!("fleet-{width}-{}", scheme.as_str()));

            // Open everything: the widest content is behind the disclosures.
            tab.ask("document.querySelectorAll('details').forEach(details => details.open = true)");
            assert_fits(&tab, width, "open");
            assert_eq!(tab.complaints(), Vec::<String>::new(), "at {width} px, {scheme:?}");
            if width == DESK_PX {
                backgrounds.push(tab.ask_text("getComputedStyle(document.documentElement).backgroundColor"));
            }
        }
    }
    assert_ne!(backgrounds[0], backgrounds[1], "the dark scheme has its own paper");
}

#[test]
fn the_page_has_landmarks_and_one_heading() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&demo.url, DESK_PX, Scheme::Light);
    for landmark in ["html[lang]", "body > header", "nav[aria-label]", "main", "h1", "a.skip"] {
        assert_eq!(tab.ask_number(&format!("document.querySelectorAll('{landmark}').length")), 1, "{landmark}");
    }
    assert!(!tab.ask_text("document.title").is_empty());
    // No heading level is skipped.
    let levels = tab.ask_text("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => h.tagName[1]).join('')");
    let steps: Vec<u32> = levels.chars().filter_map(|level| level.to_digit(10)).collect();
    assert_eq!(steps.first(), Some(&1), "{levels}");
    assert!(steps.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels}");
    // Everything that can be clicked has a name.
    let nameless = "[...document.querySelectorAll('a[href], button, summary, input:not([type=hidden]), select')].filter(e => \
        !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length";
    assert_eq!(tab.ask_number(nameless), 0);
}

#[test]
fn every_number_leads_to_its_rows() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&demo.url, DESK_PX, Scheme::Light);
    let all = rows(&tab);
    assert!(all > 0);

    let numbers = tab.ask(
        "[...document.querySelectorAll('table.shares tbody tr')].filter(row => row.querySelector('a')).map(row => \
         [row.querySelector('a').href, row.querySelector('[data-of=logs]').textContent])",
    );
    let numbers = numbers.as_array().expect("a list");
    assert!(numbers.len() >= 10, "split, crossing, reason: {numbers:?}");
    for pair in numbers {
        let (link, said) = (pair[0].as_str().expect("a link"), pair[1].as_str().expect("a number"));
        // `12 of 30` and `12` both start with the count.
        let digits: String =
            said.trim().chars().take_while(|letter| letter.is_ascii_digit() || *letter == ',').collect();
        let count: u64 = digits.replace(',', "").parse().unwrap_or_else(|_| panic!("{said:?} is no count"));
        tab.go(link);
        assert_eq!(rows(&tab), count, "{link}");
    }
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_click_on_a_number_filters_and_a_click_on_a_row_shows_its_evidence() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&demo.url, DESK_PX, Scheme::Light);
    let all = rows(&tab);

    tab.click("table.shares a[href*='split=off']");
    tab.wait_for("location.search.includes('split=off') && document.readyState === 'complete'");
    let off = rows(&tab);
    assert!(off > 0 && off < all, "{off} of {all}");

    // The evidence of the first log: hidden, then there with line numbers.
    let evidence = "document.querySelector('#logs tbody details table.lines')";
    let visible = format!("{evidence} !== null && {evidence}.checkVisibility()");
    assert_eq!(tab.ask(&visible), false);
    tab.click("#logs tbody details summary");
    tab.wait_for(&visible);
    let deciding = tab.ask_text("document.querySelector('#logs tbody details[open] tr.decides th').textContent");
    assert!(deciding.trim().parse::<u64>().is_ok_and(|line| line > 0), "{deciding:?} is a line number");
    let record = tab.ask_text("document.querySelector('#logs tbody details[open] tr.decides code').textContent");
    assert!(record.contains("weave placement"), "{record}");
    tab.photograph("fleet-evidence");
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_person_signs_in_with_a_token_and_out_again() {
    let database = Database::sqlite();
    let token = database.token("reader");
    let server = Server::start(&database);
    let browser = Browser::launch();
    for width in [PHONE_PX, DESK_PX] {
        for scheme in [Scheme::Light, Scheme::Dark] {
            let tab = browser.open(&format!("{}/sign-in?back=/%3Fsplit%3Doff", server.url), width, scheme);
            let name = |what: &str| format!("{what}-{width}-{}", scheme.as_str());
            assert_fits(&tab, width, "to sign in");
            tab.photograph(&name("sign-in"));

            type_and_send(&tab, "ww_not_a_token");
            tab.wait_for("document.querySelector('[role=alert]') !== null && document.readyState === 'complete'");
            assert_fits(&tab, width, "refused");
            tab.photograph(&name("sign-in-refused"));
            // The status itself is what the browser's console tells, and nothing else.
            let complaints = tab.complaints();
            assert!(complaints.iter().all(|text| text.contains("401")), "{complaints:?}");

            type_and_send(&tab, &token);
            tab.wait_for("location.search === '?split=off' && document.readyState === 'complete'");
            assert_eq!(tab.ask_text("document.cookie"), "", "scripts cannot read it");
            assert_fits(&tab, width, "signed in");
            tab.photograph(&name("signed-in"));
            let reads = || {
                tab.go(&format!("{}/api/v1/summary", server.url));
                tab.ask_text("document.body.textContent").contains("\"groups\"")
            };
            assert!(reads());
            tab.go(&server.url);

            tab.click("form.account button");
            tab.wait_for("location.pathname === '/sign-in' && document.readyState === 'complete'");
            assert!(!reads());
        }
    }
}

fn type_and_send(tab: &Tab<'_>, token: &str) {
    tab.ask(&format!("document.querySelector('input[name=token]').value = '{token}'"));
    tab.click("form.sign-in button");
}

/// How many logs the page lists, all its further pages included.
#[track_caller]
fn rows(tab: &Tab<'_>) -> u64 {
    let here = "document.querySelectorAll(\"#logs tbody[id^='log-']\").length";
    let mut count = tab.ask_number(here);
    while tab.ask("document.querySelector('a[rel=next]') !== null") == true {
        tab.go(&tab.ask_text("document.querySelector('a[rel=next]').href"));
        count += tab.ask_number(here);
    }
    count
}

#[track_caller]
fn assert_fits(tab: &Tab<'_>, width: u32, state: &str) {
    let widest = tab.ask_number("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)");
    // The innermost elements that stick out, for whoever has to repair it.
    let culprits = format!(
        "[...document.querySelectorAll('main *')].filter(e => e.checkVisibility() && e.getBoundingClientRect().right > \
         {width} + 1 && !e.children.length).slice(0, 5).map(e => e.outerHTML.slice(0, 200)).join('\\n')"
    );
    assert!(
        widest <= u64::from(width),
        "{state}, the page is {widest} px wide on a screen of {width}:\n{}",
        tab.ask_text(&culprits)
    );
}
