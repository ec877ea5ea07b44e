//! What systemd is told: `packaging/weavewatch.service.in`, filled in for a machine or for one user.

use std::ffi::OsString;

use super::{Plan, text_of};

/// The file that holds the text of both units.
const TEMPLATE: &str = include_str!("../../../packaging/weavewatch.service.in");

/// The unit's text.
///
/// # Errors
/// When a path is no plain text.
pub(super) fn text(plan: &Plan) -> anyhow::Result<String> {
    let program = quoted(text_of(&plan.program)?);
    // `$` starts a variable in an option, and is an ordinary letter in the program's own path.
    let option = |word: OsString| Ok(format!(" {}", quoted(text_of(word.as_ref())?).replace('$', "$$")));
    let options = plan.options().into_iter().map(option).collect::<anyhow::Result<String>>()?;
    let (ours, theirs) = if plan.user { ("@user@ ", "@system@ ") } else { ("@system@ ", "@user@ ") };
    let mut text = String::new();
    for line in TEMPLATE.lines().skip_while(|line| line.starts_with('#')) {
        if line.starts_with(theirs) {
            continue;
        }
        let line = line.strip_prefix(ours).unwrap_or(line);
        text += &line.replace("@PROGRAM@", &program).replace("@OPTIONS@", &options);
        text.push('\n');
    }
    Ok(format!("# Written by `weavewatch service install`. Changes of your own: systemctl edit weavewatch\n{text}"))
}

/// One word of a command line of systemd, whatever stands in it.
fn quoted(word: &str) -> String {
    let mut quoted = String::from('"');
    for letter in word.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            // Starts a specifier.
            '%' => quoted.push_str("%%"),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(program: &str, config: Option<&str>, user: bool) -> Plan {
        Plan { program: program.into(), config: config.map(Into::into), user }
    }

    fn unit(plan: &Plan) -> String {
        text(plan).expect("its paths are text")
    }

    #[test]
    fn the_machine_s_unit_has_an_account_of_its_own() {
        let unit = unit(&plan("/usr/bin/weavewatch", Some("/etc/weavewatch/weavewatch.toml"), false));
        assert!(
            unit.contains(
                "\nExecStart=\"/usr/bin/weavewatch\" watch \"--config\" \"/etc/weavewatch/weavewatch.toml\"\n"
            )
        );
        for line in ["DynamicUser=yes", "StateDirectory=weavewatch", "WantedBy=multi-user.target"] {
            assert!(unit.lines().any(|there| there == line), "{line} is missing:\n{unit}");
        }
        assert!(!unit.contains("WantedBy=default.target"));
    }

    #[test]
    fn a_user_s_unit_asks_for_nothing_that_only_root_may_give() {
        let unit = unit(&plan("/home/u/bin/weavewatch", None, true));
        assert!(unit.contains("\nExecStart=\"/home/u/bin/weavewatch\" watch\n"));
        assert!(unit.lines().any(|line| line == "WantedBy=default.target"));
        for line in ["DynamicUser", "StateDirectory", "ProtectSystem", "CapabilityBoundingSet", "network-online"] {
            assert!(!unit.contains(line), "{line} is there:\n{unit}");
        }
    }

    #[test]
    fn every_mark_is_filled_in() {
        for user in [false, true] {
            let unit = unit(&plan("/p", Some("/c"), user));
            let left = unit.replace("@system-service", "").lines().find(|line| line.contains('@')).map(str::to_owned);
            assert_eq!(left, None);
        }
    }

    #[test]
    fn paths_mean_themselves() {
        let unit = unit(&plan("/opt/a b/$x/100%/\"w\"", Some("/etc/$HOME/%n\\x"), true));
        let line = unit.lines().find(|line| line.starts_with("ExecStart=")).expect("it starts something");
        assert_eq!(line, r#"ExecStart="/opt/a b/$x/100%%/\"w\"" watch "--config" "/etc/$$HOME/%%n\\x""#);
    }

    #[test]
    fn a_path_cannot_add_a_line() {
        assert!(text(&plan("/x\nExecStartPre=/bin/sh", None, true)).is_err());
    }
}
