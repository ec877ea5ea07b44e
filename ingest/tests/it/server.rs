//! A small HTTP server that keeps what it was sent and answers as it was told: real sockets, real requests.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use wire::{Ack, Batch};

/// A free port of this machine.
const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

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
    /// Bytes of the body that are promised and never come.
    pub missing: usize,
}

impl Answer {
    pub fn status(status: &'static str) -> Self {
        Self { status, headers: "", body: String::new(), missing: 0 }
    }

    /// What weavewatch-server says when it takes nothing of a batch.
    pub fn problem(status: &'static str, detail: &str) -> Self {
        let body = serde_json::json!({"title": status, "detail": detail}).to_string();
        Self { headers: "content-type: application/problem+json\r\n", body, ..Self::status(status) }
    }

    pub fn ack(ack: &Ack) -> Self {
        Self { body: serde_json::to_string(ack).expect("an ack is JSON"), ..Self::status("200 OK") }
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

/// An address where nobody listens; a server may come there later.
pub fn nobody() -> SocketAddr {
    let free = TcpListener::bind(ANY).and_then(|listener| listener.local_addr());
    free.expect("a port is free")
}

impl Server {
    /// Answers the first request with the first of `script`, and so on; then takes everything.
    pub fn start(script: Vec<Script>) -> Self {
        let mut script = script.into_iter();
        Self::with(move |request| match script.next() {
            Some(scripted) => scripted(request),
            None => Answer::accept(request),
        })
    }

    /// Answers each request as told.
    pub fn with(answer: impl FnMut(&Request) -> Answer + Send + 'static) -> Self {
        Self::at(ANY, answer)
    }

    /// The same at an address.
    pub fn at(address: SocketAddr, answer: impl FnMut(&Request) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind(address).expect("nobody listens there");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        Self::on(listener, url, Ok, answer)
    }

    /// The same behind a secure channel.
    pub fn secure(config: rustls::ServerConfig, answer: impl FnMut(&Request) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind(ANY).expect("a port is free");
        let url = format!("https://{}", listener.local_addr().expect("it is bound"));
        let config = std::sync::Arc::new(config);
        let secured = move |stream| {
            let connection = rustls::ServerConnection::new(config.clone()).map_err(io::Error::other)?;
            Ok(rustls::StreamOwned::new(connection, stream))
        };
        Self::on(listener, url, secured, answer)
    }

    fn on<S: Read + Write>(
        listener: TcpListener,
        url: String,
        secured: impl Fn(std::net::TcpStream) -> io::Result<S> + Send + 'static,
        mut answer: impl FnMut(&Request) -> Answer + Send + 'static,
    ) -> Self {
        let (tell, requests) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection comes in");
                // An agent that was killed, or that trusts nobody here, does not stop the next one.
                stream.set_read_timeout(Some(Duration::from_secs(10))).expect("it is a number");
                let Ok(mut stream) = secured(stream) else { continue };
                let Ok(request) = read(&mut stream) else { continue };
                let Answer { status, headers, body, missing } = answer(&request);
                // The test may have ended meanwhile.
                let _ = tell.send(request);
                let length = body.len() + missing;
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
                );
                let _ = stream.flush();
            }
        });
        Self { url, requests }
    }

    /// The requests since the last call.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

fn read(stream: &mut impl Read) -> io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find_map(|(name, value)| (name == "content-length").then_some(value));
    let length = length.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut body = vec![0; length.parse().expect("it is a number")];
    reader.read_exact(&mut body)?;
    let body = zstd::decode_all(&body[..]).expect("the body is zstd");
    let batch = serde_json::from_slice(&body).expect("the body is a batch");
    Ok(Request { line: line.trim_end().to_owned(), headers, batch, body })
}
