//! Alerts through the program itself: rules from a file, secrets from files, a real endpoint and a real conversation by mail.

use std::fs::{File, read_to_string, write};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use server::store::Place;

use crate::program::{Running, get, program, run, text};
use crate::receivers::{Endpoint, MailServer};
use crate::sample::{Sample, batch};
use crate::world::World;

const SECRET: &str = "Bearer hush-hush-1234";
const PASSWORD: &str = "open-sesame-5678";

/// Three machines with two killed logs each, of today.
async fn fill(place: Place) {
    let world = World::open(place).await;
    let today = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date();
    for machine in 1..=3 {
        let segments = ["a.log", "b.log"].map(|name| {
            let mut segment = Sample { name, ..Sample::default() }.segment();
            segment.facts.process.as_mut().expect("a process").started = Some(format!("{today}T00:00:00"));
            segment
        });
        world.upload(&batch(machine, segments.to_vec())).await;
    }
    world.app.store.close().await;
}

fn rules(home: &Path, port: u16) -> String {
    let file = |name: &str| home.join(name).display().to_string();
    format!(
        "public_url = \"https://w.example.com\"\n\
         [webhooks.chat]\nurl_file = '{}'\nheader = \"x-secret\"\nsecret_file = '{}'\n\
         [mail]\nfrom = \"Weavewatch <w@example.com>\"\nhost = \"127.0.0.1\"\nport = {port}\ntls = \"none\"\n\
         user = \"ww\"\npassword_file = '{}'\n\
         [[rules]]\nname = \"killed\"\ncount = \"killed\"\nabove = 0.5\nleast_logs = 6\nto = [\"chat\", \"ann@example.com\"]\n",
        file("url"),
        file("secret"),
        file("password"),
    )
}

/// Starts a server whose log goes to a file.
fn serve(home: &Path, file: &str, log: &Path) -> (Running, String) {
    let mut command = program(home);
    command.args(["serve", "--listen", "127.0.0.1:0", "--alerts", file]);
    command.env("RUST_LOG", "trace").stderr(File::create(log).expect("a writable folder"));
    let mut child = command.spawn().expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("UTF-8");
    (Running(child), line.trim_end().trim_start_matches("listening on ").to_owned())
}

/// Waits for something that happens on its own.
fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn people_are_told_by_a_running_server_and_once() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let place = home.path().join("weavewatch/server.sqlite");
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("a writable folder");
    runtime.block_on(fill(Place::File(place)));
    let (endpoint, mail) = runtime.block_on(async { (Endpoint::start().await, MailServer::start().await) });
    for (name, content) in [("url", endpoint.url.as_str()), ("secret", SECRET), ("password", PASSWORD)] {
        write(home.path().join(name), format!("{content}\n")).expect("a writable folder");
    }
    let file = home.path().join("alerts.toml");
    write(&file, rules(home.path(), mail.port)).expect("a writable folder");
    let file = file.to_str().expect("UTF-8");

    let checked = run(home.path(), &["alerts", "check", file]);
    let said = text(&checked.stdout);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    assert_eq!(
        said,
        "killed: ALARM, above 50 %: 6 of 6 logs switched off by a setting on 3 machines, 100 % (61.0–100 %)\n"
    );
    assert_eq!((endpoint.told().len(), mail.take().len()), (0, 0), "nothing was sent");

    let tried = run(home.path(), &["alerts", "test", file]);
    assert!(tried.status.success(), "{}", text(&tried.stderr));
    assert_eq!(endpoint.told(), ["test a trial -"]);
    assert_eq!(mail.take().len(), 1);
    let one = run(home.path(), &["alerts", "test", file, "--to", "chat"]);
    assert!(one.status.success() && endpoint.told().len() == 1 && mail.take().is_empty());
    assert_eq!(run(home.path(), &["alerts", "test", file, "--to", "bob"]).status.code(), Some(2));
    endpoint.answer(&[500]);
    let failed = run(home.path(), &["alerts", "test", file]);
    assert_eq!(failed.status.code(), Some(3));
    assert!(text(&failed.stderr).contains("chat: the webhook answered 500"), "{}", text(&failed.stderr));
    endpoint.take();
    mail.take();

    let log = home.path().join("log");
    let (server, url) = serve(home.path(), file, &log);
    let (mut told, mut mails) = (Vec::new(), Vec::new());
    until("both are told", || {
        told.extend(endpoint.take());
        mails.extend(mail.take());
        told.len() + mails.len() >= 2
    });
    let (_, headers, document) = &told[0];
    assert_eq!(headers["x-secret"], SECRET);
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(
        (document["schema"].as_str(), document["kind"].as_str(), document["counted"].as_i64()),
        (Some("weavewatch.alert/1"), Some("alarm"), Some(6))
    );
    // `\0ww\0open-sesame-5678` in base64.
    assert_eq!(mails[0].auth.as_deref(), Some("AHd3AG9wZW4tc2VzYW1lLTU2Nzg="));
    assert!(
        mails[0].data.contains("Subject: [Weavewatch] killed: 100 % switched off by a setting"),
        "{}",
        mails[0].data
    );
    assert!(mails[0].data.contains("6 of 6 logs") && mails[0].data.contains("https://w.example.com/logs?"));
    until("the page tells it", || get(&format!("{url}/health"), None).1.contains("above the limit"));
    assert_eq!(server.terminate(), Some(0));
    let said = read_to_string(&log).expect("UTF-8");
    assert!(said.contains("sent an alert"), "{said}");
    for secret in [SECRET, PASSWORD, "AHd3AG9wZW4tc2VzYW1lLTU2Nzg=", &endpoint.url] {
        assert!(!said.contains(secret), "the log shows {secret}");
    }

    // Started again, it knows whom it told.
    let (server, url) = serve(home.path(), file, &log);
    until("it has looked", || get(&format!("{url}/metrics"), None).1.contains("weavewatch_alerts_above_limit 1"));
    assert_eq!(server.terminate(), Some(0));
    assert_eq!((endpoint.told().len(), mail.take().len()), (0, 0));
}

#[test]
fn wrong_rules_are_told_before_anything_is_opened() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let file = home.path().join("alerts.toml");
    write(&file, "public_url = \"https://w.example.com\"\n[[rules]]\nname = \"x\"\ncuont = \"killed\"\n")
        .expect("writable");
    let file = file.to_str().expect("UTF-8");
    for arguments in [
        &["serve", "--listen", "127.0.0.1:0", "--alerts", file][..],
        &["alerts", "check", file],
        &["alerts", "test", file],
    ] {
        let output = run(home.path(), arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("alerts.toml, line 4: unknown field `cuont`, expected one of `name`"), "{said}");
    }
    assert!(!home.path().join("weavewatch").exists(), "no database was made");
    assert_eq!(run(home.path(), &["alerts", "check", "/does/not/exist.toml"]).status.code(), Some(3));
}

#[test]
fn the_example_of_the_documentation_is_right() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let manual = read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/alerts.md")).expect("it is there");
    let example = manual.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    assert!(run(home.path(), &["migrate"]).status.success());
    let file = home.path().join("alerts.toml");
    write(&file, example).expect("a writable folder");
    let mut command = program(home.path());
    for variable in ["CHAT_URL", "PAGER_SECRET", "MAIL_PASSWORD"] {
        command.env(variable, "https://chat.example.com/x");
    }
    let output = command.args(["alerts", "check"]).arg(&file).output().expect("the program starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (said, rules) = (text(&output.stdout), example.matches("[[rules]]").count());
    assert_eq!(said.lines().count(), rules, "{said}");
}
