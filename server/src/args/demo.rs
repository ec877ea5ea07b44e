//! What can be typed after `demo`.

use std::net::SocketAddr;

use clap::Args;
use jiff::civil::Date;

/// `weavewatch-server demo`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = "What there is to find in the built-in fleet of 30 days:
  - With build 2.14.0 the split fails on one kind of PC: Explore, `Compare two builds, …`.
  - On another kind somebody left the kill switch set: Machines, `With the kill switch still set`.
  - The new build prints a reason that no older one knows: Drift.

Examples:
  weavewatch-server demo                              500 machines; the address comes first, the machines follow
  weavewatch-server demo --machines 60                the same machines as the first 60 of those, in a few seconds
  weavewatch-server demo --seed 7 --days 90           another fleet, three months of it
  weavewatch-server demo --until 2026-11-30           the same days and so the same logs, whenever it runs

`weavewatch simulate` makes the same logs as files, with the truth about each of them beside them.")]
pub struct DemoSettings {
    /// Where to start looking for a free port.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8787")]
    pub listen: SocketAddr,
    /// How many machines; each has about 20 logs in 30 days.
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub machines: u64,
    /// How many days of logs. New builds come, and settings are forgotten, on the first 20 of them.
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub days: u32,
    /// Another seed gives another fleet.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The last day of the logs. Default: yesterday.
    #[arg(long, value_name = "DATE")]
    pub until: Option<Date>,
}
