//! `weavewatch watch`: follows this machine's logs and sends what they say to a server, each byte range once.
//!
//! Two halves share one memory on disk ([`agent`](crate::agent)): a thread reads, the main thread sends. With `--once` both
//! end when everything that was there is acknowledged.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use indicatif::ProgressBar;

use crate::agent::config::Config;
use crate::agent::home::Credential;
use crate::agent::memory::{Memory, View};
use crate::agent::reader::{self, Read};
use crate::agent::sender::{self, Sent};
use crate::agent::shared::Shared;
use crate::agent::upload::Uploader;
use crate::agent::{background, machine, runtime};
use crate::cli::WatchArgs;
use crate::exit::Exit;
use crate::problems::Problems;
use crate::show;

/// A request that is under way when the agent is asked to end may still be answered for so long.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the command: until everything is sent with `--once`, else until the process is asked to end.
pub fn run(args: &WatchArgs) -> Exit {
    run_until(args, asked_to_end)
}

/// Runs the agent until what `listen` answers is done, for a service manager that has its own way to say so. `listen` is
/// called before anything is said or read.
pub fn run_until<E: Future<Output = ()>>(args: &WatchArgs, listen: impl FnOnce() -> E) -> Exit {
    let problems = Problems::new(ProgressBar::hidden());
    let prepared = Config::of_watch(args)
        .and_then(|config| {
            let credential = config.credential()?;
            let uploader = Uploader::new(&credential.server, &config.way, &credential.token)?;
            Ok((config, credential, uploader))
        })
        .map_err(|error| (Exit::Usage, error))
        .and_then(|(config, credential, uploader)| {
            let opened = Memory::open(&config.home, config.queue_bytes, config.when_full)
                .and_then(|(memory, notes)| Ok((machine::pseudonym(config.home.path())?, memory, notes, runtime()?)));
            let (machine, memory, notes, runtime) = opened.map_err(|error| (Exit::Unreadable, error))?;
            for note in &notes {
                problems.note(note);
            }
            Ok((config, credential, uploader, machine, memory, runtime))
        });
    let (config, credential, uploader, machine, memory, runtime) = match prepared {
        Ok(prepared) => prepared,
        Err((exit, error)) => {
            problems.note(format_args!("{error:#}"));
            return exit;
        }
    };
    let end = {
        let _inside = runtime.enter();
        listen()
    };
    let shared = Shared::new(config, machine, problems, memory, credential.server.as_str());
    if !shared.config.once {
        shared.problems.note(format_args!("following the logs of this machine for {}", credential.server));
    }
    shared.say(|live| live.last_error = None);
    if !shared.config.once {
        background::prefer_others();
    }
    let (read, sent) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            if !shared.config.once {
                background::prefer_others_in_this_thread();
            }
            reader::run(&shared)
        });
        let sent = runtime.block_on(send(&shared, credential, uploader, end));
        shared.stop();
        // A thread that panicked has said so; what it read is safe or is read again.
        (reading.join().ok(), sent)
    });
    sum_up(&shared, read, &sent)
}

/// Sends until `end`, and then finishes what is under way.
async fn send(shared: &Shared, credential: Credential, uploader: Uploader, end: impl Future<Output = ()>) -> Sent {
    let mut sending = pin!(sender::run(shared, credential, uploader));
    tokio::select! {
        sent = &mut sending => return sent,
        () = end => shared.stop(),
    }
    tokio::time::timeout(GRACE, sending).await.unwrap_or_default()
}

/// Done on ctrl-c, and on SIGTERM where there is one. Listens from the call on, not from when it is waited for: a signal
/// that comes before anybody listens kills the process on the spot.
fn asked_to_end() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let (interrupt, terminate) = {
        use tokio::signal::unix::{SignalKind, signal};
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    };
    #[cfg(windows)]
    let (interrupt, terminate) = (tokio::signal::windows::ctrl_c(), tokio::signal::windows::ctrl_close());
    async {
        // What cannot be listened for never comes: the process then ends as the system ends it.
        tokio::select! {
            Some(()) = async { interrupt.ok()?.recv().await } => {}
            Some(()) = async { terminate.ok()?.recv().await } => {}
            else => std::future::pending().await,
        }
    }
}

/// The exit code, and with `--once` a line for people.
fn sum_up(shared: &Shared, read: Option<Read>, sent: &Sent) -> Exit {
    let Some(read) = read else { return Exit::Unreadable };
    if !shared.config.once {
        // It did what it was asked to: follow until it is asked to end. What went wrong on the way is in `status`.
        return Exit::Done;
    }
    let exit = sent.exit.max(shared.problems.exit()).max(if read.disk_failed { Exit::Unreadable } else { Exit::Done });
    let waiting = View::of(&shared.config.home, 0).map(|view| view.waiting).unwrap_or_default();
    let left = waiting.len() as u64 + read.left;
    let whole: BTreeSet<&String> =
        sent.logs.iter().filter(|log| !waiting.contains(*log) && !sent.rejected.contains(*log)).collect();
    let (whole, refused) = (whole.len() as u64, sent.rejected.len() as u64);
    let line = format!(
        "{} {}: {whole} sent with {} events, {} unchanged, {refused} refused, {left} left for the next run; {} other files\n",
        read.logs,
        if read.logs == 1 { "log" } else { "logs" },
        sent.events,
        read.logs.saturating_sub(whole + refused + left),
        read.others
    );
    // The line is for people; a closed standard output is not worth an error.
    let _ = show::text(&line);
    exit
}
