//! `weavewatch flush`: everything that is there goes to the server now, and the command ends when that is acknowledged.
//!
//! A running agent is asked to do it; without one the command does it itself, as `watch --once` would.

use std::time::{Duration, Instant};

use crate::agent::config::Config;
use crate::agent::home::write_whole;
use crate::agent::live::Live;
use crate::cli::{FlushArgs, WatchArgs};
use crate::exit::Exit;
use crate::problems::say;
use crate::show;
use crate::status::is_running;
use crate::watch;

/// Runs the command.
pub fn run(args: &FlushArgs) -> Exit {
    let config = match Config::of_state(&args.state) {
        Ok(config) => config,
        Err(error) => {
            say(format_args!("{error:#}"));
            return Exit::Usage;
        }
    };
    if !is_running(&config.home) {
        return watch::run(&WatchArgs { once: true, state: args.state.clone(), ..WatchArgs::default() });
    }
    let wish = format!("{}-{}", std::process::id(), getrandom::u64().unwrap_or_default());
    if let Err(error) = write_whole(&config.home.flush_wish(), wish.as_bytes(), false) {
        say(format_args!("failed to write {}: {error}", config.home.flush_wish().display()));
        return Exit::Unreadable;
    }
    let patience = Instant::now() + Duration::from_secs(args.timeout);
    loop {
        let live = Live::read(&config.home);
        if let Some(flushed) = live.flush.filter(|flushed| flushed.wish == wish) {
            if flushed.done {
                return show::done(show::text("everything is acknowledged\n"));
            }
            let why = live.last_error.map_or_else(|| "the server took nothing".to_owned(), |error| error.what);
            say(format_args!("{why}"));
            return Exit::Server;
        }
        if Instant::now() >= patience {
            let _ = std::fs::remove_file(config.home.flush_wish());
            say(format_args!("not acknowledged within {} s; `weavewatch status` says why", args.timeout));
            return Exit::Server;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
