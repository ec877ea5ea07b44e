//! The program itself: ports, signals, exit codes, and the demo.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use server::store::Place;
use simulate::{Fleet, Simulation, Totals};
use sqlx::{Connection, Executor};

use crate::world::on_each_database;

/// The program, with a home of its own.
pub fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weavewatch-server"));
    command.env_clear().env("XDG_DATA_HOME", home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn run(home: &Path, arguments: &[&str]) -> Output {
    program(home).args(arguments).output().expect("the program starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A running program; killed when a test fails.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    pub fn start(home: &Path, arguments: &[&str]) -> (Self, String) {
        let mut child = program(home).args(arguments).stderr(Stdio::inherit()).spawn().expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("UTF-8");
        (Self(child), line.trim_end().to_owned())
    }

    /// Asks it to end.
    pub fn ask_to_end(&self) {
        let pid = self.0.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status().expect("kill exists");
        assert!(killed.success());
    }

    /// Asks it to end, and answers its exit code.
    pub fn terminate(mut self) -> Option<i32> {
        self.ask_to_end();
        self.0.wait().expect("it ends").code()
    }
}

pub fn get(url: &str, token: Option<&str>) -> (u16, String) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        // Another test may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut request = client.get(url);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.expect("the server answers");
        (response.status().as_u16(), response.text().await.expect("UTF-8"))
    })
}

#[test]
fn serve_prints_its_address_takes_tokens_and_ends_when_asked() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (server, line) = Running::start(home.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let url = line.strip_prefix("listening on ").expect(&line).to_owned();
    assert_eq!(get(&format!("{url}/healthz"), None), (200, "ok".to_owned()));
    assert_eq!(get(&format!("{url}/"), None).0, 200, "this machine sees the page");
    assert_eq!(get(&format!("{url}/api/v1/summary"), None).0, 401);

    let created = run(home.path(), &["token", "create", "--scope", "reader", "--name", "test"]);
    assert!(created.status.success(), "{}", text(&created.stderr));
    let token = text(&created.stdout).trim().to_owned();
    assert_eq!(get(&format!("{url}/api/v1/summary"), Some(&token)).0, 200);

    let list = text(&run(home.path(), &["token", "list"]).stdout);
    assert!(list.contains("reader") && list.contains("test") && !list.contains(&token), "{list}");
    let id = list.lines().nth(1).and_then(|row| row.split(' ').next()).expect("a row");
    assert!(run(home.path(), &["token", "revoke", id]).status.success());
    assert_eq!(get(&format!("{url}/api/v1/summary"), Some(&token)).0, 401);
    assert_eq!(run(home.path(), &["token", "revoke", id]).status.code(), Some(2));

    assert!(home.path().join("weavewatch/server.sqlite").exists(), "the default file");
    assert_eq!(server.terminate(), Some(0));
}

/// Sends a body with a token and answers status and text.
fn post(url: &str, token: &str, body: &str) -> (u16, String) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        // Another test may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let request = client.post(url).bearer_auth(token).body(body.to_owned());
        let response = request.send().await.expect("the server answers");
        (response.status().as_u16(), response.text().await.expect("UTF-8"))
    })
}

#[test]
fn a_machine_that_enrolled_is_listed_and_can_be_shut_out() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (server, line) = Running::start(home.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let url = line.strip_prefix("listening on ").expect(&line).to_owned();
    let created = run(home.path(), &["token", "create", "--scope", "enrolment", "--name", "lab"]);
    let secret = text(&created.stdout).trim().to_owned();
    let machine = "0123456789abcdef0123456789abcdef";
    let question = format!(r#"{{"schema":"weavewatch.enroll/1","machine":"{machine}","agent":"0.1.0"}}"#);
    let (status, answer) = post(&format!("{url}/api/v1/enroll"), &secret, &question);
    assert_eq!(status, 200, "{answer}");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    let own = answer["token"].as_str().expect("a token");

    let batch = format!(r#"{{"schema":"weavewatch.batch/1","machine":"{machine}","agent":"0.1.0","segments":[]}}"#);
    let upload = || post(&format!("{url}/api/v1/ingest"), own, &batch).0;
    assert_eq!(upload(), 200);
    let list = text(&run(home.path(), &["token", "list"]).stdout);
    let row = list.lines().find(|row| row.contains(machine)).expect(&list);
    assert!(row.contains("agent") && row.contains("enrolled with ") && !list.contains(own), "{list}");
    let id = row.split(' ').next().expect("an id");
    assert!(run(home.path(), &["token", "revoke", id]).status.success());
    assert_eq!(upload(), 401);
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn a_taken_port_is_exit_code_4() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let output = run(home.path(), &["serve", "--listen", &address]);
    assert_eq!(output.status.code(), Some(4));
    let message = text(&output.stderr);
    assert!(message.contains(&address) && message.contains("--listen"), "{message}");
    assert_eq!(message.matches("os error").count(), 1, "the reason is told once: {message}");
    assert!(!home.path().join("weavewatch").exists(), "the other server's data was not touched");
}

#[test]
fn wrong_usage_is_exit_code_2_and_failure_3() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for arguments in
        [&["serve", "--nonsense"][..], &["token", "create"], &["serve", "--database-url", "mysql://x"], &[]]
    {
        assert_eq!(run(home.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(run(home.path(), &["demo", "--listen", "0.0.0.0:0"]).status.code(), Some(2));
    let missing = home.path().join("missing/x.sqlite");
    let output = run(home.path(), &["migrate", "--data", missing.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("failed to open"), "{}", text(&output.stderr));
    let output = run(home.path(), &["migrate", "--database-url", "postgres://u:secret@127.0.0.1:1/x"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(!text(&output.stderr).contains("secret"), "{}", text(&output.stderr));
}

/// Commands that make no database.
const READERS: [&[&str]; 3] = [
    &["token", "list"],
    &["token", "revoke", "00000000"],
    &["export", "--table", "logs", "--format", "csv", "out.csv"],
];

#[test]
fn a_mistyped_database_is_not_made() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (missing, empty, other) = (home.path().join("a"), home.path().join("b"), home.path().join("c"));
    std::fs::write(&empty, "").expect("a writable folder");
    std::fs::write(&other, "no database at all, but a text that is long enough to have a header").expect("writable");
    for reader in READERS {
        for place in [None, Some(&missing), Some(&empty), Some(&other)] {
            let mut arguments = reader.to_vec();
            arguments.extend(place.iter().flat_map(|place| ["--data", place.to_str().expect("UTF-8")]));
            let output = program(home.path()).args(arguments).current_dir(home.path()).output().expect("it starts");
            assert_eq!(output.status.code(), Some(3), "{reader:?} {place:?}: {}", text(&output.stderr));
            if place != Some(&other) {
                assert!(text(&output.stderr).contains("weavewatch-server migrate"), "{}", text(&output.stderr));
            }
        }
    }
    let mut names: Vec<_> = std::fs::read_dir(home.path())
        .expect("it is there")
        .map(|entry| entry.expect("it is there").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, ["b", "c"], "nothing was made");
    assert_eq!(std::fs::metadata(&empty).expect("it is there").len(), 0);

    // A token may be the first thing that an owner makes.
    let data = missing.to_str().expect("UTF-8");
    assert!(run(home.path(), &["token", "create", "--scope", "agent", "--data", data]).status.success());
    assert!(run(home.path(), &["token", "list", "--data", data]).status.success());
}

#[test]
fn an_empty_postgresql_database_is_not_filled_by_a_reader() {
    on_each_database(async |world| {
        let Place::Postgres(url) = &world.place else { return };
        let home = tempfile::tempdir().expect("a temporary folder");
        let admin = url.rsplit_once('/').expect("the URL names a database").0.to_owned() + "/postgres";
        for reader in READERS {
            let mut arguments = reader.to_vec();
            // The superuser's own database has no tables of ours.
            arguments.extend(["--database-url", &admin]);
            let output = program(home.path()).args(arguments).current_dir(home.path()).output().expect("it starts");
            assert_eq!(output.status.code(), Some(3), "{reader:?}: {}", text(&output.stderr));
            assert!(text(&output.stderr).contains("weavewatch-server migrate"), "{}", text(&output.stderr));
        }
        let list = run(home.path(), &["token", "list", "--database-url", url]);
        assert!(text(&list.stdout).contains("reader"), "{}", text(&list.stderr));
    });
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let file = home.path().join("theirs.sqlite");
    let path = file.to_str().expect("UTF-8");
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        sqlx::any::install_default_drivers();
        let mut theirs = sqlx::AnyConnection::connect(&format!("sqlite://{path}?mode=rwc")).await.expect("it opens");
        theirs.execute("create table photos (id integer primary key)").await.expect("there is room");
        theirs.close().await.expect("it closes");
    });
    let before = std::fs::read(&file).expect("it is there");
    for command in [
        &["migrate"][..],
        &["serve", "--listen", "127.0.0.1:0"],
        &["token", "create", "--scope", "agent"],
        &["token", "list"],
    ] {
        let output = run(home.path(), &[command, &["--data", path]].concat());
        assert_eq!(output.status.code(), Some(3), "{command:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{command:?} promises nothing that it cannot do");
    }
    assert_eq!(std::fs::read(&file).expect("it is there"), before);
}

#[test]
fn help_teaches() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let help = text(&run(home.path(), &["--help"]).stdout);
    for word in ["demo", "serve", "token", "enrolment", "export", "Examples:", "Exit codes:"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn export_writes_a_file() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let file = home.path().join("logs.csv");
    let path = file.to_str().expect("UTF-8");
    assert!(run(home.path(), &["migrate"]).status.success());
    let output = run(home.path(), &["export", "--table", "logs", "--format", "csv", path]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!((text(&output.stdout).as_str(), text(&output.stderr).as_str()), ("", "0 rows\n"));
    assert!(std::fs::read_to_string(&file).expect("it exists").starts_with("id,machine,file,"));
    let output =
        run(home.path(), &["export", "--table", "logs", "--format", "csv", home.path().to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(3), "a folder is no file: {}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn an_export_never_overwrites_its_own_database() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let data = home.path().join("weavewatch/server.sqlite");
    let token = run(home.path(), &["token", "create", "--scope", "reader", "--name", "keeper"]);
    assert!(token.status.success());
    // A running server keeps the files beside the database there.
    let (server, _) = Running::start(home.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let (soft, hard) = (home.path().join("soft"), home.path().join("hard"));
    std::os::unix::fs::symlink(&data, &soft).expect("links can be made");
    std::fs::hard_link(&data, &hard).expect("links can be made");
    let beside = |suffix: &str| data.with_file_name(format!("server.sqlite{suffix}"));
    let roundabout = home.path().join("weavewatch/../weavewatch/server.sqlite");
    let targets = [data.clone(), roundabout, soft, hard, beside("-wal"), beside("-shm"), beside("-journal")];
    for target in targets {
        for format in ["csv", "parquet"] {
            let path = target.to_str().expect("UTF-8");
            let output = run(home.path(), &["export", "--table", "logs", "--format", format, path]);
            assert_eq!(output.status.code(), Some(2), "{path}: {}", text(&output.stderr));
            assert!(text(&output.stderr).contains(path), "{}", text(&output.stderr));
        }
    }
    assert!(!beside("-journal").exists());
    assert_eq!(server.terminate(), Some(0));
    let list = text(&run(home.path(), &["token", "list"]).stdout);
    assert!(list.contains("keeper"), "everything is there: {list}");
}

/// A shell command with the program as `"$0"` and its arguments as `"$@"`.
#[cfg(unix)]
fn shell(home: &Path, script: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("/bin/sh");
    command.env_clear().env("XDG_DATA_HOME", home).stdin(Stdio::null());
    command.args(["-c", script, env!("CARGO_BIN_EXE_weavewatch-server")]).args(arguments);
    command.output().expect("a shell is everywhere")
}

#[cfg(target_os = "linux")]
#[test]
fn a_token_that_nobody_saw_is_valid_for_nobody() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let create = ["token", "create", "--scope", "admin"];
    // A full disk, no stdout at all, and one that leads nowhere.
    for (script, code) in [("\"$0\" \"$@\" >/dev/full", 3), ("\"$0\" \"$@\" >&-", 2), ("\"$0\" \"$@\" >/dev/null", 2)] {
        let output = shell(home.path(), script, &create);
        assert_eq!(output.status.code(), Some(code), "{script}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("token"), "{}", text(&output.stderr));
    }
    let mut reader_gone = program(home.path()).args(create).spawn().expect("the program starts");
    drop(reader_gone.stdout.take());
    assert_eq!(reader_gone.wait().expect("it ends").code(), Some(3));
    // An stderr that takes nothing changes nothing.
    assert_eq!(shell(home.path(), "\"$0\" \"$@\" >/dev/full 2>/dev/full", &create).status.code(), Some(3));

    let list = text(&run(home.path(), &["token", "list"]).stdout);
    let rows: Vec<_> = list.lines().skip(1).collect();
    assert!(rows.len() == 3 && rows.iter().all(|row| row.matches("20").count() >= 2), "all revoked: {list}");
}

#[cfg(target_os = "linux")]
#[test]
fn outputs_that_take_nothing_end_no_command() {
    let home = tempfile::tempdir().expect("a temporary folder");
    assert!(run(home.path(), &["token", "create", "--scope", "agent"]).status.success());
    let csv = home.path().join("logs.csv");
    let export = ["export", "--table", "logs", "--format", "csv", csv.to_str().expect("UTF-8")];
    for (script, code) in [(">/dev/full", 0), (">&- 2>&-", 0), (">/dev/full 2>/dev/full", 0)] {
        let script = format!("\"$0\" \"$@\" {script}");
        assert_eq!(shell(home.path(), &script, &["migrate"]).status.code(), Some(code), "{script}");
        assert_eq!(shell(home.path(), &script, &export).status.code(), Some(code), "{script}");
        // Here the data itself is lost.
        let expected = if script.contains(">&-") { 0 } else { 3 };
        assert_eq!(shell(home.path(), &script, &["token", "list"]).status.code(), Some(expected), "{script}");
    }
    let mut reader_gone = program(home.path()).args(["token", "list"]).spawn().expect("the program starts");
    drop(reader_gone.stdout.take());
    assert_eq!(reader_gone.wait().expect("it ends").code(), Some(0), "a reader that went away is no failure");
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_whose_outputs_take_nothing_still_answers() {
    for (arguments, path) in [(&["serve"][..], "/healthz"), (&["demo", "--machines", "20"], "/api/v1/summary")] {
        let home = tempfile::tempdir().expect("a temporary folder");
        let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").expect("Linux has it"));
        let address = free_address();
        let mut command = program(home.path());
        command.args(arguments).args(["--listen", &address]).stdout(full()).stderr(full());
        let server = Running(command.spawn().expect("the program starts"));
        assert_eq!(get_when_there(&format!("http://{address}{path}")), 200);
        assert_eq!(server.terminate(), Some(0));
    }
}

/// An address that was free a moment ago.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("it is bound").to_string()
}

/// Asks until somebody listens.
fn get_when_there(url: &str) -> u16 {
    let address = url.trim_start_matches("http://").split('/').next().expect("a URL with an address");
    while std::net::TcpStream::connect(address).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    get(url, None).0
}

#[test]
fn the_demo_takes_the_next_free_port_and_shows_what_is_true_of_its_fleet() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("it is bound");
    let address_said = address.to_string();
    let demo = ["demo", "--listen", &address_said, "--machines", "12", "--seed", "3", "--until", "2026-11-30"];
    let (demo, line) = Running::start(home.path(), &demo);
    let url = line.strip_prefix("Weavewatch demo: ").expect(&line).trim_end_matches('/').to_owned();
    assert!(!url.ends_with(&format!(":{}", address.port())), "{url}");
    // Every page says how far it is, until all is here.
    while get(&format!("{url}/"), None).1.contains("of 12 machines are here") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (status, summary) = get(&format!("{url}/api/v1/summary"), None);
    assert_eq!(status, 200);
    let mut summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    // They follow from the counts.
    summary["total"].as_object_mut().and_then(|total| total.remove("shares")).expect("shares");
    // Those days are the description's own, so the logs are, too.
    let fleet = Fleet::example().and_then(|fleet| fleet.resized(Some(12), None)).expect("the built-in fleet is sound");
    let simulation = Simulation::new(fleet, 3);
    let mut totals = Totals::new();
    for index in 0..12 {
        let truths: Vec<_> = simulation.machine(index).into_iter().map(|made| made.truth).collect();
        totals.add_machine(&truths);
    }
    assert_eq!(summary["total"], serde_json::to_value(totals.total).expect("JSON"));
    assert_eq!(get(&format!("{url}/"), None).0, 200);
    assert_eq!(demo.terminate(), Some(0));
}

#[test]
fn a_demo_that_is_asked_to_end_while_it_fills_ends_in_good_order() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = program(home.path());
    command.args(["demo", "--listen", &free_address(), "--machines", "100000"]).env("TMPDIR", folder.path());
    let mut demo = Running(command.stderr(Stdio::inherit()).spawn().expect("the program starts"));
    let mut line = String::new();
    BufReader::new(demo.0.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("UTF-8");
    let url = line.trim_end().strip_prefix("Weavewatch demo: ").expect(&line).to_owned();
    assert!(get(&url, None).1.contains("of 100,000 machines are here"));
    assert_eq!(demo.terminate(), Some(0));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "its database is gone");
}

#[test]
fn a_demo_of_a_fleet_that_cannot_be_is_wrong_usage() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let cases = [
        (["--machines", "0"], "machines must be"),
        (["--machines", "many"], "many"),
        (["--days", "0"], "days must be"),
        (["--days", "99999"], "days must be"),
        (["--until", "yesterday"], "yesterday"),
        (["--until", "1969-12-31"], "first_day must be"),
    ];
    for (arguments, says) in cases {
        let ended = run(home.path(), &[&["demo"], &arguments[..]].concat());
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        let said = text(&ended.stderr);
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
}

#[test]
fn verify_tells_what_differs_and_repairs_it() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let file = home.path().join("a.sqlite");
    let database = ["--data", file.to_str().expect("UTF-8")];
    let with = |words: &[&str]| run(home.path(), &[words, &database].concat());
    assert_eq!(with(&["verify"]).status.code(), Some(3), "there is no database");
    assert_eq!(with(&["migrate"]).status.code(), Some(0));
    let clean = with(&["verify"]);
    assert_eq!((clean.status.code(), text(&clean.stdout)), (Some(0), String::new()));
    assert!(text(&clean.stderr).contains("0 differences"), "{}", text(&clean.stderr));

    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let mut connection = crate::world::connect(&Place::File(file.clone())).await;
        let row =
            "insert into rollup_machines (dimension, value, machine, block, bits, days) values ('exe', '=a\u{1b}', 'm', 0, 2, x'0201')";
        connection.execute(row).await.expect("it is taken");
        connection.close().await.expect("it closes");
    });
    let wrong = with(&["verify"]);
    assert_eq!(wrong.status.code(), Some(1));
    let line = text(&wrong.stdout);
    assert!(
        line.starts_with("rollup_machines \"exe\" ") && line.contains("stored \"0201\", computed nothing"),
        "{line}"
    );
    assert!(!line.contains('\u{1b}'), "nothing that a terminal obeys: {line:?}");
    assert_eq!(with(&["verify", "--repair"]).status.code(), Some(1));
    assert_eq!(with(&["verify"]).status.code(), Some(0));

    let judged = with(&["rejudge", "--all"]);
    assert_eq!(judged.status.code(), Some(0));
    assert!(text(&judged.stderr).contains("0 logs judged"), "{}", text(&judged.stderr));
}

#[test]
fn a_backup_is_restored_and_nothing_is_made_of_a_damaged_one() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| home.path().join(name).to_str().expect("UTF-8").to_owned();
    let (file, restored) = (path("a.backup"), path("restored.sqlite"));
    assert_eq!(run(home.path(), &["backup", &file]).status.code(), Some(3), "there is no database");
    let created = run(home.path(), &["token", "create", "--scope", "reader", "--name", "kept"]);
    assert!(created.status.success());
    let saved = run(home.path(), &["backup", &file]);
    assert!(saved.status.success() && text(&saved.stderr).contains("SHA-256"), "{}", text(&saved.stderr));
    assert_eq!(run(home.path(), &["backup", &file]).status.code(), Some(2), "it exists");
    assert!(run(home.path(), &["backup", "--force", &file]).status.success());
    let own = path("weavewatch/server.sqlite");
    assert_eq!(run(home.path(), &["backup", "--force", &own]).status.code(), Some(2), "that is the database");

    let verified = run(home.path(), &["restore", "--verify", &file]);
    let said = text(&verified.stdout);
    assert!(verified.status.success() && said.contains("1  tokens"), "{said}");
    assert!(run(home.path(), &["restore", &file, "--data", &restored]).status.success());
    let list = text(&run(home.path(), &["token", "list", "--data", &restored]).stdout);
    assert!(list.contains("kept"), "{list}");
    assert_eq!(
        run(home.path(), &["restore", &file, "--data", &restored]).status.code(),
        Some(2),
        "it is there already"
    );

    let whole = std::fs::read(&file).expect("it exists");
    let (cut, other) = (path("cut.backup"), path("other.sqlite"));
    std::fs::write(&cut, &whole[..whole.len() - 1]).expect("there is room");
    for arguments in [&["restore", &cut, "--data", &other][..], &["restore", "--verify", &cut]] {
        let output = run(home.path(), arguments);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    }
    assert!(!Path::new(&other).exists(), "nothing was made");
}

#[test]
fn the_doctor_looks_at_a_server_that_runs_and_at_one_that_is_not_there() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let output = run(home.path(), &["doctor", "--listen", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("failed   database"), "{}", text(&output.stdout));

    let (server, line) = Running::start(home.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let address = line.strip_prefix("listening on http://").expect(&line);
    let output = run(home.path(), &["doctor", "--listen", address, "--reserve-mib", "0", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["schema"], &report["failed"]), (&"weavewatch.doctor/1".into(), &0.into()));
    let checks = report["checks"].as_array().expect("a list");
    let address = checks.iter().find(|check| check["check"] == "address").expect("it is looked at");
    assert!(address["state"] == "ok" && address["found"].to_string().contains("takes uploads"), "{address}");
    assert_eq!(server.terminate(), Some(0));
}
