//! A browser without a screen: HTTP over one connection, with so little around it that the time is the server's.

#![allow(dead_code, reason = "not every benchmark that takes this module asks for all of it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Who asks.
pub struct Client {
    address: String,
    token: String,
    stream: BufReader<TcpStream>,
}

/// What came back.
pub struct Answer {
    pub status: u16,
    /// As lines, without the status.
    head: Vec<String>,
    /// As it was sent: packed, where it is.
    pub body: Vec<u8>,
    /// Head and body.
    pub transferred: usize,
    /// From the first byte of the question to the last of the answer.
    pub took: Duration,
}

impl Client {
    /// Asks a server at `HOST:PORT` with a token.
    pub fn new(address: &str, token: &str) -> Self {
        Self { address: address.to_owned(), token: token.to_owned(), stream: connect(address) }
    }

    /// One question, as a browser asks it.
    pub fn get(&mut self, path: &str) -> Answer {
        let Self { address, token, .. } = self;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\naccept: text/html\r\naccept-encoding: gzip\r\n\r\n"
        );
        self.ask(head.as_bytes(), &[])
    }

    /// The answer to a question of a program.
    pub fn json(&mut self, path: &str) -> serde_json::Value {
        serde_json::from_slice(&self.get(path).plain()).expect("JSON")
    }

    /// Brings a log as a report.
    pub fn bring(&mut self, log: &[u8]) -> serde_json::Value {
        let answer = self.post("/api/v1/reports", log);
        assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
        serde_json::from_slice(&answer.body).expect("JSON")
    }

    /// Sends a log in a form.
    pub fn post(&mut self, path: &str, log: &[u8]) -> Answer {
        let name = "DisplayXR_MyViewer.exe.7_2026-09-14_12-00-00.log";
        let before = format!(
            "--part\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\ncontent-type: text/plain\r\n\r\n"
        );
        let after = "\r\n--part--\r\n";
        let Self { address, token, .. } = self;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: multipart/form-data; boundary=part\r\ncontent-length: {}\r\n\r\n{before}",
            before.len() + log.len() + after.len()
        );
        self.ask(head.as_bytes(), &[log, after.as_bytes()])
    }

    fn ask(&mut self, head: &[u8], rest: &[&[u8]]) -> Answer {
        // The server ends a connection that is old or idle; a browser opens the next one as well.
        if self.is_over() {
            self.stream = connect(&self.address);
        }
        let start = Instant::now();
        let stream = self.stream.get_mut();
        stream.write_all(head).expect("the server listens");
        for part in rest {
            stream.write_all(part).expect("the server listens");
        }
        let (mut answer, mut transferred) = self.head();
        let length = answer.header("content-length").parse::<usize>();
        match length {
            Ok(length) => {
                answer.body.resize(length, 0);
                self.stream.read_exact(&mut answer.body).expect("the whole body");
                transferred += length;
            }
            Err(_) if answer.header("transfer-encoding") == "chunked" => {
                transferred += self.chunks(&mut answer.body);
            }
            Err(_) => {}
        }
        Answer { took: start.elapsed(), transferred, ..answer }
    }

    fn is_over(&mut self) -> bool {
        let stream = self.stream.get_ref();
        stream.set_nonblocking(true).expect("a socket");
        let mut byte = [0];
        let over = matches!(stream.peek(&mut byte), Ok(0));
        stream.set_nonblocking(false).expect("a socket");
        over
    }

    fn line(&mut self) -> (String, usize) {
        let mut line = String::new();
        let bytes = self.stream.read_line(&mut line).expect("a line");
        assert_ne!(bytes, 0, "the server hung up");
        (line.trim_end().to_owned(), bytes)
    }

    fn head(&mut self) -> (Answer, usize) {
        let (first, mut bytes) = self.line();
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        let mut head = Vec::new();
        loop {
            let (line, more) = self.line();
            bytes += more;
            if line.is_empty() {
                let answer = Answer { status, head, body: Vec::new(), transferred: 0, took: Duration::ZERO };
                return (answer, bytes);
            }
            head.push(line);
        }
    }

    fn chunks(&mut self, body: &mut Vec<u8>) -> usize {
        let mut bytes = 0;
        loop {
            let (line, more) = self.line();
            let length = usize::from_str_radix(&line, 16).expect("a length");
            let start = body.len();
            body.resize(start + length, 0);
            self.stream.read_exact(&mut body[start..]).expect("the whole chunk");
            bytes += more + length + self.line().1;
            if length == 0 {
                return bytes;
            }
        }
    }
}

impl Answer {
    /// What stands behind a name; empty without it.
    pub fn header(&self, name: &str) -> &str {
        let found = self.head.iter().filter_map(|line| line.split_once(": "));
        found.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    /// The body, unpacked.
    pub fn plain(&self) -> Vec<u8> {
        if self.header("content-encoding") != "gzip" {
            return self.body.clone();
        }
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(self.body.as_slice()).read_to_end(&mut plain).expect("it is whole");
        plain
    }
}

/// The program itself with this database, and its address.
pub fn started(database: &[&str]) -> (Child, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_weavewatch-server"))
        .args(["serve", "--listen", "127.0.0.1:0", "--reads-per-second", "0"])
        .args(database)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("UTF-8");
    let address = line.trim().strip_prefix("listening on http://").expect("it listens").to_owned();
    (server, address)
}

fn connect(address: &str) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    BufReader::with_capacity(1 << 16, stream)
}
