//! `service`, as far as it goes without a service manager: what would be installed, and what is refused.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Run, run, weavewatch};

#[test]
fn what_a_service_manager_calls_is_for_it_only() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let run = run(folder.path(), &["service", "run"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("weavewatch watch"), "it says what to do instead: {}", run.stderr);
}

#[test]
fn a_configuration_that_is_not_there_is_said_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let run = run(folder.path(), &["service", "install", "--print", "--user", "--config", "no.toml"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("no.toml"), "{}", run.stderr);
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    #[test]
    fn a_user_installs_without_root_and_takes_it_back() {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let printed = of_user(home.path(), &["install", "--print"]);
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        let unit = home.path().join("systemd/user/weavewatch.service");
        assert!(!unit.exists(), "--print only prints");

        let installed = of_user(home.path(), &["install"]);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        assert!(installed.stdout.contains("systemctl --user enable --now weavewatch"), "{}", installed.stdout);
        assert_eq!(fs::read_to_string(&unit).expect("it is written"), printed.stdout);

        for _ in ["removed", "gone already"] {
            assert_eq!(of_user(home.path(), &["uninstall"]).code, 0);
            assert!(!unit.exists());
        }
    }

    #[test]
    fn a_user_s_own_configuration_is_found() {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let config = home.path().join("weavewatch/weavewatch.toml");
        fs::create_dir(home.path().join("weavewatch")).expect("the folder is writable");
        fs::write(&config, "").expect("the folder is writable");
        let unit = of_user(home.path(), &["install", "--print"]).stdout;
        assert!(unit.contains(&format!(" watch \"--config\" \"{}\"\n", config.display())), "{unit}");
    }

    #[test]
    fn without_a_unit_or_a_systemd_nothing_is_started() {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        for verb in ["start", "stop", "status"] {
            let run = of_user(home.path(), &[verb]);
            assert_eq!(run.code, 2, "{verb}: {}", run.stderr);
            assert!(!run.stderr.is_empty(), "{verb} says why");
        }
    }

    /// systemd's own reading of the units, where it is installed; a word that it does not know is a complaint.
    #[test]
    fn systemd_understands_both_units() {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        if Command::new("systemd-analyze").arg("--version").output().is_err() {
            eprintln!("systemd-analyze is not installed: the units are only compared with what is expected of them");
            return;
        }
        for (scope, mode) in [(&["--user"][..], "--user"), (&[], "--system")] {
            let unit = weavewatch(home.path()).args(["service", "install", "--print"]).args(scope).output();
            let unit = Run::from(unit.expect("the program starts"));
            assert_eq!(unit.code, 0, "{}", unit.stderr);
            let file = home.path().join("weavewatch.service");
            fs::write(&file, &unit.stdout).expect("the folder is writable");
            let mut analyze = Command::new("systemd-analyze");
            let verified = analyze.args(["verify", "--man=no", mode]).arg(&file).env("XDG_RUNTIME_DIR", home.path());
            let verified = Run::from(verified.output().expect("it is installed"));
            assert_eq!((verified.code, verified.stderr.as_str()), (0, ""), "{mode}:\n{}", unit.stdout);
        }
    }

    fn of_user(home: &Path, args: &[&str]) -> Run {
        let mut command = weavewatch(home);
        command.arg("service").args(args).arg("--user").env("XDG_CONFIG_HOME", home);
        command.output().expect("the program starts").into()
    }
}
