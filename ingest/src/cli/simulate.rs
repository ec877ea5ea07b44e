//! What can be typed after `simulate`.

use std::path::PathBuf;

use clap::Args;

/// `weavewatch simulate`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:
  weavewatch simulate --machines 50 --out fleet        50 machines, 30 days: a folder for each
  weavewatch scan fleet                                what their logs say; the truth is passed over
  weavewatch simulate --show-fleet > fleet.toml        the built-in description, every key explained
  weavewatch simulate --fleet fleet.toml --seed 7 --days 90 --out fleet
      a fleet of your own: machines, builds, settings, faults and their rates
  weavewatch simulate --machines 10000 --out - --truth truth.jsonl | weavewatch scan - --count
      as a zip stream, which `scan -` reads; the disk needs no room for the logs

Beside the logs stands the truth: truth.jsonl has one object a log, with the verdict, the
findings that are due and what is behind them; totals.json counts the fleet. The same
description and seed give the same bytes, and each machine is the same in a fleet of any size.")]
pub struct SimulateArgs {
    /// How many machines, 1 to 1000000. Default: what the description says.
    #[arg(long, value_name = "N")]
    pub machines: Option<u64>,
    /// Another seed gives another fleet.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// The description of the fleet, with its machine files beside it. Default: a built-in one.
    #[arg(long, value_name = "FILE")]
    pub fleet: Option<PathBuf>,
    /// How many days. Default: what the description says.
    #[arg(long, value_name = "DAYS")]
    pub days: Option<u32>,
    /// A folder, which must be empty or new; `-` writes a zip stream to standard output.
    #[arg(long, value_name = "DIR|-", required_unless_present = "show_fleet")]
    pub out: Option<PathBuf>,
    /// Where the truth goes, instead of beside the logs.
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// Print the built-in description and end.
    #[arg(long, conflicts_with_all = ["out", "fleet", "machines", "days", "truth"])]
    pub show_fleet: bool,
}
