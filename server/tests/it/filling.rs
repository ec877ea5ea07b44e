//! A demo that fills says so on every page, and no page of it is ever old.

use std::sync::Arc;

use server::Store;
use server::app::State;
use server::filling::Filling;
use server::store::Place;

use crate::sample::{Sample, batch};
use crate::world::World;

const PAGES: [&str; 5] = ["/", "/logs", "/machines", "/live", "/explore?group_by=path"];

#[test]
fn pages_say_how_many_machines_are_here_until_all_are() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Place::File(folder.path().join("demo.sqlite"));
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        let filling = Arc::new(Filling::new(1_200));
        let world = World::of(State::for_demo(store, filling.clone()), place).await;
        let page = async |uri: &str| world.get(uri).await.text();
        for number in 1..=3 {
            world.upload(&batch(number, vec![Sample::default().segment()])).await;
            // Stored, and not counted yet: this page must not be kept.
            assert!(page("/").await.contains(&format!("Demo: {} of 1,200 machines are here", number - 1)));
            assert_eq!(filling.one_more(), u64::from(number));
            for uri in PAGES {
                let page = page(uri).await;
                assert!(page.contains(&format!("Demo: {number} of 1,200 machines are here")), "{uri}: {page}");
            }
        }
        for _ in 3..1_200 {
            filling.one_more();
        }
        for uri in PAGES {
            let page = page(uri).await;
            assert!(!page.contains("filling"), "{uri}: {page}");
        }
        world.app.store.close().await;
    });
}
