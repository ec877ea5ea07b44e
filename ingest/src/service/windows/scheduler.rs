//! The task scheduler: the agent as a task at one user's logon, which needs no administrator.

use std::env;
use std::ffi::OsStr;
use std::fs;

use anyhow::{Context as _, anyhow};

use super::{NAME, system_tool};
use crate::service::{Done, Outcome, Plan, Trouble, task, tool};

/// What would be registered.
pub(super) fn text(plan: &Plan) -> Result<String, Trouble> {
    Ok(task::text(plan, &user()?)?)
}

/// Registers the task, or what has changed of it.
pub(super) fn install(plan: &Plan) -> Outcome {
    let folder = tempfile::tempdir().context("failed to make a temporary folder")?;
    let file = folder.path().join("task.xml");
    let bytes = task::bytes(&task::text(plan, &user()?)?);
    fs::write(&file, bytes).with_context(|| format!("failed to write {}", file.display()))?;
    schtasks(["/Create".as_ref(), "/F".as_ref(), "/TN".as_ref(), NAME.as_ref(), "/XML".as_ref(), file.as_os_str()])?;
    Ok(Done::saying(format!(
        "Task {NAME} is registered: the agent starts when you log on. Next:\n  \
         weavewatch enroll --server URL    unless this machine has enrolled\n  \
         weavewatch service start --user\n"
    )))
}

/// Ends the task and takes it away.
pub(super) fn uninstall() -> Outcome {
    // One that does not run cannot be ended, and one that is not there is what is wanted.
    drop(schtasks(["/End", "/TN", NAME]));
    schtasks(["/Delete", "/F", "/TN", NAME])?;
    Ok(Done::saying(format!("Task {NAME} is removed; what the agent remembers stays\n")))
}

/// Starts it now.
pub(super) fn start() -> Outcome {
    schtasks(["/Run", "/TN", NAME])?;
    Ok(Done::saying(format!("Task {NAME} is started\n")))
}

/// Ends it.
pub(super) fn stop() -> Outcome {
    schtasks(["/End", "/TN", NAME])?;
    Ok(Done::saying(format!("Task {NAME} is stopped\n")))
}

/// Shows what the scheduler says. Its words depend on the language of Windows, so they are not understood here.
pub(super) fn status() -> Outcome {
    let said = schtasks(["/Query", "/FO", "LIST", "/TN", NAME])?;
    Ok(Done::saying(said + "\n"))
}

fn schtasks(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> anyhow::Result<String> {
    tool(system_tool("schtasks.exe"), args)
}

/// The user as the scheduler names one.
fn user() -> anyhow::Result<String> {
    let variable = |name| env::var(name).map_err(|error| anyhow!("{name}: {error}"));
    Ok(format!(r"{}\{}", variable("USERDOMAIN")?, variable("USERNAME")?))
}
