//! What the name of a log file tells.

use wire::Process;

/// Reads `DisplayXR_<exe>.<pid>_<date>_<time>.log`; `None` for every other base name.
pub fn process(_name: &str) -> Option<Process> {
    None
}
