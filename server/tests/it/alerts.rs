//! Alerts: when people are told, and when not; that they are told once; and that a log's words stay words.

use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use server::alerts::{Alerts, round};
use server::app::State;
use server::store::Store;
use wire::{Kind, Observation, Segment, Value};

use crate::receivers::{Endpoint, MailServer};
use crate::sample::{Sample, batch, event, log_id};
use crate::world::{World, on_each_database};

/// A day after the logs of [`Sample`].
fn start() -> Timestamp {
    "2026-09-15T10:00:00Z".parse().expect("a time")
}

/// One log of a build.
fn log(name: &str, build: &str, is_killed: bool) -> Segment {
    let sample = if is_killed { Sample::default() } else { Sample { split: 1, reasons: &[], ..Sample::default() } };
    let mut segment = Segment { log: log_id(name), file: name.to_owned(), ..sample.segment() };
    let mut fields = vec![("build", Value::Text(build.to_owned()))];
    let numbers: Vec<u64> = build.split('.').filter_map(|number| number.parse().ok()).collect();
    fields.extend(["major", "minor", "patch"].into_iter().zip(numbers.into_iter().map(Value::Uint)));
    let version = event(10, 2, Kind::RuntimeVersion, "od.runtime_version", &fields);
    segment.observations.insert(0, Observation::Event(version));
    segment
}

/// Uploads logs of a build, of which the first are killed, from so many machines in turn.
async fn logs(world: &World, build: &str, killed: usize, all: usize, machines: usize) {
    for machine in 0..machines {
        let own = (machine..all).step_by(machines);
        let segments = own.map(|number| log(&format!("{build}-{all}-{number}.log"), build, number < killed)).collect();
        world.upload(&batch(u32::try_from(machine).expect("few") + 1, segments)).await;
    }
}

/// Rules for one webhook.
fn rules(url: &str, rules: &str) -> Alerts {
    let head = format!("public_url = \"https://w.example.com\"\n[webhooks.chat]\nurl = \"{url}\"\n");
    Alerts::parse("rules.toml", &(head + rules)).expect("they are right")
}

const BY_BUILD: &str = r#"
    [[rules]]
    name = "killed"
    count = "killed"
    compare = "share"
    above = 0.3
    by = "runtime"
    least_logs = 5
    least_machines = 3
    to = ["chat"]
"#;

#[test]
fn a_share_is_told_when_it_is_large_of_enough_logs_and_on_enough_machines() {
    on_each_database(async |world| {
        logs(&world, "2.1.0", 6, 10, 3).await;
        logs(&world, "2.2.0", 6, 10, 1).await;
        logs(&world, "2.3.0", 4, 4, 4).await;
        logs(&world, "2.4.0", 3, 10, 3).await;
        // Two machines of three have a killed log.
        logs(&world, "2.5.0", 2, 6, 3).await;
        let endpoint = Endpoint::start().await;
        let more = r#"
            [[rules]]
            name = "beyond chance"
            count = "killed"
            above = 0.32
            by = "runtime"
            least_logs = 5
            to = ["chat"]
            [[rules]]
            name = "newest"
            count = "outcome=killed"
            compare = "share"
            above = 0.05
            newest_build = true
            least_logs = 5
            least_machines = 1
            to = ["chat"]
            [[rules]]
            name = "all"
            count = "killed"
            above = 0.3
            least_logs = 5
            filters = { runtime = ["2.1.0", "2.2.0"], path = "d3d11" }
            to = ["chat"]
        "#;
        let alerts = rules(&endpoint.url, &(BY_BUILD.to_owned() + more));
        assert!(round(&world.app.store, &alerts, start()).await.expect("it works"));
        let told = endpoint.take();
        let find = |rule: &str| {
            let own: Vec<_> = told.iter().map(|(_, _, own)| own).filter(|own| own["rule"] == rule).collect();
            assert!(own.len() <= 1, "{own:?}");
            own.first().copied().cloned()
        };
        let killed = find("killed").expect("build 2.1.0 is above");
        assert_eq!(killed["group"]["value"], "2.1.0");
        for (field, value) in [("counted", 6), ("logs", 10), ("machines", 3)] {
            assert_eq!(killed[field], value, "{field}: {killed}");
        }
        assert_eq!((killed["from"].as_str(), killed["to"].as_str()), (Some("2026-09-09"), Some("2026-09-16")));
        assert_eq!(killed["share"], 0.6);
        let low = killed["low"].as_f64().expect("a number");
        assert!((low - 0.312_674).abs() < 1e-4, "Wilson, by hand: {low}");
        assert_eq!(find("beyond chance"), None, "the lower end is not above 0.32");
        // 2.5.0 is the newest.
        assert_eq!(find("newest").expect("it is above")["group"]["value"], "2.5.0");
        assert_eq!(find("all").map(|own| (own["logs"].clone(), own["group"].clone())), None, "the path is another");
        assert_eq!(endpoint.told().len(), 0);
        // The links lead to the logs that were counted.
        for (url, count) in [("counted_url", 6), ("logs_url", 10)] {
            let url = killed[url].as_str().expect("a URL").strip_prefix("https://w.example.com/").expect(url);
            assert_eq!(world.get(&format!("/{url}")).await.status.as_u16(), 200);
            let answer = world.json(&format!("/api/v1/{url}")).await;
            assert_eq!(answer["items"].as_array().expect("a list").len(), count, "{url}");
        }
    });
}

#[test]
fn every_measure_counts_what_its_link_shows() {
    on_each_database(async |world| {
        crate::summary::fleet(&world).await;
        let words = [
            "killed",
            "retired",
            "not_engaged",
            "split=engaged",
            "split=off",
            "split=unknown",
            "crossing=none",
            "crossing=atlas_per_frame",
            "crossing=every_present",
            "crossing=unknown",
            "outcome=engaged",
            "outcome=local",
            "outcome=crossing",
            "outcome=killed",
            "outcome=taken_back",
            "outcome=unknown",
            "reason=weave_on_ingest",
            "reason=nobody_has_it",
            "interop_crossing",
            "corrected",
        ];
        let endpoint = Endpoint::start().await;
        let rule = |word: &&str| {
            format!(
                "[[rules]]\nname = {word:?}\ncount = {word:?}\nabove = 0\nleast_logs = 1\nleast_machines = 1\nto = [\"chat\"]\n"
            )
        };
        let alerts = rules(&endpoint.url, &words.iter().map(rule).collect::<String>());
        round(&world.app.store, &alerts, start()).await.expect("it works");
        let told = endpoint.take();
        let mut above = 0;
        for word in words {
            let own = told.iter().map(|(_, _, own)| own).find(|own| own["rule"] == word);
            let Some(own) = own else { continue };
            above += 1;
            let url = own["counted_url"].as_str().expect("a URL").strip_prefix("https://w.example.com/").expect(word);
            let listed = world.json(&format!("/api/v1/{url}")).await;
            let listed = listed["items"].as_array().expect("a list");
            assert_eq!(own["counted"], listed.len(), "{word}");
            let mut machines: Vec<_> = listed.iter().map(|log| log["machine"].as_str()).collect();
            machines.sort_unstable();
            machines.dedup();
            assert_eq!((own["machines"].clone(), own["logs"].clone()), (machines.len().into(), 6.into()), "{word}");
        }
        // Of the six logs with a day: engaged, killed, off, two reasons, one adapter.
        assert!(above >= 9, "{above}: {told:?}");
    });
}

#[test]
fn a_cool_down_outlives_a_restart_and_the_end_is_told_once() {
    on_each_database(async |world| {
        logs(&world, "2.1.0", 6, 10, 3).await;
        let endpoint = Endpoint::start().await;
        let store = &world.app.store;
        let first = rules(&endpoint.url, BY_BUILD);
        let at = |hours: i64| start() + hours.hours();
        round(store, &first, at(0)).await.expect("it works");
        assert_eq!(endpoint.told(), ["alarm killed 2.1.0"]);
        round(store, &first, at(1)).await.expect("it works");
        // The same database under another server, which knows nothing but what is stored.
        let again = Store::open(&world.place).await.expect("it opens");
        let second = rules(&endpoint.url, BY_BUILD);
        for hours in [2, 23] {
            assert!(round(&again, &second, at(hours)).await.expect("it works"));
        }
        assert_eq!(endpoint.told().len(), 0, "nobody is told twice within a day");
        round(&again, &second, at(24)).await.expect("it works");
        assert_eq!(endpoint.told(), ["reminder killed 2.1.0"]);
        // More logs that are not killed, and it is over.
        logs(&world, "2.1.0", 0, 30, 3).await;
        round(&again, &second, at(25)).await.expect("it works");
        assert_eq!(endpoint.told(), ["resolved killed 2.1.0"]);
        round(&again, &second, at(26)).await.expect("it works");
        assert_eq!(endpoint.told().len(), 0);
        // It goes up again within the cool-down, which counts from the reminder.
        logs(&world, "2.1.0", 31, 31, 3).await;
        for hours in [27, 47] {
            round(&again, &second, at(hours)).await.expect("it works");
        }
        assert_eq!(endpoint.told().len(), 0);
        round(&again, &second, at(48)).await.expect("it works");
        assert_eq!(endpoint.told(), ["alarm killed 2.1.0"]);
        // The logs leave the window.
        round(&again, &second, at(24 * 10)).await.expect("it works");
        let over = endpoint.take();
        assert_eq!((over[0].2["kind"].as_str(), over[0].2["logs"].as_i64()), (Some("resolved"), Some(0)));
        round(&again, &second, at(24 * 11)).await.expect("it works");
        assert_eq!((endpoint.told().len(), again.alerts().await.expect("it answers").len()), (0, 0));
        // What was told stands in the audit log.
        let (rows, _) = again.audit(None, 50).await.expect("it answers");
        let deeds: Vec<_> =
            rows.iter().filter(|row| row.deed.starts_with("alert_")).map(|row| row.deed.as_str()).collect();
        assert_eq!(deeds, ["alert_resolved", "alert_raised", "alert_resolved", "alert_raised", "alert_raised"]);
        again.close().await;
    });
}

#[test]
fn of_two_servers_one_tells() {
    on_each_database(async |world| {
        let endpoint = Endpoint::start().await;
        let other = Store::open(&world.place).await.expect("it opens");
        let (first, second) = (rules(&endpoint.url, BY_BUILD), rules(&endpoint.url, BY_BUILD));
        for turn in 0..10 {
            let build = format!("2.{turn}.0");
            logs(&world, &build, 6, 10, 3).await;
            let now = start() + (turn * 10).minutes();
            let stores = (&world.app.store, &other);
            let done = tokio::join!(round(stores.0, &first, now), round(stores.1, &second, now));
            let done = [done.0.expect("it works"), done.1.expect("it works")];
            assert_eq!(done.into_iter().filter(|done| *done).count(), 1, "one has the work");
            assert_eq!(endpoint.told(), [format!("alarm killed {build}")]);
        }
        // The holder is gone: the other takes over, and tells nothing again.
        let now = start() + 3.hours();
        assert!(round(&other, &second, now).await.expect("it works"));
        assert!(!round(&world.app.store, &first, now + 4.minutes()).await.expect("it works"));
        assert!(round(&world.app.store, &first, now + 6.minutes()).await.expect("it works"));
        assert_eq!(endpoint.told().len(), 0);
        other.close().await;
    });
}

#[test]
fn what_does_not_arrive_is_tried_again_with_growing_pauses() {
    on_each_database(async |world| {
        logs(&world, "2.1.0", 6, 10, 3).await;
        let endpoint = Endpoint::start().await;
        let alerts = Arc::new(rules(&endpoint.url, BY_BUILD));
        let store = &world.app.store;
        let shown = State { alerts: Some(alerts.clone()), ..State::new(store.clone()) };
        let shown = World::of(shown, world.place.clone()).await;
        // A redirect is no success, and is not followed.
        endpoint.answer(&[302, 503]);
        let mut attempts = Vec::new();
        for minute in 0..8 {
            round(store, &alerts, start() + minute.minutes()).await.expect("it works");
            let came = endpoint.take();
            assert!(came.iter().all(|(path, ..)| path == "/hook"), "{came:?}");
            attempts.extend(came.iter().map(|_| minute));
            if minute == 2 {
                let page = shown.get("/health").await.text();
                for words in ["above the limit", "1 message on the way", "chat: the webhook answered 503", "6 of 10"] {
                    assert!(page.contains(words), "{words}: {page}");
                }
                assert!(!page.contains(&endpoint.url), "an address may be a secret");
            }
        }
        assert_eq!(attempts, [0, 1, 3], "after one minute, then two, and when it arrived no more");
        let row = store.alerts().await.expect("it answers").remove(0);
        assert_eq!((row.error, row.sent.as_deref()), (None, Some("2026-09-15T10:03:00.000Z")));
        let page = shown.get("/health").await.text();
        assert!(page.contains("above the limit") && !page.contains("on the way"), "{page}");
        let metrics = world.get("/metrics").await.text();
        let counted = |outcome: &str| {
            let name = format!("weavewatch_alert_messages_total{{outcome=\"{outcome}\"}} ");
            let line = metrics.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or_else(|| panic!("{metrics}"));
            line.parse::<u64>().expect("a number")
        };
        // Other tests of the process count too.
        assert!(counted("failed") >= 2 && counted("sent") >= 1);
    });
}

#[test]
fn who_never_heard_of_an_alarm_is_not_told_of_its_end_and_some_day_it_is_given_up() {
    on_each_database(async |world| {
        logs(&world, "2.1.0", 6, 10, 3).await;
        let endpoint = Endpoint::start().await;
        let alerts = rules(&endpoint.url, BY_BUILD);
        let store = &world.app.store;
        endpoint.answer(&[503; 2]);
        round(store, &alerts, start()).await.expect("it works");
        logs(&world, "2.1.0", 0, 30, 3).await;
        round(store, &alerts, start() + 1.hour()).await.expect("it works");
        round(store, &alerts, start() + 2.hours()).await.expect("it works");
        assert_eq!(endpoint.told(), ["alarm killed 2.1.0"], "one attempt, and then there was nothing left to say");
        assert_eq!(store.waiting_alert_messages().await.expect("it answers"), []);
        // An endpoint that is gone for good.
        logs(&world, "2.2.0", 6, 10, 3).await;
        let alerts = rules(&endpoint.url, &format!("{BY_BUILD}cool_down_hours = 1000\n"));
        endpoint.answer(&[503; 200]);
        let mut attempts = Vec::new();
        for hour in 30..110 {
            round(store, &alerts, start() + hour.hours()).await.expect("it works");
            attempts.extend(endpoint.take().iter().map(|_| hour));
        }
        assert_eq!((attempts.first(), attempts.last()), (Some(&30), Some(&102)), "for three days");
        assert_eq!(store.waiting_alert_messages().await.expect("it answers"), []);
        let rows = store.alerts().await.expect("it answers");
        let error = rows.iter().find_map(|row| row.error.as_deref());
        assert_eq!(error, Some("chat: the webhook answered 503 Service Unavailable"), "why nobody was told stays");
    });
}

/// A program and an adapter that try everything.
const HOSTILE: &str =
    "1.0\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script>\u{202e}gol <!channel> @here \u{1b}[31m";

#[test]
fn a_hostile_name_is_a_name_in_mail_json_and_page() {
    on_each_database(async |world| {
        for machine in 1..=3 {
            let killed = |name| {
                let mut segment = Sample { name, render: HOSTILE, ..Sample::default() }.segment();
                segment.facts.process.as_mut().expect("a process").exe = format!("{HOSTILE}{}", "x".repeat(3_000));
                segment
            };
            world.upload(&batch(machine, ["a.log", "b.log"].map(killed).to_vec())).await;
        }
        let (endpoint, mail) = (Endpoint::start().await, MailServer::start().await);
        let text = format!(
            "public_url = \"https://w.example.com\"\nwebhooks.chat.url = \"{}\"\n[mail]\nfrom = \"W <w@example.com>\"\n\
             host = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n{}{}",
            endpoint.url,
            mail.port,
            BY_BUILD
                .replace("\"chat\"", "\"chat\", \"ann@example.com\", \"nobody@example.com\"")
                .replace("runtime", "exe"),
            BY_BUILD.replace("\"killed\"\n    count", "\"by adapter\"\n    count").replace("runtime", "render"),
        );
        let alerts = Arc::new(Alerts::parse("rules.toml", &text).expect("they are right"));
        let store = &world.app.store;
        round(store, &alerts, start()).await.expect("it works");

        let mails = mail.take();
        assert_eq!(mails.len(), 1, "nobody was refused, and Ann got hers: {mails:?}");
        assert_eq!((mails[0].from.as_str(), mails[0].to.as_str()), ("FROM:<w@example.com>", "TO:<ann@example.com>"));
        let (head, body) = mails[0].data.split_once("\n\n").expect("a head and a body");
        let names: Vec<_> = head.lines().filter(|line| !line.starts_with([' ', '\t'])).collect();
        let names: Vec<_> = names.iter().map(|line| line.split_once(':').expect("a header").0).collect();
        for name in ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "Content-Type"] {
            assert_eq!(names.iter().filter(|own| **own == name).count(), 1, "{name}: {head}");
        }
        assert!(!names.contains(&"Bcc") && !body.contains("\nBcc"), "{}", mails[0].data);
        assert!(mails[0].data.lines().all(|line| line.len() <= 998 && line.is_ascii()), "{}", mails[0].data);

        let told = endpoint.take();
        assert_eq!(told.len(), 2);
        for (_, _, own) in &told {
            let value = own["group"]["value"].as_str().expect("a name");
            assert!(value.starts_with(HOSTILE) && value.chars().count() <= 301, "{value}");
            let chat = own["text"].as_str().expect("a text");
            assert!(!chat.contains(['<', '@', '\u{202e}', '\u{1b}', '\r']) && chat.chars().count() < 3_000, "{chat}");
            let url = own["counted_url"].as_str().expect("a URL").strip_prefix("https://w.example.com").expect("ours");
            assert_eq!(world.get(url).await.status.as_u16(), 200, "{url}");
        }
        let shown = State { alerts: Some(alerts), ..State::new(store.clone()) };
        let page = World::of(shown, world.place.clone()).await.get("/health").await.text();
        assert!(page.contains("alert(1)") && !page.contains("<script>alert") && !page.contains(['\u{202e}', '\u{1b}']));
        assert!(page.contains("nobody@example.com: the mail server did not take it"), "{page}");
    });
}

#[test]
fn mail_that_must_be_secret_is_not_sent_in_plain() {
    on_each_database(async |world| {
        logs(&world, "2.1.0", 6, 10, 3).await;
        let mail = MailServer::start().await;
        let text = format!(
            "public_url = \"https://w.example.com\"\n[mail]\nfrom = \"w@example.com\"\nhost = \"localhost\"\nport = {}\n{}",
            mail.port,
            BY_BUILD.replace("chat", "ann@example.com"),
        );
        let alerts = Alerts::parse("rules.toml", &text).expect("they are right");
        round(&world.app.store, &alerts, start()).await.expect("it works");
        assert_eq!(mail.take().len(), 0, "the server offers no STARTTLS");
        let row = world.app.store.alerts().await.expect("it answers").remove(0);
        let error = row.error.expect("it failed");
        assert!(error.starts_with("ann@example.com: the mail server did not take it"), "{error}");
    });
}

#[test]
fn a_rule_that_is_gone_leaves_nothing() {
    on_each_database(async |world| {
        logs(&world, "2.1.0", 6, 10, 3).await;
        let endpoint = Endpoint::start().await;
        let store = &world.app.store;
        endpoint.answer(&[503]);
        let before = rules(&endpoint.url, BY_BUILD);
        round(store, &before, start()).await.expect("it works");
        let renamed = rules(&endpoint.url, &BY_BUILD.replace("\"killed\"\n    count", "\"renamed\"\n    count"));
        for minute in [10, 11] {
            round(store, &renamed, start() + minute.minutes()).await.expect("it works");
        }
        assert_eq!(
            endpoint.told(),
            ["alarm killed 2.1.0", "alarm renamed 2.1.0"],
            "the second is the attempt that failed"
        );
        let rows: Vec<_> = store.alerts().await.expect("it answers").into_iter().map(|row| row.rule).collect();
        assert_eq!(rows, ["renamed"]);
        assert_eq!(store.waiting_alert_messages().await.expect("it answers"), []);
    });
}

#[test]
fn a_wrong_file_is_told_with_its_line_and_what_is_allowed() {
    let good = format!("public_url = \"https://w.example.com\"\nwebhooks.chat.url = \"https://x.example\"\n{BY_BUILD}");
    assert!(Alerts::parse("rules.toml", &good).is_ok());
    for (from, to, words) in [
        ("https://w.example.com", "w.example.com", "line 1: \"w.example.com\" is no address"),
        ("https://x.example", "http://x.example", "line 2: its address must begin with https://"),
        ("https://x.example\"", "https://x.example\"\nwebhooks.chat.header = \"x-a\"", "secret_env or secret_file"),
        (
            "count = \"killed\"",
            "count = \"kiled\"",
            "line 6: \"kiled\" is nothing that can be counted, did you mean killed?",
        ),
        ("above = 0.3", "above = 30", "line 8: a limit is a share from 0"),
        ("above = 0.3", "abov = 0.3", "line 8: unknown field `abov`, expected one of `name`, `count`, `above`"),
        ("above = 0.3", "above = \"x\"", "line 8: invalid type: string \"x\""),
        ("\"share\"", "\"shares\"", "line 7: unknown variant `shares`, expected `interval` or `share`"),
        ("by = \"runtime\"", "by = \"version\"", "line 9: \"version\" cannot be watched one by one: runtime, path,"),
        ("by = \"runtime\"", "by = \"runtime\"\nnewest_build = true", "line 9: a rule is for the newest build, or"),
        ("by = \"runtime\"", "filters = { day = \"2026-09-14\" }", "line 9: the time of a rule is its `days`"),
        ("by = \"runtime\"", "filters = { gpu = \"x\" }", "line 9: gpu is no filter: there are outcome,"),
        ("by = \"runtime\"", "filters = { path = \"metal\" }", "line 9: the value of path is not one that can occur"),
        ("by = \"runtime\"", "filters = { killed = true }", "line 9: the rule counts by killed"),
        ("by = \"runtime\"", "filters = { path = 3 }", "line 9: a filter has a text"),
        ("least_logs = 5", "least_logs = 0", "line 10: expected a number from 1"),
        ("to = [\"chat\"]", "to = []", "line 12: nobody would be told"),
        ("to = [\"chat\"]", "to = [\"chta\"]", "of [webhooks] there are chat"),
        ("to = [\"chat\"]", "to = [\"ann@example.com\"]", "line 12: an address of e-mail needs a mail server"),
        ("name = \"killed\"", "name = \"a\\nb\"", "line 5: a name has 1 to 100 characters"),
        ("[[rules]]", "rules = []", "unknown field `"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = Alerts::parse("rules.toml", &good.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.starts_with("failed to understand rules.toml") && error.contains(words), "{to}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let twice = format!("{good}{BY_BUILD}");
    assert!(Alerts::parse("rules.toml", &twice).expect_err("two").to_string().contains("another rule has this name"));
    let secret =
        good.replacen("https://x.example\"", "https://x.example\"\nwebhooks.chat.secret_env = \"NOT_THERE_AT_ALL\"", 1);
    let error = Alerts::parse("rules.toml", &secret).expect_err("no variable").to_string();
    assert!(error.contains("line 2") && error.contains("NOT_THERE_AT_ALL"), "{error}");
    for (mail, words) in [
        ("from = \"w@example.com\"\nhost = \"smtp://x\"", "is no host"),
        ("from = \"nobody\"\nhost = \"x\"", "is no sender"),
        ("from = \"w@example.com\"\nhost = \"x\"\nuser = \"u\"", "a user needs password_env"),
        ("from = \"w@example.com\"\nhost = \"x\"\ntls = \"ssl\"", "expected one of `starttls`, `implicit`, `none`"),
        ("from = \"w@example.com\"\nhost = \"x\"\ntls = \"none\"\nuser = \"u\"\npassword_env = \"PATH\"", "in plain"),
    ] {
        let text = format!("{good}\n[mail]\n{mail}\n");
        let error = Alerts::parse("rules.toml", &text).expect_err(mail).to_string();
        assert!(error.contains(words) && error.contains("line "), "{mail}: {error}");
    }
}
