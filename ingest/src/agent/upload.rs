//! One request to the server, and what its answer means for what is to be done next.
//!
//! Only a whole, consistent answer with a 2xx counts as an acknowledgement. Everything else is sorted into three kinds:
//! it may work later, the request itself is at fault, or the settings are.

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
    /// The same request would fail in the same way; a smaller one may not, when the flag is set.
    Refused {
        /// What the server said.
        error: anyhow::Error,
        /// It was too large.
        too_large: bool,
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
        if ack.accepted.saturating_add(ack.refused.len() as u64) != segments as u64 {
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
        let response =
            request.send().await.with_context(|| format!("failed to reach {}", self.base)).map_err(passing)?;
        let (status, pause) = (response.status(), retry_after(&response));
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
            StatusCode::PAYLOAD_TOO_LARGE => Failure::Refused { error, too_large: true },
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Failure::Refused { error, too_large: false },
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

/// What the server says about its refusal, and what to do.
fn advice(status: StatusCode, answer: &[u8]) -> String {
    let problem: Problem = serde_json::from_slice(answer).unwrap_or_default();
    let said = if problem.detail.is_empty() { problem.title } else { problem.detail };
    let said = if said.is_empty() { said } else { format!(" ({said})") };
    let todo = match status {
        StatusCode::UNAUTHORIZED => {
            "; the token is not valid: enrol again, or make one with `weavewatch-server token create`"
        }
        StatusCode::FORBIDDEN => "; the token may not do this: uploads need the scope `agent`, enrolling `enrolment`",
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
    fn the_server_s_own_words_come_first() {
        let said = advice(StatusCode::FORBIDDEN, br#"{"title":"Forbidden","detail":"scope reader"}"#);
        assert!(said.starts_with(" (scope reader); "), "{said}");
        assert_eq!(advice(StatusCode::BAD_REQUEST, b"<html>"), "");
    }
}
