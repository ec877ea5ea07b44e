//! From the first start to the last request: who gets the first token, and what is finished when the server is asked to end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use crate::program::{Running, get, program, run, text};
use crate::sample::{Sample, batch};

/// The first lines of stdout.
fn lines(server: &mut Running, count: usize) -> Vec<String> {
    let stdout = server.0.stdout.as_mut().expect("it is piped");
    BufReader::new(stdout).lines().take(count).map(|line| line.expect("UTF-8")).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_for_other_machines_prints_an_admin_s_token_once() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let serve = ["serve", "--listen", "0.0.0.0:0"];
    let start = || Running(program(home.path()).args(serve).stderr(Stdio::inherit()).spawn().expect("it starts"));
    let mut server = start();
    let said = lines(&mut server, 2);
    let port = said[0].strip_prefix("listening on http://0.0.0.0:").expect("the address comes first");
    let token = said[1].strip_prefix("admin token: ").expect("the token follows");
    let url = format!("http://127.0.0.1:{port}");
    assert_eq!(get(&format!("{url}/api/v1/audit"), Some(token)).0, 200);
    assert_eq!(get(&format!("{url}/"), None).0, 401, "whoever shares this machine is not an admin");
    assert_eq!(server.terminate(), Some(0));

    // Again it says nothing more than its address: what follows is the end of its stdout.
    let mut again = start();
    let mut stdout = BufReader::new(again.0.stdout.take().expect("it is piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("UTF-8");
    assert!(line.starts_with("listening on "), "{line}");
    assert_eq!(again.terminate(), Some(0));
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("UTF-8");
    assert_eq!(rest, "");
    let list = text(&run(home.path(), &["token", "list"]).stdout);
    assert_eq!(list.matches("first start").count(), 1, "{list}");
    let audit = text(&run(home.path(), &["audit"]).stdout);
    assert!(audit.contains("command line") && audit.contains("token_made") && !audit.contains(token), "{audit}");
}

/// Asks until it is ready.
#[cfg(target_os = "linux")]
fn wait_for(address: &str) {
    while TcpStream::connect(address).is_err() || get(&format!("http://{address}/readyz"), None).0 != 200 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_admin_s_token_that_nobody_sees_is_none() {
    for (sink, made) in [("/dev/full", true), ("/dev/null", false)] {
        let home = tempfile::tempdir().expect("a temporary folder");
        let sink = || Stdio::from(std::fs::File::options().write(true).open(sink).expect("Linux has it"));
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("it is bound").port();
        let mut command = program(home.path());
        command.args(["serve", "--listen", &format!("0.0.0.0:{port}")]).stdout(sink()).stderr(Stdio::inherit());
        let server = Running(command.spawn().expect("it starts"));
        wait_for(&format!("127.0.0.1:{port}"));
        assert_eq!(server.terminate(), Some(0));
        let list = text(&run(home.path(), &["token", "list"]).stdout);
        let rows: Vec<_> = list.lines().skip(1).collect();
        assert_eq!(rows.len(), usize::from(made), "{list}");
        // Made and revoked: two times stand in the row.
        assert!(rows.iter().all(|row| row.matches('Z').count() == 2), "{list}");
    }
}

#[test]
fn a_log_for_programs_has_a_line_for_each_request_and_no_secret() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = program(home.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut server = Running(command.spawn().expect("it starts"));
    let url = lines(&mut server, 1)[0].strip_prefix("listening on ").expect("the address").to_owned();
    let created = run(home.path(), &["token", "create", "--scope", "reader"]);
    let secret = text(&created.stdout).trim().to_owned();
    assert_eq!(get(&format!("{url}/api/v1/summary?exe=Secret.exe"), Some(&secret)).0, 200);
    assert_eq!(get(&format!("{url}/api/v1/summary"), Some("ww_guess")).0, 401);
    let mut stderr = server.0.stderr.take().expect("it is piped");
    assert_eq!(server.terminate(), Some(0));
    let mut log = String::new();
    stderr.read_to_string(&mut log).expect("UTF-8");
    for private in [secret.as_str(), "ww_guess", "Secret.exe"] {
        assert!(!log.contains(private), "{log}");
    }
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    let requests: Vec<_> = lines.iter().filter(|line| line["target"] == "weavewatch::request").collect();
    let list = text(&run(home.path(), &["token", "list"]).stdout);
    let id = list.lines().nth(1).and_then(|row| row.split(' ').next()).expect("a row");
    assert_eq!(requests.len(), 2, "{log}");
    for (line, status) in requests.iter().zip([200, 401]) {
        assert_eq!(
            (&line["method"], &line["route"], &line["status"]),
            (&"GET".into(), &"/api/v1/summary".into(), &status.into())
        );
        assert!(line["ms"].as_f64().is_some_and(|ms| ms > 0.0) && line["bytes_out"].as_u64() > Some(0), "{line}");
        assert!(line["span"]["request_id"].as_str().is_some_and(|id| id.len() == 24), "{line}");
    }
    assert_eq!(requests[0]["token"], id);
    assert!(requests[1]["token"].is_null());
}

/// An upload whose body the server has begun to read, and half of which it has.
struct Begun {
    stream: TcpStream,
    rest: Vec<u8>,
}

impl Begun {
    fn new(address: &str, token: &str, body: &[u8]) -> Self {
        let mut stream = TcpStream::connect(address).expect("the server listens");
        let (half, rest) = body.split_at(body.len() / 2);
        let head = format!(
            "POST /api/v1/ingest HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nExpect: 100-continue\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("the server reads");
        // This comes when the handler asks for the body.
        let mut answer = [0; 25];
        stream.read_exact(&mut answer).expect("the server answers");
        assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(half).expect("the server reads");
        Self { stream, rest: rest.to_vec() }
    }

    fn finish(mut self) -> String {
        self.stream.write_all(&self.rest).expect("the server still reads");
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).expect("the server answers");
        answer
    }
}

#[cfg(unix)]
#[test]
fn uploads_that_were_accepted_are_finished_after_the_signal() {
    const UPLOADS: u32 = 6;
    let home = tempfile::tempdir().expect("a temporary folder");
    let (mut server, line) = Running::start(home.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let address = line.strip_prefix("listening on http://").expect("the address").to_owned();
    let created = run(home.path(), &["token", "create", "--scope", "agent"]);
    let token = text(&created.stdout).trim().to_owned();
    let begun: Vec<_> = (0..UPLOADS)
        .map(|machine| {
            let body = batch(machine, vec![Sample::default().segment()]);
            Begun::new(&address, &token, &serde_json::to_vec(&body).expect("plain data"))
        })
        .collect();
    server.ask_to_end();
    // It takes nobody in any more.
    while TcpStream::connect(&address).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(server.0.try_wait().expect("it can be asked").is_none(), "it waits for what it accepted");
    for upload in begun {
        let answer = upload.finish();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"accepted\":1"), "{answer}");
    }
    assert_eq!(server.0.wait().expect("it ends").code(), Some(0));

    let out = home.path().join("logs.csv");
    let export = ["export", "--table", "logs", "--format", "csv", out.to_str().expect("UTF-8")];
    assert!(run(home.path(), &export).status.success());
    let rows = std::fs::read_to_string(&out).expect("it is there").lines().count();
    assert_eq!(rows, 1 + UPLOADS as usize, "what was acknowledged is there");
}
