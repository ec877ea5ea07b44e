//! The service manager: how Weavewatch is registered there, and its start, stop and state.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use windows_service::Error;
use windows_service::service::{
    Service, ServiceAccess, ServiceAction, ServiceActionType, ServiceErrorControl, ServiceFailureActions,
    ServiceFailureResetPeriod, ServiceInfo, ServiceSidType, ServiceStartType, ServiceState, ServiceType,
};
use windows_service::service_manager::{ServiceManager, ServiceManagerAccess};

use super::{NAME, access, own_folder};
use crate::service::{Done, Outcome, Plan, Trouble};

/// An account that may do less than a user. Its rights on files come from the service's own identity, see [`access`].
const ACCOUNT: &str = r"NT AUTHORITY\LocalService";
const DESCRIPTION: &str = "Sends what DisplayXR logs say about the weave, as typed events, to the server of its owner.";
/// Seconds to wait before the first restart, the second and all others, and until an old failure is forgotten.
const RESTART_S: [u64; 3] = [5, 30, 300];
const FORGET_S: u64 = 24 * 60 * 60;
/// Longer than the agent takes to end: it drains what it has in its hands.
const PATIENCE: Duration = Duration::from_secs(40);

// What Windows answers.
const ACCESS_DENIED: i32 = 5;
const ALREADY_RUNNING: i32 = 1056;
const NO_SUCH_SERVICE: i32 = 1060;
const NOT_RUNNING: i32 = 1062;
const EXISTS: i32 = 1073;

/// What would be registered, in words.
pub(super) fn text(plan: &Plan) -> Result<String, Trouble> {
    let info = info(plan, &state()?);
    let words: Vec<_> = info.launch_arguments.iter().map(|word| word.to_string_lossy()).collect();
    Ok(format!(
        "Service {NAME}\n  program  {}\n  options  {}\n  account  {ACCOUNT}\n  start    automatic (delayed)\n  restart  after {} s, {} s, {} s\n",
        info.executable_path.display(),
        words.join(" "),
        RESTART_S[0],
        RESTART_S[1],
        RESTART_S[2],
    ))
}

/// Registers the service, or what has changed of it.
pub(super) fn install(plan: &Plan) -> Outcome {
    let state = state()?;
    let manager = manager(ServiceManagerAccess::CONNECT | ServiceManagerAccess::CREATE_SERVICE)?;
    // Restarting on failure needs the right to start.
    let rights = ServiceAccess::CHANGE_CONFIG | ServiceAccess::START;
    let info = info(plan, &state);
    let service = match manager.create_service(&info, rights) {
        Err(error) if code(&error) == Some(EXISTS) => {
            let service = manager.open_service(NAME, rights).map_err(trouble)?;
            service.change_config(&info).map_err(trouble)?;
            service
        }
        created => created.map_err(trouble)?,
    };
    let mut missing = Vec::new();
    let mut attempt = |what: &str, done: anyhow::Result<()>| {
        if let Err(error) = done {
            missing.push(format!("installed, but failed to {what}: {error:#}"));
        }
    };
    attempt("describe it", service.set_description(DESCRIPTION).map_err(words));
    attempt("delay its start", service.set_delayed_auto_start(true).map_err(words));
    attempt("have it restarted", service.update_failure_actions(recovery()).map_err(words));
    attempt("have it restarted after an error", service.set_failure_actions_on_non_crash_failures(true).map_err(words));
    let identity = service.set_config_service_sid_info(ServiceSidType::Unrestricted);
    attempt("give it an identity of its own", identity.map_err(words));
    attempt("give it a folder of its own", access::own(&state));
    let folders = access::log_folders();
    for folder in &folders {
        attempt("let it read logs", access::read(folder));
    }
    let opened: Vec<_> = folders.iter().map(|folder| folder.path.display().to_string()).collect();
    let said = format!(
        "Service {NAME} is installed. It may now read these folders; install again when there is a new user:\n  {}\n\
         Next:\n  weavewatch enroll --server URL --state \"{}\"    unless this machine has enrolled\n  \
         weavewatch service start\n",
        opened.join("\n  "),
        state.display()
    );
    Ok(Done { said, missing })
}

/// Stops the service and takes it away, with its rights on log folders.
pub(super) fn uninstall() -> Outcome {
    let manager = manager(ServiceManagerAccess::CONNECT)?;
    let rights = ServiceAccess::QUERY_STATUS | ServiceAccess::STOP | ServiceAccess::DELETE;
    let service = match manager.open_service(NAME, rights) {
        Err(error) if code(&error) == Some(NO_SUCH_SERVICE) => {
            return Ok(Done::saying(format!("Service {NAME} is not installed; nothing to do\n")));
        }
        opened => opened.map_err(trouble)?,
    };
    end(&service)?;
    // While the service is registered its identity has a name.
    let missing = access::log_folders().into_iter().filter_map(|folder| access::take_back(&folder).err());
    let missing = missing.map(|error| format!("{error:#}")).collect();
    service.delete().map_err(trouble)?;
    Ok(Done { said: format!("Service {NAME} is removed; what the agent remembers stays\n"), missing })
}

/// Starts it now.
pub(super) fn start() -> Outcome {
    let service = open(ServiceAccess::START | ServiceAccess::QUERY_STATUS)?;
    match service.start::<&str>(&[]) {
        Err(error) if code(&error) == Some(ALREADY_RUNNING) => {
            return Ok(Done::saying(format!("Service {NAME} runs already\n")));
        }
        started => started.map_err(trouble)?,
    }
    let state = settled(&service, |state| state != ServiceState::StartPending)?;
    if state == ServiceState::Running {
        return Ok(Done::saying(format!("Service {NAME} is started\n")));
    }
    Err(anyhow!("the service ended at once; run `weavewatch watch` with the same options to see why").into())
}

/// Stops it and waits for its end.
pub(super) fn stop() -> Outcome {
    end(&open(ServiceAccess::STOP | ServiceAccess::QUERY_STATUS)?)?;
    Ok(Done::saying(format!("Service {NAME} is stopped\n")))
}

/// Says whether it runs.
pub(super) fn status() -> Outcome {
    let status = open(ServiceAccess::QUERY_STATUS)?.query_status().map_err(trouble)?;
    let said = format!("Service {NAME}: {:?}", status.current_state);
    if status.current_state == ServiceState::Running {
        return Ok(Done::saying(said + "\n"));
    }
    Ok(Done { said: String::new(), missing: vec![format!("{said}, last end {:?}", status.exit_code)] })
}

fn info(plan: &Plan, state: &Path) -> ServiceInfo {
    let mut launch_arguments: Vec<OsString> = vec!["service".into(), "run".into(), "--state".into(), state.into()];
    launch_arguments.extend(plan.options());
    ServiceInfo {
        name: NAME.into(),
        display_name: NAME.into(),
        service_type: ServiceType::OWN_PROCESS,
        start_type: ServiceStartType::AutoStart,
        error_control: ServiceErrorControl::Normal,
        executable_path: plan.program.clone(),
        launch_arguments,
        dependencies: Vec::new(),
        account_name: Some(ACCOUNT.into()),
        account_password: None,
    }
}

fn recovery() -> ServiceFailureActions {
    let restart =
        |seconds| ServiceAction { action_type: ServiceActionType::Restart, delay: Duration::from_secs(seconds) };
    ServiceFailureActions {
        reset_period: ServiceFailureResetPeriod::After(Duration::from_secs(FORGET_S)),
        reboot_msg: None,
        command: None,
        actions: Some(RESTART_S.map(restart).to_vec()),
    }
}

fn state() -> anyhow::Result<PathBuf> {
    own_folder().context("the variable ProgramData is not set")
}

fn end(service: &Service) -> Result<(), Trouble> {
    // A service that is still starting takes no wish to stop.
    settled(service, |state| state != ServiceState::StartPending)?;
    if let Err(error) = service.stop() {
        return if code(&error) == Some(NOT_RUNNING) { Ok(()) } else { Err(trouble(error)) };
    }
    match settled(service, |state| state == ServiceState::Stopped)? {
        ServiceState::Stopped => Ok(()),
        state => Err(anyhow!("the service does not stop: it is {state:?}").into()),
    }
}

/// The first state that will do, or the last one when none comes.
fn settled(service: &Service, will_do: impl Fn(ServiceState) -> bool) -> Result<ServiceState, Trouble> {
    let begin = Instant::now();
    loop {
        let state = service.query_status().map_err(trouble)?.current_state;
        if will_do(state) || begin.elapsed() > PATIENCE {
            return Ok(state);
        }
        sleep(Duration::from_millis(100));
    }
}

fn open(rights: ServiceAccess) -> Result<Service, Trouble> {
    manager(ServiceManagerAccess::CONNECT)?.open_service(NAME, rights).map_err(trouble)
}

fn manager(rights: ServiceManagerAccess) -> Result<ServiceManager, Trouble> {
    ServiceManager::local_computer(None::<&str>, rights).map_err(trouble)
}

/// What Windows answered, as the number that its documentation uses.
pub(super) fn code(error: &Error) -> Option<i32> {
    match error {
        Error::Winapi(error) => error.raw_os_error(),
        _ => None,
    }
}

fn trouble(error: Error) -> Trouble {
    match code(&error) {
        Some(ACCESS_DENIED) => Trouble::Refused(
            "the service manager wants an administrator: use an elevated prompt, or --user for yourself only"
                .to_owned(),
        ),
        Some(NO_SUCH_SERVICE) => {
            Trouble::Refused(format!("Service {NAME} is not installed; run `weavewatch service install` first"))
        }
        _ => Trouble::Failed(words(error).context("the service manager of Windows did not do it")),
    }
}

/// The crate's own error only says that Windows refused; what Windows said is below it.
pub(super) fn words(error: Error) -> anyhow::Error {
    match error {
        Error::Winapi(error) => io::Error::into(error),
        error => error.into(),
    }
}
