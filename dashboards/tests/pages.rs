//! Renders whole pages and looks at what a reader, a browser with a strict policy and an attacker would find in them.

use dashboards::{
    Account, CONTENT_SECURITY_POLICY, ErrorPage, FleetPage, Frame, Outcome, Query, SignInPage, query, share, statics,
};

mod html;
#[expect(dead_code, reason = "`snapshots` uses the rest")]
mod sample;

use html::{Element, elements, text};

fn rendered(page: &FleetPage) -> String {
    page.render().expect("a page renders")
}

/// Every page of the crate, in all its states, with hostile text wherever text can come from outside.
fn every_page() -> Vec<String> {
    let fleet = sample::fleet();
    let logs = sample::logs();
    let evil = query::FILTERS.iter().fold(Query::default(), |query, name| query.with(name, sample::HOSTILE));
    let hostile = || sample::HOSTILE.to_owned();
    let frame = Frame { account: Some(Account { name: hostile(), csrf: hostile() }), admin: true, ..Frame::default() };
    let mut filtered = sample::page(&logs, evil.clone());
    filtered.frame = frame.clone();
    let mut nothing = sample::page(&[], evil.clone());
    nothing.selection.whole = fleet.selection.whole;
    let mut empty = sample::empty();
    sample::HOSTILE.clone_into(&mut empty.server_url);
    let error = ErrorPage {
        frame: Frame::default(),
        status: 400,
        happened: hostile(),
        safe: hostile(),
        next_step: hostile(),
        allowed: hostile(),
        ways: vec![(hostile(), "/logs".to_owned())],
    };
    let mut pages: Vec<_> = [fleet, filtered, nothing, empty].iter().map(rendered).collect();
    let mut list = sample::list(&logs, evil.at(sample::HOSTILE));
    list.frame = frame;
    list.next_cursor = Some(hostile());
    for list in [sample::list(&logs, Query::default()), list, sample::list(&[], Query::default())] {
        pages.push(list.render().expect("a page renders"));
    }
    pages.push(error.render().expect("a page renders"));
    for complaint in [String::new(), hostile()] {
        let needs_tls = complaint.is_empty();
        let page = SignInPage { frame: Frame::default(), back: hostile(), complaint, needs_tls };
        pages.push(page.render().expect("a page renders"));
    }
    for say in [str::to_owned, |_: &str| sample::HOSTILE.to_owned()] {
        // A row of Live and the names of filters are parts of pages.
        pages.extend(
            sample::pages::every(say)
                .into_iter()
                .filter(|(name, _)| !["live_row", "names"].contains(name))
                .map(|(_, page)| page),
        );
    }
    pages
}

#[test]
fn every_share_has_count_denominator_and_interval_for_logs_and_machines() {
    let fleet = sample::fleet();
    let page = rendered(&fleet);
    let (logs, machines) = (fleet.selection.total.logs, fleet.selection.total.machines);
    let groups = [&fleet.by_outcome, &fleet.by_split, &fleet.by_crossing, &fleet.by_reason];
    let tables = page.split("<table class=\"shares\"").skip(1).filter_map(|rest| rest.split("</table>").next());
    let rows: Vec<_> = tables.flat_map(|table| table.split("<tr ").skip(2)).collect();
    assert!(rows.len() >= groups.iter().map(|group| group.len()).sum());
    for row in &rows {
        let row = row.split("</tr>").next().expect("split yields something");
        let cells: Vec<_> = row.split("<td ").skip(1).map(|cell| text(&format!("<td {cell}"))).collect();
        assert_eq!(cells.len(), 7, "{row}");
        for (of, percent, interval, total) in
            [(&cells[0], &cells[1], &cells[3], logs), (&cells[4], &cells[5], &cells[6], machines)]
        {
            let count: u64 = of.split(' ').next().expect("a count").parse().expect("a number");
            let share = share::Share { count, total };
            assert_eq!((of, percent, interval), (&share.to_string(), &share.percent(), &share.interval()));
        }
    }
    for count in groups.into_iter().flatten() {
        let of = share::Share { count: count.tally.logs, total: logs }.to_string();
        assert!(rows.iter().any(|row| row.contains(&of)), "{count:?}");
    }
}

#[test]
fn the_five_numbers_are_complete_and_say_what_changed() {
    let fleet = sample::fleet();
    let page = rendered(&fleet);
    let list =
        page.split("<ul class=\"headline\">").nth(1).and_then(|rest| rest.split("</ul>").next()).expect("a list");
    let cards: Vec<_> = list.split("<li").skip(1).map(|card| text(&format!("<li{card}"))).collect();
    assert_eq!(cards.len(), 5);
    assert_eq!(cards[0], "Logs 41 of 41 logs 21 logs in the 14 days to 2026-09-28, 20 before");
    for (card, outcome) in cards[2..].iter().zip([Outcome::Engaged, Outcome::Killed, Outcome::Crossing]) {
        let group = fleet.by_outcome.iter().find(|count| count.key.as_deref() == Some(outcome.as_str()));
        let tally = group.expect("the sample has every outcome").tally;
        let logs = share::Share { count: tally.logs, total: fleet.selection.total.logs };
        let machines = share::Share { count: tally.machines, total: fleet.selection.total.machines };
        let expected = format!(
            "{} {} {logs} logs, {} {machines} machines, {}",
            outcome.label(),
            logs.percent(),
            logs.interval(),
            machines.interval()
        );
        assert!(card.starts_with(&expected), "{card} / {expected}");
        assert!(card.contains("points") && card.ends_with("than before"), "{card}");
    }
}

#[test]
fn every_picture_has_its_numbers_as_a_table_and_a_link_for_each_mark() {
    let fleet = sample::fleet();
    let charts = fleet.charts();
    let names: Vec<_> = charts.iter().map(|chart| chart.name).collect();
    assert_eq!(names, ["days", "reasons", "flow", "pairs", "builds", "paths", "programs"]);
    for chart in charts {
        assert!(!chart.title.is_empty() && !chart.table.rows.is_empty(), "{}", chart.name);
        let mut marks = 0;
        for series in chart.option["series"].as_array().expect("a list") {
            let data = if series["links"].is_array() { &series["links"] } else { &series["data"] };
            for mark in data.as_array().expect("a list").iter().filter(|mark| mark.is_object()) {
                let href = mark["href"].as_str().expect("a link");
                let (path, raw) = href.split_once('?').expect("filters");
                assert_eq!((path, Query::parse(raw).href(path).as_str()), ("/logs", href));
                marks += 1;
            }
        }
        assert!(marks > 0, "{}", chart.name);
    }
}

#[test]
fn every_outcome_has_its_word_and_its_own_mark() {
    let page = rendered(&sample::fleet());
    let mut shapes = std::collections::BTreeSet::new();
    for outcome in Outcome::ALL {
        assert!(page.contains(outcome.label()), "{outcome:?}");
        let start = format!("<svg class=\"mark o-{}\"", outcome.as_str());
        let mark = page.split(&start).nth(1).and_then(|rest| rest.split("</svg>").next()).expect("the mark is drawn");
        shapes.insert(mark.split_once('>').expect("a tag ends").1.to_owned());
    }
    assert_eq!(shapes.len(), 6, "each outcome has another shape");
}

#[test]
fn the_bar_is_whole() {
    let page = rendered(&sample::fleet());
    let bar = page.split("<svg class=\"stack\"").nth(1).and_then(|rest| rest.split("</svg>").next()).expect("a bar");
    let mut end = 0.0;
    for rect in elements(bar).iter().filter(|element| element.name == "rect" && element.get("y").is_some()) {
        let number = |name: &str| -> f64 {
            rect.get(name).expect("an attribute").trim_end_matches('%').parse().expect("a number")
        };
        assert!((number("x") - end).abs() < 0.02, "no gap before {rect:?}");
        end = number("x") + number("width");
    }
    assert!((end - 100.0).abs() < 0.02, "{end}");
}

#[test]
fn every_log_shows_its_verdict_in_words_and_its_lines() {
    let list = sample::list(&sample::logs(), Query::default());
    let page = list.render().expect("a page renders");
    let shown: Vec<_> = page.split("<tbody role=\"rowgroup\" id=\"log-").skip(1).collect();
    assert_eq!(shown.len(), list.logs.len());
    for (log, html) in list.logs.iter().zip(shown) {
        let read = text(html);
        assert!(read.contains(Outcome::of(&log.report.verdict).label()));
        if log.id.contains('<') {
            continue;
        }
        assert!(html.contains(&log.machine) && read.contains(&log.report.file));
        for row in &log.evidence {
            assert!(html.contains(&format!(">{}</th>", row.line)) && read.contains(&row.meaning), "{row:?}");
            assert!(row.text.as_ref().is_none_or(|text| read.contains(text)));
        }
        for finding in &log.report.findings {
            assert!(read.contains(&finding.message) && read.contains(&finding.code));
        }
        assert_eq!(read.contains("Decides."), log.report.verdict.line.is_some());
        assert_eq!(read.contains("12 further lines not shown"), log.evidence_left_out == 12);
    }
    assert!(text(&page).contains(
        "The app rendered on NVIDIA GeForce RTX 4080 Laptop GPU and every frame was copied to Intel(R) Iris(R) Xe Graphics, \
         which drives the panel, because the split was switched off by a setting."
    ));
}

#[test]
fn hostile_text_stays_text() {
    for page in every_page() {
        let ours = ["<script src=\"/static/", "<script type=\"application/json\">"];
        let scripts = page.matches("<script").count();
        assert_eq!(scripts, ours.iter().map(|start| page.matches(start).count()).sum::<usize>(), "a script got in");
        assert!(page.contains("‹U+202E›") || !page.contains("gol.exe"), "the override is written out");
        let hidden =
            page.chars().find(|char| (char.is_control() && *char != '\n') || "\u{202e}\u{200b}".contains(*char));
        assert_eq!(hidden, None, "a character that hides or reorders text got through");
    }
}

#[test]
fn nothing_in_a_page_needs_more_than_its_policy_allows() {
    assert!(!CONTENT_SECURITY_POLICY.contains("unsafe"));
    for page in every_page() {
        for element in elements(&page) {
            assert!(!["style", "iframe", "object"].contains(&element.name.as_str()), "{element:?}");
            // A picture in a frame opens its links elsewhere; it moves no address.
            assert!(element.name != "base" || element.get("href").is_none(), "{element:?}");
            // A data block is no script to a browser.
            let is_file = element.get("src").is_some_and(|path| statics::get(path).is_some());
            assert!(
                element.name != "script" || is_file || element.get("type") == Some("application/json"),
                "{element:?}"
            );
            for (name, value) in &element.attributes {
                assert!(name != "style" && !name.starts_with("on"), "{element:?}");
                assert!(!value.to_ascii_lowercase().contains("javascript:") || name == "value", "{element:?}");
            }
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    for page in every_page() {
        let elements = elements(&page);
        let ids: Vec<_> = elements.iter().filter_map(|element| element.get("id")).collect();
        let links =
            elements.iter().flat_map(|element| ["href", "src", "action"].map(|name| (element, element.get(name))));
        for (element, link) in links.filter_map(|(element, link)| Some((element, link?))) {
            let (url, fragment) = link.split_once('#').map_or((link, None), |(url, fragment)| (url, Some(fragment)));
            let (path, raw) = url.split_once('?').unwrap_or((url, ""));
            let pages = [
                "",
                "/",
                "/sign-in",
                "/sign-out",
                "/explore",
                "/logs",
                "/machines",
                "/triage",
                "/drift",
                "/what-if",
                "/costs",
                "/health",
                "/live",
                "/tokens",
                "/audit",
                "/compare",
                "/metrics",
                "/healthz",
                "/readyz",
            ];
            let is_log = ["/logs/", "/machines/", "/embed/", "/reports/"]
                .iter()
                .any(|of| path.strip_prefix(of).is_some_and(|id| !id.contains('/')));
            // Programs and other sites read addresses of their own.
            let is_other = path.starts_with("/api/v1/")
                || path.starts_with("/reports/")
                || path.starts_with("https://tracker.")
                || path.starts_with("http://127.0.0.1:8787/reports/");
            let is_action = element.get("method") == Some("post");
            let is_known = pages.contains(&path) || statics::get(path).is_some() || is_log || is_other || is_action;
            assert!(is_known, "{element:?}");
            // What changes something is never a link.
            assert!(!path.starts_with("/sign") || element.get("method") == Some("post"), "{element:?}");
            assert!(fragment.is_none_or(|id| id == "logs" || !path.is_empty() || ids.contains(&id)), "{element:?}");
            // The query is one that the page itself reads back to the same URL: known names only, properly encoded.
            assert!(is_other || path == "/sign-in" || Query::parse(raw).href(path) == url, "{element:?}");
        }
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), ids.len(), "an id is used twice");
    }
}

#[test]
fn the_page_can_be_read_without_seeing_it() {
    for page in every_page() {
        let elements = elements(&page);
        let count = |name: &str| elements.iter().filter(|element| element.name == name).count();
        // What stands alone in a frame has no rail.
        let alone = page.contains("<body class=\"alone\"");
        assert_eq!((count("main"), count("h1"), count("nav")), (1, 1, usize::from(!alone)));
        assert!(page.contains("<html lang=\"en\">") && (alone || page.contains("class=\"skip\" href=\"#main\"")));
        assert_eq!(count("caption"), count("table"));
        let is_header = |element: &&Element| element.name == "th";
        assert!(elements.iter().filter(is_header).all(|element| element.get("scope").is_some()));
        assert!(elements.iter().filter(|element| element.name == "svg").all(|element| {
            element.get("aria-hidden") == Some("true")
                || element.get("aria-label").is_some_and(|label| !label.is_empty())
        }));
        assert!(elements.iter().filter(|element| element.name == "img").all(|element| element.get("alt").is_some()));
        // Roles must name what the elements are, where the style may change their display.
        let mut is_restyled = false;
        for own in &elements {
            if own.name == "table" {
                is_restyled = !own.get("class").is_some_and(|class| class.split(' ').any(|own| own == "grid"));
            }
            let role = match own.name.as_str() {
                "table" => "table",
                "tr" => "row",
                "td" => "cell",
                "tbody" => "rowgroup",
                _ => continue,
            };
            assert!(!is_restyled || own.get("role") == Some(role), "{own:?}");
        }
    }
}

#[test]
fn an_empty_fleet_teaches_and_a_filtered_out_one_leads_back() {
    let mut empty = sample::empty();
    empty.server_url = "https://weave.example:8787".to_owned();
    let read = text(&rendered(&empty));
    assert!(read.contains("No logs yet"));
    assert!(read.contains("weavewatch watch --once --dir"));
    assert!(read.contains("--server https://weave.example:8787 --token TOKEN"));

    let mut nothing = sample::page(&[], Query::parse("exe=a.exe&split=off"));
    nothing.selection.whole = sample::fleet().selection.whole;
    let page = rendered(&nothing);
    assert!(text(&page).contains("No log fits these filters"));
    assert!(page.contains("href=\"/?exe=a.exe\"") && page.contains("href=\"/?split=off\""));
    assert!(!page.contains("NaN") && !page.contains("<table"));
}

#[test]
fn pages_of_logs_follow_each_other() {
    let mut list = sample::list(&sample::logs(), Query::parse("split=off&cursor=one"));
    assert!(!list.render().expect("a page renders").contains("rel=\"next\""));
    list.next_cursor = Some("two & more".to_owned());
    let page = list.render().expect("a page renders");
    assert!(page.contains("href=\"/logs?split=off&#38;cursor=two%20%26%20more\" rel=\"next\""));
    assert!(page.contains("<a href=\"/logs?split=off\">First page</a>"));
}

#[test]
fn the_finding_is_about_these_logs() {
    let title = |page: &FleetPage| {
        let html = rendered(page);
        text(html.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).expect("a heading"))
    };
    let fleet = sample::fleet();
    assert_eq!(title(&fleet), "Every frame crosses between GPUs in 14 of 41 logs, on 10 of 10 machines");
    assert_eq!(
        title(&sample::page(&sample::logs()[..1], Query::default())),
        "No frame crosses needlessly in any of 1 log"
    );
    let silent: Vec<_> = sample::logs()[37..39].to_vec();
    assert_eq!(
        title(&sample::page(&silent, Query::default())),
        "Nobody can tell where the weave ran in 2 of 2 logs, on 2 of 2 machines"
    );
}

#[test]
fn an_error_says_what_happened_what_is_safe_and_what_to_do() {
    let mut error = ErrorPage {
        frame: Frame::default(),
        status: 404,
        happened: "There is no such page".to_owned(),
        safe: String::new(),
        next_step: "Check the address.".to_owned(),
        allowed: String::new(),
        ways: Vec::new(),
    };
    let page = error.render().expect("a page renders");
    let read = text(&page);
    assert!(
        read.contains("Error 404") && read.contains("There is no such page") && read.contains("Check the address.")
    );
    assert!(!read.contains("What is safe"));
    error.safe = "Nothing was changed.".to_owned();
    assert!(text(&error.render().expect("a page renders")).contains("Nothing was changed."));
}

#[test]
fn whoever_is_signed_in_can_sign_out_and_others_see_no_form() {
    let mut fleet = sample::fleet();
    assert!(!rendered(&fleet).contains("/sign-out"));
    fleet.frame.account = Some(Account { name: "wall <1>".to_owned(), csrf: "abc".to_owned() });
    let page = rendered(&fleet);
    let form = page.split("<form class=\"account\"").nth(1).and_then(|rest| rest.split("</form>").next());
    let form = form.expect("a form");
    assert!(form.contains("action=\"/sign-out\" method=\"post\"") && form.contains("name=\"csrf\" value=\"abc\""));
    assert!(text(form).contains("Signed in as wall <1>"), "{form}");
}

#[test]
fn the_form_to_sign_in_leads_back_and_says_what_was_wrong() {
    let mut page = SignInPage {
        frame: Frame::default(),
        back: "/?split=off".to_owned(),
        complaint: String::new(),
        needs_tls: true,
    };
    let html = page.render().expect("a page renders");
    let field = |name: &str| {
        let named = |element: &Element| element.name == "input" && element.get("name") == Some(name);
        elements(&html).into_iter().find(named).expect("a field")
    };
    assert_eq!(field("back").get("value"), Some("/?split=off"));
    // Never in a list of what was typed before, and never in the page itself.
    assert_eq!((field("token").get("type"), field("token").get("value")), (Some("password"), None));
    assert!(!html.contains("role=\"alert\"") && text(&html).contains("HTTPS"));
    page.complaint = "This is not a valid token.".to_owned();
    page.needs_tls = false;
    let html = page.render().expect("a page renders");
    assert!(text(&html).contains("This is not a valid token.") && !text(&html).contains("HTTPS"));
    assert!(html.contains("aria-describedby=\"complaint\""));
}
