//! Receive, store, count, answer: the `weavewatch-server` program as a library.
//!
//! A batch comes in through [`router`], is unpacked and checked by `decode`, stored and judged by `store`, and counted
//! by the questions behind `/api/v1/summary`, `/api/v1/logs` and the page. This crate knows nothing of how a log line is
//! spelled (`parser`), what it means (`resolver`) or how a page looks (`dashboards`).

// They panic when the output is closed or full: see `say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod app;
pub mod args;
pub mod auth;
pub mod backup;
pub mod doctor;
pub mod store;

mod at_most;
mod body;
mod connections;
mod decode;
mod demo;
mod enroll;
mod error;
mod evidence;
mod exit;
mod export;
mod health;
mod ingest;
mod logs;
mod machines;
mod openapi;
mod pages;
mod progress;
mod query;
mod refusals;
mod router;
mod say;
mod serve;
mod stop;
mod summary;
mod text;
mod told;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::{Cli, Command, Database, TokenAction};
use exit::Usage;
pub use export::run as export;
pub use openapi::document as openapi;
pub use router::{Route, router, table};
pub use store::Store;
pub use told::{Lost, Told};

/// What the command line asks for, and the exit code that says how it went.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    // Logs go to stderr: stdout is for answers. RUST_LOG changes how much.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none())
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn")))
        // It would tell of a stderr that takes nothing on stderr, and panic.
        .log_internal_errors(false)
        .init();
    let done = start().and_then(|runtime| runtime.block_on(command(cli.command)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::note(format_args!("weavewatch-server: {error:#}"));
            ExitCode::from(exit::code(&error))
        }
    }
}

fn start() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("failed to start the async runtime")
}

async fn command(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve { listen, reserve_mib, database } => serve::run(listen, reserve_mib, database).await,
        Command::Demo { listen } => demo::run(listen).await,
        Command::Migrate { database } => {
            database.open_or_create().await?.close().await;
            say::note(format_args!("schema version {}", Store::schema_version()));
            Ok(())
        }
        Command::Verify { repair, database } => verify::run(repair, database).await,
        Command::Rejudge { all, database } => verify::rejudge(all, database).await,
        Command::Token { action } => token(action).await,
        Command::Export { table, format, file, database } => {
            let store = database.open().await?;
            let rows = export(&store, table, format, &file).await;
            store.close().await;
            say::note(format_args!("{} rows", rows?));
            Ok(())
        }
        Command::Doctor { listen, reserve_mib, format, database } => {
            doctor::run(listen, reserve_mib, format, database).await
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
    let filled = backup::fill(&store, whole).await;
    store.close().await;
    let nuls = filled?;
    say::note(format_args!("{rows} rows of {created}, schema {schema}, now {}", Store::schema_version()));
    if nuls > 0 {
        say::note(format_args!("in {nuls} texts \u{2400} stands for NUL, which PostgreSQL does not take"));
    }
    Ok(())
}

async fn token(action: TokenAction) -> anyhow::Result<()> {
    match action {
        TokenAction::Create { scope, name, database } => {
            if say::is_lost() {
                let why = "failed to make a token: stdout leads nowhere, and a token is shown once only";
                return Err(Usage(why.to_owned()).into());
            }
            let store = database.open_or_create().await?;
            let token = store.create_token(scope, &name).await?;
            say::note(format_args!("token {} of scope {}; it is shown only now:", token.id, scope.as_str()));
            let shown = match say::data(&token.secret) {
                Ok(()) => Ok(()),
                Err(error) => Err(withdraw(&store, &token.id, error).await),
            };
            store.close().await;
            shown
        }
        TokenAction::List { database } => {
            let store = database.open().await?;
            let tokens = store.tokens().await;
            store.close().await;
            let mut lines = vec![format!(
                "{:<8}  {:<9}  {:<24}  {:<24}  {:<32}  name",
                "id", "scope", "created", "revoked", "machine"
            )];
            lines.extend(tokens?.iter().map(|row| {
                let (revoked, name) = (row.revoked.as_deref().unwrap_or("-"), wire::cell::terminal(&row.name));
                let machine = row.machine.as_deref().unwrap_or("-");
                format!("{:<8}  {:<9}  {:<24}  {revoked:<24}  {machine:<32}  {name}", row.id, row.scope, row.created)
            }));
            say::unless_gone(say::data(lines.join("\n"))).context("failed to print the tokens")
        }
        TokenAction::Revoke { id, database } => {
            let store = database.open().await?;
            let found = store.revoke_token(&id).await;
            store.close().await;
            if !found? {
                let why = format!("failed to revoke: no valid token has the id {id}, see `token list`");
                return Err(Usage(why).into());
            }
            say::note(format_args!("revoked {id}"));
            Ok(())
        }
    }
}

/// Nobody has seen the token, so nobody may use it.
async fn withdraw(store: &Store, id: &str, unseen: std::io::Error) -> anyhow::Error {
    let error = anyhow::Error::new(unseen);
    match store.revoke_token(id).await {
        Ok(_) => error.context("failed to print the token, so it was revoked: make another one"),
        Err(also) => error.context(format!("failed to print the token, and to revoke it ({also}): revoke {id} later")),
    }
}
