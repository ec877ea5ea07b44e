//! Those who are told: an endpoint for webhooks and a mail server, on sockets of their own.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Takes JSON.
pub struct Endpoint {
    pub url: String,
    taken: Arc<Mutex<Vec<(String, HeaderMap, Value)>>>,
    statuses: Arc<Mutex<VecDeque<u16>>>,
}

impl Endpoint {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("it is bound"));
        let taken = Arc::new(Mutex::new(Vec::new()));
        let statuses = Arc::new(Mutex::new(VecDeque::new()));
        let (into, next) = (taken.clone(), statuses.clone());
        let router = Router::new().fallback(async move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
            into.lock().expect("nobody panics").push((uri.path().to_owned(), headers, body));
            let status = next.lock().expect("nobody panics").pop_front().unwrap_or(204);
            (StatusCode::from_u16(status).expect("a status"), [(LOCATION, "/elsewhere")])
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, taken, statuses }
    }

    /// What it answers next; afterwards it takes everything.
    pub fn answer(&self, statuses: &[u16]) {
        self.statuses.lock().expect("nobody panics").extend(statuses);
    }

    /// What came since it was asked last: path, headers, document.
    pub fn take(&self) -> Vec<(String, HeaderMap, Value)> {
        std::mem::take(&mut *self.taken.lock().expect("nobody panics"))
    }

    /// The documents of it, as `kind rule value`, in order.
    pub fn told(&self) -> Vec<String> {
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let told = |own: &Value| [&own["kind"], &own["rule"], &own["group"]["value"]].map(word).join(" ");
        let mut all: Vec<_> = self.take().iter().map(|(_, _, own)| told(own)).collect();
        all.sort();
        all
    }
}

/// A mail.
#[derive(Clone, Debug)]
pub struct Mail {
    /// What the sender said of himself, base64.
    pub auth: Option<String>,
    pub from: String,
    pub to: String,
    /// Head and body as they came.
    pub data: String,
}

/// Takes mail, for everybody but `nobody@…`.
pub struct MailServer {
    pub port: u16,
    taken: Arc<Mutex<Vec<Mail>>>,
}

impl MailServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let into = taken.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let into = into.clone();
                // A sender may go away at any time.
                tokio::spawn(async move { converse(stream, &into).await.ok() });
            }
        });
        Self { port, taken }
    }

    pub fn take(&self) -> Vec<Mail> {
        std::mem::take(&mut *self.taken.lock().expect("nobody panics"))
    }
}

/// One conversation (RFC 5321), without STARTTLS.
async fn converse(stream: TcpStream, taken: &Mutex<Vec<Mail>>) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut mail = Mail { auth: None, from: String::new(), to: String::new(), data: String::new() };
    write.write_all(b"220 mail.example ESMTP\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        let (verb, rest) = line.split_once([' ', ':']).unwrap_or((&line, ""));
        let answer = match verb.to_ascii_uppercase().as_str() {
            "EHLO" => "250-mail.example\r\n250-8BITMIME\r\n250 AUTH PLAIN",
            "AUTH" => {
                mail.auth = rest.split_once(' ').map(|(_, secret)| secret.to_owned());
                "235 welcome"
            }
            "MAIL" => {
                rest.clone_into(&mut mail.from);
                "250 ok"
            }
            "RCPT" if rest.contains("nobody@") => "550 there is \u{1b}[31mnobody",
            "RCPT" => {
                rest.clone_into(&mut mail.to);
                "250 ok"
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await?;
                mail.data.clear();
                while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                    mail.data += &line;
                    mail.data += "\n";
                }
                taken.lock().expect("nobody panics").push(mail.clone());
                "250 taken"
            }
            "QUIT" => "221 bye",
            _ => "500 what?",
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}
