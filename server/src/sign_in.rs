//! `/sign-in` and `/sign-out`: a person pastes a token once and gets a session in a cookie. Works without scripts.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{LOCATION, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{Html as Document, IntoResponse, Response};
use dashboards::{Frame, SignInPage};
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{Actor, Deed};
use crate::error::{Error, Html};
use crate::origin::{self, Source};
use crate::query::Pairs;
use crate::{forgery, sessions};

/// The longest address that one is led back to.
const BACK_LIMIT: usize = 4_000;
/// Where one is led without one.
const HOME: &str = "/";

/// What the form to sign in sends.
#[derive(ToSchema)]
#[schema(as = SignIn)]
#[expect(dead_code, reason = "a shape to be described: `forgery::form` reads it")]
struct Form {
    token: String,
    /// The address to go on to.
    back: Option<String>,
}

/// What the form to sign out sends.
#[derive(ToSchema)]
#[schema(as = SignOut)]
#[expect(dead_code, reason = "a shape to be described: `forgery::refuse` reads it")]
struct Leave {
    /// From the page that holds the form.
    csrf: String,
}

/// The form to sign in.
#[utoipa::path(
    get, path = "/sign-in", operation_id = "sign_in_page", tag = "pages",
    params(("back" = Option<String>, Query, description = "The address to go on to.")),
    responses((status = 200, description = "The page", body = String, content_type = "text/html"))
)]
pub async fn page(pairs: Result<Pairs, Error>, request: Request) -> Response {
    let pairs = pairs.map_or_else(|_| Vec::new(), |Pairs(pairs)| pairs);
    form(&request.into_parts().0, StatusCode::OK, &back(&pairs), "")
}

/// In place of a page that wants a session: the form, which leads back to it.
pub fn ask(parts: &Parts) -> Response {
    let back = match parts.uri.path_and_query() {
        Some(wanted) if parts.method == Method::GET => checked(wanted.as_str()),
        _ => HOME.to_owned(),
    };
    form(parts, StatusCode::UNAUTHORIZED, &back, "")
}

/// Trades a token for a session, which the browser holds in a cookie.
#[utoipa::path(
    post, path = "/sign-in", operation_id = "sign_in", tag = "pages",
    request_body(content = Form, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Signed in; it leads back"),
        (status = 400, description = "It is no form", body = String, content_type = "text/html"),
        (status = 401, description = "The token is not valid", body = String, content_type = "text/html"),
        (status = 403, description = "The token may not read, or the form is a foreign page's", body = String, content_type = "text/html"),
        (status = 408, description = "The body did not arrive in time", body = String, content_type = "text/html"),
        (status = 429, description = "Too many wrong tokens", body = String, content_type = "text/html"),
        (status = 500, description = "A fault of the server's own", body = String, content_type = "text/html"),
        (status = 503, description = "The database does not answer", body = String, content_type = "text/html")
    )
)]
pub async fn sign_in(State(app): State<App>, actor: Actor, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let mut back = HOME.to_owned();
    match try_sign_in(&app, actor, &parts, body, &mut back).await {
        Ok(cookie) => lead(&back, cookie),
        Err(Error::Unauthorized) => {
            let why = "This is not a valid token. It may have been revoked, or it has expired.";
            form(&parts, StatusCode::UNAUTHORIZED, &back, why)
        }
        Err(Error::Forbidden) => {
            let why = "This token may not read: use one of scope reader, triager or admin.";
            form(&parts, StatusCode::FORBIDDEN, &back, why)
        }
        Err(error) => Html(error).into_response(),
    }
}

/// Ends the session of this browser.
#[utoipa::path(
    post, path = "/sign-out", operation_id = "sign_out", tag = "pages",
    request_body(content = Leave, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Signed out; it leads to the form to sign in"),
        (status = 400, description = "It is no form"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn sign_out(State(app): State<App>, actor: Actor, request: Request) -> Result<Response, Html> {
    let (parts, _) = request.into_parts();
    if let Some(secret) = sessions::secret(&parts) {
        app.store.sign_out(secret, &actor).await.map_err(|error| Html(error.into()))?;
    }
    Ok(lead("/sign-in", sessions::forget(&parts)))
}

async fn try_sign_in(
    app: &App,
    actor: Actor,
    parts: &Parts,
    body: Body,
    back: &mut String,
) -> Result<HeaderValue, Error> {
    // A foreign page could sign its visitor in as somebody else. Programs tell no source and harm nobody.
    if origin::source(parts) == Source::Foreign {
        return Err(Error::Forged);
    }
    let fields = forgery::form(parts, body, app.body_timeout).await?;
    *back = self::back(&fields);
    let secret = fields.iter().find(|(name, _)| name == "token").map(|(_, value)| value.trim()).unwrap_or_default();
    let Some(caller) = app.identify(parts, secret).await? else {
        if app.limits.may_note() {
            app.store.note(&actor, Deed::SignInFailed, "a wrong token", "refused").await?;
        }
        return Err(Error::Unauthorized);
    };
    if !caller.scope.reads() {
        return Err(Error::Forbidden);
    }
    let actor = actor.with_token(&caller.token);
    let session = app.store.sign_in(&caller.token, sessions::secret(parts), &actor).await;
    Ok(sessions::hold(parts, &session.map_err(Error::from_store)?))
}

fn lead(to: &str, cookie: HeaderValue) -> Response {
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static(HOME));
    (StatusCode::SEE_OTHER, [(LOCATION, to), (SET_COOKIE, cookie)]).into_response()
}

fn form(parts: &Parts, status: StatusCode, back: &str, complaint: &str) -> Response {
    let page = SignInPage {
        frame: Frame::default(),
        back: back.to_owned(),
        complaint: complaint.to_owned(),
        needs_tls: !origin::is_local(parts),
    };
    let mut response = match page.render() {
        Ok(html) => (status, Document(html)).into_response(),
        Err(error) => return Error::Internal(error.into()).into_response(),
    };
    if status == StatusCode::UNAUTHORIZED {
        // Not `Basic`: the browser would ask with a window of its own.
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"Weavewatch\""));
    }
    response
}

fn back(fields: &[(String, String)]) -> String {
    let told = fields.iter().find(|(name, _)| name == "back").map(|(_, value)| value.as_str());
    checked(told.unwrap_or(HOME))
}

/// An address of ours, else the front page: nobody is led to another site. Browsers read `//x` and `/\x` as another host.
fn checked(back: &str) -> String {
    let is_path = back.starts_with('/') && !back.starts_with("//") && back.len() <= BACK_LIMIT;
    let is_plain = back.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let Some(address) = (is_path && is_plain).then(|| back.parse::<PathAndQuery>().ok()).flatten() else {
        return HOME.to_owned();
    };
    // Whoever signs in is not asked again.
    if matches!(address.path(), "/sign-in" | "/sign-out") { HOME.to_owned() } else { back.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_to_another_site() {
        for ours in ["/", "/?split=off&path=d3d12", "/logs/1", "/a//b", "/%2f%2fevil.example"] {
            assert_eq!(checked(ours), ours);
        }
        let long = format!("/{}", "x".repeat(BACK_LIMIT));
        for other in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "evil",
            "/\t/evil.example",
            "/a\r\nset-cookie: x=y",
            "/\u{e9}",
            "/sign-in?back=/sign-in",
            "/sign-out",
            &long,
        ] {
            assert_eq!(checked(other), "/", "{other:?}");
        }
    }
}
