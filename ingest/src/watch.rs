//! `weavewatch watch --once`: sends what the logs of this machine say to a server, each byte range once.
//!
//! Every log is cut into byte ranges with the events whose records start there. Ranges go out in batches; what the
//! server has acknowledged is remembered in the state folder, and only then. So a crash at any point repeats a range,
//! which the server takes as nothing new, and never leaves one out.

mod batch;
mod logs;
mod machine;
mod segments;
mod state;
mod upload;

use std::io::{self, Write as _};

use anyhow::Context as _;

use crate::cli::WatchArgs;
use crate::exit::Exit;
use crate::problems::Problems;
use crate::reading::BUFFER_BYTES;
use crate::source;

use batch::Sender;
use state::State;
use upload::Uploader;

/// Runs the command.
pub fn run(args: &WatchArgs) -> Exit {
    let problems = Problems::new(indicatif::ProgressBar::hidden());
    let dirs = if args.dirs.is_empty() { source::runtime_folder().into_iter().collect() } else { args.dirs.clone() };
    if dirs.is_empty() {
        problems.unreadable("log folder", "neither XDG_DATA_HOME nor HOME nor LOCALAPPDATA is set; give --dir");
        return problems.exit();
    }
    let opened = State::open(&args.state, &problems)
        .context("failed to open the state folder; give another one with --state, or make it writable")
        .and_then(|state| Ok((machine::pseudonym(&args.state)?, state)));
    let (machine, state) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            problems.unreadable(&args.state.to_string_lossy(), format_args!("{error:#}"));
            return problems.exit();
        }
    };
    let uploader = match Uploader::new(args, &problems) {
        Ok(uploader) => uploader,
        Err(error) => {
            problems.note(format_args!("{error:#}"));
            return Exit::Server.max(problems.exit());
        }
    };
    let found = logs::find(&dirs, &args.state, &problems);
    let mut sender = Sender::new(machine, state, uploader, &problems);
    let mut buffer = vec![0; BUFFER_BYTES];
    let gave_up = found.logs.iter().any(|log| sender.log(log, &mut buffer).is_err());
    let (done, exit) = sender.finish(gave_up);
    let all = found.logs.len() as u64;
    let left = all - done.sent - done.unchanged - done.refused;
    // The summary is for people; a closed standard output is not worth an error.
    let _ = writeln!(
        io::stdout(),
        "{all} {}: {} sent with {} events, {} unchanged, {} refused, {left} left for the next run; {} other files",
        if all == 1 { "log" } else { "logs" },
        done.sent,
        done.observations,
        done.unchanged,
        done.refused,
        found.others
    );
    exit.max(problems.exit())
}
