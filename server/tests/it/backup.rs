//! A backup holds everything, of one moment, and fits both databases; a damaged one is refused before anything is made.

use std::collections::BTreeSet;
use std::path::Path;

use server::auth::Scope;
use server::backup::{self, Footer};
use server::store::{Place, Store};
use sqlx::{AssertSqlSafe, Executor};
use wire::Heartbeat;

use crate::sample::{Sample, batch};
use crate::summary::fleet;
use crate::told::{everything_of, loss};
use crate::world::{World, connect, each_place, on_each_database, on_each_place};

/// The lines of a backup without the first and the last, which have the time in them.
fn lines(file: &Path) -> Vec<String> {
    let packed = std::fs::File::open(file).expect("it was written");
    let text = String::from_utf8(zstd::decode_all(packed).expect("zstd")).expect("UTF-8");
    let all: Vec<_> = text.lines().map(str::to_owned).collect();
    all[1..all.len() - 1].to_vec()
}

async fn save(store: &Store, file: &Path) -> Footer {
    backup::save(store, file, false).await.expect("it is written")
}

/// Everything a reader can ask that does not change by asking.
async fn answers(world: &World) -> Vec<serde_json::Value> {
    let mut answers = Vec::new();
    for question in ["summary", "summary?group_by=day&group_by=reason", "logs?limit=500", "machines"] {
        answers.push(world.json(&format!("/api/v1/{question}")).await);
    }
    for log in answers[2]["items"].as_array().expect("a list").clone() {
        answers.push(world.json(&format!("/api/v1/logs/{}", log["id"].as_str().expect("an id"))).await);
    }
    answers
}

/// Machines, logs, losses, heartbeats, tokens, and texts and numbers at their limits.
async fn fill(world: &World) {
    fleet(world).await;
    let odd = "\u{1b}[2J \u{2400}\u{2028}\u{feff} \"\\'; -- \r\n{\"hex\":\"00\"} \u{10ffff}";
    let mut told = batch(4, vec![Sample { name: "odd.log", exe: odd, ..Sample::default() }.segment()]);
    told.heartbeat = Some(Heartbeat { slowed: Some(odd.to_owned()), ..Heartbeat::default() });
    told.losses = vec![loss(Some(odd), odd, 3, 2), loss(None, "most", i64::MAX.unsigned_abs(), 0)];
    world.upload(&told).await;
    let mut connection = connect(&world.place).await;
    let sql = format!(
        "update logs set missing_bytes = {}, end_offset = {}, gpu_pair = '' where exe like '%hex%'",
        i64::MIN,
        i64::MAX
    );
    let changed = connection.execute(AssertSqlSafe(sql)).await.expect("it is taken").rows_affected();
    assert_eq!(changed, 1);
}

#[test]
fn what_is_restored_is_what_was_saved_on_either_database() {
    on_each_database(async |world| {
        fill(&world).await;
        let token = world.app.store.create_token(Scope::Admin, "owner").await.expect("a token");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.backup");
        save(&world.app.store, &file).await;
        let (rows, expected, machine_rows) =
            (world.rows().await, answers(&world).await, everything_of(&world, 4).await);
        assert!(machine_rows > 3, "{machine_rows}");
        each_place(|place| {
            let (file, token, folder) = (&file, &token, folder.path());
            let (rows, expected) = (&rows, &expected);
            async move {
                let store = Store::open(&place).await.expect("it opens");
                let whole = backup::check(file).await.expect("it is whole");
                assert_eq!(backup::fill(&store, whole).await.expect("it is taken"), 0, "texts with NUL");
                let again = folder.join(if matches!(place, Place::File(_)) { "sqlite" } else { "postgres" });
                save(&store, &again).await;
                assert_eq!(lines(&again), lines(file), "the same rows in the same order");
                let caller = store.caller(&token.secret).await.expect("it answers").expect("the token is valid");
                assert_eq!((caller.token, caller.scope), (token.id.clone(), Scope::Admin));
                let world = World::of(server::app::State::new(store), place).await;
                assert_eq!(&world.rows().await, rows);
                assert_eq!(&answers(&world).await, expected);
                assert_eq!(everything_of(&world, 4).await, machine_rows);
                world.upload(&batch(9, vec![Sample::default().segment()])).await;
                world.app.store.close().await;
            }
        })
        .await;
    });
}

#[test]
fn no_table_is_forgotten() {
    on_each_database(async |world| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let footer = save(&world.app.store, &folder.path().join("a.backup")).await;
        let mut connection = connect(&world.place).await;
        // The database itself is asked, not the migrations.
        let sql = match world.place {
            Place::File(_) => "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
            Place::Postgres(_) => "select cast(tablename as text) from pg_tables where schemaname = current_schema()",
        };
        let tables: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await.expect("it answers");
        let there: BTreeSet<_> = tables.into_iter().filter(|table| table != "_sqlx_migrations").collect();
        let saved: BTreeSet<_> = footer.rows.into_keys().collect();
        assert_eq!(saved, there);
    });
}

#[test]
fn text_with_nul_survives_where_it_can() {
    on_each_place(async |place| {
        if matches!(place, Place::Postgres(_)) {
            return;
        }
        let store = Store::open(&place).await.expect("it opens");
        store.migrate().await.expect("the schema fits");
        store.create_token(Scope::Reader, "a\0b").await.expect("SQLite takes it");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.backup");
        save(&store, &file).await;
        store.close().await;
        each_place(|place| {
            let file = &file;
            async move {
                let (name, nuls) = if matches!(place, Place::File(_)) { ("a\0b", 0) } else { ("a\u{2400}b", 1) };
                let store = Store::open(&place).await.expect("it opens");
                let whole = backup::check(file).await.expect("it is whole");
                assert_eq!(backup::fill(&store, whole).await.expect("it is taken"), nuls);
                assert_eq!(store.tokens().await.expect("it answers")[0].name, name);
                store.close().await;
            }
        })
        .await;
    });
}

#[test]
fn a_backup_is_of_one_moment_although_uploads_go_on() {
    on_each_database(async |world| {
        let world = std::sync::Arc::new(world);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let uploads = {
            let world = world.clone();
            tokio::spawn(async move {
                for number in 1..=60 {
                    world.upload(&batch(number, vec![Sample::default().segment()])).await;
                }
            })
        };
        let mut sizes = BTreeSet::new();
        for number in 0.. {
            let rows = save(&world.app.store, &folder.path().join(number.to_string())).await.rows;
            let of = |table: &str| rows[table];
            // A machine, its log, the range of it and its one reason come together or not at all.
            assert_eq!(
                (of("logs"), of("log_ranges"), of("log_reasons")),
                (of("machines"), of("machines"), of("machines"))
            );
            sizes.insert(of("logs"));
            if uploads.is_finished() {
                break;
            }
        }
        uploads.await.expect("no panic");
        assert!(sizes.len() > 1, "something came in between: {sizes:?}");
    });
}

#[test]
fn only_an_empty_database_is_filled_and_only_from_a_whole_file() {
    on_each_place(async |place| {
        let world = World::open(place.clone()).await;
        fill(&world).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.backup");
        save(&world.app.store, &file).await;
        let rows = world.rows().await;
        let whole = backup::check(&file).await.expect("it is whole");
        let error = backup::fill(&world.app.store, whole).await.expect_err("it is full");
        assert!(error.to_string().contains("not empty"), "{error}");
        assert_eq!(world.rows().await, rows);

        let again = backup::save(&world.app.store, &file, false).await.expect_err("there is one");
        assert!(again.to_string().contains("--force"), "{again}");
        backup::save(&world.app.store, &file, true).await.expect("it is replaced");
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(left.len(), 1, "nothing else is left behind: {left:?}");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("it exists").permissions());
            assert_eq!(mode & 0o777, 0o600);
        }

        // A row that does not fit is found by the database only: nothing stays behind.
        let lines = String::from_utf8(zstd::decode_all(std::fs::File::open(&file).expect("it exists")).expect("zstd"));
        let lines = lines.expect("UTF-8");
        let whole = std::fs::read(&file).expect("it exists");
        let damaged = folder.path().join("damaged.backup");
        for (bytes, place_of_it) in [(&whole[..whole.len() / 2], "cut"), (lines.as_bytes(), "unpacked"), (&[], "empty")]
        {
            std::fs::write(&damaged, bytes).expect("there is room");
            assert!(backup::check(&damaged).await.is_err(), "{place_of_it}");
        }
        world.app.store.close().await;
    });
}

#[test]
fn a_file_that_changes_between_check_and_restore_leaves_the_database_empty() {
    on_each_database(async |world| {
        fill(&world).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.backup");
        save(&world.app.store, &file).await;
        each_place(|place| {
            let (file, folder) = (&file, folder.path());
            async move {
                let copy = folder.join("copy.backup");
                std::fs::copy(file, &copy).expect("there is room");
                let whole = backup::check(&copy).await.expect("it is whole");
                let size = copy.metadata().expect("it exists").len();
                std::fs::File::options()
                    .write(true)
                    .open(&copy)
                    .and_then(|file| file.set_len(size - 9))
                    .expect("it is cut");
                let store = Store::open(&place).await.expect("it opens");
                assert!(backup::fill(&store, whole).await.is_err());
                store.close().await;
                assert_eq!(Store::look(&place).await.expect("it answers"), server::store::Found::Nothing);
            }
        })
        .await;
    });
}
