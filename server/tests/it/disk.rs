//! A disk that is full, nearly full, or full no more; and a database that fails for a while.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use axum::body::Body;
use server::app::State;
use server::store::{Place, Store};
use sqlx::{AssertSqlSafe, Connection, Executor};
use wire::{Batch, Kind, Observation};

use crate::sample::{Sample, batch, event, log_id, machine};
use crate::world::{Answer, World, connect, on_each_database, on_each_place, request};

/// More than the connections that a server holds: each of them may have met the trouble.
const OFTEN: u32 = 20;

/// A small disk of its own; needs root.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path) -> Option<Self> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"]).arg(at).output();
        let done = mount.is_ok_and(|output| output.status.success());
        done.then(|| Self(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily, because a connection may still be closing.
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{} stays mounted", self.0.display());
    }
}

async fn world(place: Place, reserve_bytes: u64) -> World {
    let store = Store::open(&place).await.expect("the database opens");
    store.migrate().await.expect("the schema fits");
    World::of(State { reserve_bytes, ..State::new(store) }, place).await
}

/// A batch that takes half a megabyte in the database.
fn large(name: &'static str) -> Batch {
    let mut segment = Sample { name, ..Sample::default() }.segment();
    segment.end = 1_000_000;
    // Digits that nothing shortens: the rows are packed.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    segment.observations.extend((0..1_000).map(|n| {
        let mut digits = String::new();
        while digits.len() < 1_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            write!(digits, "{:08x}", random >> 32).expect("text takes everything");
        }
        let window = event(1_000 + n, 100 + n, Kind::Window, "w", &[]);
        Observation::Event(wire::Event { function: Some(digits), ..window })
    }));
    batch(1, vec![segment])
}

async fn send(world: &World, batch: &Batch) -> Answer {
    world.post(None, serde_json::to_vec(batch).expect("plain data")).await
}

async fn ready(world: &World) -> Answer {
    world.send(request("GET", "/readyz", None, Body::empty())).await
}

#[test]
fn a_full_disk_is_told_and_forgotten_when_there_is_room() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(disk) = Disk::mount(folder.path()) else {
        eprintln!("not run: a disk that is small enough to fill needs root and the right to mount");
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let world = world(Place::File(disk.0.join("server.sqlite")), 0).await;
        let before = Sample { name: "before.log", ..Sample::default() };
        assert_eq!(send(&world, &batch(1, vec![before.segment()])).await.status, 200);
        let rows = world.rows().await;

        let ballast = disk.0.join("ballast");
        let mut file = File::create(&ballast).expect("a new file");
        while file.write_all(&[0; 4096]).is_ok() {}
        for _ in 0..OFTEN {
            let answer = send(&world, &large("after.log")).await;
            answer.assert_problem(507);
            assert_eq!(answer.header("retry-after"), "60");
        }
        assert_eq!(world.rows().await, rows, "nothing of it is stored");

        std::fs::remove_file(&ballast).expect("it is ours");
        drop(file);
        for _ in 0..OFTEN {
            assert_eq!(ready(&world).await.status, 200);
            assert_eq!(send(&world, &large("after.log")).await.status, 200);
        }
        let rows = world.rows().await;
        for (name, records) in [("before.log", 1), ("after.log", 1_001)] {
            let id = server::store::log_id(&machine(1), &log_id(name));
            // The log and its reason are rows, too.
            assert_eq!(rows.iter().filter(|row| row.starts_with(&id)).count(), 2 + records, "{name}");
        }
        world.app.store.close().await;
    });
}

#[test]
fn uploads_are_refused_before_the_disk_is_full() {
    on_each_place(async |place| {
        let has_disk = matches!(place, Place::File(_));
        let world = world(place, u64::MAX).await;
        let small = batch(1, vec![Sample::default().segment()]);
        if has_disk {
            send(&world, &small).await.assert_problem(507);
            ready(&world).await.assert_problem(507);
            assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 0, "reading needs no room");
        } else {
            assert_eq!(send(&world, &small).await.status, 200, "PostgreSQL looks after its own disk");
            assert_eq!(ready(&world).await.status, 200);
        }
        world.app.store.close().await;
    });
}

#[test]
fn readiness_is_a_write() {
    on_each_database(async |world| {
        assert_eq!(ready(&world).await.status, 200);
        let mut owner = connect(&world.place).await;
        owner.execute("drop table readiness").await.expect("it is ours");
        owner.close().await.expect("it closes");
        assert!(world.app.store.can_read().await.is_ok());
        assert!(world.app.store.can_write().await.is_err());
        // One that has just worked is not asked for again.
        *world.app.last_write.lock().await = None;
        assert!(ready(&world).await.status.is_server_error());
    });
}

#[test]
fn what_postgresql_cannot_do_for_now_is_told_as_such_and_passes() {
    on_each_database(async |world| {
        if matches!(world.place, Place::File(_)) {
            return;
        }
        let mut owner = connect(&world.place).await;
        let small = batch(1, vec![Sample::default().segment()]);
        for (code, status) in [("53100", 507), ("53200", 503), ("40001", 503), ("57P01", 503), ("22000", 500)] {
            let fail = format!(
                "create or replace function fail() returns trigger language plpgsql as
                 $$ begin raise exception 'on purpose' using errcode = '{code}'; end $$"
            );
            owner.execute(AssertSqlSafe(fail)).await.expect("a function");
            owner
                .execute("create trigger fail before insert on log_ranges for each row execute function fail()")
                .await
                .expect("a trigger");
            for _ in 0..OFTEN {
                send(&world, &small).await.assert_problem(status);
            }
            owner.execute("drop trigger fail on log_ranges").await.expect("it is ours");
            assert_eq!(send(&world, &small).await.status, 200, "{code}");
            owner.execute("delete from log_ranges").await.expect("they are ours");
        }
        owner.close().await.expect("it closes");
    });
}
