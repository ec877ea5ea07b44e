//! What this machine and whoever runs the program are called, as far as the system tells: names that must not leave.

/// Names of this machine.
pub fn hosts() -> impl Iterator<Item = String> {
    variables(&["COMPUTERNAME", "HOSTNAME"]).chain(host_name())
}

/// Names of the user.
pub fn users() -> impl Iterator<Item = String> {
    variables(&["USERNAME", "USER", "LOGNAME"])
}

fn variables(names: &'static [&'static str]) -> impl Iterator<Item = String> {
    names.iter().filter_map(|name| std::env::var(name).ok()).filter(|value| !value.is_empty())
}

/// Linux tells it in a file, whatever the environment says.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
