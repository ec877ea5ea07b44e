//! What can be typed after `service`: the commands that let the system start the agent.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `weavewatch service`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:
  weavewatch service install --user       start with this user's session; needs no administrator
  weavewatch service start --user
  weavewatch service install              for the whole machine, as administrator or root
  weavewatch service install --print      only show what would be installed

Windows: a service that runs as LocalService, or a task at this user's logon with --user.
Linux: a systemd unit. Elsewhere, and without systemd, let your own supervisor run
`weavewatch watch`. `weavewatch status` tells how the agent itself fares.")]
pub struct ServiceArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: ServiceAction,
}

/// The commands below `service`.
#[derive(Subcommand, Debug)]
pub enum ServiceAction {
    /// Let the system start the agent, now and after each start of the machine.
    Install(InstallArgs),
    /// Take that back. The agent's own folder stays.
    Uninstall(ScopeArgs),
    /// Start it now.
    Start(ScopeArgs),
    /// Stop it until the next start of the machine.
    Stop(ScopeArgs),
    /// Say whether it runs; ends with code 3 when it does not.
    Status(ScopeArgs),
    /// What the service manager of Windows calls.
    #[command(hide = true)]
    Run(RunArgs),
}

/// For whom.
#[derive(Args, Clone, Copy, Debug)]
pub struct ScopeArgs {
    /// For this user only, which needs no administrator.
    #[arg(long)]
    pub user: bool,
}

/// `weavewatch service install`.
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// For whom.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// The agent's configuration, a TOML file. Default: weavewatch.toml in /etc/weavewatch or
    /// %ProgramData%\Weavewatch; with --user in weavewatch in the user's folder for configuration, if it is there.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Only print what would be installed.
    #[arg(long)]
    pub print: bool,
}

/// `weavewatch service run`.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// As with `watch`.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// As with `watch`.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
