//! Can the server listen where it should, or does it already, and who can listen in?

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use super::Check;
use crate::serve::bind;

/// A server on this machine answers at once.
const PATIENCE: Duration = Duration::from_secs(3);

/// Looks at the address of `serve`.
pub(super) async fn examine(listen: SocketAddr, checks: &mut Vec<Check>) {
    checks.push(match bind(listen).await {
        Ok(_) => Check::ok("address", format!("{listen} is free")),
        Err(error) if error.is_taken() => taken(listen).await,
        Err(error) => {
            let advice = match error.kind() {
                ErrorKind::PermissionDenied => "choose a port above 1023 with --listen, or let a proxy listen there",
                _ => "choose an address of this machine with --listen",
            };
            Check::failed("address", format!("cannot listen on {listen} ({})", error.kind()), advice)
        }
    });
    checks.push(if listen.ip().to_canonical().is_loopback() {
        Check::ok("encryption", "only this machine can reach the server")
    } else {
        Check::warning(
            "encryption",
            format!("other machines reach {listen} by plain HTTP, and tokens with it"),
            "listen on 127.0.0.1 and put a proxy with a certificate in front",
        )
    });
}

/// Somebody listens; is it a server of ours, and well?
async fn taken(listen: SocketAddr) -> Check {
    let other = || {
        let advice = "stop it, or choose another address with --listen";
        Check::failed("address", format!("another program listens on {listen}"), advice)
    };
    // Whoever listens on all addresses is asked on this one.
    let mut asked = listen;
    if asked.ip().is_unspecified() {
        asked.set_ip(if asked.is_ipv4() { [127, 0, 0, 1].into() } else { std::net::Ipv6Addr::LOCALHOST.into() });
    }
    match get(asked, "healthz").await {
        Some((200, body)) if body == "ok" => {}
        _ => return other(),
    }
    match get(asked, "readyz").await {
        Some((200, _)) => Check::ok("address", format!("a server answers on {listen} and takes uploads")),
        Some((status, _)) => Check::failed(
            "address",
            format!("the server on {listen} takes no uploads (status {status})"),
            "look into its log",
        ),
        None => Check::failed("address", format!("the server on {listen} does not answer"), "look into its log"),
    }
}

async fn get(address: SocketAddr, path: &str) -> Option<(u16, String)> {
    // The client wants a TLS stack; a second installation is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().ok()?;
    let answer = client.get(format!("http://{address}/{path}")).send().await.ok()?;
    Some((answer.status().as_u16(), answer.text().await.ok()?))
}
