//! The `weavewatch` program: what it does with files, terminals and the network.
//!
//! The way of a log: [`scan`] finds an input, `triage::scan` makes a report of its bytes, [`show`] prints it. [`watch`] runs the [`agent`] instead, which follows logs and uploads what is new in them;
//! [`enroll`], [`status`], [`flush`], [`preview`] and [`purge`] are the commands around it.
//! [`explain`] and [`diff`] look at one log or two ([`one`]) and print what `triage` says about them; [`replay`] asks the
//! resolver what should have happened, [`cost`] what crossing costs.
//!
//! This crate knows nothing of SQL, HTML or how a log line is spelled.

pub mod agent;
pub mod bundle;
pub mod cli;
pub mod cost;
pub mod diff;
pub mod enroll;
pub mod exit;
pub mod explain;
pub mod flush;
pub mod one;
pub mod own_names;
pub mod preview;
pub mod problems;
pub mod purge;
pub mod replay;
pub mod scan;
pub mod service;
pub mod show;
pub mod simulate;
pub mod source;
pub mod status;
pub mod watch;

mod ahead;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

/// Runs the program with the arguments of this process. Wrong usage ends the process with code 2.
pub fn run() -> Exit {
    match Cli::parse().command {
        Command::Scan(args) => scan::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Cost(args) => cost::run(&args),
        Command::Bundle(args) => bundle::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Enroll(args) => enroll::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Flush(args) => flush::run(&args),
        Command::Preview(args) => preview::run(&args),
        Command::Purge(args) => purge::run(&args),
        Command::Service(args) => service::run(&args),
    }
}
