//! What differs is named, what is repaired is right, and what newer rules judge moves the counts exactly.

use server::store::Store;
use sqlx::{AssertSqlSafe, Executor};
use wire::{ScanReport, Split};

use crate::sample::{Sample, batch, log_id, machine};
use crate::summary::fleet;
use crate::world::{World, connect, on_each_database};

/// The differences as `row column`.
async fn differences(store: &Store) -> Vec<String> {
    let mut found = Vec::new();
    let mut tell =
        |difference: server::store::Difference| found.push(format!("{} {}", difference.row, difference.column));
    let done = store.verify(|_| (), &mut tell).await.expect("the database answers");
    assert_eq!(done.differences, found.len() as u64);
    found
}

async fn execute(world: &World, sql: &str) {
    let mut connection = connect(&world.place).await;
    let done = connection.execute(AssertSqlSafe(sql.to_owned())).await.expect("it is taken");
    assert!(done.rows_affected() > 0, "{sql}");
}

async fn repair(store: &Store) {
    let found = store.verify(|_| (), &mut |_| ()).await.expect("the database answers");
    store.repair(&found, |_| ()).await.expect("the database answers");
}

/// The id of the first log of machine 1.
fn first_log() -> String {
    server::store::log_id(&machine(1), &log_id("a.log"))
}

#[test]
fn a_row_that_was_changed_by_hand_is_named_and_repaired() {
    on_each_database(async |world| {
        fleet(&world).await;
        let store = &world.app.store;
        assert_eq!(differences(store).await, Vec::<String>::new());
        let (answer, rows) = (world.json("/api/v1/summary?group_by=reason").await, world.rows().await);
        let log = first_log();
        let (pc, unknown) = (machine(1), machine(77));
        for (sql, expected) in [
            (format!("update logs set split = 'engaged' where id = '{log}'"), format!("log {log} split")),
            (format!("update logs set day = null, started_s = 0 where id = '{log}'"), format!("log {log} day")),
            (format!("update logs set missing_bytes = 7 where id = '{log}'"), format!("log {log} missing_bytes")),
            (format!("update logs set gpu_pair = 'x' where id = '{log}'"), format!("log {log} gpu_pair")),
            (format!("update logs set cohort = null where id = '{log}'"), format!("log {log} cohort")),
            (format!("update logs set topology = null where id = '{log}'"), format!("log {log} topology")),
            (format!("update logs set situation = null where id = '{log}'"), format!("log {log} situation")),
            (format!("update logs set settings = '{{}}' where id = '{log}'"), format!("log {log} settings")),
            (
                format!(
                    "insert into log_drift (log, kind, what, build, records, line, example)
                     values ('{log}', 'token', 'x', null, 1, 2, '')"
                ),
                format!("log {log} drift"),
            ),
            (format!("delete from log_reasons where log = '{log}'"), format!("log {log} reasons")),
            (
                format!(
                    "update logs set report = replace(report, '\"killed\":true', '\"killed\":false') where id = '{log}'"
                ),
                format!("log {log} report.verdict"),
            ),
            (format!("update logs set report = 'x' where id = '{log}'"), format!("log {log} report")),
            (
                format!("update log_costs set told_bus_megabytes_low = 7 where log = '{log}'"),
                format!("log {log} told_bus_megabytes_low"),
            ),
            (
                format!("delete from log_costs where log = '{log}'"),
                format!("log_costs {log} what it copies of the log"),
            ),
            (
                format!("update log_costs set crossing = 'none' where log = '{log}'"),
                format!("log_costs {log} what it copies of the log"),
            ),
            (
                "update cost_days set logs = logs + 1 where day = '2026-09-14'".to_owned(),
                "cost_days \"2026-09-14\"".to_owned(),
            ),
            (
                "update rollups set killed = killed + 1 where dimension = 'path' and day = 'all'".to_owned(),
                "rollups \"path\" \"=unknown\" \"all\" killed".to_owned(),
            ),
            (
                "update rollups set machines = 9 where dimension = '' and day = '2026-09-14'".to_owned(),
                "rollups \"\" \"\" \"2026-09-14\" machines".to_owned(),
            ),
            (
                "delete from rollups where dimension = 'split' and value = '=off' and day = 'all'".to_owned(),
                "rollups \"split\" \"=off\" \"all\" logs".to_owned(),
            ),
            (
                "update rollups set value = '=metal' where dimension = 'path' and day = 'all'".to_owned(),
                "rollups \"path\" \"=metal\" \"all\" logs".to_owned(),
            ),
            (
                format!(
                    "delete from rollup_machines where dimension = 'exe' and machine = '{pc}' and value = '=Game.exe'"
                ),
                format!("rollup_machines \"exe\" \"=Game.exe\" \"{pc}\" 323 days"),
            ),
            (
                format!("update rollup_machines set machine = '{unknown}' where dimension = '' and machine = '{pc}'"),
                format!("rollup_machines \"\" \"\" \"{unknown}\" 323 days"),
            ),
            (
                format!("update rollup_machines set bits = bits + 1 where dimension = '' and machine = '{pc}'"),
                format!("rollup_machines \"\" \"\" \"{pc}\" 323 bits"),
            ),
        ] {
            execute(&world, &sql).await;
            let found = differences(store).await;
            assert!(found.iter().any(|own| own.starts_with(&expected)), "{sql}: {found:?}");
            // A verdict that was changed by hand was never counted, so nothing else is wrong.
            assert!(found.len() <= 40, "{sql}: {found:?}");
            repair(store).await;
            assert_eq!(differences(store).await, Vec::<String>::new(), "{sql}");
            assert_eq!(
                (world.json("/api/v1/summary?group_by=reason").await, world.rows().await),
                (answer.clone(), rows.clone())
            );
        }
    });
}

#[test]
fn a_verdict_by_other_rules_is_no_difference_and_rejudge_keeps_it() {
    on_each_database(async |world| {
        fleet(&world).await;
        let store = &world.app.store;
        let rows = world.rows().await;
        let log = first_log();
        let stored = store.log(&log).await.expect("the database answers").expect("it is there");
        assert_eq!(stored.rules, i64::from(resolver::RULES));
        assert_eq!(store.logs_to_judge(false).await.expect("the database answers"), 0);

        // As if older rules had not known what the reason means.
        let mut former = ScanReport { ..stored.report.clone() };
        (former.verdict.split, former.verdict.killed) = (Split::Unknown, false);
        let json = serde_json::to_string(&former).expect("plain data").replace('\'', "''");
        execute(
            &world,
            &format!(
                "update logs set rules = 0, split = 'unknown', killed = 0, outcome = 'unknown', report = '{json}'
                 where id = '{log}'"
            ),
        )
        .await;
        execute(&world, &format!("update logs set rules = 0 where machine = '{}'", machine(3))).await;
        store.rebuild_rollups().await.expect("the database answers");
        assert_eq!(differences(store).await, Vec::<String>::new(), "other rules may say something else");
        assert_eq!(world.json("/api/v1/summary").await["total"]["killed"], 2);
        assert_eq!(store.logs_to_judge(false).await.expect("the database answers"), 3);

        let step = store.rejudge("", false).await.expect("the database answers").expect("logs wait");
        assert_eq!((step.logs, step.changed), (3, 1));
        assert_eq!(store.rejudge(&step.last, false).await.expect("the database answers"), None);
        assert_eq!(store.logs_to_judge(false).await.expect("the database answers"), 0);
        assert_eq!(world.json("/api/v1/summary").await["total"]["killed"], 3);
        assert_eq!(world.rows().await, rows);
        assert_eq!(differences(store).await, Vec::<String>::new());

        let shown = world.json(&format!("/api/v1/logs/{log}")).await;
        assert_eq!(shown["rules"], resolver::RULES);
        assert_eq!(shown["history"].as_array().map(Vec::len), Some(1));
        assert_eq!(shown["history"][0]["rules"], 0);
        assert_eq!(shown["history"][0]["report"], serde_json::to_value(&former).expect("plain data"));
        assert!(shown["history"][0]["replaced"].as_str().is_some_and(|time| time.ends_with('Z')));
        // All of them once more: the same rules say the same.
        let step = store.rejudge("", true).await.expect("the database answers").expect("there are logs");
        assert_eq!((step.logs, step.changed), (7, 0));
        assert_eq!(world.json(&format!("/api/v1/logs/{log}")).await["history"].as_array().map(Vec::len), Some(1));
    });
}

#[test]
fn rules_and_uploads_at_the_same_time_leave_exact_counts() {
    on_each_database(async |world| {
        let world = std::sync::Arc::new(world);
        let uploads: Vec<_> = (0..16_u32)
            .map(|n| {
                let world = world.clone();
                tokio::spawn(async move {
                    for name in ["a.log", "b.log", "c.log"] {
                        let mut segment = Sample { name, split: u64::from(n % 2), ..Sample::default() }.segment();
                        segment.end += u64::from(n);
                        world.upload(&batch(n % 5, vec![segment])).await;
                    }
                })
            })
            .collect();
        let mut judged = 0;
        while !uploads.iter().all(tokio::task::JoinHandle::is_finished) {
            judged +=
                world.app.store.rejudge("", true).await.expect("the database answers").map_or(0, |step| step.logs);
            if judged % 3 == 0 {
                world
                    .app
                    .store
                    .delete_machine(&machine(4), &server::audit::Actor::command_line())
                    .await
                    .expect("the database answers");
            }
        }
        for upload in uploads {
            upload.await.expect("no panic");
        }
        assert!(judged > 0, "they met");
        assert_eq!(differences(&world.app.store).await, Vec::<String>::new());
    });
}
