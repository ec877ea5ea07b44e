//! A machine from its consent to its purge: what it keeps, what leaves it, and what is refused, with the real server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tests::logs::{Log, Placement};
use tests::program::{Finished, Running, command, finish};
use tests::server::{Database, Server};

/// What stands in the logs of [`Machine::private_log`] and must not leave.
const PRIVATE: [&str; 4] = ["annette.quill", "labpc-seventeen", "@quill.example", "correct-horse-battery"];

/// A PC with a log folder, and nothing of the test's own in its environment.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("logs")).expect("a writable folder");
        Self { folder }
    }

    fn logs(&self) -> PathBuf {
        self.folder.path().join("logs")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn is_enrolled(&self) -> bool {
        self.state().join("credential.json").exists()
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = command("weavewatch");
        command.args(arguments).arg("--state").arg(self.state()).current_dir(self.folder.path());
        command.env("COMPUTERNAME", "LABPC-SEVENTEEN").env("HOSTNAME", "labpc-seventeen");
        command
    }

    /// Runs `weavewatch` with these arguments and this machine's state.
    fn run(&self, arguments: &[&str]) -> Finished {
        finish(self.command(arguments))
    }

    fn enroll(&self, server: &Server, secret: &str) -> Finished {
        self.run(&["enroll", "--server", &server.url, "--secret", secret, "--dir", "logs", "--yes"])
    }

    fn watch_once(&self) -> Finished {
        self.run(&["watch", "--once"])
    }

    fn status(&self) -> Value {
        let finished = self.run(&["status", "--format", "json"]);
        serde_json::from_str(&finished.with_code(0).stdout).expect("it is JSON")
    }

    /// A log of a program that says who uses the machine and what it is called.
    fn private_log(&self) {
        let log = Log::start(&self.logs(), 4711, Placement::Engaged);
        log.record(
            r"[INFO ] [loader] DisplayXR runtime v2.13.0 'v2.13.0-4-gabc123def' loaded from: C:\Users\annette.quill\dxr\DisplayXRClient.dll (XR_RUNTIME_JSON=\\LABPC-SEVENTEEN\share\runtime.json)",
        );
        log.record(
            r"[INFO ] [loader] plugin loader: active plug-in: id=acme-3d name='LABPC-SEVENTEEN panel' vendor='annette@quill.example' version='--token correct-horse-battery' plugin_api=1 probe_order=50 path=C:\Users\annette.quill\AcmeDP.dll",
        );
        log.end();
    }
}

/// The token's id, as its owner looks it up, is revoked.
fn revoke(database: &Database, machine: &str) {
    let listed = database.command(&["token", "list"]);
    let line = listed.with_code(0).stdout.lines().find(|line| line.contains(machine)).expect("it is listed").to_owned();
    database.command(&["token", "revoke", line.split_whitespace().next().expect("the id comes first")]).with_code(0);
}

#[test]
fn a_machine_enrols_sends_is_revoked_enrols_again_and_is_purged() {
    let database = Database::sqlite();
    let server = Server::start(&database);
    let secret = database.token("enrolment");
    let http = server.http(&database.token("admin"));
    let listed = |path: &str| http.all_items(path).len();
    let machine = Machine::new();
    Log::start(&machine.logs(), 101, Placement::Engaged).end();

    let early = machine.watch_once();
    assert!(early.with_code(2).stderr.contains("weavewatch enroll"), "{}", early.stderr);

    // Nobody is there to be asked.
    let asked = machine.run(&["enroll", "--server", &server.url, "--secret", &secret, "--dir", "logs"]);
    assert!(asked.with_code(2).stderr.contains("--yes"), "{}", asked.stderr);
    assert!(!machine.is_enrolled());

    let wrong = machine.enroll(&server, "not-the-secret");
    assert!(wrong.with_code(4).stderr.contains("token create --scope enrolment"), "{}", wrong.stderr);
    assert!(!machine.is_enrolled() && !wrong.stderr.contains("not-the-secret"), "{}", wrong.stderr);
    assert_eq!((listed("/api/v1/logs"), listed("/api/v1/machines")), (0, 0), "nothing was sent before");

    let enrolled = machine.enroll(&server, &secret);
    let terms = &enrolled.with_code(0).stdout;
    let folder = std::fs::canonicalize(machine.logs()).expect("the folder is there");
    for said in [server.url.as_str(), "Typed events", "No raw lines", &folder.to_string_lossy(), "weavewatch preview"] {
        assert!(terms.contains(said), "{said}: {terms}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&machine.state()), mode(&machine.state().join("credential.json"))), (0o700, 0o600));
    }
    assert_eq!(listed("/api/v1/logs"), 0, "agreeing sends nothing yet");

    // Neither server, token nor folder has to be said again.
    machine.watch_once().with_code(0);
    assert_eq!(listed("/api/v1/logs"), 1);
    let id = machine.status()["machine"].as_str().expect("it has an id").to_owned();
    assert_eq!(http.all_items("/api/v1/machines")[0]["id"], id.as_str());

    revoke(&database, &id);
    Log::start(&machine.logs(), 102, Placement::Killed).end();
    let revoked = machine.watch_once();
    assert!(revoked.with_code(4).stderr.contains("enrol again"), "{}", revoked.stderr);
    assert!(revoked.stderr.contains("nothing is lost"), "{}", revoked.stderr);
    let status = machine.status();
    assert!(status["last_error"]["what"].as_str().is_some_and(|what| what.contains("401")), "{status}");
    assert!(status["ledger"]["queued"].as_u64().is_some_and(|events| events > 0), "{status}");
    assert_eq!(listed("/api/v1/logs"), 1);

    machine.enroll(&server, &secret).with_code(0);
    machine.watch_once().with_code(0);
    assert_eq!(listed("/api/v1/logs"), 2, "what waited arrived");
    let status = machine.status();
    assert_eq!((&status["ledger"]["queued"], &status["last_error"]), (&0.into(), &Value::Null), "{status}");
    assert_eq!(listed("/api/v1/machines"), 1, "the same machine");

    let purged = machine.run(&["purge"]);
    assert!(purged.with_code(0).stdout.contains("deleted on the server: 2 logs"), "{}", purged.stdout);
    assert_eq!((listed("/api/v1/logs"), listed("/api/v1/machines")), (0, 0));
    machine.watch_once().with_code(0);
    assert_eq!(listed("/api/v1/logs"), 0, "what was purged is not read again");
}

#[test]
fn what_waits_is_purged_here_and_a_server_that_is_gone_says_so() {
    let database = Database::sqlite();
    let server = Server::start(&database);
    let machine = Machine::new();
    machine.enroll(&server, &database.token("enrolment")).with_code(0);
    server.kill();
    Log::start(&machine.logs(), 101, Placement::Engaged).end();
    machine.watch_once().with_code(4);
    let waiting = machine.status();
    assert!(waiting["queue"]["bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{waiting}");
    let rejected = machine.state().join("rejected");
    std::fs::create_dir(&rejected).expect("a writable folder");
    std::fs::write(rejected.join("00000000000000000001.json"), "{}").expect("a writable folder");

    let failed = machine.run(&["purge"]);
    assert!(failed.with_code(4).stdout.contains("deleted here"), "{}", failed.stdout);
    assert!(failed.stderr.contains("run it again"), "{}", failed.stderr);
    let status = machine.status();
    assert_eq!((&status["queue"]["bytes"], &status["rejected"]["entries"]), (&0.into(), &0.into()), "{status}");
    assert_eq!(status["ledger"]["dropped"]["purged"], waiting["ledger"]["queued"], "{status}");
    assert_eq!(status["open_sum"], Value::Null, "{status}");
    machine.run(&["purge", "--local-only"]).with_code(0);

    // Who never enrolled has nothing to ask a server for.
    let stranger = Machine::new();
    let said = stranger.run(&["purge"]);
    assert!(said.with_code(2).stderr.contains("--local-only"), "{}", said.stderr);
    assert!(stranger.run(&["purge", "--local-only"]).with_code(0).stdout.contains("0 bytes"));
}

#[test]
fn a_running_agent_takes_a_new_credential_and_is_not_purged_below_its_feet() {
    let database = Database::sqlite();
    let server = Server::start(&database);
    let machine = Machine::new();
    let secret = database.token("enrolment");
    machine.enroll(&server, &secret).with_code(0);
    Log::start(&machine.logs(), 101, Placement::Engaged).end();
    let mut agent = Running::start(machine.command(&["watch"]));
    while machine.status()["running"] != true {
        assert!(agent.runs(), "{:?}", agent.kill());
        std::thread::sleep(Duration::from_millis(50));
    }
    let flushed = machine.run(&["flush"]);
    assert!(flushed.with_code(0).stdout.contains("everything is acknowledged"), "{}", flushed.stdout);
    assert_eq!(machine.status()["running"], true);

    // Its credential goes and comes again while it runs.
    revoke(&database, machine.status()["machine"].as_str().expect("it has an id"));
    Log::start(&machine.logs(), 102, Placement::Killed).end();
    machine.run(&["flush"]).with_code(4);
    machine.enroll(&server, &secret).with_code(0);
    machine.run(&["flush"]).with_code(0);

    let refused = machine.run(&["purge"]);
    assert!(refused.with_code(3).stderr.contains("stop it first"), "{}", refused.stderr);
    let http = server.http(&database.token("reader"));
    assert_eq!(http.all_items("/api/v1/logs").len(), 2, "nothing was deleted");
    agent.kill();
    machine.run(&["purge"]).with_code(0);
    assert_eq!(http.all_items("/api/v1/logs").len(), 0);
}

#[test]
fn names_addresses_and_secrets_stay_on_the_machine() {
    let database = Database::sqlite();
    let server = Server::start(&database);
    let machine = Machine::new();
    machine.private_log();
    let hidden = |text: &str, place: &str| {
        let text = text.to_lowercase();
        for word in PRIVATE {
            assert!(!text.contains(word), "{word} in {place}: {text}");
        }
    };
    let config = machine.folder.path().join("weavewatch.toml");
    std::fs::write(&config, "dirs = ['logs']\n[redact]\nexe = { map = { 'Viewer.exe' = 'app-a.exe' } }\n")
        .expect("a writable folder");
    let config = config.to_str().expect("the temporary folder is text");
    let secret = database.token("enrolment");
    let enroll = ["enroll", "--server", &server.url, "--secret", &secret, "--yes", "--config", config];
    machine.run(&enroll).with_code(0);

    let preview = machine.run(&["preview", "--config", config]).with_code(0).stdout.clone();
    for marker in ["<user>", "<host>", "<e-mail>", "<secret>", "app-a.exe"] {
        assert!(preview.contains(marker), "{marker}: {preview}");
    }
    hidden(&preview, "the upload");
    assert!(!preview.contains("Viewer"), "{preview}");

    machine.run(&["watch", "--once", "--config", config]).with_code(0);
    let http = server.http(&database.token("admin"));
    let logs = http.get("/api/v1/logs");
    let log = logs.json()["items"][0]["id"].as_str().expect("it arrived").to_owned();
    let id = machine.status()["machine"].as_str().expect("it has an id").to_owned();
    for path in [
        "/api/v1/logs".to_owned(),
        format!("/api/v1/logs/{log}"),
        "/api/v1/machines".to_owned(),
        format!("/api/v1/machines/{id}"),
        "/api/v1/summary?group_by=exe".to_owned(),
    ] {
        let answer = http.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        hidden(&answer.body, &path);
        assert!(!answer.body.contains("Viewer"), "{path}: {}", answer.body);
    }
    assert!(http.get(&format!("/api/v1/logs/{log}")).body.contains("app-a.exe"));
}

#[test]
fn programs_are_known_by_a_hash_where_the_policy_says_so() {
    let machine = Machine::new();
    Log::start(&machine.logs(), 101, Placement::Engaged).end();
    let config = machine.folder.path().join("weavewatch.toml");
    let preview = |key: char| {
        let key = key.to_string().repeat(64);
        std::fs::write(&config, format!("dirs = ['logs']\n[redact]\nexe = {{ hash = {{ key = '{key}' }} }}\n"))
            .expect("a writable folder");
        let finished = machine.run(&["preview", "--config", "weavewatch.toml"]);
        let batch: Value = serde_json::from_str(&finished.with_code(0).stdout).expect("it is JSON");
        assert!(!finished.stdout.contains("Viewer"), "{}", finished.stdout);
        batch["segments"][0]["facts"]["process"]["exe"].as_str().expect("it has a program").to_owned()
    };
    let (one, other) = (preview('a'), preview('b'));
    assert!(one.strip_suffix(".exe").is_some_and(|hash| hash.len() == 12), "{one}");
    assert_ne!(one, other, "another key, another hash");
    assert_eq!(preview('a'), one);
}

#[test]
fn a_configuration_that_is_wrong_is_said_by_every_command() {
    let machine = Machine::new();
    std::fs::write(machine.folder.path().join("wrong.toml"), "cpu_procent = 3\n").expect("a writable folder");
    std::fs::write(machine.folder.path().join("torn.toml"), "dirs = [").expect("a writable folder");
    for command in ["watch", "status", "flush", "preview", "purge"] {
        for (file, said) in [("wrong.toml", "cpu_procent"), ("torn.toml", "torn.toml"), ("none.toml", "none.toml")] {
            let finished = machine.run(&[command, "--config", file]);
            assert!(finished.with_code(2).stderr.contains(said), "{command} {file}: {}", finished.stderr);
        }
    }
}

/// The server ends the old credential when it gives a new one, so it is asked only when the new one can be kept.
#[test]
fn an_enrolment_that_cannot_be_kept_leaves_the_credential_that_works() {
    let database = Database::sqlite();
    let server = Server::start(&database);
    let secret = database.token("enrolment");
    let machine = Machine::new();
    machine.enroll(&server, &secret).with_code(0);
    // A folder in its place stops whoever runs the test from writing the file, root included.
    std::fs::create_dir(machine.state().join("credential.probe")).expect("a writable folder");
    let again = machine.enroll(&server, &secret);
    assert!(again.with_code(3).stderr.contains("failed to write"), "{}", again.stderr);
    machine.watch_once().with_code(0);
}
