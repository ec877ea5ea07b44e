//! The rule of either system, on any.

use std::collections::HashMap;

use super::*;

#[derive(Default)]
struct Told {
    variables: HashMap<&'static str, &'static str>,
    profiles: HashMap<&'static str, Vec<&'static str>>,
}

impl Env for Told {
    fn var(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).map(OsString::from)
    }

    fn folders(&self, parent: &Path) -> Vec<PathBuf> {
        let found = self.profiles.get(parent.to_string_lossy().as_ref());
        found.into_iter().flatten().map(PathBuf::from).collect()
    }
}

fn check(system: System, env: &Told, expected: &[(&str, Scope)]) {
    let found = default_folders(system, env);
    let found: Vec<_> = found.iter().map(|folder| (folder.path.to_string_lossy().into_owned(), folder.scope)).collect();
    let expected: Vec<_> = expected.iter().map(|(path, scope)| ((*path).to_owned(), *scope)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_user_reads_all_profiles_and_its_own_once() {
    let env = Told {
        variables: HashMap::from([
            ("LOCALAPPDATA", r"C:\Users\ann\AppData\Local"),
            ("TEMP", r"C:\Users\ANN\AppData\Local\Temp\"),
            ("TMP", r"D:\scratch"),
            ("PUBLIC", r"C:\Users\Public"),
            ("USERPROFILE", r"C:\Users\ann"),
            ("SystemDrive", "C:"),
        ]),
        profiles: HashMap::from([(r"C:\Users", vec![r"C:\Users\ann", r"C:\Users\bob"])]),
    };
    let expected = [
        (r"C:\Users\ann\AppData\Local\DisplayXR", Scope::Tree),
        (r"C:\Users\ANN\AppData\Local\Temp", Scope::NamedLogs),
        (r"D:\scratch", Scope::NamedLogs),
        (r"C:\Users\bob\AppData\Local\DisplayXR", Scope::Tree),
        (r"C:\Users\bob\AppData\Local\Temp", Scope::NamedLogs),
    ];
    check(System::Windows, &env, &expected);
}

#[test]
fn a_service_whose_own_profile_is_the_systems_reads_those_of_the_users() {
    let env = Told {
        variables: HashMap::from([
            ("LOCALAPPDATA", r"C:\Windows\ServiceProfiles\LocalService\AppData\Local"),
            ("USERPROFILE", r"C:\Windows\ServiceProfiles\LocalService"),
            ("PUBLIC", r"D:\Profiles\Public"),
            ("SystemDrive", "C:"),
        ]),
        profiles: HashMap::from([(r"D:\Profiles", vec![r"D:\Profiles\ann"])]),
    };
    let expected = [
        (r"C:\Windows\ServiceProfiles\LocalService\AppData\Local\DisplayXR", Scope::Tree),
        (r"D:\Profiles\ann\AppData\Local\DisplayXR", Scope::Tree),
        (r"D:\Profiles\ann\AppData\Local\Temp", Scope::NamedLogs),
    ];
    check(System::Windows, &env, &expected);
}

#[test]
fn elsewhere_it_is_the_data_folder_of_the_user() {
    let with = |variables: &[(&'static str, &'static str)]| Told {
        variables: variables.iter().copied().collect(),
        ..Told::default()
    };
    let home = ("HOME", "/home/ann");
    check(System::Other, &with(&[("XDG_DATA_HOME", "/data"), home]), &[("/data/DisplayXR", Scope::Tree)]);
    check(System::Other, &with(&[("XDG_DATA_HOME", ""), home]), &[("/home/ann/.local/share/DisplayXR", Scope::Tree)]);
    check(System::Other, &with(&[]), &[]);
}
