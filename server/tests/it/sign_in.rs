//! People sign in with a token once, and a cookie stands for it: for how long, for whom, and for which requests.

use axum::body::Body;
use axum::http::Request;
use serde_json::Value;
use server::auth::Scope;
use sqlx::Row;

use crate::enrolment::token;
use crate::world::{Answer, World, connect, on_each_database};

const REMOTE: &str = "192.0.2.7:4000";
const LOCAL: &str = "127.0.0.1:4000";

/// A browser that behaves: it sends what a browser sends, and holds one cookie.
pub struct Browser<'w> {
    world: &'w World,
    peer: &'static str,
    host: &'static str,
    cookie: Option<String>,
}

impl<'w> Browser<'w> {
    pub fn remote(world: &'w World) -> Self {
        Self { world, peer: REMOTE, host: "weave.example", cookie: None }
    }

    pub fn local(world: &'w World) -> Self {
        Self { world, peer: LOCAL, host: "127.0.0.1:8787", cookie: None }
    }

    pub async fn send(&self, method: &str, uri: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send_bytes(method, uri, headers, body.as_bytes().to_vec()).await
    }

    pub async fn send_bytes(&self, method: &str, uri: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
        let mut request = Request::builder().method(method).uri(uri).header("host", self.host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("theme=dark; {cookie}"));
        }
        self.world.send_from(self.peer, request.body(Body::from(body)).expect("a request")).await
    }

    pub async fn get(&self, uri: &str) -> Answer {
        self.send("GET", uri, &[("sec-fetch-site", "none")], "").await
    }

    pub async fn submit(&self, uri: &str, form: &str) -> Answer {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        self.send("POST", uri, &[kind, ("sec-fetch-site", "same-origin")], form).await
    }

    /// Fills in the form, and takes the cookie.
    pub async fn sign_in(&mut self, token: &str, back: &str) -> Answer {
        let answer = self.submit("/sign-in", &format!("back={back}&token={token}")).await;
        let cookie = answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
        if !cookie.is_empty() {
            self.cookie = Some(cookie);
        }
        answer
    }
}

/// The field of the form to sign out.
pub fn csrf(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").expect("the page has a form");
    rest.split('"').next().expect("split yields something").to_owned()
}

#[test]
fn a_person_signs_in_looks_and_signs_out() {
    on_each_database(async |world| {
        let secret = token(&world, Scope::Reader).await;
        let mut browser = Browser::remote(&world);
        let asked = browser.get("/?split=off&path=d3d12").await;
        assert_eq!(asked.status.as_u16(), 401);
        assert!(asked.header("content-type").starts_with("text/html"));
        assert!(asked.header("www-authenticate").starts_with("Bearer"), "a browser asks for Basic by itself");
        assert!(asked.text().contains("name=\"back\" value=\"/?split=off&#38;path=d3d12\""), "{}", asked.text());
        assert!(asked.text().contains("action=\"/sign-in\""));
        assert_eq!(browser.get("/sign-in").await.status.as_u16(), 200);

        let signed_in = browser.sign_in(&secret, "%2F%3Fsplit%3Doff").await;
        assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (303, "/?split=off"));
        let cookie = signed_in.header("set-cookie");
        assert!(cookie.starts_with("__Host-weavewatch="), "{cookie}");
        for word in ["; Path=/;", "; HttpOnly", "; SameSite=Strict", "; Secure", "; Max-Age=604800"] {
            assert!(cookie.contains(word), "{word}: {cookie}");
        }
        let page = browser.get("/").await;
        assert_eq!(page.status.as_u16(), 200);
        assert!(page.text().contains("Signed in"), "{}", page.text());
        assert_eq!(browser.get("/api/v1/summary").await.status.as_u16(), 200, "scripts of the page read too");

        let signed_out = browser.submit("/sign-out", &format!("csrf={}", csrf(&page.text()))).await;
        assert_eq!((signed_out.status.as_u16(), signed_out.header("location")), (303, "/sign-in"));
        assert!(signed_out.header("set-cookie").contains("__Host-weavewatch=; Path=/; Max-Age=0"));
        assert_eq!(browser.get("/").await.status.as_u16(), 401, "whoever kept the cookie has nothing");

        let rows = world.app.store.audit(None, 10).await.expect("the database answers").0;
        let deeds: Vec<_> = rows.iter().map(|row| (row.deed.as_str(), row.peer.as_deref())).collect();
        assert_eq!(deeds[..2], [("signed_out", Some("192.0.2.7")), ("signed_in", Some("192.0.2.7"))]);
    });
}

#[test]
fn only_a_token_that_reads_signs_in_and_attempts_do_not_fill_the_audit_log() {
    on_each_database(async |world| {
        let mut browser = Browser::remote(&world);
        for scope in [Scope::Enrolment, Scope::Agent] {
            let answer = browser.sign_in(&token(&world, scope).await, "/").await;
            assert_eq!(answer.status.as_u16(), 403);
            assert!(answer.text().contains("may not read") && browser.cookie.is_none());
        }
        for wrong in ["", "ww_guess", "%00", "<script>"] {
            let answer = browser.sign_in(wrong, "https://evil.example/").await;
            assert_eq!(answer.status.as_u16(), 401, "{wrong}");
            assert!(answer.text().contains("not a valid token") && browser.cookie.is_none());
            assert!(answer.text().contains("name=\"back\" value=\"/\""), "no other site");
            assert!(!answer.text().contains("ww_guess") && !answer.text().contains("<script>"));
        }
        let rows = world.app.store.audit(None, 100).await.expect("the database answers").0;
        assert_eq!(rows.iter().filter(|row| row.deed == "sign_in_failed").count(), 1, "one a minute: {rows:?}");
        for scope in [Scope::Triager, Scope::Admin] {
            assert_eq!(browser.sign_in(&token(&world, scope).await, "//evil.example").await.header("location"), "/");
        }
        let no_form = browser.send("POST", "/sign-in", &[], "token").await;
        assert_eq!(no_form.status.as_u16(), 400);
    });
}

#[test]
fn on_this_machine_the_cookie_needs_no_tls_and_opens_what_the_page_alone_does_not() {
    on_each_database(async |world| {
        let admin = token(&world, Scope::Admin).await;
        let mut browser = Browser::local(&world);
        assert_eq!(browser.get("/").await.status.as_u16(), 200, "open");
        browser.get("/api/v1/summary").await.assert_problem(401);
        let cookie = browser.sign_in(&admin, "/").await.header("set-cookie").to_owned();
        assert!(cookie.starts_with("weavewatch=") && !cookie.contains("Secure"), "{cookie}");
        assert_eq!(browser.get("/api/v1/audit").await.status.as_u16(), 200);
        // The name without the prefix is nothing elsewhere: any host of the domain could have set it.
        browser.peer = REMOTE;
        browser.host = "weave.example";
        browser.get("/api/v1/audit").await.assert_problem(401);
    });
}

#[test]
fn a_session_ends_with_its_token_with_its_time_and_with_the_next_one() {
    on_each_database(async |world| {
        let made = world.app.store.create_token(Scope::Reader, "guest").await.expect("a token");
        let mut browser = Browser::remote(&world);
        browser.sign_in(&made.secret, "/").await;
        let first = browser.cookie.clone().expect("a cookie");
        let mut connection = connect(&world.place).await;
        let rows = sqlx::query("select hash from sessions").fetch_all(&mut connection).await.expect("the table exists");
        let hash: String = rows[0].try_get(0).expect("text");
        assert!(!first.contains(&hash) && hash.len() == 64, "only a hash is stored");

        browser.sign_in(&made.secret, "/").await;
        let second = browser.cookie.replace(first).expect("a cookie");
        assert_eq!(browser.get("/").await.status.as_u16(), 401, "signing in again ends the session before");
        browser.cookie = Some(second);
        assert_eq!(browser.get("/").await.status.as_u16(), 200);

        let over = "update sessions set expires = '2026-01-01T00:00:00.000Z'";
        sqlx::query(over).execute(&mut connection).await.expect("time goes by");
        assert_eq!(browser.get("/").await.status.as_u16(), 401);
        assert_eq!(world.app.store.forget_sessions().await.expect("the database answers"), 1);

        browser.sign_in(&made.secret, "/").await;
        assert_eq!(browser.get("/").await.status.as_u16(), 200);
        let by = server::audit::Actor::command_line();
        assert!(world.app.store.revoke_token(&made.id, &by).await.expect("the database answers"));
        assert_eq!(browser.get("/").await.status.as_u16(), 401);
        let left: i64 =
            sqlx::query_scalar("select count(*) from sessions").fetch_one(&mut connection).await.expect("a number");
        assert_eq!(left, 0);
    });
}

#[test]
fn what_changes_something_comes_from_a_page_of_this_session() {
    on_each_database(async |world| {
        let admin = token(&world, Scope::Admin).await;
        let mut browser = Browser::remote(&world);
        browser.sign_in(&admin, "/").await;
        let token = csrf(&browser.get("/").await.text());
        let mut other = Browser::remote(&world);
        other.sign_in(&admin, "/").await;
        let foreign = csrf(&other.get("/").await.text());
        assert_ne!(token, foreign);

        let wish = r#"{"scope":"reader","name":"made in a browser"}"#;
        let post = async |headers: &[(&str, &str)]| browser.send("POST", "/api/v1/tokens", headers, wish).await;
        let ours = ("sec-fetch-site", "same-origin");
        for headers in [
            &[][..],
            &[ours],
            &[ours, ("x-csrf-token", foreign.as_str())],
            &[ours, ("x-csrf-token", "")],
            &[("x-csrf-token", token.as_str())],
            &[("sec-fetch-site", "cross-site"), ("x-csrf-token", &token)],
            &[("sec-fetch-site", "same-site"), ("x-csrf-token", &token)],
            &[("origin", "https://evil.example"), ("x-csrf-token", &token)],
            &[ours, ("content-type", "application/x-www-form-urlencoded")],
        ] {
            let answer = post(headers).await;
            answer.assert_problem(403);
            assert!(answer.json()["type"].as_str().is_some_and(|kind| kind.ends_with(":forged")), "{headers:?}");
        }
        let tokens = world.app.store.tokens().await.expect("the database answers");
        assert!(tokens.iter().all(|row| row.name != "made in a browser"), "{tokens:?}");
        assert_eq!(post(&[ours, ("x-csrf-token", &token)]).await.status.as_u16(), 201);
        assert_eq!(post(&[("origin", "https://weave.example"), ("x-csrf-token", &token)]).await.status.as_u16(), 201);

        // A form brings it as a field, and a page is answered with a page.
        for form in ["", "csrf=", &format!("csrf={foreign}")] {
            let answer = browser.submit("/sign-out", form).await;
            assert_eq!(answer.status.as_u16(), 403, "{form}");
            assert!(answer.header("content-type").starts_with("text/html"));
        }
        assert_eq!(browser.get("/").await.status.as_u16(), 200, "still signed in");
        assert_eq!(browser.submit("/sign-out", &format!("csrf={token}")).await.status.as_u16(), 303);
        // A foreign page signs nobody in.
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let form = format!("token={admin}");
        let answer = other.send("POST", "/sign-in", &[kind, ("origin", "https://evil.example")], &form).await;
        assert_eq!((answer.status.as_u16(), answer.header("set-cookie")), (403, ""));
        // A program with a token of its own is not concerned.
        let bearer = ("authorization", format!("Bearer {admin}"));
        let bearer = (bearer.0, bearer.1.as_str());
        assert_eq!(other.send("POST", "/api/v1/tokens", &[bearer], wish).await.status.as_u16(), 201);
        let rows: Value = other.get("/api/v1/audit").await.json();
        assert!(rows["items"].as_array().is_some_and(|rows| !rows.is_empty()));
    });
}
