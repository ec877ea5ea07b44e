//! `weavewatch enroll`: shows what this machine will send, asks its owner, and trades the enrolment secret for a credential
//! that is valid for this machine only.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use anyhow::{Context as _, anyhow, bail};
use reqwest::Method;
use wire::{ENROLL_SCHEMA, Enroll, Enrolled};

use crate::agent::config::Config;
use crate::agent::home::{Credential, Enrolment};
use crate::agent::reader;
use crate::agent::upload::{Failure, Uploader};
use crate::agent::{machine, runtime};
use crate::cli::EnrollArgs;
use crate::exit::Exit;
use crate::problems::say;
use triage::escape;

use crate::show;

/// Runs the command.
pub fn run(args: &EnrollArgs) -> Exit {
    match prepare(args) {
        Ok(prepared) => trade(args, prepared),
        Err(error) => {
            say(format_args!("{error:#}"));
            Exit::Usage
        }
    }
}

struct Prepared {
    config: Config,
    machine: String,
    uploader: Uploader,
    server: reqwest::Url,
}

fn prepare(args: &EnrollArgs) -> anyhow::Result<Prepared> {
    let mut config = Config::of_enrolment(&args.state)?;
    config.take(&args.server);
    if !args.dirs.is_empty() {
        config.dirs.clone_from(&args.dirs);
    }
    // `watch` may be started from anywhere.
    for path in config.dirs.iter_mut().chain(config.way.ca.as_mut()) {
        *path = std::path::absolute(&path).with_context(|| format!("failed to find {}", path.display()))?;
    }
    let server = config.server.clone().context("--server is missing: the address of weavewatch-server")?;
    let uploader = Uploader::new(&server, &config.way, &args.secret.0)?;
    config.home.create()?;
    let machine = machine::pseudonym(config.home.path())?;
    Ok(Prepared { config, machine, uploader, server })
}

fn trade(args: &EnrollArgs, prepared: Prepared) -> Exit {
    let Prepared { config, machine, uploader, server } = prepared;
    let terms = terms(&config, &machine, server.as_str());
    if let Err(error) = show::text(&terms) {
        say(format_args!("failed to print what will be sent: {error}; nothing was agreed"));
        return Exit::Unreadable;
    }
    match agreed(args.yes) {
        Ok(true) => {}
        Ok(false) => {
            say("not enrolled; nothing is sent");
            return Exit::Usage;
        }
        Err(error) => {
            say(format_args!("{error:#}"));
            return Exit::Usage;
        }
    }
    let question = Enroll {
        schema: ENROLL_SCHEMA.to_owned(),
        machine: machine.clone(),
        agent: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let ready = config.home.can_keep().and_then(|()| runtime()).map_err(|error| (Exit::Unreadable, error));
    let answer = ready.and_then(|runtime| {
        runtime
            .block_on(uploader.call::<Enrolled>(Method::POST, &["enroll"], Some(&question)))
            .map_err(|failure| (Exit::Server, advised(failure)))
    });
    let kept = answer.and_then(|enrolled| {
        if enrolled.machine != machine {
            return Err((Exit::Server, anyhow!("the server answered for another machine")));
        }
        let credential = Credential { server, token: enrolled.token };
        let crate::cli::ServerArgs { server: _, ca, proxy, allow_http } = config.way;
        let enrolment = Enrolment { credential, dirs: config.dirs, ca, proxy, allow_http };
        config.home.keep(&enrolment).map_err(|error| (Exit::Unreadable, error))
    });
    match kept {
        Ok(()) => show::done(show::text(
            "enrolled; `weavewatch watch` sends from now on, `weavewatch purge` deletes what was sent\n",
        )),
        Err((exit, error)) => {
            say(format_args!("failed to enrol: {error:#}"));
            exit
        }
    }
}

/// What went wrong, and where the secret comes from when it may be that.
fn advised(failure: Failure) -> anyhow::Error {
    let settings = matches!(failure, Failure::Settings(_));
    let error = failure.into_error();
    if !settings {
        return error;
    }
    anyhow!(
        "{error:#}. The secret comes from the owner of the server: `weavewatch-server token create --scope enrolment`"
    )
}

/// What the owner agrees to.
fn terms(config: &Config, machine: &str, server: &str) -> String {
    let mut text = format!(
        "This machine will send to {server}:
  - Typed events of the DisplayXR logs: which adapters render and scan out, whether the weave was split, and what the
    runtime says about it. No raw lines.
  - Names and process ids of the logs' programs, names, sizes and totals of the logs, the time zone.
  - The state of this agent: version, queue, losses, configuration.
User names, host names, e-mail addresses and secrets of command lines are taken out before anything is kept for sending.
The machine is known as {machine}, made from random bits that stay here. The folders:
"
    );
    for folder in reader::folders(config) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {}", escape::terminal(&folder.path.to_string_lossy()));
    }
    text.push_str("`weavewatch preview` prints the very bytes of the next upload.\n");
    text
}

fn agreed(yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        bail!("nobody can be asked here; look at the terms above and say --yes to agree");
    }
    let mut stderr = std::io::stderr();
    write!(stderr, "Agree? [y/N] ").and_then(|()| stderr.flush()).context("failed to ask")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("failed to read the answer")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
