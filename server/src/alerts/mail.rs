//! Sends a message through a mail server. What has to be encrypted is never sent otherwise, also when the server at the other
//! end says that it cannot.

use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use jiff::Timestamp;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use super::file::{self, Mail};
use super::secret::Secret;
use crate::text;

/// For each step of the conversation, and for all of it.
const STEP: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_mins(1);

/// A mail server, ready to be used.
#[derive(Debug)]
pub struct MailServer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl MailServer {
    /// Prepares it; nothing is sent. `public_url` names this server to the other one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(table: &Mail, public_url: &str) -> anyhow::Result<Self> {
        let from: Mailbox = table.from.get_ref().parse().with_context(|| {
            format!("{:?} is no sender such as Weavewatch <weavewatch@example.com>", table.from.get_ref())
        })?;
        let host = table.host.get_ref();
        if host.is_empty() || !host.chars().all(|char| char.is_ascii_alphanumeric() || "-.:[]".contains(char)) {
            bail!("{host:?} is no host such as mail.example.com: the port has its own line");
        }
        let host = host.trim_matches(['[', ']']);
        let tls = || TlsParameters::new(host.to_owned()).context("failed to prepare the connection");
        let (port, tls) = match table.tls {
            file::Tls::Starttls => (587, Tls::Required(tls()?)),
            file::Tls::Implicit => (465, Tls::Wrapper(tls()?)),
            file::Tls::None => (25, Tls::None),
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)
            .port(table.port.unwrap_or(port))
            .tls(tls)
            .timeout(Some(STEP));
        if let Ok(url) = public_url.parse::<reqwest::Url>()
            && let Some(name) = url.domain()
        {
            transport = transport.hello_name(ClientId::Domain(name.to_owned()));
        }
        let password = Secret::read("password", table.password_env.as_deref(), table.password_file.as_deref())?;
        match (&table.user, password) {
            (Some(user), Some(password)) => {
                let is_local =
                    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|own| own.is_loopback());
                if table.tls == file::Tls::None && !is_local {
                    bail!("the password would travel in plain: tls is \"starttls\" or \"implicit\" where there is one");
                }
                transport = transport.credentials(Credentials::new(user.clone(), password.reveal().to_owned()));
            }
            (None, None) => {}
            (Some(_), None) => bail!("a user needs password_env or password_file"),
            (None, Some(_)) => bail!("a password needs a user"),
        }
        Ok(Self { transport: transport.build(), from })
    }

    /// Sends a text. The title may hold anything; it becomes one line.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn send(&self, to: &Address, title: &str, body: String, now: Timestamp) -> anyhow::Result<()> {
        let id = format!("<{}@{}>", text::random_hex()?, self.from.email.domain());
        let mail = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to.clone()))
            .date(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(now.as_second()).unwrap_or_default()))
            .message_id(Some(id))
            .subject(format!("[Weavewatch] {}", wire::cell::terminal(title)))
            // Whoever is away need not answer (RFC 3834).
            .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned()))
            .header(ContentType::TEXT_PLAIN)
            .body(body)
            .context("failed to write the mail")?;
        let sent = tokio::time::timeout(PATIENCE, self.transport.send(mail)).await;
        sent.context("the mail server did not answer in time")?.context("the mail server did not take it")?;
        Ok(())
    }
}
