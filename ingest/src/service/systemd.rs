//! The commands of `service` on Linux: a unit file, and `systemctl` for the rest.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use super::{Done, Outcome, Plan, Trouble, tool, unit};
use crate::cli::RunArgs;

const UNIT: &str = "weavewatch.service";

/// For the machine the one place, which the unit names whether it is there or not: what to follow has to be said there.
pub(super) fn default_config(user: bool) -> Option<PathBuf> {
    if user {
        config_folder().map(|folder| folder.join("weavewatch/weavewatch.toml")).filter(|path| path.exists())
    } else {
        Some("/etc/weavewatch/weavewatch.toml".into())
    }
}

/// What `install` would write.
pub(super) fn text(plan: &Plan) -> Result<String, Trouble> {
    Ok(unit::text(plan)?)
}

/// Writes the unit and says which commands follow. It starts nothing: the agent wants to be enrolled first.
pub(super) fn install(plan: &Plan) -> Outcome {
    let homes = ["/home", "/root"];
    if !plan.user && homes.iter().any(|home| plan.program.starts_with(home)) {
        return Err(Trouble::Refused(format!(
            "{}: the service's own account cannot enter a home; put the program into /usr/local/bin and run that one, \
             or install it for yourself with --user",
            plan.program.display()
        )));
    }
    let path = unit_path(plan.user)?;
    write(&path, &unit::text(plan)?)?;
    let next = if plan.user {
        "  weavewatch enroll --server URL            unless this machine has enrolled\n  \
           systemctl --user daemon-reload\n  \
           systemctl --user enable --now weavewatch\n  \
           loginctl enable-linger                    to run also while you are not logged in\n"
    } else {
        "  weavewatch enroll --server URL --state /var/lib/weavewatch    unless this machine has enrolled\n  \
           systemctl daemon-reload\n  \
           systemctl enable --now weavewatch\n"
    };
    let config = match &plan.config {
        Some(config) if !config.exists() => {
            format!("  say in {} which folders to follow, such as dirs = ['/srv/logs']\n", config.display())
        }
        _ => String::new(),
    };
    let nobody = if is_running() { "" } else { "systemd does not run here, so nothing will start it for now.\n" };
    let said = format!("{} is written. Next:\n{config}{next}{nobody}", path.display());
    Ok(Done::saying(said))
}

/// Stops it and takes the unit away.
pub(super) fn uninstall(user: bool) -> Outcome {
    let path = unit_path(user)?;
    if !path.exists() {
        return Ok(Done::saying(format!("{} is not there; nothing to do\n", path.display())));
    }
    let mut missing = Vec::new();
    if is_running() {
        // One that was never enabled or started is gone already as far as this goes.
        if let Err(error) = systemctl(user, &["disable", "--now", UNIT]) {
            missing.push(format!("failed to stop it: {error:#}"));
        }
    }
    fs::remove_file(&path).map_err(|error| not_allowed(error, &path))?;
    if is_running()
        && let Err(error) = systemctl(user, &["daemon-reload"])
    {
        missing.push(format!("{error:#}"));
    }
    Ok(Done { said: format!("{} is removed; what the agent remembers stays\n", path.display()), missing })
}

/// Starts it now.
pub(super) fn start(user: bool) -> Outcome {
    control(user, "start", "is started")
}

/// Stops it.
pub(super) fn stop(user: bool) -> Outcome {
    control(user, "stop", "is stopped")
}

/// Says whether it runs.
pub(super) fn status(user: bool) -> Outcome {
    wanted(user)?;
    match systemctl(user, &["is-active", UNIT]) {
        Ok(word) => Ok(Done::saying(format!("{UNIT}: {word}\n"))),
        Err(error) => Ok(Done { said: String::new(), missing: vec![format!("{UNIT} does not run: {error:#}")] }),
    }
}

/// Only the service manager of Windows calls this.
pub(super) fn run(_: &RunArgs) -> Outcome {
    Err(Trouble::Refused("this is for the service manager of Windows; here use `weavewatch watch`".to_owned()))
}

fn control(user: bool, verb: &str, done: &str) -> Outcome {
    wanted(user)?;
    systemctl(user, &[verb, UNIT])?;
    Ok(Done::saying(format!("{UNIT} {done}\n")))
}

/// Refuses where there is nobody to ask, or nothing to ask for.
fn wanted(user: bool) -> Result<(), Trouble> {
    if !is_running() {
        return Err(Trouble::Refused(
            "systemd does not run here; let the supervisor of this system run `weavewatch watch`".to_owned(),
        ));
    }
    let path = unit_path(user)?;
    if path.exists() {
        return Ok(());
    }
    let user = if user { " --user" } else { "" };
    Err(Trouble::Refused(format!("{} is not there; run `weavewatch service install{user}` first", path.display())))
}

/// True where systemd is the system's first process; the folder is its own sign of that.
fn is_running() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

fn systemctl(user: bool, args: &[&str]) -> anyhow::Result<String> {
    tool("systemctl", user.then_some("--user").into_iter().chain(args.iter().copied()))
}

fn unit_path(user: bool) -> anyhow::Result<PathBuf> {
    if !user {
        return Ok(Path::new("/etc/systemd/system").join(UNIT));
    }
    let folder = config_folder().ok_or_else(|| anyhow!("neither XDG_CONFIG_HOME nor HOME is set"))?;
    Ok(folder.join("systemd/user").join(UNIT))
}

fn config_folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")))
}

fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    let folder = path.parent().context("a unit lies in a folder")?;
    fs::create_dir_all(folder).map_err(|error| not_allowed(error, folder))?;
    fs::write(path, text).map_err(|error| not_allowed(error, path))
}

/// What only root may do is the caller's choice, everything else is trouble.
fn not_allowed(error: io::Error, path: &Path) -> Trouble {
    if error.kind() == io::ErrorKind::PermissionDenied {
        let path = path.display();
        return Trouble::Refused(format!("{path}: only root may change it; use sudo, or --user for yourself only"));
    }
    Trouble::Failed(anyhow::Error::from(error).context(format!("failed to change {}", path.display())))
}
