//! Is the split switched off? Two ways of reading the same variable, which must not be merged (vocabulary section 11).

use wire::Path;

use super::settings::is_no;
use super::trace::outcomes;

outcomes! {
    /// What the kill switch says.
    Kill {
        /// Unset, or a value that this path does not read as "no".
        Allowed => "allowed",
        /// Switched off.
        Killed => "killed",
    }
}

/// In-process D3D11 compares the whole string, every other path looks at the first character.
pub fn ask(path: Path, value: Option<&str>) -> Kill {
    let killed = value.is_some_and(|value| if path == Path::D3d11 { is_no(value) } else { leading_character(value) });
    if killed { Kill::Killed } else { Kill::Allowed }
}

/// The service, D3D12 and Vulkan.
fn leading_character(value: &str) -> bool {
    starts_with_no(value) || matches!(value, "off" | "OFF" | "Off")
}

/// `displayxr-cli`, which does not know `Off` (vocabulary section 10.1).
pub fn cli(value: &str) -> bool {
    starts_with_no(value) || matches!(value, "off" | "OFF")
}

fn starts_with_no(value: &str) -> bool {
    value.starts_with(['0', 'f', 'F', 'n', 'N'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Value, killed in-process on D3D11, killed on the other paths.
    const VALUES: [(&str, bool, bool); 14] = [
        ("0", true, true),
        ("false", true, true),
        ("OFF", true, true),
        ("n", true, true),
        ("Off", false, true),
        ("False", false, true),
        ("No", false, true),
        ("nope", false, true),
        ("0 ", false, true),
        ("oFF", false, false),
        ("off ", false, false),
        ("1", false, false),
        (" 0", false, false),
        ("yes", false, false),
    ];

    #[test]
    fn the_two_idioms_differ_where_the_vocabulary_says_so() {
        for (value, whole, leading) in VALUES {
            assert_eq!(ask(Path::D3d11, Some(value)) == Kill::Killed, whole, "{value:?}");
            for path in [Path::D3d12, Path::Vulkan, Path::Service] {
                assert_eq!(ask(path, Some(value)) == Kill::Killed, leading, "{value:?}");
            }
        }
        assert_eq!(ask(Path::D3d11, None), Kill::Allowed);
        assert!(cli("off") && !cli("Off"));
    }
}
