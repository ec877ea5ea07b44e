//! `weavewatch purge`: deletes what waits on this machine and asks the server to delete what it holds of it.

use reqwest::Method;
use wire::Deleted;

use crate::agent::config::Config;
use crate::agent::home::Credential;
use crate::agent::memory::Memory;
use crate::agent::upload::{Failure, Uploader};
use crate::agent::{machine, rejected, runtime};
use crate::cli::PurgeArgs;
use crate::exit::Exit;
use crate::problems::say;
use crate::show;
use crate::status::is_running;

/// Runs the command.
pub fn run(args: &PurgeArgs) -> Exit {
    let mut config = match Config::of_state(&args.state) {
        Ok(config) => config,
        Err(error) => {
            say(format_args!("{error:#}"));
            return Exit::Usage;
        }
    };
    config.take(&args.server);
    config.token = args.token.clone().or(config.token);
    // Asked before anything is deleted, so that wrong usage changes nothing.
    let credential = if args.local_only {
        None
    } else {
        match config.credential() {
            Ok(credential) => Some(credential),
            Err(error) => {
                say(format_args!(
                    "no server can be asked to delete anything ({error:#}); --local-only deletes what waits here"
                ));
                return Exit::Usage;
            }
        }
    };
    if is_running(&config.home) {
        say("the agent is running and would send more: stop it first");
        return Exit::Unreadable;
    }
    let here = match here(&config) {
        Ok(bytes) => bytes,
        Err(error) => {
            say(format_args!("{error:#}"));
            return Exit::Unreadable;
        }
    };
    let printed = show::text(&format!("deleted here: {here} bytes that waited\n"));
    let Some(credential) = credential else { return show::done(printed) };
    match there(&config, &credential) {
        Ok(logs) => show::done(printed.and_then(|()| show::text(&format!("deleted on the server: {logs} logs\n")))),
        Err(error) => {
            say(format_args!("failed to delete on the server: {error:#}; run it again, or say --local-only"));
            Exit::Server
        }
    }
}

/// Bytes that waited. The positions stay, so that what was purged is not read again.
fn here(config: &Config) -> anyhow::Result<u64> {
    if !config.home.path().is_dir() {
        return Ok(0);
    }
    let (mut memory, notes) = Memory::open(&config.home, config.queue_bytes, config.when_full)?;
    for note in &notes {
        say(note);
    }
    let bytes = memory.queue_bytes();
    memory.purge()?;
    rejected::purge(&config.home)?;
    Ok(bytes)
}

/// Logs that the server deleted.
fn there(config: &Config, credential: &Credential) -> anyhow::Result<u64> {
    let uploader = Uploader::new(&credential.server, &config.way, &credential.token)?;
    let machine = machine::pseudonym(config.home.path())?;
    let request = async {
        uploader
            .call::<Deleted>(Method::DELETE, &["machines", &machine], None::<&()>)
            .await
            .map_err(Failure::into_error)
    };
    Ok(runtime()?.block_on(request)?.logs)
}
