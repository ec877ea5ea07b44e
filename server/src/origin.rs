//! Where a request comes from: the peer's address, this machine or another, one of our own pages or a foreign one.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::HeaderMap;
use axum::http::header::{FORWARDED, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::{Authority, Uri};

/// The address that the connection comes from; `None` when the router is called without one.
pub fn peer(parts: &Parts) -> Option<IpAddr> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map(|ConnectInfo(address)| address.ip().to_canonical())
}

/// A browser on this machine that was not lured here: a foreign site can point its own name at 127.0.0.1, but then its
/// name stands in the `Host` header. What a proxy passes on is never local.
pub fn is_local(parts: &Parts) -> bool {
    let proxied = [FORWARDED.as_str(), "x-forwarded-for", "x-real-ip", "via"];
    peer(parts).is_some_and(|peer| peer.is_loopback())
        && !proxied.iter().any(|name| parts.headers.contains_key(*name))
        && host(parts).is_some_and(is_loopback_name)
}

/// What the browser says of the page that the request comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// One of our own.
    Ours,
    /// One of another site, or of another port of this host.
    Foreign,
    /// It says nothing, as programs and very old browsers do.
    Untold,
}

/// Judges the headers that a page's script cannot set. `Sec-Fetch-Site` comes first, because it is right also behind a proxy
/// that changes the host.
pub fn source(parts: &Parts) -> Source {
    let told = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = told("sec-fetch-site") {
        return if site == "same-origin" { Source::Ours } else { Source::Foreign };
    }
    let Some(origin) = told(ORIGIN.as_str()) else { return Source::Untold };
    let origin = origin.parse::<Uri>().ok();
    let origin = origin.as_ref().and_then(Uri::authority).map(Authority::as_str);
    if origin.is_some() && origin == host(parts) { Source::Ours } else { Source::Foreign }
}

/// HTTP/2 has the host in the URI.
fn host(parts: &Parts) -> Option<&str> {
    let authority = parts.uri.authority().map(Authority::as_str);
    authority.or_else(|| host_header(&parts.headers))
}

fn host_header(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
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
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

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
    fn a_page_is_ours_when_the_browser_says_so() {
        let source = |headers: &[(&str, &str)]| {
            let builder =
                headers.iter().fold(Request::builder(), |builder, (name, value)| builder.header(*name, *value));
            source(&builder.body(()).expect("a request").into_parts().0)
        };
        let host = ("host", "weave.example:8787");
        assert_eq!(source(&[host]), Source::Untold);
        assert_eq!(source(&[host, ("sec-fetch-site", "same-origin")]), Source::Ours);
        assert_eq!(source(&[host, ("origin", "https://weave.example:8787")]), Source::Ours);
        for foreign in ["https://weave.example", "https://evil.example", "null", "", "weave"] {
            assert_eq!(source(&[host, ("origin", foreign)]), Source::Foreign, "{foreign}");
        }
        for foreign in ["cross-site", "same-site", "none", "\u{e9}"] {
            let ours = ("origin", "https://weave.example:8787");
            assert_eq!(source(&[host, ours, ("sec-fetch-site", foreign)]), Source::Foreign, "{foreign}");
        }
    }
}
