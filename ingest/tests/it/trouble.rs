//! Servers, and things on the way to them, that fail in every way: nothing is lost once the trouble ends, `status` names the
//! cause, and `watch --once` ends with 4.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use wire::{Ack, Refusal};

use crate::agent::{Arrived, Machine, kind_server};
use crate::common::log_name;
use crate::server::{Answer, Request, Server};

const EVENTS: u64 = 13;

/// Two logs.
fn machine() -> Machine {
    let machine = Machine::new();
    machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
    machine.write(&log_name("B.exe", 2, "12-00-00"), 3);
    machine
}

/// A server that always answers so: what is said of it, and that everything arrives behind it.
fn check(answer: fn(&Request) -> Answer, said: &str, most_requests: usize) {
    let machine = machine();
    let server = Server::with(answer);
    machine.configure(&server.url, "");
    let run = machine.once();
    assert_eq!(run.code, 4, "{said}: {}", run.stderr);
    assert!(run.stderr.contains(said) && run.stderr.contains("nothing is lost"), "{said}: {}", run.stderr);
    assert!(server.requests().len() <= most_requests, "{said}");
    let status = machine.status();
    let error = &status["last_error"];
    assert!(error["what"].as_str().is_some_and(|what| what.contains(said)), "{said}: {status:#}");
    assert_eq!(status["ledger"]["queued"], EVENTS, "{said}: {status:#}");
    assert_eq!(status["rejected"]["entries"], 0, "{said}: {status:#}");

    let kind = kind_server();
    machine.configure(&kind.url, "");
    let run = machine.once();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{said}");
    let arrived = Arrived::of(kind.requests());
    assert_eq!((arrived.events(), arrived.came), (EVENTS, EVENTS), "{said}");
    let status = machine.status();
    assert_eq!(status["ledger"]["acknowledged"], EVENTS, "{said}: {status:#}");
    assert!(status["last_error"].is_null(), "{said}: {status:#}");
}

#[test]
fn no_answer_but_a_whole_acknowledgement_lets_go_of_anything() {
    type Case = (fn(&Request) -> Answer, &'static str, usize);
    let cases: &[Case] = &[
        (|_| Answer::status("500 Internal Server Error"), "500", 5),
        (|_| Answer { headers: "retry-after: 1\r\n", ..Answer::status("429 Too Many Requests") }, "429", 5),
        (|_| Answer { headers: "retry-after: 3600\r\n", ..Answer::status("429 Too Many Requests") }, "429", 1),
        // Half an answer: the connection ends inside the acknowledgement, or right behind it.
        (|request| Answer { missing: 1, ..Answer::accept(request) }, "failed to read the server's answer", 5),
        (
            |request| Answer { body: "{\"accepted\":".to_owned(), missing: 2, ..Answer::accept(request) },
            "failed to read the server's answer",
            5,
        ),
        (
            |_| Answer { body: "<html>Please log in</html>".to_owned(), ..Answer::status("200 OK") },
            "failed to understand the server's answer",
            1,
        ),
        (|_| Answer::status("204 No Content"), "failed to understand the server's answer", 1),
        (|_| Answer::ack(&Ack { accepted: 1, ..Ack::default() }), "does not add up", 1),
        (
            |_| {
                let refused = vec![Refusal { segment: 7, reason: "no".to_owned() }];
                Answer::ack(&Ack { accepted: 1, refused, ..Ack::default() })
            },
            "does not add up",
            1,
        ),
        // Something on the way that is not weavewatch-server: its refusals say nothing about our batches.
        (|_| Answer { body: "<html>".to_owned(), ..Answer::status("400 Bad Request") }, "400", 5),
        (|_| Answer::status("413 Payload Too Large"), "413", 8),
        (|_| Answer::status("404 Not Found"), "is this address that of weavewatch-server?", 1),
        (|_| Answer::status("302 Found"), "302", 1),
        // A server that takes nothing of this agent, not even an empty batch.
        (|_| Answer::problem("400 Bad Request", "the schema is unknown"), "the schema is unknown", 8),
        (|_| Answer::problem("401 Unauthorized", "the token was revoked"), "the token was revoked", 1),
    ];
    thread::scope(|scope| {
        for (answer, said, most_requests) in cases {
            scope.spawn(|| check(*answer, said, *most_requests));
        }
    });
}

#[test]
fn a_batch_that_is_too_large_is_halved() {
    let machine = Machine::new();
    for pid in 0..40 {
        machine.write(&log_name("A.exe", pid, "12-00-00"), 2);
    }
    let server = Server::with(|request| {
        if request.batch.segments.len() > 3 { Answer::status("413 Payload Too Large") } else { Answer::accept(request) }
    });
    machine.configure(&server.url, "");
    let run = machine.once();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let requests = server.requests();
    let taken = requests.into_iter().filter(|request| request.batch.segments.len() <= 3);
    let arrived = Arrived::of(taken);
    assert_eq!((arrived.events(), arrived.came), (80, 80));
    assert_eq!(machine.status()["ledger"]["acknowledged"], 80);
}

#[test]
fn one_range_that_the_server_refuses_is_found_and_put_aside() {
    let machine = Machine::new();
    let poison = log_name("A.exe", 23, "12-00-00");
    for pid in 0..40 {
        machine.write(&log_name("A.exe", pid, "12-00-00"), 2);
    }
    let own = poison.clone();
    let is_bad = move |request: &Request| request.batch.segments.iter().any(|segment| segment.file == own);
    let bad = is_bad.clone();
    let server = Server::with(move |request| {
        if bad(request) {
            Answer::problem("422 Unprocessable Content", "this one is poisonous")
        } else {
            Answer::accept(request)
        }
    });
    machine.configure(&server.url, "");
    let run = machine.once();
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains(&poison) && run.stderr.contains("poisonous"), "{}", run.stderr);
    let requests = server.requests();
    assert!(requests.len() < 40, "{} requests", requests.len());
    let losses: Vec<_> = requests.iter().flat_map(|request| request.batch.losses.clone()).collect();
    assert_eq!(losses.len(), 1);
    assert_eq!((losses[0].reason.as_str(), losses[0].events), ("rejected", 2));
    let arrived = Arrived::of(requests.into_iter().filter(|request| !is_bad(request)));
    assert_eq!((arrived.events(), arrived.came), (78, 78));
    assert!(!arrived.files().contains(&poison.as_str()));
    let status = machine.status();
    assert_eq!(status["rejected"]["entries"], 1, "{status:#}");
    assert!(status["rejected"]["newest"].as_str().is_some_and(|said| said.contains("poisonous")), "{status:#}");
    assert_eq!(status["ledger"]["dropped"], serde_json::json!({"rejected": 2}), "{status:#}");
    let aside = fs::read_dir(machine.state().join("rejected")).expect("it was made").count();
    assert_eq!((aside, machine.once().code), (1, 0));
}

#[test]
fn a_certificate_that_nobody_here_trusts_is_said_and_can_be_named() {
    let machine = machine();
    let Some(config) = certificate(machine.path()) else { return };
    let server = Server::secure(config, Answer::accept);
    machine.configure(&server.url, "");
    let run = machine.once();
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("--ca") && run.stderr.contains("certificate"), "{}", run.stderr);
    let status = machine.status();
    let what = status["last_error"]["what"].as_str().unwrap_or_default();
    assert!(what.contains("certificate"), "{status:#}");
    assert_eq!((&status["ledger"]["queued"], server.requests().len()), (&EVENTS.into(), 0), "{status:#}");
    machine.configure(&server.url, "ca = 'ca.pem'");
    let run = machine.once();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(Arrived::of(server.requests()).came, EVENTS);
}

/// A certificate for this machine, signed by one of our own; none, said on stderr, without the program that makes them.
fn certificate(folder: &Path) -> Option<rustls::ServerConfig> {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    fs::write(folder.join("server.ext"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .expect("the folder is writable");
    let own = ["-x509", "-subj", "/CN=own authority", "-keyout", "ca.key", "-out", "ca.pem"];
    let wish = ["-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr"];
    let steps = [
        [&["req"], &key[..], &own[..]].concat(),
        [&["req"], &key[..5], &wish[..]].concat(),
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.pem"
            .split(' ')
            .collect(),
    ];
    for step in steps {
        let mut openssl = Command::new("openssl");
        let output = match openssl.current_dir(folder).args(&step).stdin(Stdio::null()).output() {
            Ok(output) => output,
            Err(error) => {
                eprintln!("skipped: making a certificate needs openssl: {error}");
                return None;
            }
        };
        assert!(output.status.success(), "{step:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let chain = vec![CertificateDer::from_pem_file(folder.join("server.pem")).expect("it was just made")];
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).expect("it was just made");
    // A second call finds it installed, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);
    Some(config.expect("key and certificate belong together"))
}
