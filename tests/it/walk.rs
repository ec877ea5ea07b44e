//! Every page that the server has, on a phone, a desk and a wall, light and dark: nothing overlaps or is cut, nobody is kept
//! out, and nothing complains. The list of pages is the description of the API, so that none is forgotten.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tests::browser::{Browser, Scheme, Tab};
use tests::http::Http;
use tests::server::{Database, Server, free_port};

const PHONE_PX: u32 = 360;
const DESK_PX: u32 = 1440;
const WALL_PX: u32 = 3840;

/// Pages without a frame of their own, or that are looked at elsewhere (`page` signs in).
const ELSEWHERE: [&str; 2] = ["/static/{name}", "/sign-in"];
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
    faults.extend(tab.complaints());
    faults
}

/// All that is wrong with all pages.
fn walk(browser: &Browser, url: &str, addresses: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (width, scheme) in [
        (PHONE_PX, Scheme::Light),
        (PHONE_PX, Scheme::Dark),
        (DESK_PX, Scheme::Light),
        (DESK_PX, Scheme::Dark),
        (WALL_PX, Scheme::Light),
    ] {
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
    assert_none(&walk(&Browser::launch(), &demo.url, &addresses));
}

#[test]
fn the_pages_of_administrators_and_of_an_empty_server_do_too() {
    let database = Database::sqlite();
    let token = database.token("admin");
    let server = Server::start(&database);
    let browser = Browser::launch();
    let tab = browser.open(&format!("{}/sign-in?back=/tokens", server.url), DESK_PX, Scheme::Light);
    tab.ask(&format!("document.querySelector('input[name=token]').value = '{token}'"));
    tab.click("form.sign-in button");
    tab.wait_for("location.pathname === '/tokens' && document.readyState === 'complete'");
    let pages = pages();
    let plain = pages.iter().filter(|path| !path.contains('{')).map(|path| (path.clone(), path.clone())).collect();
    assert_none(&walk(&browser, &server.url, &plain));
}
