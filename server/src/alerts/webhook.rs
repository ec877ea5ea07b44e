//! Posts JSON to an address. No redirect is followed, nothing waits for long, and neither address nor secret reach a log: an
//! address of a chat is a secret itself.

use std::error::Error as _;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::file::Webhook;
use super::secret::Secret;

/// For the whole exchange.
const PATIENCE: Duration = Duration::from_secs(10);
/// The header that brings the secret.
const HEADER: &str = "authorization";

/// A place for JSON, ready to be used.
#[derive(Debug)]
pub struct Hook {
    client: Client,
    url: Secret,
    secret: Option<(HeaderName, HeaderValue)>,
}

impl Hook {
    /// Prepares it; nothing is sent.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(table: &Webhook) -> anyhow::Result<Self> {
        let url = Secret::read("url", table.url_env.as_deref(), table.url_file.as_deref())?;
        let url = match (&table.url, url) {
            (Some(url), None) => Secret::open(url.get_ref().clone()),
            (None, Some(url)) => url,
            (Some(_), Some(_)) => bail!("url excludes url_env and url_file"),
            (None, None) => bail!("a webhook needs url, url_env or url_file"),
        };
        let parsed: Url =
            url.reveal().parse().ok().context("its address is none such as https://chat.example.com/hook")?;
        let is_local = is_loopback(&parsed);
        if !(parsed.scheme() == "https" || parsed.scheme() == "http" && is_local) {
            bail!("its address must begin with https://, or lead to this machine: the message would travel in plain");
        }
        let secret = Secret::read("secret", table.secret_env.as_deref(), table.secret_file.as_deref())?;
        let header = table.header.as_ref().map_or(HEADER, |header| header.get_ref());
        let name: HeaderName = header.parse().ok().with_context(|| format!("{header:?} is no name of a header"))?;
        let secret = match secret {
            Some(secret) => {
                let mut value =
                    HeaderValue::from_str(secret.reveal()).ok().context("its secret fits into no header")?;
                value.set_sensitive(true);
                Some((name, value))
            }
            None if table.header.is_some() => bail!("a header needs secret_env or secret_file"),
            None => None,
        };
        // A second call finds it installed, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .user_agent(concat!("weavewatch-server/", env!("CARGO_PKG_VERSION")))
            .timeout(PATIENCE)
            // The secret is for this place and no other.
            .redirect(Policy::none());
        if is_local {
            client = client.no_proxy();
        }
        if parsed.scheme() == "http" {
            // No certificates are needed then, and a machine without any is no reason to fail.
            client = client.tls_certs_only([]);
        }
        let client =
            client.build().context("failed to prepare the connection; are the system's certificates there?")?;
        Ok(Self { client, url, secret })
    }

    /// Posts a document.
    ///
    /// # Errors
    /// When it was not taken.
    pub async fn send(&self, document: String) -> anyhow::Result<()> {
        let mut request = self.client.post(self.url.reveal()).header(CONTENT_TYPE, "application/json").body(document);
        if let Some((name, value)) = &self.secret {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| told(&error))?;
        let status = response.status();
        if status.is_success() { Ok(()) } else { bail!("the webhook answered {status}") }
    }
}

/// Why nothing was posted: the last cause says it, those around it name the address or nothing.
fn told(error: &reqwest::Error) -> anyhow::Error {
    if error.is_timeout() {
        return anyhow!("the webhook did not answer within {} s", PATIENCE.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    if error.source().is_none() { anyhow!("failed to post it") } else { anyhow!("failed to post it: {cause}") }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
