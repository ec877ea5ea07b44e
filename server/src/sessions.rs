//! The cookie of a person who is signed in, and whose it is.

use axum::http::header::COOKIE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::store::SESSION_LIFE;
use crate::{forgery, origin};

/// Only this host can set it, over TLS only, for all paths: browsers see to that by the first seven characters of the name.
pub const GUARDED: &str = "__Host-weavewatch";
/// On this machine there is no TLS.
const PLAIN: &str = "weavewatch";

/// Who is signed in here, with what the forms of pages send back; `None` when nobody is any more.
pub async fn of(app: &App, parts: &Parts) -> Result<Option<Caller>, Error> {
    let Some(secret) = secret(parts) else { return Ok(None) };
    let caller = app.store.session(secret).await?;
    Ok(caller.map(|caller| Caller { csrf: Some(forgery::token(secret)), ..caller }))
}

/// What the browser holds.
pub fn secret(parts: &Parts) -> Option<&str> {
    find(&parts.headers, name(parts))
}

/// For the header `Set-Cookie`: hold this.
pub fn hold(parts: &Parts, secret: &str) -> HeaderValue {
    set(parts, secret, SESSION_LIFE.as_secs())
}

/// For the header `Set-Cookie`: forget it.
pub fn forget(parts: &Parts) -> HeaderValue {
    set(parts, "", 0)
}

fn name(parts: &Parts) -> &'static str {
    if origin::is_local(parts) { PLAIN } else { GUARDED }
}

fn set(parts: &Parts, secret: &str, age_s: u64) -> HeaderValue {
    let name = name(parts);
    let secure = if name == GUARDED { "; Secure" } else { "" };
    let cookie = format!("{name}={secret}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&cookie).expect("names, numbers and hex digits are a header")
}

fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(COOKIE).into_iter().filter_map(|header| header.to_str().ok());
    let mut pairs = cookies.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(own, _)| *own == name)?;
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        for cookies in ["theme=dark; xweavewatch=1; weavewatch =2", "a; weavewatch=secret=1; weavewatch=late"] {
            headers.append(COOKIE, HeaderValue::from_static(cookies));
        }
        assert_eq!(find(&headers, "weavewatch"), Some("secret=1"));
        assert_eq!(find(&headers, "__Host-weavewatch"), None);
        assert_eq!(
            find(&HeaderMap::from_iter([(COOKIE, HeaderValue::from_static("weavewatch="))]), "weavewatch"),
            None
        );
    }
}
