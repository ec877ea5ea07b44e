//! Pages in a real browser, used: each number leads to its rows, a picture leads there too, filters and the back button work, and a
//! person signs in. `walk` looks at how all of them look.

use tests::browser::{Browser, Scheme, Tab};
use tests::server::{Database, Server, free_port};

const PHONE_PX: u32 = 360;
const DESK_PX: u32 = 1440;

#[test]
fn every_number_leads_to_its_rows() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&demo.url, DESK_PX, Scheme::Light);
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
    let tab = browser.open(&format!("{}/logs", demo.url), DESK_PX, Scheme::Light);
    let all = rows(&tab);
    assert!(all > 0);

    tab.go(&demo.url);
    tab.click("table.shares a[href*='split=off']");
    tab.wait_for(
        "location.pathname === '/logs' && location.search.includes('split=off') && document.readyState === 'complete'",
    );
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
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_picture_is_drawn_and_its_marks_lead_to_the_rows() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&demo.url, DESK_PX, Scheme::Light);
    tab.wait_for("[...document.querySelectorAll('figure.chart')].every(figure => figure.dataset.drawn === 'yes')");
    for name in ["days", "reasons", "flow", "pairs", "builds", "paths", "programs"] {
        let marks = tab.ask_number(&format!("document.querySelectorAll('#{name} .picture svg path').length"));
        assert!(marks > 3, "{name} has {marks} marks");
    }
    // The first bar of the reasons, where the mouse hits it.
    let said = tab.ask_text("document.querySelector('#reasons tbody th').textContent");
    tab.ask("document.querySelector('#reasons .picture').scrollIntoView({block: 'center'})");
    tab.click_at("const box = document.querySelector('#reasons .picture').getBoundingClientRect(); \
                  const bars = [...document.querySelectorAll('#reasons .picture svg path')].map(path => path.getBoundingClientRect()) \
                  .filter(bar => bar.height > 8 && bar.height < 60 && bar.width > 8 && bar.width < box.width * 0.9).sort((a, b) => a.top - b.top); \
                  return [bars[0].left + bars[0].width / 4, bars[0].top + bars[0].height / 2];");
    tab.wait_for("location.pathname === '/logs' && document.readyState === 'complete'");
    assert!(tab.ask_text("location.search").contains(said.trim()), "{said}");
    tab.back();
    tab.wait_for("location.pathname === '/' && document.readyState === 'complete'");
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn every_filter_of_the_form_filters_and_can_be_taken_back() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&format!("{}/logs", demo.url), DESK_PX, Scheme::Light);
    let fields =
        tab.ask("[...document.querySelectorAll('.filters form [name]')].map(field => [field.name, field.localName])");
    let fields: Vec<_> = fields.as_array().expect("a list").iter().filter_map(|field| field[0].as_str()).collect();
    assert!(fields.len() >= 15, "{fields:?}");
    for name in fields {
        tab.go(&format!("{}/logs", demo.url));
        tab.click(".filters summary");
        // What the form offers, or a value that fits no log.
        tab.ask(&format!(
            "(() => {{ const field = document.querySelector('.filters form [name={name}]'); \
             field.value = field.localName === 'select' ? field.options[1].value : field.type === 'date' ? '2026-11-10' : \
             field.name === 'machine' ? '0'.repeat(32) : field.name === 'cohort' ? '0'.repeat(16) : 'nothing'; }})()"
        ));
        tab.click(".filters form button");
        // The address holds what was chosen and nothing else; the answer comes into the page.
        tab.wait_for(&format!(
            "location.search.startsWith('?{name}=') && !location.search.includes('&') && document.querySelectorAll('.clause').length === 1"
        ));
        assert!(tab.ask_text("document.querySelector('h1').textContent").contains(' '));
        tab.click(".clause .remove");
        tab.wait_for("location.search === '' && document.querySelector('.clause') === null");
    }
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn filters_offer_the_names_that_logs_have() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&format!("{}/logs", demo.url), DESK_PX, Scheme::Light);
    assert_eq!(tab.ask_number("document.querySelectorAll('datalist').length"), 0, "nobody asked yet");
    tab.click(".filters summary");
    tab.wait_for("document.querySelectorAll('datalist').length === 5");
    for name in ["gpu_pair", "render", "scanout", "runtime", "exe"] {
        let offered = format!("document.querySelector('.filters form [name={name}]').list.options.length");
        assert!(tab.ask_number(&offered) > 0, "{name}");
    }
    // They are names of logs, so each of them finds some.
    tab.ask("(() => { const field = document.querySelector('.filters form [name=gpu_pair]'); field.value = field.list.options[0].value; })()");
    tab.click(".filters form button");
    tab.wait_for("location.search.startsWith('?gpu_pair=') && document.querySelector('.clause') !== null");
    assert!(rows(&tab) > 0);
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_filter_changes_the_page_without_loading_it_and_the_back_button_takes_it_back() {
    let demo = Server::demo(free_port());
    let browser = Browser::launch();
    let tab = browser.open(&demo.url, DESK_PX, Scheme::Light);
    let drawn = "[...document.querySelectorAll('figure.chart')].every(figure => figure.dataset.drawn === 'yes')";
    tab.wait_for(drawn);
    let title = tab.ask_text("document.title");
    tab.ask("window.notLoadedAnew = true");
    tab.click(".spans a[href*='from=']");
    tab.wait_for("location.search.startsWith('?from=') && document.querySelector('.clause') !== null");
    tab.wait_for(drawn);
    let narrowed = tab.ask_text("document.querySelector('.clause').textContent");
    assert!(narrowed.contains("started from"), "{narrowed}");
    assert_eq!(tab.ask("window.notLoadedAnew"), true);
    assert_ne!(tab.ask_text("document.title"), title);
    assert_eq!(tab.ask_number("document.querySelectorAll('main').length"), 1);
    assert_eq!(tab.ask_text("document.activeElement.id"), "main", "whoever listens hears where the answer begins");
    assert_eq!(tab.flaws(), Vec::<String>::new());

    tab.back();
    tab.wait_for("location.search === '' && document.querySelector('.clause') === null");
    tab.wait_for(drawn);
    assert_eq!(tab.ask_text("document.title"), title);
    tab.ask("history.forward()");
    tab.wait_for("location.search.startsWith('?from=') && document.querySelector('.clause') !== null");
    // To another page, which is loaded, and back to the one that was swapped in.
    tab.click("nav a[href='/logs']");
    tab.wait_for(
        "location.pathname === '/logs' && document.readyState === 'complete' && window.notLoadedAnew === undefined",
    );
    tab.back();
    tab.wait_for("location.pathname === '/' && location.search.startsWith('?from=') && document.querySelector('.clause') !== null");
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
            assert_eq!(tab.flaws(), Vec::<String>::new());
            assert_eq!(tab.barriers(), Vec::<String>::new());
            tab.photograph(&name("sign-in"));

            type_and_send(&tab, "ww_not_a_token");
            tab.wait_for("document.querySelector('[role=alert]') !== null && document.readyState === 'complete'");
            assert_eq!(tab.flaws(), Vec::<String>::new());
            // The status itself is what the browser's console tells, and nothing else.
            let complaints = tab.complaints();
            assert!(complaints.iter().all(|text| text.contains("401")), "{complaints:?}");

            type_and_send(&tab, &token);
            tab.wait_for("location.search === '?split=off' && document.readyState === 'complete'");
            assert_eq!(tab.ask_text("document.cookie"), "", "scripts cannot read it");
            assert_eq!(tab.flaws(), Vec::<String>::new());
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
