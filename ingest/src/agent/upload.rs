//! One request to the server, and what its answer means for what is to be done next.
//!
//! Only a whole, consistent answer with a 2xx counts as an acknowledgement. Everything else is sorted into three kinds:
//! it may work later, the request itself is at fault, or the settings are.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Client, Method, Proxy, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wire::Ack;

use crate::cli::ServerArgs;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);
/// An answer is a few numbers, and a reason for each refused segment.
const ANSWER_LIMIT_BYTES: usize = 4 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// A server, and how this machine gets there.
#[derive(Clone, Debug)]
pub struct Uploader {
    client: Client,
    base: Url,
    authorization: HeaderValue,
}

/// Why a request was in vain.
#[derive(Debug)]
pub enum Failure {
    /// It may work later; the server may have said when.
    Passing(anyhow::Error, Option<Duration>),
    /// The same request would fail in the same way; a smaller one may not.
    Refused {
        /// What was answered.
        error: anyhow::Error,
        /// weavewatch-server itself said so (RFC 9457), and not something on the way to it.
        by_server: bool,
    },
    /// The token or the address is wrong: no request can succeed until a person has changed something.
    Settings(anyhow::Error),
}

impl Failure {
    /// What happened.
    pub const fn error(&self) -> &anyhow::Error {
        match self {
            Self::Passing(error, _) | Self::Refused { error, .. } | Self::Settings(error) => error,
        }
    }

    /// The same as an error to hand on.
    pub fn into_error(self) -> anyhow::Error {
        match self {
            Self::Passing(error, _) | Self::Refused { error, .. } | Self::Settings(error) => error,
        }
    }
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
    ///
    /// # Errors
    /// When the address is not encrypted and not this machine (without `allow_http`), or a certificate or proxy is no good.
    pub fn new(server: &Url, args: &ServerArgs, token: &str) -> anyhow::Result<Self> {
        // A second call finds it installed, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut base = server.clone();
        base.set_query(None);
        base.set_fragment(None);
        let local = is_loopback(&base);
        let mut client = Client::builder()
            .user_agent(concat!("weavewatch/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            // The token is for this server and no other.
            .redirect(reqwest::redirect::Policy::none());
        if base.scheme() == "http" {
            if !local && !args.allow_http {
                return Err(anyhow!(
                    "{server}: the token and the events would travel unencrypted; use https://, or say --allow-http"
                ));
            }
            // No certificates are needed then, and a machine without any is no reason to fail.
            client = client.tls_certs_only([]);
        }
        if let Some(path) = &args.ca {
            let pem = std::fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
            let more = Certificate::from_pem_bundle(&pem)
                .with_context(|| format!("failed to read certificates in {}; they must be PEM", path.display()))?;
            client = client.tls_certs_merge(more);
        }
        if let Some(proxy) = &args.proxy {
            client = client.proxy(Proxy::all(proxy).with_context(|| format!("failed to use the proxy {proxy}"))?);
        } else if local {
            client = client.no_proxy();
        }
        let mut authorization =
            HeaderValue::from_str(&format!("Bearer {token}")).context("failed to put the token into a header")?;
        authorization.set_sensitive(true);
        let client =
            client.build().context("failed to prepare the connection; are the system's certificates there?")?;
        Ok(Self { client, base, authorization })
    }

    /// Sends a batch, which is JSON packed with zstd and holds this many segments. When it returns an acknowledgement, the
    /// server has committed the batch.
    pub async fn send(&self, packed: Vec<u8>, segments: usize) -> Result<Ack, Failure> {
        let request = self
            .request(Method::POST, &["ingest"])?
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_ENCODING, "zstd")
            .body(packed);
        let ack: Ack = self.ask(request).await?;
        if !adds_up(&ack, segments as u64) {
            return Err(Failure::Settings(anyhow!("the server's answer does not add up to the batch")));
        }
        Ok(ack)
    }

    /// Sends a request with JSON and reads the JSON of the answer.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&(impl serde::Serialize + Sync)>,
    ) -> Result<T, Failure> {
        let mut request = self.request(method, path)?;
        if let Some(body) = body {
            request = request.json(body);
        }
        self.ask(request).await
    }

    fn request(&self, method: Method, path: &[&str]) -> Result<RequestBuilder, Failure> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| Failure::Settings(anyhow!("failed to read the server's address")))?
            .pop_if_empty()
            .extend(["api", "v1"])
            .extend(path);
        Ok(self.client.request(method, url).header(AUTHORIZATION, self.authorization.clone()))
    }

    async fn ask<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let passing = |error: anyhow::Error| Failure::Passing(error, None);
        let response = request.send().await.map_err(|error| {
            let todo = if is_about_certificate(&error) {
                "; its certificate is not trusted here: name the certificate that signed it with --ca"
            } else {
                ""
            };
            passing(anyhow::Error::new(error).context(format!("failed to reach {}{todo}", self.base)))
        })?;
        let (status, pause, by_server) = (response.status(), retry_after(&response), is_problem(&response));
        let answer = answer(response).await.context("failed to read the server's answer").map_err(passing)?;
        if status.is_success() {
            return serde_json::from_slice(&answer)
                .context("failed to understand the server's answer; is this address that of weavewatch-server?")
                .map_err(Failure::Settings);
        }
        let error = anyhow!("the server answered {status}{}", advice(status, &answer));
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Failure::Passing(error, pause),
            status if status.is_server_error() => Failure::Passing(error, pause),
            StatusCode::PAYLOAD_TOO_LARGE => Failure::Refused { error, by_server },
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if by_server => {
                Failure::Refused { error, by_server }
            }
            // Nobody who knows our batches has seen this one.
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Failure::Passing(error, pause),
            _ => Failure::Settings(error),
        })
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

/// True when each segment was either taken or refused, and the refused ones were in the batch.
fn adds_up(ack: &Ack, segments: u64) -> bool {
    let refused: BTreeSet<u64> = ack.refused.iter().map(|refusal| refusal.segment).collect();
    refused.len() == ack.refused.len()
        && refused.last().is_none_or(|last| *last < segments)
        && ack.accepted.checked_add(refused.len() as u64) == Some(segments)
}

/// True for an answer in weavewatch-server's own form.
fn is_problem(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/problem+json"))
}

/// True when the server's certificate is why it was not reached.
fn is_about_certificate(error: &reqwest::Error) -> bool {
    let mut next = std::error::Error::source(error);
    while let Some(error) = next {
        if matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        // An I/O error does not show what it wraps as its source.
        next = match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}

/// What the server says about its refusal, and what to do.
fn advice(status: StatusCode, answer: &[u8]) -> String {
    let problem: Problem = serde_json::from_slice(answer).unwrap_or_default();
    let said = if problem.detail.is_empty() { problem.title } else { problem.detail };
    let said = if said.is_empty() { said } else { format!(" ({said})") };
    let todo = match status {
        StatusCode::UNAUTHORIZED => {
            "; the token is not valid: enrol again, or make one with `weavewatch-server token create`"
        }
        StatusCode::FORBIDDEN => {
            "; the token may not do this: uploads need the scope `agent`, enrolling `enrolment`, a purge `admin` or the \
             machine's own credential"
        }
        StatusCode::NOT_FOUND => "; is this address that of weavewatch-server?",
        status if status.is_redirection() => "; give the address that it redirects to",
        _ => "",
    };
    format!("{said}{todo}")
}

/// The pause that the server asks for, in seconds; its other spelling, a date, would need the two clocks to agree. A number
/// beyond all bounds asks for the longest pause there is.
fn retry_after(response: &Response) -> Option<Duration> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    seconds(text)
}

fn seconds(text: &str) -> Option<Duration> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX)).min(u64::from(u32::MAX))))
}

/// Twice as long with every failure in a row, up to five minutes, of which a random half, so that a fleet does not come
/// back all at once.
pub fn back_off(failures: u32) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(LONGEST_PAUSE);
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    whole / 2 + (whole / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use wire::Refusal;

    use super::*;

    #[test]
    fn pauses_grow_up_to_five_minutes_and_stay_within_their_half() {
        for failures in 1..80 {
            let whole = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures - 1)).min(LONGEST_PAUSE);
            let pause = back_off(failures);
            assert!(pause >= whole / 2 && pause <= whole && whole <= LONGEST_PAUSE, "{failures}: {pause:?}");
        }
    }

    #[test]
    fn the_server_s_pause_in_every_spelling() {
        for (text, expected) in [
            ("0", Some(0)),
            ("3600", Some(3600)),
            ("99999999999999999999999999", Some(u64::from(u32::MAX))),
            ("-1", None),
            ("", None),
            ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ] {
            assert_eq!(seconds(text), expected.map(Duration::from_secs), "{text}");
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
    fn plain_http_is_for_this_machine_or_for_who_says_so() {
        let url = Url::parse("http://weave.example.org").expect("it is a URL");
        let said = Uploader::new(&url, &ServerArgs::default(), "t").expect_err("nobody allowed it");
        assert!(said.to_string().contains("--allow-http"), "{said}");
        let allowed = ServerArgs { allow_http: true, ..ServerArgs::default() };
        assert!(Uploader::new(&url, &allowed, "t").is_ok());
    }

    #[test]
    fn an_answer_that_does_not_cover_the_batch_is_none() {
        let ack = |accepted, refused: &[u64]| {
            let refused = refused.iter().map(|segment| Refusal { segment: *segment, reason: String::new() }).collect();
            Ack { accepted, refused, ..Ack::default() }
        };
        assert!(adds_up(&ack(3, &[]), 3) && adds_up(&ack(1, &[0, 2]), 3) && adds_up(&ack(0, &[]), 0));
        // Too few, too many, one that was not in the batch, one twice, a number beyond all bounds.
        for (accepted, refused) in [(2, &[][..]), (3, &[1]), (2, &[3]), (1, &[1, 1]), (u64::MAX, &[0])] {
            assert!(!adds_up(&ack(accepted, refused), 3), "{accepted} {refused:?}");
        }
    }

    #[test]
    fn the_server_s_own_words_come_first() {
        let said = advice(StatusCode::FORBIDDEN, br#"{"title":"Forbidden","detail":"scope reader"}"#);
        assert!(said.starts_with(" (scope reader); "), "{said}");
        assert_eq!(advice(StatusCode::BAD_REQUEST, b"<html>"), "");
    }
}
