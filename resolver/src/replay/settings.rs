//! Who set a variable: environment, then the user's store, then the machine's (contract section 5, vocabulary section 11).
//!
//! The first source that has the name wins, even with an empty value, which then counts as unset. Only three names may
//! come from a store.

use wire::{Settings, Source};

use super::trace::outcomes;

/// The names that the stores may hold.
const STORED: [&str; 3] = [D3D_FORCE_GPU, VK_FORCE_GPU, WEAVE_ON_SCANOUT];

/// Every variable that a rule reads.
pub const SETTINGS: [&str; 9] = [
    D3D_FORCE_GPU,
    VK_FORCE_GPU,
    WEAVE_ON_SCANOUT,
    SPLIT_SAME_ADAPTER,
    SPLIT_INGRESS,
    VK_DEPOSIT,
    LEGACY_STANDALONE,
    FAIL_STAGE_A,
    REFUSE_DP,
];

/// Forces the Direct3D adapter.
pub const D3D_FORCE_GPU: &str = "DXR_D3D_FORCE_GPU";
/// Forces the Vulkan device.
pub const VK_FORCE_GPU: &str = "DXR_VK_FORCE_GPU";
/// The kill switch of the split.
pub const WEAVE_ON_SCANOUT: &str = "DXR_WEAVE_ON_SCANOUT";
/// Takes ADR-039's engagement on one adapter back.
pub const SPLIT_SAME_ADAPTER: &str = "DXR_SPLIT_SAME_ADAPTER";
/// Asks for the Vulkan deposit.
pub const VK_DEPOSIT: &str = "DXR_VK_DEPOSIT";
/// `staged` pins the service's slower way into the bridge.
pub const SPLIT_INGRESS: &str = "DXR_SPLIT_INGRESS";

/// Puts the service into its legacy mode.
pub const LEGACY_STANDALONE: &str = "DXR_LEGACY_STANDALONE";
/// The runtime's test hook that lets stage A fail.
pub const FAIL_STAGE_A: &str = "DXR_TEST_SPLIT_FAIL_STAGEA";
/// The runtime's test hook that lets the plug-in decline.
pub const REFUSE_DP: &str = "DXR_TEST_FAKE_DP_REFUSE";

outcomes! {
    /// Which source decided.
    Lookup {
        /// No source has the name.
        Unset => "unset",
        /// The winning source has it with nothing behind it.
        Empty => "empty, counts as unset",
        /// The environment.
        Env => "env",
        /// The user's store.
        User => "user",
        /// The machine's store.
        Machine => "machine",
    }
}

/// A value that counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting<'a> {
    /// Never empty.
    pub value: &'a str,
    /// Who set it.
    pub source: Source,
}

/// True when the runtime looks the variable up in the stores as well, and not in the environment alone.
pub fn may_be_stored(name: &str) -> bool {
    STORED.contains(&name)
}

/// The winning value, and how it was found.
pub fn look_up<'a>(settings: &'a Settings, name: &str) -> (Lookup, Option<Setting<'a>>) {
    let stored = may_be_stored(name);
    let found = settings
        .env
        .get(name)
        .map(|value| (value, Source::Env))
        .or_else(|| settings.user.get(name).filter(|_| stored).map(|value| (value, Source::User)))
        .or_else(|| settings.machine.get(name).filter(|_| stored).map(|value| (value, Source::Machine)));
    match found {
        None => (Lookup::Unset, None),
        Some((value, _)) if value.is_empty() => (Lookup::Empty, None),
        Some((value, source)) => {
            let lookup = match source {
                Source::Env => Lookup::Env,
                Source::User => Lookup::User,
                Source::Machine => Lookup::Machine,
            };
            (lookup, Some(Setting { value, source }))
        }
    }
}

/// The winning value.
pub fn value<'a>(settings: &'a Settings, name: &str) -> Option<&'a str> {
    look_up(settings, name).1.map(|setting| setting.value)
}

/// The runtime's whole-string flag: set, and not one of its spellings of "no".
pub fn flag(settings: &Settings, name: &str) -> bool {
    value(settings, name).is_some_and(|value| !is_no(value))
}

/// Every spelling of "no" that the runtime's whole-string flags know.
pub fn is_no(value: &str) -> bool {
    matches!(value, "false" | "FALSE" | "off" | "OFF" | "no" | "NO" | "n" | "N" | "f" | "F" | "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(env: &[(&str, &str)], user: &[(&str, &str)], machine: &[(&str, &str)]) -> Settings {
        let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Settings { env: map(env), user: map(user), machine: map(machine) }
    }

    #[test]
    fn the_first_source_that_has_the_name_wins() {
        let all = settings(&[(WEAVE_ON_SCANOUT, "1")], &[(WEAVE_ON_SCANOUT, "2")], &[(WEAVE_ON_SCANOUT, "3")]);
        assert_eq!(look_up(&all, WEAVE_ON_SCANOUT).0, Lookup::Env);
        let stores = settings(&[], &[(WEAVE_ON_SCANOUT, "2")], &[(WEAVE_ON_SCANOUT, "3")]);
        assert_eq!(value(&stores, WEAVE_ON_SCANOUT), Some("2"));
        let machine = settings(&[], &[], &[(WEAVE_ON_SCANOUT, "3")]);
        assert_eq!(look_up(&machine, WEAVE_ON_SCANOUT).0, Lookup::Machine);
    }

    #[test]
    fn an_empty_environment_value_hides_the_stores() {
        let hidden = settings(&[(WEAVE_ON_SCANOUT, "")], &[(WEAVE_ON_SCANOUT, "0")], &[]);
        assert_eq!(look_up(&hidden, WEAVE_ON_SCANOUT), (Lookup::Empty, None));
    }

    #[test]
    fn other_names_count_in_the_environment_only() {
        let stored = settings(&[], &[(SPLIT_SAME_ADAPTER, "0")], &[(SPLIT_SAME_ADAPTER, "0")]);
        assert_eq!(look_up(&stored, SPLIT_SAME_ADAPTER), (Lookup::Unset, None));
    }
}
