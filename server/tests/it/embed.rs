//! The pages `/embed/{chart}`: one picture each, which sites that the server was told of may show in a frame.

use axum::http::StatusCode;
use server::app::State;
use server::store::Store;

use crate::sample::{Sample, batch};
use crate::summary::fleet;
use crate::world::{Answer, World, on_each_database, on_each_place};

/// Who may frame it, as the policy says; nothing else in it differs from that of other pages.
fn ancestors(answer: &Answer) -> String {
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self';"), "{policy}");
    policy.split("frame-ancestors ").nth(1).unwrap_or_default().to_owned()
}

#[test]
fn each_picture_stands_alone_with_its_finding_and_its_filters() {
    on_each_database(async |world| {
        fleet(&world).await;
        let whole = world.get("/?split=off").await.text();
        for name in dashboards::EMBEDDED {
            let answer = world.get(&format!("/embed/{name}?split=off")).await;
            assert_eq!(answer.status, StatusCode::OK, "{name}");
            let page = answer.text();
            let title = page.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).expect("a heading");
            assert!(whole.contains(&format!("<figcaption>{title}</figcaption>")), "{name}: {title}");
            assert!(whole.contains(&format!("href=\"/embed/{name}?split=off\"")), "{name}");
            // Its data too: the same picture.
            let data = page.split("<script type=\"application/json\">").nth(1).expect("a picture");
            let data = data.split("</script>").next().expect("it ends");
            assert!(whole.contains(data), "{name}");
            assert!(
                page.contains(&format!("href=\"/?split=off#{name}\"")) && page.contains("as of <time datetime=\"2")
            );
            for (mark, count) in
                [("<figure", 1), ("<h1", 1), ("<main", 1), ("<nav", 0), ("<form", 0), ("class=\"rail\"", 0)]
            {
                assert_eq!(page.matches(mark).count(), count, "{name}: {mark}");
            }
        }
        let none = world.get("/embed/pairs?exe=nobody.exe").await.text();
        assert!(none.contains("<h1>No log fits these filters</h1>") && !none.contains("<figure"), "{none}");
        for (uri, status) in [("/embed/weather", 404), ("/embed/Days", 404), ("/embed/days?split=nonsense", 400)] {
            let answer = world.get(uri).await;
            assert_eq!(answer.status.as_u16(), status, "{uri}");
            assert!(answer.header("content-type").starts_with("text/html"), "{uri}");
        }
    });
}

#[test]
fn an_empty_server_has_no_pictures_and_a_hostile_name_no_power() {
    on_each_database(async |world| {
        for name in dashboards::EMBEDDED {
            assert!(world.get(&format!("/embed/{name}")).await.text().contains("<h1>No logs yet</h1>"), "{name}");
        }
        let exe = "</script><script>alert(1)</script>\u{202e}.exe";
        world.upload(&batch(1, vec![Sample { exe, ..Sample::default() }.segment()])).await;
        for name in dashboards::EMBEDDED {
            let page = world.get(&format!("/embed/{name}")).await.text();
            assert!(page.contains("<figure") && !page.contains("<script>alert"), "{name}: {page}");
        }
    });
}

#[test]
fn only_this_page_and_only_for_sites_that_were_named() {
    on_each_place(async |place| {
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        let embed_from = vec!["https://wiki.example".to_owned(), "http://wall:8080".to_owned()];
        let world = World::of(State { embed_from, ..State::new(store) }, place).await;
        for uri in ["/embed/days", "/embed/weather"] {
            let answer = world.get(uri).await;
            assert_eq!(ancestors(&answer), "'self' https://wiki.example http://wall:8080", "{uri}");
            assert_eq!(answer.header("x-frame-options"), "", "{uri}");
        }
        for uri in ["/", "/logs", "/sign-in", "/embed"] {
            let answer = world.get(uri).await;
            assert_eq!((ancestors(&answer).as_str(), answer.header("x-frame-options")), ("'none'", "DENY"), "{uri}");
        }
        // Whoever has to sign in does it in a window of their own.
        let stranger = world.send(crate::world::request("GET", "/embed/days", None, "".into())).await;
        assert_eq!(stranger.status, StatusCode::UNAUTHORIZED);
        assert_eq!((ancestors(&stranger).as_str(), stranger.header("x-frame-options")), ("'none'", "DENY"));
        world.app.store.close().await;
    });
    on_each_database(async |world| {
        let answer = world.get("/embed/days").await;
        assert_eq!((ancestors(&answer).as_str(), answer.header("x-frame-options")), ("'self'", ""));
    });
}
