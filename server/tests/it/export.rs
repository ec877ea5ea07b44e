//! Tables as files: every row, and no formulas.

use server::args::{Format, Table};
use wire::Heartbeat;

use crate::sample::{Sample, batch};
use crate::summary::fleet;
use crate::told::loss;
use crate::world::on_each_database;

#[test]
fn logs_and_events_are_written_whole() {
    on_each_database(async |world| {
        fleet(&world).await;
        let formula = Sample { name: "=1+1.log", exe: "@SUM(A1)", ..Sample::default() };
        let mut told = batch(4, vec![formula.segment()]);
        told.agent = "@SUM(A1)".to_owned();
        told.heartbeat = Some(Heartbeat { queue_bytes: 5, ..Heartbeat::default() });
        told.losses = vec![loss(Some("=1+1.log"), "+truncated", 3, 2), loss(None, "queue_full", 0, 1)];
        world.upload(&told).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (table, rows) in [(Table::Logs, 8), (Table::Events, 8), (Table::Machines, 4), (Table::Losses, 2)] {
            let csv = folder.path().join(format!("{table:?}.csv"));
            assert_eq!(server::export(&world.app.store, table, Format::Csv, &csv).await.expect("it is written"), rows);
            let text = std::fs::read_to_string(&csv).expect("UTF-8");
            assert_eq!(text.lines().count() as u64, rows + 1, "{text}");
            let parquet = folder.path().join(format!("{table:?}.parquet"));
            let written = server::export(&world.app.store, table, Format::Parquet, &parquet).await;
            assert_eq!(written.expect("it is written"), rows);
            assert!(std::fs::read(&parquet).expect("it exists").starts_with(b"PAR1"));
        }
        let logs = std::fs::read_to_string(folder.path().join("Logs.csv")).expect("UTF-8");
        assert!(logs.contains(",'=1+1.log,") && logs.contains(",'@SUM(A1),"), "{logs}");
        assert!(logs.contains(",\"presenter_ineligible,weave_on_ingest\","), "{logs}");
        let machines = std::fs::read_to_string(folder.path().join("Machines.csv")).expect("UTF-8");
        assert!(machines.contains(",'@SUM(A1),1,") && machines.contains(r#"""queue_bytes"":5"#), "{machines}");
        let losses = std::fs::read_to_string(folder.path().join("Losses.csv")).expect("UTF-8");
        assert!(losses.contains(",'=1+1.log,'+truncated,3,2") && losses.contains(",,,queue_full,0,1"), "{losses}");
    });
}
