//! Receive, store, count, answer: the `weavewatch-server` program as a library.
//!
//! A batch comes in through [`router`], is unpacked and checked by `decode`, stored and judged by `store`, and counted
//! by the questions behind `/api/v1/summary`, `/api/v1/logs` and the page. This crate knows nothing of how a log line is
//! spelled (`parser`), what it means (`resolver`) or how a page looks (`dashboards`).

pub mod app;
pub mod args;
pub mod auth;
pub mod store;

mod decode;
mod demo;
mod error;
mod evidence;
mod export;
mod health;
mod ingest;
mod logs;
mod pages;
mod query;
mod router;
mod serve;
mod summary;
mod text;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::{Cli, Command, TokenAction};
pub use export::run as export;
pub use router::{Route, router, table};
pub use store::Store;

/// What the command line asks for, and the exit code that says how it went.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    // Logs go to stderr: stdout is for answers. RUST_LOG changes how much.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none())
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn")))
        .init();
    let done = start().and_then(|runtime| runtime.block_on(command(cli.command)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weavewatch-server: {error:#}");
            ExitCode::from(if error.is::<serve::CannotListen>() { 4 } else { 1 })
        }
    }
}

fn start() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("failed to start the async runtime")
}

async fn command(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve { listen, database } => serve::run(listen, database).await,
        Command::Demo { listen } => demo::run(listen).await,
        Command::Migrate { database } => {
            let store = serve::open(database).await?;
            println!("schema version {}", Store::schema_version());
            store.close().await;
            Ok(())
        }
        Command::Token { action } => token(action).await,
        Command::Export { table, format, file, database } => {
            let store = serve::open(database).await?;
            let rows = export(&store, table, format, &file).await?;
            store.close().await;
            println!("{rows} rows");
            Ok(())
        }
    }
}

async fn token(action: TokenAction) -> anyhow::Result<()> {
    match action {
        TokenAction::Create { scope, name, database } => {
            let store = serve::open(database).await?;
            let token = store.create_token(scope, &name).await?;
            store.close().await;
            eprintln!("token {} of scope {}; it is shown only now:", token.id, scope.as_str());
            println!("{}", token.secret);
        }
        TokenAction::List { database } => {
            let store = serve::open(database).await?;
            println!("{:<8}  {:<7}  {:<24}  {:<24}  name", "id", "scope", "created", "revoked");
            for row in store.tokens().await? {
                let revoked = row.revoked.as_deref().unwrap_or("-");
                println!("{:<8}  {:<7}  {:<24}  {revoked:<24}  {}", row.id, row.scope, row.created, row.name);
            }
            store.close().await;
        }
        TokenAction::Revoke { id, database } => {
            let store = serve::open(database).await?;
            let found = store.revoke_token(&id).await?;
            store.close().await;
            anyhow::ensure!(found, "failed to revoke: no valid token has this id, see `token list`");
            println!("revoked {id}");
        }
    }
    Ok(())
}
