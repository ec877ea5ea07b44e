//! Every page that the server has, on a phone, a desk and a wall, light and dark: nothing overlaps or is cut, nobody is kept
//! out, and nothing complains. The list of pages is the description of the API, so that none is forgotten.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tests::browser::{Browser, Scheme, Tab};
use tests::evil;
use tests::http::Http;
use tests::server::{Database, Server, free_port};

const PHONE_PX: u32 = 360;
const DESK_PX: u32 = 1440;
const WALL_PX: u32 = 3840;
/// Where every page is looked at.
const SCREENS: [(u32, Scheme); 5] = [
    (PHONE_PX, Scheme::Light),
    (PHONE_PX, Scheme::Dark),
    (DESK_PX, Scheme::Light),
    (DESK_PX, Scheme::Dark),
    (WALL_PX, Scheme::Light),
];
/// Names break a page by their length, not by their colour.
const WIDTHS: [(u32, Scheme); 3] = [(PHONE_PX, Scheme::Light), (DESK_PX, Scheme::Dark), (WALL_PX, Scheme::Light)];

/// Parts of pages, or pages that are looked at elsewhere (`page` signs in).
const ELSEWHERE: [&str; 3] = ["/static/{name}", "/sign-in", "/names"];
/// For administrators, who are looked at below.
const ADMIN: [&str; 2] = ["/tokens", "/audit"];

/// The paths of all pages.
fn pages() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let text = std::fs::read_to_string(file).expect("the description is checked in");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let paths = document["paths"].as_object().expect("paths").iter();
    let pages = paths.filter(|(_, item)| {
        let get = &item["get"];
        get["tags"][0] == "pages" && get["responses"]["200"]["content"]["text/html"].is_object()
    });
    pages.map(|(path, _)| path.clone()).filter(|path| !ELSEWHERE.contains(&path.as_str())).collect()
}

/// An address that leads to something, for each page.
fn addresses(http: &Http) -> BTreeMap<String, String> {
    let first = |path: &str| {
        let items = http.get(path).json();
        items["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{path} has nothing")).to_owned()
    };
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok/d3d11_adr039_corrected.log");
    let bytes = std::fs::read(log).expect("a fixture");
    let name = "DisplayXR_MyViewer.exe.7_2026-09-14_12-00-00.log";
    let brought = http.bring("/api/v1/reports", &[(name, bytes)]);
    assert_eq!(brought.status, 201, "{}", brought.body);
    let report: Value = serde_json::from_str(&brought.body).expect("JSON");
    let report = report["id"].as_str().expect("an id");
    let address = |path: &str| match path {
        "/logs/{id}" => path.replace("{id}", &first("/api/v1/logs?killed=true")),
        "/machines/{id}" => path.replace("{id}", &first("/api/v1/machines")),
        "/reports/{id}" => path.replace("{id}", report),
        "/reports/compare" => format!("{path}?a={report}&b={report}"),
        "/embed/{chart}" => path.replace("{chart}", "pairs"),
        "/explore" => format!("{path}?group_by=gpu_pair&group_by=outcome"),
        "/what-if" => format!("{path}?policy=adr039"),
        _ if path.contains('{') => panic!("{path} needs an address here"),
        _ => path.to_owned(),
    };
    pages().iter().filter(|path| !ADMIN.contains(&path.as_str())).map(|path| (path.clone(), address(path))).collect()
}

/// A file name for the pictures of a page.
fn name(path: &str) -> String {
    let name = path.trim_matches('/').replace("/{id}", "-one").replace("/{chart}", "").replace('/', "-");
    if name.is_empty() { "fleet".to_owned() } else { name }
}

/// Opens everything: the widest content is behind the disclosures.
fn open(tab: &Tab<'_>) {
    tab.ask("document.querySelectorAll('details').forEach(details => details.open = true)");
}

/// What is wrong with the page.
fn faults(tab: &Tab<'_>, width: u32, photograph: &str) -> Vec<String> {
    tab.wait_for("[...document.querySelectorAll('figure.chart')].every(figure => figure.dataset.drawn === 'yes')");
    let mut faults = tab.flaws();
    for landmark in ["html[lang]", "main", "h1"] {
        if tab.ask_number(&format!("document.querySelectorAll('{landmark}').length")) != 1 {
            faults.push(format!("not one {landmark}"));
        }
    }
    if width < WALL_PX {
        tab.photograph(photograph);
    }
    open(tab);
    faults.extend(tab.flaws().into_iter().map(|flaw| format!("all open: {flaw}")));
    if width < WALL_PX {
        faults.extend(tab.barriers());
    }
    // A page that says that its address is wrong tells so with its status, which the console repeats.
    let is_refusal = tab.ask_text("document.title").starts_with("400");
    faults.extend(tab.complaints().into_iter().filter(|text| !(is_refusal && text.contains("400"))));
    if tab.ask(evil::UNTOUCHED) != true {
        faults.push("a script got in".to_owned());
    }
    faults
}

/// All that is wrong with all pages.
fn walk(browser: &Browser, url: &str, addresses: &BTreeMap<String, String>, screens: &[(u32, Scheme)]) -> Vec<String> {
    let mut found = Vec::new();
    for (width, scheme) in screens.iter().copied() {
        for (path, address) in addresses {
            let tab = browser.open(&format!("{url}{address}"), width, scheme);
            let faults = faults(&tab, width, &format!("{}-{width}-{}", name(path), scheme.as_str()));
            found.extend(faults.into_iter().map(|fault| format!("{path} at {width} px, {}: {fault}", scheme.as_str())));
            tab.close();
        }
    }
    found
}

/// One a line, for whoever has to repair it.
#[track_caller]
fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_page_looks_as_it_should_on_every_screen() {
    let demo = Server::demo(free_port());
    let addresses = addresses(&Http::new(&demo.url, None));
    assert!(addresses.len() >= 10, "{addresses:?}");
    assert_none(&walk(&Browser::launch(), &demo.url, &addresses, &SCREENS));
}

#[test]
fn the_pages_of_administrators_and_of_an_empty_server_do_too() {
    let database = Database::sqlite();
    let token = database.token("admin");
    let server = Server::start(&database);
    let browser = Browser::launch();
    sign_in(&browser, &server, &token);
    let pages = pages();
    let plain = pages.iter().filter(|path| !path.contains('{')).map(|path| (path.clone(), path.clone())).collect();
    assert_none(&walk(&browser, &server.url, &plain, &SCREENS));
}

/// For every page that follows.
fn sign_in(browser: &Browser, server: &Server, token: &str) {
    let tab = browser.open(&format!("{}/sign-in?back=/tokens", server.url), DESK_PX, Scheme::Light);
    tab.ask(&format!("document.querySelector('input[name=token]').value = '{token}'"));
    tab.click("form.sign-in button");
    tab.wait_for("location.pathname === '/tokens' && document.readyState === 'complete'");
}

#[test]
fn hostile_names_break_no_page_and_run_no_script() {
    let database = Database::sqlite();
    let (admin, agent) = (database.token("admin"), database.token("agent"));
    let server = Server::start(&database);
    let http = Http::new(&server.url, Some(&admin));
    for batch in evil::batches() {
        let answer = Http::new(&server.url, Some(&agent)).post("/api/v1/ingest", &json(&batch));
        assert_eq!(answer.status, 200, "{}", answer.body);
        let ack = answer.json();
        assert_eq!((&ack["accepted"], &ack["left_out"]), (&Value::from(5), &Value::Null), "{ack}");
    }
    let mut addresses = addresses(&http);
    for admin in ADMIN {
        addresses.insert(admin.to_owned(), admin.to_owned());
    }
    let logs = http.all_items("/api/v1/logs");
    assert_eq!(logs.len(), 25);
    let mut also = |name: String, address: String| addresses.insert(name, address);
    let mut reports = Vec::new();
    for (number, name) in evil::names().iter().enumerate() {
        // A quote or a line break would end the name in the form itself.
        let file: String = name.chars().filter(|letter| *letter != '"').take(400).collect();
        let brought = http.bring(
            "/api/v1/reports",
            &[(&format!("{file}.log"), evil::text("d3d11_killed_by_env", name).into_bytes())],
        );
        assert_eq!(brought.status, 201, "{}", brought.body);
        let brought: Value = serde_json::from_str(&brought.body).expect("JSON");
        reports.push(brought["id"].as_str().expect("an id").to_owned());
        let encoded = |text: &str| text.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}"));
        also(format!("/reports-{number}"), format!("/reports/{}", reports[number]));
        also(format!("/machines-{number}"), format!("/machines/{:032x}", number + 1));
        let log = logs.iter().find(|log| log["process"]["exe"] == name.as_str()).expect("a log of it");
        also(format!("/logs-{number}"), format!("/logs/{}", log["id"].as_str().expect("an id")));
        // The server takes no longer filter; a browser no longer address.
        let short: String = name.chars().take(300).collect();
        also(format!("/-filtered-{number}"), format!("/?exe={}", encoded(&short)));
        also(format!("/misspelt-{number}"), format!("/machines?state={}", encoded(&short)));
    }
    also("/reports/compare-two".to_owned(), format!("/reports/compare?a={}&b={}", reports[0], reports[1]));
    also("/machines-killed".to_owned(), "/machines?state=killed".to_owned());
    also("/explore-programs".to_owned(), "/explore?group_by=exe&group_by=reason".to_owned());
    also(
        "/compare-programs".to_owned(),
        "/compare?by=period&a=2026-09-01..2026-09-12&b=2026-09-13..2026-09-30&group_by=exe".to_owned(),
    );
    also("/embed-programs".to_owned(), "/embed/programs".to_owned());
    also("/embed-days".to_owned(), "/embed/flow".to_owned());
    let browser = Browser::launch();
    sign_in(&browser, &server, &admin);
    assert_none(&walk(&browser, &server.url, &addresses, &WIDTHS));
}

fn json(batch: &wire::Batch) -> Value {
    serde_json::to_value(batch).expect("a batch is JSON")
}
