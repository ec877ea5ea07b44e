//! Sends one batch to the server and waits for its answer; tries again where that can help.
//!
//! No answer, a server error and "too many requests" are tried again with growing, jittered pauses, or after the pause
//! that the server asks for. Everything else would fail again in the same way.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;
use tokio::runtime::Runtime;
use wire::{Ack, Batch};

use crate::cli::WatchArgs;
use crate::problems::Problems;

const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// A run that should end soon does not wait longer than this, whatever the server asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);
/// An answer is a few numbers, and a reason for each refused segment.
const ANSWER_LIMIT_BYTES: usize = 4 << 20;

/// A connection to one server.
pub(super) struct Uploader {
    runtime: Runtime,
    client: Client,
    url: Url,
    authorization: HeaderValue,
}

/// Why one attempt failed.
enum Failure {
    /// Trying again would fail in the same way.
    Final(anyhow::Error),
    /// It may work later; the server may have said when.
    Passing(anyhow::Error, Option<Duration>),
}

/// The part of RFC 9457 that people read.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Problem {
    title: String,
    detail: String,
}

impl Uploader {
    /// Prepares the connection; nothing is sent yet.
    pub(super) fn new(args: &WatchArgs, problems: &Problems) -> anyhow::Result<Self> {
        // A second call finds it installed, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut url = args.server.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.path_segments_mut()
            .map_err(|()| anyhow!("failed to read the server's address"))?
            .pop_if_empty()
            .extend(["api", "v1", "ingest"]);
        let local = is_loopback(&url);
        let mut client = Client::builder()
            .user_agent(concat!("weavewatch/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            // The token is for this server and no other.
            .redirect(reqwest::redirect::Policy::none());
        if url.scheme() == "http" {
            // No certificates are needed then, and a machine without any is no reason to fail.
            client = client.tls_certs_only([]);
            if !local {
                problems.note(format_args!(
                    "{}: the token and the events travel unencrypted; use https://",
                    url.host_str().unwrap_or_default()
                ));
            }
        }
        if local {
            client = client.no_proxy();
        }
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", args.token.0))
            .context("failed to put the token into a header")?;
        authorization.set_sensitive(true);
        Ok(Self {
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .context("failed to start the network runtime")?,
            client: client.build().context("failed to prepare the connection; are the system's certificates there?")?,
            url,
            authorization,
        })
    }

    /// Sends a batch and waits until the server has stored it.
    pub(super) fn send(&self, batch: &Batch) -> anyhow::Result<Ack> {
        let plain = serde_json::to_vec(batch).context("failed to write the batch as JSON")?;
        let body = zstd::bulk::compress(&plain, zstd::DEFAULT_COMPRESSION_LEVEL).context("failed to pack the batch")?;
        drop(plain);
        self.runtime.block_on(async {
            let mut attempt = 1;
            loop {
                let (error, pause) = match self.attempt(&body, batch.segments.len()).await {
                    Ok(ack) => return Ok(ack),
                    Err(Failure::Final(error)) => return Err(error),
                    Err(Failure::Passing(error, pause)) => (error, pause.unwrap_or_else(|| back_off(attempt))),
                };
                if attempt == ATTEMPTS || pause > LONGEST_PAUSE {
                    return Err(error.context(format!("gave up after {attempt} of {ATTEMPTS} attempts")));
                }
                tokio::time::sleep(pause).await;
                attempt += 1;
            }
        })
    }

    async fn attempt(&self, body: &[u8], segments: usize) -> Result<Ack, Failure> {
        let request = self
            .client
            .post(self.url.clone())
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_ENCODING, "zstd")
            .body(body.to_vec());
        let passing = |error: anyhow::Error| Failure::Passing(error, None);
        let response =
            request.send().await.with_context(|| format!("failed to reach {}", self.url)).map_err(passing)?;
        let (status, pause) = (response.status(), retry_after(&response));
        let answer = answer(response).await.context("failed to read the server's answer").map_err(passing)?;
        if status.is_success() {
            // Only a whole answer means that the batch is stored.
            let ack: Ack = serde_json::from_slice(&answer)
                .context("failed to understand the server's answer; is this address that of weavewatch-server?")
                .map_err(Failure::Final)?;
            if ack.accepted.saturating_add(ack.refused.len() as u64) != segments as u64 {
                return Err(Failure::Final(anyhow!("the server's answer does not add up to the batch")));
            }
            return Ok(ack);
        }
        let error = anyhow!("the server answered {status}{}", advice(status, &answer));
        let later =
            status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        Err(if later { Failure::Passing(error, pause) } else { Failure::Final(error) })
    }
}

async fn answer(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > ANSWER_LIMIT_BYTES {
            return Err(anyhow!("it is longer than {ANSWER_LIMIT_BYTES} bytes"));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// What the server says about its refusal, and what to do.
fn advice(status: StatusCode, answer: &[u8]) -> String {
    let problem: Problem = serde_json::from_slice(answer).unwrap_or_default();
    let said = if problem.detail.is_empty() { problem.title } else { problem.detail };
    let said = if said.is_empty() { said } else { format!(" ({said})") };
    let todo = match status {
        StatusCode::UNAUTHORIZED => "; the token is not valid: make one with `weavewatch-server token create`",
        StatusCode::FORBIDDEN => "; the token may not upload: it needs the scope `agent`",
        StatusCode::NOT_FOUND => "; is this address that of weavewatch-server?",
        status if status.is_redirection() => "; give the address that it redirects to",
        _ => "",
    };
    format!("{said}{todo}")
}

/// The pause that the server asks for, in seconds; its other spelling, a date, would need the two clocks to agree.
fn retry_after(response: &Response) -> Option<Duration> {
    response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// Twice as long every time, of which a random half, so that a fleet does not come back all at once.
fn back_off(attempt: u32) -> Duration {
    let whole = FIRST_PAUSE * 2_u32.saturating_pow(attempt - 1);
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    whole / 2 + (whole / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_within_their_half() {
        for attempt in 1..ATTEMPTS {
            let whole = FIRST_PAUSE * 2_u32.pow(attempt - 1);
            let pause = back_off(attempt);
            assert!(pause >= whole / 2 && pause <= whole, "{attempt}: {pause:?}");
        }
    }

    #[test]
    fn loopback_in_every_spelling() {
        for (url, expected) in [
            ("http://127.0.0.1:8787", true),
            ("http://localhost", true),
            ("http://[::1]:1", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example.org", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).expect("it is a URL")), expected, "{url}");
        }
    }

    #[test]
    fn the_server_s_own_words_come_first() {
        let said = advice(StatusCode::FORBIDDEN, br#"{"title":"Forbidden","detail":"scope reader"}"#);
        assert!(said.starts_with(" (scope reader); "), "{said}");
        assert_eq!(advice(StatusCode::BAD_REQUEST, b"<html>"), "");
    }
}
