//! What the service manager of Windows starts: it is told that the agent runs, and its wish to stop reaches the agent.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::sync::watch;
use windows_service::service::{
    ServiceControl, ServiceControlAccept, ServiceExitCode, ServiceState, ServiceStatus, ServiceType,
};
use windows_service::service_control_handler::{self, ServiceControlHandlerResult, ServiceStatusHandle};
use windows_service::{define_windows_service, service_dispatcher};

use super::{NAME, manager};
use crate::cli::{RunArgs, StateArgs, WatchArgs};
use crate::exit::Exit;
use crate::service::Trouble;

/// Windows' answer to a program that was not started by its service manager.
const NOT_STARTED_BY_IT: i32 = 1063;

/// How long the agent may take to end, as told to the service manager.
const ENDING: Duration = Duration::from_secs(30);

/// The manager calls back without the command line that the process was started with.
static ARGS: OnceLock<RunArgs> = OnceLock::new();

/// Where the manager is told how the service fares.
static HANDLE: OnceLock<ServiceStatusHandle> = OnceLock::new();

define_windows_service!(service_main, serve);

/// Hands this process over to the service manager until the service has ended.
///
/// # Errors
/// When somebody else than the service manager started it.
pub(super) fn run(args: &RunArgs) -> Result<(), Trouble> {
    ARGS.get_or_init(|| args.clone());
    service_dispatcher::start(NAME, service_main).map_err(|error| match manager::code(&error) {
        Some(NOT_STARTED_BY_IT) => Trouble::Refused(
            "this is for the service manager of Windows; use `weavewatch service start`, or `weavewatch watch`"
                .to_owned(),
        ),
        _ => Trouble::Failed(manager::words(error)),
    })
}

/// The service's life, on a thread of the manager's. Its own arguments are those of a start by hand, and unused.
fn serve(_: Vec<OsString>) {
    let (stop, mut stopped) = watch::channel(false);
    let handler = service_control_handler::register(NAME, move |control| match control {
        ServiceControl::Stop | ServiceControl::Shutdown => {
            tell(ServiceState::StopPending, Exit::Done);
            // An agent that has ended by itself listens no more.
            let _ = stop.send(true);
            ServiceControlHandlerResult::NoError
        }
        ServiceControl::Interrogate => ServiceControlHandlerResult::NoError,
        _ => ServiceControlHandlerResult::NotImplemented,
    });
    // Without a handle there is nobody to tell anything, and the manager ends this process.
    let Ok(handle) = handler else { return };
    HANDLE.get_or_init(|| handle);
    tell(ServiceState::Running, Exit::Done);
    let ending = async move {
        // The other end goes with the handler, and a wish to stop comes before that.
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    let exit = crate::watch::run_until(&watch_args(), || ending);
    tell(ServiceState::Stopped, exit);
}

fn watch_args() -> WatchArgs {
    let RunArgs { state, config } = ARGS.get().cloned().unwrap_or_default();
    WatchArgs { state: StateArgs { state, config }, ..WatchArgs::default() }
}

fn tell(state: ServiceState, exit: Exit) {
    // The manager asks for nothing before it was told that the service runs.
    let Some(handle) = HANDLE.get() else { return };
    let running = state == ServiceState::Running;
    let status = ServiceStatus {
        service_type: ServiceType::OWN_PROCESS,
        current_state: state,
        controls_accepted: if running {
            ServiceControlAccept::STOP | ServiceControlAccept::SHUTDOWN
        } else {
            ServiceControlAccept::empty()
        },
        exit_code: match exit {
            Exit::Done => ServiceExitCode::NO_ERROR,
            exit => ServiceExitCode::ServiceSpecific(exit.code().into()),
        },
        checkpoint: 0,
        wait_hint: if state == ServiceState::StopPending { ENDING } else { Duration::ZERO },
        process_id: None,
    };
    // It would only fail for a handle that is not ours.
    let _ = handle.set_service_status(status);
}
