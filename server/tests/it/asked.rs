//! What the address of a page may say: a slip is told with what was meant, and no link of ours is one.

use std::collections::{BTreeSet, VecDeque};

use crate::summary::fleet;
use crate::world::on_each_database;

#[test]
fn a_misspelt_setting_is_told_with_what_was_meant() {
    on_each_database(async |world| {
        fleet(&world).await;
        // The address, what the page says, the link to the page without it, and the one to what was meant.
        let cases = [
            ("/machines?state=odd&split=off", "state cannot be", "/machines?split=off", None),
            ("/machines?state=kiled", "It can be: killed, flagged.", "/machines", Some("/machines?state=killed")),
            ("/explore?by=zz", "no setting", "/explore", None),
            ("/explore?groupby=day", "no setting", "/explore", Some("/explore?group_by=day")),
            ("/explore?group_by=day,pat", "cannot be", "/explore", Some("/explore?group_by=path")),
            ("/logs?limit=2&split=off&split=of", "no setting", "/logs?split=off", None),
            ("/?split=of", "the address says", "/", Some("/?split=off")),
            ("/compare?by=runtimes", "It can be: runtime, cohort, period.", "/compare", Some("/compare?by=runtime")),
            ("/what-if?policy=adr39", "a policy is", "/what-if", Some("/what-if?policy=adr039")),
            ("/what-if?set=X%3D1", "no rule reads that setting", "/what-if", None),
            ("/triage?state=nwe", "cannot be", "/triage", Some("/triage?state=new")),
            ("/triage?split=off", "It has: q, state, outcome, machine, cursor.", "/triage", None),
            ("/live?x=1", "has no settings in its address", "/live", None),
            ("/health?x=1", "no setting", "/health", None),
            ("/drift?%3Cscript%3E=1", "&#60;script&#62;", "/drift", None),
            ("/embed/days?from=yesterday", "a date such as", "/embed/days", None),
        ];
        for (address, says, without, meant) in cases {
            let answer = world.get(address).await;
            assert_eq!(answer.status.as_u16(), 400, "{address}");
            let page = answer.text().replace("&#38;", "&");
            assert!(page.to_lowercase().contains(&says.to_lowercase()), "{address}: {page}");
            assert!(
                page.contains(&format!("<a href=\"{without}\"><bdi class=\"name\">The same page")),
                "{address}: {page}"
            );
            assert_eq!(world.get(without).await.status.as_u16(), 200, "{without}");
            assert_eq!(page.contains("Did you mean"), meant.is_some(), "{address}: {page}");
            if let Some(meant) = meant {
                assert!(page.contains(&format!("href=\"{meant}\"")), "{address}: {page}");
                assert_eq!(world.get(meant).await.status.as_u16(), 200, "{meant}");
            }
        }
        // An empty field of a form says nothing.
        assert_eq!(world.get("/machines?q=&state=&split=").await.status.as_u16(), 200);
    });
}

#[test]
fn two_sides_that_cannot_be_compared_are_told() {
    on_each_database(async |world| {
        fleet(&world).await;
        let same = world.get("/compare?by=runtime&a=2.13.0&b=2.13.0").await.text();
        assert!(same.contains("Both sides are 2.13.0"), "{same}");
        let unknown = world.get("/compare?by=runtime&a=2.13.0&b=9.9.9").await.text();
        assert!(unknown.contains("No log here is of 9.9.9") && !unknown.contains("<table"), "{unknown}");
    });
}

#[test]
fn no_link_of_a_page_leads_to_a_refusal() {
    // Enough to come to every kind of page and every kind of link.
    const MOST_PAGES: usize = 400;
    on_each_database(async |world| {
        fleet(&world).await;
        let mut seen = BTreeSet::new();
        let mut open: VecDeque<String> =
            ["/", "/machines?state=killed", "/compare", "/what-if?policy=adr039"].map(str::to_owned).into();
        while let Some(address) = open.pop_front() {
            if seen.len() >= MOST_PAGES || !seen.insert(address.clone()) {
                continue;
            }
            let answer = world.get(&address).await;
            assert!(answer.status.is_success(), "{address}: {}", answer.status);
            if !answer.header("content-type").starts_with("text/html") {
                continue;
            }
            let page = answer.text();
            let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let ours = links.map(|link| link.replace("&#38;", "&")).filter(|link| link.starts_with('/'));
            open.extend(ours.filter_map(|link| link.split('#').next().map(str::to_owned)));
        }
        assert!(seen.len() > 100, "{seen:?}");
    });
}
