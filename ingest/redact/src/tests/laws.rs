//! Laws that hold for every text.

use proptest::prelude::*;

use super::redactor;
use crate::{Counts, ExeNames, Key, Policy, Redactor};

/// Names that no record of the runtime holds.
const USER: &str = "quillberg";
const HOST: &str = "werk-pc07";
const SECRET: &str = "Zx9-pineapple/K2";

/// Pieces that a hostile text is put together from: everything that a rule looks for, and what confuses it.
fn piece() -> impl Strategy<Value = String> {
    let signs = prop::sample::select(vec![
        r"C:\Users\",
        "/home/",
        "%5CUsers%5C",
        r"\\",
        r"\\?\UNC\",
        "//",
        "file://",
        "https://",
        "@",
        "%40",
        ".com",
        ":",
        " --token ",
        " /password:",
        "api_key=",
        "Authorization: Bearer ",
        "\"",
        "'",
        "\\\"",
        "<user>",
        "<host>",
        "<e-mail>",
        "<secret>",
        ".lab.example.com",
        "bob@example.com",
        ".exe",
        "Viewer.exe",
        "DisplayXR_",
        ".7_2026-09-14_12-00-00.log",
        " ",
        "\t",
        "\r\n",
        "\0",
        "ü",
        "\u{2014}",
        "USERNAME=",
        "users",
        "home",
        ",",
        "-u ",
        "a:b",
    ]);
    prop_oneof![6 => signs.prop_map(str::to_owned), 1 => "[ -~]{0,6}", 1 => ".{0,3}"]
}

fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

fn hashing() -> Redactor {
    let users = vec![USER.to_owned()];
    Redactor::new(Policy { exe: ExeNames::Hash { key: Key([3; 32]) }, users, hosts: vec![HOST.to_owned()] })
        .knowing("Viewer.exe")
}

/// Ways in which a log shows a name or a secret, up to it and behind it.
const USER_PLACES: [(&str, &str); 8] = [
    (r"C:\Users\", r"\x"),
    ("/home/", ""),
    ("", ""),
    ("session of ", " ended"),
    (r"c:/uSeRs/", "/y"),
    ("log_", "-1.txt"),
    ("USER=", ""),
    ("%5cUsers%5c", "%5c"),
];
const HOST_PLACES: [(&str, &str); 5] =
    [(r"\\", r"\share"), ("", ""), ("on ", ".lab.example.com"), ("smb://", "/x"), ("a-", "_b")];
const SECRET_PLACES: [(&str, &str); 8] = [
    ("--token ", ""),
    ("--password=", " -x"),
    ("/pwd:", ""),
    ("Authorization: Bearer ", ""),
    ("api_key=", ""),
    ("{\"secret\": \"", "\"}"),
    ("AWS_SECRET_ACCESS_KEY='", "'"),
    ("https://bob:", "@example.com/"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn any_bytes_are_redacted_without_fail_and_once_is_enough(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for redactor in [redactor(), hashing()] {
            let once = redactor.line(&bytes, &mut Counts::default()).into_owned();
            let twice = redactor.line(&once, &mut Counts::default()).into_owned();
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn twice_is_once(before in hostile(), name in prop::sample::select(vec!["", "quillberg", "WERK-PC07"]), after in hostile()) {
        let text = format!("{before}{name}{after}");
        for redactor in [redactor(), hashing()] {
            let once = redactor.text(&text, &mut Counts::default()).into_owned();
            let mut counts = Counts::default();
            let twice = redactor.text(&once, &mut counts).into_owned();
            prop_assert_eq!(&once, &twice);
            prop_assert_eq!(counts, Counts::default());
        }
    }

    #[test]
    fn what_is_planted_does_not_survive(
        before in hostile(), after in hostile(),
        user in prop::sample::select(&USER_PLACES[..]), host in prop::sample::select(&HOST_PLACES[..]),
        secret in prop::sample::select(&SECRET_PLACES[..]),
    ) {
        let text = format!(
            "{before} {}{USER}{} {}{HOST}{} mail@{USER}.example {}{SECRET}{} {after}",
            user.0, user.1, host.0, host.1, secret.0, secret.1,
        );
        for redactor in [redactor(), hashing()] {
            let redacted = redactor.text(&text, &mut Counts::default()).to_lowercase();
            for planted in [USER, HOST, "mail@", "pineapple"] {
                prop_assert!(!redacted.contains(planted), "{planted} is in {redacted}, from {text}");
            }
        }
    }

    #[test]
    fn a_name_in_a_path_does_not_survive_though_nobody_knows_it(
        name in "[a-z][a-z0-9_.é-]{0,8}( [A-Zñ][a-z]{1,8})?", root in prop::sample::select(vec![r"C:\Users\", "/home/", r"\\?\D:\USERS\"]),
        rest in prop::sample::select(vec![r"\x", "/x", "", "'", ": no"]),
    ) {
        let text = format!("failed: {root}qz{name}zq{rest}");
        let redacted = Redactor::new(Policy::default()).text(&text, &mut Counts::default()).into_owned();
        prop_assert!(!redacted.contains("qz") && !redacted.contains("zq"), "{redacted}");
    }
}
