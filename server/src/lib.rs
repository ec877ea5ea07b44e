//! Receive, store, count, answer: the `weavewatch-server` program as a library.
//!
//! A batch comes in through [`router`], is unpacked and checked by `decode`, stored and judged by `store`, and counted
//! by the questions behind `/api/v1/summary`, `/api/v1/logs` and the page. This crate knows nothing of how a log line is
//! spelled (`parser`), what it means (`resolver`) or how a page looks (`dashboards`).

// They panic when the output is closed or full: see `say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod alerts;
pub mod app;
pub mod args;
pub mod audit;
pub mod auth;
pub mod backup;
pub mod doctor;
pub mod filling;
pub mod limits;
mod live;
pub mod store;

mod at_most;
mod body;
pub mod columnar;
mod compare;
mod connections;
mod costs;
mod csv;
mod dead_letters;
mod decode;
mod demo;
mod drift;
mod enroll;
mod error;
mod evidence;
mod exit;
mod export;
mod first_start;
mod forgery;
mod health;
mod ingest;
mod lately;
mod logs;
mod machines;
mod nearest;
mod new_file;
mod observe;
mod openapi;
mod origin;
mod packed;
mod pages;
mod progress;
mod query;
mod refusals;
mod remembered;
mod replay;
mod reports;
pub mod retention;
mod router;
mod say;
mod serve;
mod sessions;
mod sign_in;
mod starting;
mod stop;
mod summary;
mod telemetry;
mod text;
mod tokens;
mod told;
mod verify;
pub mod what_if;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::{AlertsAction, Cli, Command, Database, LogFormat};
use audit::{Actor, Deed};
use exit::Usage;
pub use export::{export_machine, run as export};
pub use openapi::document as openapi;
pub use remembered::Shows;
pub use reports::{ReportLimits, rejudge as rejudge_reports};
pub use router::{Route, router, table};
pub use store::Store;
pub use told::{Lost, Told};

/// What the command line asks for, and the exit code that says how it went.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    start_log(&cli.command);
    let done = start().and_then(|runtime| runtime.block_on(command(cli.command)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::note(format_args!("weavewatch-server: {error:#}"));
            ExitCode::from(exit::code(&error))
        }
    }
}

/// Logs go to stderr: stdout is for answers. RUST_LOG changes how much.
fn start_log(command: &Command) {
    // Whoever looks around in a demo does not want to read of each request.
    let usual =
        if matches!(command, Command::Demo(_)) { "info,sqlx=warn,weavewatch::request=warn" } else { "info,sqlx=warn" };
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none())
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual)))
        // It would tell of a stderr that takes nothing on stderr, and panic.
        .log_internal_errors(false);
    match command {
        Command::Serve { settings, .. } if settings.log_format == LogFormat::Json => {
            log.json().flatten_event(true).with_span_list(false).init();
        }
        _ => log.init(),
    }
}

fn start() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("failed to start the async runtime")
}

async fn command(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve { settings, database } => serve::run(settings, database).await,
        Command::Prune { dry_run, rebuild, keep, database } => {
            retention::command(&keep, dry_run, rebuild, database).await
        }
        Command::Alerts { action: AlertsAction::Check { file, database } } => alerts::check(&file, database).await,
        Command::Alerts { action: AlertsAction::Test { file, to } } => alerts::test(&file, &to).await,
        Command::Columnar { once, check, columnar, database } => {
            columnar::command(once, check, columnar, database).await
        }
        Command::Demo(settings) => demo::run(settings).await,
        Command::Migrate { database } => {
            database.open_or_create().await?.close().await;
            say::note(format_args!("schema version {}", Store::schema_version()));
            Ok(())
        }
        Command::Verify { repair, database } => verify::run(repair, database).await,
        Command::Rejudge { all, database } => verify::rejudge(all, database).await,
        Command::Token { action } => tokens::command::run(action).await,
        Command::Audit { limit, database } => audit::command(limit, database).await,
        Command::Export { table, format, machine, file, database } => {
            let store = database.open().await?;
            let done = match (machine, table, format) {
                (Some(machine), ..) => export_machine(&store, &machine, &file).await.map(|()| None),
                (None, Some(table), Some(format)) => export(&store, &table, format, &file).await.map(Some),
                (None, ..) => Err(Usage("failed to export: name a table and a format, or a machine".to_owned()).into()),
            };
            store.close().await;
            if let Some(rows) = done? {
                say::note(format_args!("{rows} rows"));
            }
            Ok(())
        }
        Command::Doctor { listen, reserve_mib, format, columnar, database } => {
            doctor::run(listen, reserve_mib, format, &columnar, database).await
        }
        Command::Backup { file, force, database } => {
            let store = database.open_as_it_is().await?;
            let saved = backup::save(&store, &file, force).await;
            store.close().await;
            let saved = saved?;
            say::note(format_args!("{} rows, SHA-256 {}", saved.rows.values().sum::<u64>(), saved.sha256));
            Ok(())
        }
        Command::Restore { file, verify, database } => restore(&file, verify, database).await,
    }
}

async fn restore(file: &Path, verify: bool, database: Database) -> anyhow::Result<()> {
    // The whole file is read before anything is made.
    let whole = backup::check(file).await?;
    let (schema, created) = (whole.header.schema, wire::cell::terminal(&whole.header.created).into_owned());
    if verify {
        let mut lines = vec![format!("whole: schema {schema}, of {created}, SHA-256 {}", whole.footer.sha256)];
        lines.extend(whole.footer.rows.iter().map(|(table, rows)| format!("{rows:>12}  {table}")));
        return say::unless_gone(say::data(lines.join("\n"))).context("failed to print what is in it");
    }
    let rows: u64 = whole.footer.rows.values().sum();
    let store = database.open_empty().await?;
    let mut filled = backup::fill(&store, whole).await;
    if filled.is_ok() {
        let noted = store.note(&Actor::command_line(), Deed::Restored, &format!("backup of {created}"), "done").await;
        filled = noted.context("failed to note the restoration").and(filled);
    }
    store.close().await;
    let nuls = filled?;
    say::note(format_args!("{rows} rows of {created}, schema {schema}, now {}", Store::schema_version()));
    if nuls > 0 {
        say::note(format_args!("in {nuls} texts \u{2400} stands for NUL, which PostgreSQL does not take"));
    }
    Ok(())
}
