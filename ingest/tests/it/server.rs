//! A small HTTP server that keeps what it was sent and answers as it was told: real sockets, real requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use wire::{Ack, Batch};

/// What one request said.
pub struct Request {
    /// `POST /api/v1/ingest HTTP/1.1`.
    pub line: String,
    /// In lower case, name and value.
    pub headers: Vec<(String, String)>,
    pub batch: Batch,
    /// The batch as it was written, before it was packed.
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|(own, value)| (own == name).then_some(value.as_str()))
    }
}

/// An answer: status line, further headers, body.
pub struct Answer {
    pub status: &'static str,
    pub headers: &'static str,
    pub body: String,
}

impl Answer {
    pub fn status(status: &'static str) -> Self {
        Self { status, headers: "", body: String::new() }
    }

    pub fn ack(ack: &Ack) -> Self {
        Self { status: "200 OK", headers: "", body: serde_json::to_string(ack).expect("an ack is JSON") }
    }

    /// Takes every segment.
    pub fn accept(request: &Request) -> Self {
        Self::ack(&Ack { accepted: request.batch.segments.len() as u64, ..Ack::default() })
    }
}

/// What to answer to one request.
pub type Script = Box<dyn FnOnce(&Request) -> Answer + Send>;

/// A server that runs as long as the test.
pub struct Server {
    pub url: String,
    requests: Receiver<Request>,
}

impl Server {
    /// Answers the first request with the first of `script`, and so on; then takes everything.
    pub fn start(script: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (tell, requests) = mpsc::channel();
        thread::spawn(move || {
            let mut script = script.into_iter();
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection comes in");
                let request = read(&stream);
                let answer = match script.next() {
                    Some(scripted) => scripted(&request),
                    None => Answer::accept(&request),
                };
                // The test may have ended meanwhile.
                let _ = tell.send(request);
                let Answer { status, headers, body } = answer;
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
                );
            }
        });
        Self { url, requests }
    }

    /// The requests since the last call.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("the agent writes a request");
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).expect("the agent writes headers");
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find_map(|(name, value)| (name == "content-length").then_some(value));
    let mut body = vec![0; length.expect("the body has a length").parse().expect("it is a number")];
    reader.read_exact(&mut body).expect("the agent writes the whole body");
    let body = zstd::decode_all(&body[..]).expect("the body is zstd");
    let batch = serde_json::from_slice(&body).expect("the body is a batch");
    Request { line: line.trim_end().to_owned(), headers, batch, body }
}
