//! Which tables can be exported. A new table of the schema is a line here, or one of [`HELD_BACK`] with the reason: a test
//! looks for tables that are in neither.

use crate::auth::Scope;

/// What can be exported.
const TABLES: &[Export] = &[
    // Prepared for people: one row a log, an event, a PC, a kind of loss.
    read("logs", Rows::Logs),
    read("events", Rows::Events),
    read("machines", Rows::Machines),
    read("losses", Rows::Losses),
    // As they are stored.
    // Their text is in `/api/v1/dead-letters`: here it would be packed.
    read("dead_letters", Rows::Plain { without: &["body"] }),
    read("log_ranges", Rows::Plain { without: &[] }),
    read("log_costs", Rows::Plain { without: &[] }),
    read("log_reasons", Rows::Plain { without: &[] }),
    read("log_drift", Rows::Plain { without: &[] }),
    // What logs tell of their PCs: `logs` has the ids.
    read("cohorts", Rows::Plain { without: &[] }),
    read("topologies", Rows::Plain { without: &[] }),
    read("situations", Rows::Plain { without: &[] }),
    read("rollups", Rows::Plain { without: &[] }),
    read("cost_days", Rows::Plain { without: &[] }),
    read("verdict_history", Rows::Plain { without: &[] }),
    // Without the packed files and documents, which `/api/v1/reports/{id}` reads out.
    read("reports", Rows::Plain { without: &[] }),
    read("report_notes", Rows::Plain { without: &[] }),
    read("report_files", Rows::Plain { without: &["body"] }),
    read("report_logs", Rows::Plain { without: &["explained", "page", "observations"] }),
    // The reason of a failure names whom it did not reach.
    read("alerts", Rows::Plain { without: &["error"] }),
    Export { name: "audit", needs: Scope::Admin, rows: Rows::Plain { without: &[] } },
    Export { name: "tokens", needs: Scope::Admin, rows: Rows::Plain { without: &["hash"] } },
];

/// Tables of the schema that nobody exports, and why.
#[cfg(test)]
const HELD_BACK: &[(&str, &str)] = &[
    ("readiness", "one row without meaning, written to see whether it can be"),
    ("sessions", "who is signed in now, by the hash of what their browser holds"),
    ("rollup_machines", "days by machine, from which `rollups` is kept"),
    ("columnar_days", "random marks, which only the columnar copy compares"),
    ("changes", "random marks, by which a server knows that its pages are old"),
    ("machine_revisions", "counters, by which a server knows which machines' logs it has to read anew"),
    ("identity", "the database's name in its columnar copies"),
    ("alert_messages", "messages on their way, with addresses of e-mail"),
    ("leases", "which server does a kind of work at the moment"),
];

/// One table.
#[derive(Debug)]
pub(super) struct Export {
    /// As it is asked for.
    pub(super) name: &'static str,
    /// Who may: reader stands for everybody who may read.
    pub(super) needs: Scope,
    pub(super) rows: Rows,
}

/// Where the rows come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows {
    Logs,
    Events,
    Machines,
    Losses,
    /// The table of this name, all columns but these.
    Plain {
        without: &'static [&'static str],
    },
}

const fn read(name: &'static str, rows: Rows) -> Export {
    Export { name, needs: Scope::Reader, rows }
}

/// The names that can be asked for.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|export| export.name)
}

/// The table of a name.
pub(super) fn find(name: &str) -> Option<&'static Export> {
    TABLES.iter().find(|export| export.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::Schema;

    #[tokio::test]
    async fn every_table_can_be_exported_or_is_held_back_for_a_reason() {
        let schema = Schema::newest().await.expect("the migrations run");
        let held_back = HELD_BACK.iter().map(|(name, _)| *name);
        let known: BTreeSet<_> = names().chain(held_back).collect();
        let forgotten: Vec<_> = schema.tables.iter().filter(|table| !known.contains(table.name.as_str())).collect();
        assert!(forgotten.is_empty(), "a line in TABLES or HELD_BACK is missing: {forgotten:?}");
        for export in TABLES.iter().filter(|export| matches!(export.rows, Rows::Plain { .. })) {
            let table = schema.table(export.name).unwrap_or_else(|| panic!("there is no table {}", export.name));
            for column in table.columns.iter().filter(|column| column.name.contains("hash")) {
                let Rows::Plain { without } = export.rows else { unreachable!("it was asked") };
                assert!(without.contains(&column.name.as_str()), "{} shows {}", export.name, column.name);
            }
        }
    }
}
