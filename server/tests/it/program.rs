//! The program itself: ports, signals, exit codes, and the demo.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// The program, with a home of its own.
fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weavewatch-server"));
    command.env_clear().env("XDG_DATA_HOME", home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    program(home).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A running program; killed when a test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(home: &Path, arguments: &[&str]) -> (Self, String) {
        let mut child = program(home).args(arguments).stderr(Stdio::inherit()).spawn().expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("UTF-8");
        (Self(child), line.trim_end().to_owned())
    }

    /// Asks it to end, and answers its exit code.
    fn terminate(mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status().expect("kill exists");
        assert!(killed.success());
        self.0.wait().expect("it ends").code()
    }
}

fn get(url: &str, token: Option<&str>) -> (u16, String) {
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
    assert_eq!(run(home.path(), &["token", "revoke", id]).status.code(), Some(1));

    assert!(home.path().join("weavewatch/server.sqlite").exists(), "the default file");
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
    assert!(!home.path().join("weavewatch").exists(), "the other server's data was not touched");
}

#[test]
fn wrong_usage_is_exit_code_2_and_failure_1() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for arguments in
        [&["serve", "--nonsense"][..], &["token", "create"], &["serve", "--database-url", "mysql://x"], &[]]
    {
        assert_eq!(run(home.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
    let missing = home.path().join("missing/x.sqlite");
    let output = run(home.path(), &["migrate", "--data", missing.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("failed to open"), "{}", text(&output.stderr));
    let output = run(home.path(), &["migrate", "--database-url", "postgres://u:secret@127.0.0.1:1/x"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!text(&output.stderr).contains("secret"), "{}", text(&output.stderr));
}

#[test]
fn help_teaches() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let help = text(&run(home.path(), &["--help"]).stdout);
    for word in ["demo", "serve", "token", "export", "Examples:", "Exit codes:"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn export_writes_a_file() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let file = home.path().join("logs.csv");
    let path = file.to_str().expect("UTF-8");
    let output = run(home.path(), &["export", "--table", "logs", "--format", "csv", path]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(std::fs::read_to_string(&file).expect("it exists").starts_with("id,machine,file,"));
}

#[test]
fn the_demo_takes_the_next_free_port_and_shows_its_logs() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("it is bound");
    let (demo, line) = Running::start(home.path(), &["demo", "--listen", &address.to_string()]);
    let url = line.strip_prefix("Weavewatch demo: ").expect(&line).trim_end_matches('/').to_owned();
    assert!(!url.ends_with(&format!(":{}", address.port())), "{url}");
    let (status, summary) = get(&format!("{url}/api/v1/summary"), None);
    assert_eq!(status, 200);
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/fleet/summary.json");
    let expected = std::fs::read_to_string(expected).expect("the expectation beside the logs");
    let expected: serde_json::Value = serde_json::from_str(&expected).expect("JSON");
    assert_eq!(summary["total"], expected);
    assert_eq!(get(&format!("{url}/"), None).0, 200);
    assert_eq!(demo.terminate(), Some(0));
}
