//! The disk last: while the agent reads, whatever else wants the disk goes first.
//!
//! Said once, before the reading thread starts: on Linux a thread inherits it. Where the system offers no such thing the agent
//! works all the same; its pace ([`pace`](crate::agent::pace)) holds everywhere.

/// Asks the system to let the disk serve others before this process.
#[cfg(target_os = "linux")]
pub fn prefer_others() {
    // The lowest of the ordinary class: the idle class may wait for ever on a busy disk. Without the tool (util-linux) there
    // is nothing to ask.
    let own = std::process::id().to_string();
    let asked = std::process::Command::new("ionice")
        .args(["-c", "2", "-n", "7", "-p", &own])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    // An agent without it is slower to others, and not wrong.
    drop(asked);
}

/// See above; the reading thread asks for itself.
#[cfg(not(target_os = "linux"))]
pub const fn prefer_others() {}

/// Asks the same for the thread that reads, where threads do not inherit it.
#[cfg(windows)]
pub fn prefer_others_in_this_thread() {
    use thread_priority::{ThreadPriority, WinAPIThreadPriority, set_current_thread_priority};
    // Windows calls it background mode: low priority for disk, memory and processor.
    let asked = set_current_thread_priority(ThreadPriority::Os(WinAPIThreadPriority::BackgroundModeBegin.into()));
    // As above; a version that does not know the mode says so.
    drop(asked);
}

/// See above.
#[cfg(not(windows))]
pub const fn prefer_others_in_this_thread() {}
