//! The pages `/tokens` and `/audit`: an administrator makes and revokes tokens in a browser, and everybody else cannot.

use server::auth::Scope;

use crate::enrolment::token;
use crate::sign_in::{Browser, csrf};
use crate::world::on_each_database;

#[test]
fn an_administrator_makes_a_token_and_revokes_it_on_pages() {
    on_each_database(async |world| {
        let admin = token(&world, Scope::Admin).await;
        let mut browser = Browser::remote(&world);
        browser.sign_in(&admin, "/tokens").await;
        let page = browser.get("/tokens").await.text();
        assert!(page.contains("href=\"/audit\""), "the rail has the pages of administrators");
        let form = |rest: &str| format!("csrf={}&{rest}", csrf(&page));
        let made = browser.submit("/tokens", &form("name=%3Cb%3EAnn&scope=reader&expires_days=30")).await;
        assert_eq!(made.status.as_u16(), 200, "{}", made.text());
        let text = made.text();
        let secret = text.split("id=\"secret\">").nth(1).and_then(|rest| rest.split('<').next()).expect("the secret");
        assert!(secret.starts_with("ww_") && !text.contains("<b>Ann"), "{text}");
        assert!(!browser.get("/tokens").await.text().contains(secret), "shown once");

        let mut reader = Browser::remote(&world);
        assert_eq!(reader.sign_in(secret, "/").await.status.as_u16(), 303);
        assert!(!reader.get("/").await.text().contains("href=\"/tokens\""));
        for uri in ["/tokens", "/audit"] {
            let refused = reader.get(uri).await;
            assert_eq!(refused.status.as_u16(), 403, "{uri}");
            assert!(refused.header("content-type").starts_with("text/html"));
        }

        let rows = world.app.store.tokens().await.expect("the database answers");
        let id = &rows.iter().find(|row| row.name == "<b>Ann").expect("it is listed").id;
        let revoked = browser.submit("/tokens/revoke", &form(&format!("id={id}"))).await;
        assert_eq!((revoked.status.as_u16(), revoked.header("location")), (303, "/tokens"));
        assert_eq!(reader.get("/").await.status.as_u16(), 401, "signed out with the token");
        assert_eq!(browser.submit("/tokens/revoke", &form(&format!("id={id}"))).await.status.as_u16(), 404);
        for wrong in
            ["name=x&scope=king", "name=x&scope=reader&expires_days=soon", "name=x&scope=reader&expires_days=0"]
        {
            assert_eq!(browser.submit("/tokens", &form(wrong)).await.status.as_u16(), 400, "{wrong}");
        }
        assert_eq!(browser.submit("/tokens", "name=x&scope=reader").await.status.as_u16(), 403, "no form of ours");

        let audit = browser.get("/audit").await.text();
        assert!(
            audit.contains("token made") && audit.contains("token revoked") && audit.contains(id.as_str()),
            "{audit}"
        );
        assert_eq!(browser.get("/audit?cursor=x").await.status.as_u16(), 400);
    });
}

#[test]
fn the_pages_of_administrators_are_never_open_without_a_token() {
    on_each_database(async |world| {
        let browser = Browser::local(&world);
        for uri in ["/tokens", "/audit"] {
            assert_eq!(browser.get(uri).await.status.as_u16(), 401, "{uri}");
        }
    });
}
