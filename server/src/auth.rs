//! Who may call what: tokens and their scopes, and the exception for a browser on the server's own machine.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{AUTHORIZATION, FORWARDED, HOST};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use clap::ValueEnum;

use crate::app::App;
use crate::error::{Error, Html};

/// What a token allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Scope {
    /// Get a token for a machine, nothing else: it is handed out with the agent.
    Enrolment,
    /// Upload, nothing else: it lies on many PCs. One that a machine got by enrolling is good for that machine only, and
    /// may delete what the server holds of it.
    Agent,
    /// Read.
    Reader,
    /// Read; later versions let it sort reports.
    Triager,
    /// Read, and delete machines; later versions let it manage.
    Admin,
}

/// What a route asks for. Every route names one, so that none is open by accident.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Anybody: liveness and readiness.
    Open,
    /// A token of scope enrolment.
    Enroll,
    /// A token of scope agent; the handler asks whose.
    Upload,
    /// A token of scope agent, of which the handler asks that it be that machine's own, or of scope admin.
    Delete,
    /// A token that may read.
    Read,
    /// A page: open to browsers on this machine, else a token that may read.
    Page,
}

/// Who sent a request. The guard leaves it to the handlers of all routes but those that may be open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// Id of the token, as `token list` shows it.
    pub token: String,
    /// What it allows.
    pub scope: Scope,
    /// The only machine that it is good for; `None`: any.
    pub machine: Option<String>,
}

/// A route's access with the state that decides it.
#[derive(Clone)]
pub struct Guard {
    /// Tokens and mode.
    pub app: App,
    /// What the route asks for.
    pub access: Access,
}

impl Caller {
    /// Makes sure that the token is good for this machine.
    ///
    /// # Errors
    /// [`Error::OtherMachine`].
    pub(crate) fn may_speak_for(&self, machine: &str) -> Result<(), Error> {
        if self.machine.as_deref().is_none_or(|own| own == machine) { Ok(()) } else { Err(Error::OtherMachine) }
    }

    /// Makes sure that the token is this machine's own.
    ///
    /// # Errors
    /// [`Error::OtherMachine`], or [`Error::Forbidden`] when it is no machine's.
    pub(crate) fn must_be(&self, machine: &str) -> Result<(), Error> {
        if self.machine.is_none() { Err(Error::Forbidden) } else { self.may_speak_for(machine) }
    }
}

impl Scope {
    /// The word of the command line and of the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enrolment => "enrolment",
            Self::Agent => "agent",
            Self::Reader => "reader",
            Self::Triager => "triager",
            Self::Admin => "admin",
        }
    }

    /// The scope with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|scope| scope.as_str() == word)
    }

    fn opens(self, access: Access) -> bool {
        match access {
            Access::Open => true,
            Access::Enroll => self == Self::Enrolment,
            Access::Upload => self == Self::Agent,
            Access::Delete => matches!(self, Self::Agent | Self::Admin),
            Access::Read | Access::Page => matches!(self, Self::Reader | Self::Triager | Self::Admin),
        }
    }
}

/// The middleware of every route.
pub async fn require(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match check(&guard, &parts).await {
        Ok(caller) => {
            if let Some(caller) = caller {
                parts.extensions.insert(caller);
            }
            next.run(Request::from_parts(parts, body)).await
        }
        Err(error) if guard.access == Access::Page => Html(error).into_response(),
        Err(error) => error.into_response(),
    }
}

/// Who it is, if it may; `None` is anybody.
async fn check(guard: &Guard, parts: &Parts) -> Result<Option<Caller>, Error> {
    let page = guard.access == Access::Page;
    if guard.access == Access::Open {
        return Ok(None);
    }
    if let Some(presented) = parts.headers.get(AUTHORIZATION) {
        let secret = presented.to_str().ok().and_then(|value| secret(value, page)).ok_or(Error::Unauthorized)?;
        let caller = guard.app.store.caller(&secret).await?.ok_or(Error::Unauthorized)?;
        return if caller.scope.opens(guard.access) { Ok(Some(caller)) } else { Err(Error::Forbidden) };
    }
    let open_here = page || (guard.app.open_on_loopback && guard.access == Access::Read);
    if open_here && is_local(parts) { Ok(None) } else { Err(Error::Unauthorized) }
}

/// The token in `Bearer TOKEN`; pages also take it as the password of `Basic`, because browsers ask for that.
fn secret(header: &str, page: bool) -> Option<String> {
    let (scheme, value) = header.split_once(' ')?;
    let value = value.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(value.to_owned());
    }
    if page && scheme.eq_ignore_ascii_case("basic") {
        let decoded = String::from_utf8(base64(value)?).ok()?;
        return decoded.split_once(':').map(|(_, password)| password.to_owned());
    }
    None
}

/// A browser on this machine that was not lured here: a foreign site can point its own name at 127.0.0.1, but then its
/// name stands in the `Host` header. What a proxy passes on is never local.
fn is_local(parts: &Parts) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let from_loopback = peer.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    let proxied = [FORWARDED.as_str(), "x-forwarded-for", "x-real-ip", "via"];
    // HTTP/2 has the host in the URI.
    let authority = parts.uri.authority().map(Authority::as_str);
    let host = authority.or_else(|| parts.headers.get(HOST)?.to_str().ok());
    from_loopback && !proxied.iter().any(|name| parts.headers.contains_key(*name)) && host.is_some_and(is_loopback_name)
}

fn is_loopback_name(host: &str) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Standard base64, padded or not.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut buffer, mut bits) = (0_u32, 0);
    for char in text.trim_end_matches('=').bytes() {
        let value = match char {
            b'A'..=b'Z' => char - b'A',
            b'a'..=b'z' => char - b'a' + 26,
            b'0'..=b'9' => char - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        buffer = (buffer << 6 | u32::from(value)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((buffer >> bits) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_local() {
        for host in ["localhost", "LOCALHOST:8787", "127.0.0.1", "127.0.0.1:8787", "[::1]:8787", "[::1]", "127.9.9.9"] {
            assert!(is_loopback_name(host), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "10.0.0.1:8787", ":80"]
        {
            assert!(!is_loopback_name(host), "{host}");
        }
    }

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("dXNlcjpwYXNz").as_deref(), Some(b"user:pass".as_slice()));
        assert_eq!(base64("YQ==").as_deref(), Some(b"a".as_slice()));
        assert_eq!(base64("/+8").as_deref(), Some([0xff, 0xef].as_slice()));
        assert_eq!(base64("a b"), None);
        assert_eq!(secret("Basic dTpwOnE=", true).as_deref(), Some("p:q"));
        assert_eq!(secret("Basic dTpw", false), None);
        assert_eq!(secret("bearer abc", false).as_deref(), Some("abc"));
    }
}
