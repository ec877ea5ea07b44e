//! Tables as files: every row, and no formulas.

use server::args::{Format, Table};

use crate::sample::{Sample, batch};
use crate::summary::fleet;
use crate::world::on_each_database;

#[test]
fn logs_and_events_are_written_whole() {
    on_each_database(async |world| {
        fleet(&world).await;
        let formula = Sample { name: "=1+1.log", exe: "@SUM(A1)", ..Sample::default() };
        world.upload(&batch(4, vec![formula.segment()])).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (table, rows) in [(Table::Logs, 8), (Table::Events, 8)] {
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
    });
}
