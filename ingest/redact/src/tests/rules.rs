//! One case a rule and spelling.

use std::borrow::Cow;

use super::{redactor, text};
use crate::{Counts, ExeNames, Key, Policy, Redactor, user_names};

fn check(cases: &[(&str, &str)]) {
    for (before, after) in cases {
        assert_eq!(text(before), *after, "{before}");
    }
}

#[test]
fn user_names_in_paths() {
    check(&[
        (r"C:\Users\bob\AppData\Local\DisplayXR\x.log", r"C:\Users\<user>\AppData\Local\DisplayXR\x.log"),
        ("C:/Users/bob/x", "C:/Users/<user>/x"),
        (r"\\?\C:\Users\bob\x", r"\\?\C:\Users\<user>\x"),
        (r"c:\uSERS\Bob Lee-Smith\x", r"c:\uSERS\<user>\x"),
        ("/home/bob/x /Users/amy", "/home/<user>/x /Users/<user>"),
        ("/home/users/bob/x", "/home/users/<user>/x"),
        (r"C:\Users\JOHNDO~1\x", r"C:\Users\<user>\x"),
        (r"C:\DOCUME~1\JOHNDO~1\LOCALS~1", r"C:\DOCUME~1\<user>\LOCALS~1"),
        (r"C:\Documents and Settings\John Doe\x", r"C:\Documents and Settings\<user>\x"),
        ("file:///C:/Documents%20and%20Settings/John%20Doe/x", "file:///C:/Documents%20and%20Settings/<user>/x"),
        ("C%3A%5CUsers%5Cbob%5Cx", "C%3A%5CUsers%5C<user>%5Cx"),
        (r#"{"message":"C:\\Users\\M\u00fcller\\x"}"#, r#"{"message":"C:\\Users\\<user>\\x"}"#),
        (r"'C:\Users\bob' and 'D:\x'", r"'C:\Users\<user>' and 'D:\x'"),
        (r"'C:\Users\Tim O'Brien\x'", r"'C:\Users\<user>\x'"),
        (r"in C:\Users\bob (read only)", r"in C:\Users\<user> (read only)"),
        (r"USERPROFILE=C:\Users\John Doe", r"USERPROFILE=C:\Users\<user>"),
        (r"\\srv01\users\bob\x", r"\\<host>\users\<user>\x"),
        (r"C:\Users\Public\x C:\Users\All Users\y", r"C:\Users\Public\x C:\Users\All Users\y"),
        ("USERNAME=bob", "USERNAME=<user>"),
        ("LOGNAME=bob", "LOGNAME=<user>"),
        ("USER = bob", "USER = <user>"),
        ("S-1-5-21-1004336348-1177238915-682003330-512 and S-1-5-18", "<user> and S-1-5-18"),
        ("/home/", "/home/"),
    ]);
}

#[test]
fn a_path_without_an_end_goes_at_once() {
    let long = format!(r"C:\Users\{}", "x".repeat(10_000));
    assert_eq!(text(&long), r"C:\Users\<user>");
}

#[test]
fn user_names_that_are_known() {
    check(&[
        ("session of QuillBerg ended", "session of <user> ended"),
        ("backup_quillberg-2.log", "backup_<user>-2.log"),
        ("quillbergs", "quillbergs"),
        (
            "Zoë Müller, ZOË MÜLLER, Zo%c3%ab%20M%c3%bcller, ZO\\u00cb\\u0020M\\u00dcller",
            "<user>, <user>, <user>, <user>",
        ),
        (r"D:\short\ZOMLLE~1\x", r"D:\short\<user>\x"),
    ]);
    let latin1 = redactor().line(b"of Zo\xeb M\xfcller \xff\n", &mut Counts::default()).into_owned();
    assert_eq!(latin1, b"of <user> \xff\n");
}

#[test]
fn short_names_and_the_runtimes_own_words_are_not_taken_for_names() {
    let redactor = Redactor::new(Policy {
        hosts: ["pc", "render", "scanout", "display1", "nvidia", "00015f3a", "user", "d3d11", "weave-placement"]
            .map(str::to_owned)
            .into(),
        users: ["ann", "iris", "killed_by_env", "mail", "12345"].map(str::to_owned).into(),
        ..Policy::default()
    });
    let line = r"pc ann: weave placement: render='NVIDIA Iris' LUID=00000000:00015f3a on '\\.\DISPLAY1' (killed_by_env) user 12345";
    assert!(matches!(redactor.text(line, &mut Counts::default()), Cow::Borrowed(_)));
    // Where a name stands, it goes whatever it is.
    assert_eq!(redactor.text(r"\\render\x C:\Users\iris\x", &mut Counts::default()), r"\\<host>\x C:\Users\<user>\x");
}

#[test]
fn hosts() {
    check(&[
        (r"\\nas3\share\x.dll", r"\\<host>\share\x.dll"),
        (r"XR_RUNTIME_JSON=\\nas3\share", r"XR_RUNTIME_JSON=\\<host>\share"),
        (r"from:\\nas3\share", r"from:\\<host>\share"),
        (r"\\?\UNC\nas3\share", r"\\?\UNC\<host>\share"),
        (r#"{"m":"\\\\nas3\\share \\\\.\\DISPLAY1"}"#, r#"{"m":"\\\\<host>\\share \\\\.\\DISPLAY1"}"#),
        (r#"{"m":"C:\\ProgramData\\DisplayXR\\x"}"#, r#"{"m":"C:\\ProgramData\\DisplayXR\\x"}"#),
        ("//nas3/share smb://nas3/x", "//<host>/share smb://<host>/x"),
        (r"'\\.\DISPLAY1' \\.\pipe\x \\?\Volume{1}", r"'\\.\DISPLAY1' \\.\pipe\x \\?\Volume{1}"),
        ("on werk-pc07, WERK-PC07.lab.example.com and werk-pc07.local:80", "on <host>, <host> and <host>:80"),
        ("other.lab.example.com", "<host>"),
        ("werk-pc07.exe werk-pc07.exe.config werk-pc070", "<host>.exe <host>.exe.config werk-pc070"),
        ("DisplayXR_werk-pc07.exe.12_2026-09-14_12-00-00.log", "DisplayXR_<host>.exe.12_2026-09-14_12-00-00.log"),
        (r"COMPUTERNAME=PC9 LOGONSERVER=\\DC1", r"COMPUTERNAME=<host> LOGONSERVER=\\<host>"),
        ("HOSTNAME=pc9", "HOSTNAME=<host>"),
        ("CLIENTNAME=pc9", "CLIENTNAME=<host>"),
        ("USERDNSDOMAIN=lab.example.org", "USERDNSDOMAIN=<host>"),
    ]);
}

#[test]
fn e_mail_addresses() {
    check(&[
        ("mail bob.lee+x@mail.example.com, now", "mail <e-mail>, now"),
        ("?from=bob%40example.org&x", "?from=<e-mail>&x"),
        ("<zoë@example.de>", "<<e-mail>>"),
        ("plug-in@2.13.0 a@b", "plug-in@2.13.0 a@b"),
        ("quillberg@example.com", "<e-mail>"),
    ]);
}

#[test]
fn secrets() {
    check(&[
        ("app.exe --token abc123 --fast", "app.exe --token <secret> --fast"),
        ("app --password=p&q,r", "app --password=<secret>"),
        (r#"app /password:"p q" -x"#, r#"app /password:"<secret>" -x"#),
        ("app --github-token 'a b'", "app --github-token '<secret>'"),
        ("Authorization: Bearer eyabc.def", "Authorization: <secret>"),
        (r#"curl -H "Authorization: Basic Ym9i" https://x"#, r#"curl -H "Authorization: <secret>" https://x"#),
        ("api_key=abc, next", "api_key=<secret>, next"),
        ("AWS_SECRET_ACCESS_KEY=a/b+c", "AWS_SECRET_ACCESS_KEY=<secret>"),
        (r#"{"cmd":"app --token a","n":1}"#, r#"{"cmd":"app --token <secret>","n":1}"#),
        (r#"{"cmd":"{\"token\": \"a b\"}"}"#, r#"{"cmd":"{\"token\": \"<secret>\"}"}"#),
        (r#"{"password":"a\"b","n":1}"#, r#"{"password":"<secret>","n":1}"#),
        ("https://bob:p@ss/w@example.com/x", "https://<secret>@example.com/x"),
        ("https://abc@example.com/x", "https://<secret>@example.com/x"),
        ("https://example.com/x?token=abc", "https://example.com/x?token=<secret>"),
        ("curl -u bob:abc https://x", "curl -u <secret> https://x"),
        ("bearer abcdefgh", "bearer <secret>"),
        ("got ww_0123456789abcdef0123", "got <secret>"),
        ("key AKIAABCDEFGHIJKLMNOP end", "key <secret> end"),
        ("--token", "--token"),
        ("bypassing Vulkan: reason=same_adapter", "bypassing Vulkan: reason=same_adapter"),
    ]);
}

#[test]
fn lines_of_two_bytes_a_letter() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let line = utf16("in C:\\Users\\山田\\x of quillberg\r");
    // The newline of two bytes was cut in half: this line has its first, the next one its second.
    let first = [line.as_slice(), b"\n"].concat();
    let next = [b"\0".as_slice(), &line, b"\n"].concat();
    for cut in [first, next] {
        let redacted = redactor().line(&cut, &mut Counts::default()).into_owned();
        assert_eq!(String::from_utf8_lossy(&redacted), "in C:\\Users\\<user>\\x of <user>\r\n");
    }
    let harmless = utf16("weave placement");
    assert!(matches!(redactor().line(&harmless, &mut Counts::default()), Cow::Borrowed(_)));
}

#[test]
fn names_in_paths_are_collected() {
    let header =
        b"Log file: C:\\Users\\John Doe\\AppData\\x.log\r\nC:\\Users\\Public /home/amy /home/amy /home/<user>/";
    assert_eq!(user_names(header), ["John Doe", "amy"]);
}

#[test]
fn programs_are_mapped_everywhere() {
    let map = [("Secret Viewer.exe", "app-a.exe"), ("b.exe", "c.exe"), ("c.exe", "d.exe")];
    let map = map.map(|(name, own)| (name.to_owned(), own.to_owned())).into();
    let redactor = Redactor::new(Policy { exe: ExeNames::Map(map), ..Policy::default() });
    let mut counts = Counts::default();
    let text = |text: &str, counts: &mut Counts| redactor.text(text, counts).into_owned();
    assert_eq!(
        text("DisplayXR_secret viewer.EXE.1_2026-01-01_00-00-00.log", &mut counts),
        "DisplayXR_app-a.exe.1_2026-01-01_00-00-00.log"
    );
    assert_eq!(text("applicationName: Secret Viewer", &mut counts), "applicationName: app-a");
    assert_eq!(text("b.exe c.exe d.exe other.exe", &mut counts), "c.exe c.exe d.exe other.exe");
    assert_eq!(counts, Counts { exes: 3, ..Counts::default() });
}

#[test]
fn programs_are_hashed_everywhere() {
    let policy = Policy { exe: ExeNames::Hash { key: Key([7; 32]) }, ..Policy::default() };
    let redactor = Redactor::new(policy).knowing("Secret Viewer.exe");
    let text = |text: &str| redactor.text(text, &mut Counts::default()).into_owned();
    let own = text("Secret Viewer.exe");
    assert_eq!((own.len(), &own[12..]), (16, ".exe"));
    for (before, after) in [
        ("DisplayXR_Secret Viewer.exe.1_2026-01-01_00-00-00.log", format!("DisplayXR_{own}.1_2026-01-01_00-00-00.log")),
        (r"C:\Apps\SECRET VIEWER.EXE --x", format!(r"C:\Apps\{own} --x")),
        ("started Secret Viewer.exe (PID 7)", format!("started {own} (PID 7)")),
        ("name='Secret Viewer'", format!("name='{}'", &own[..12])),
    ] {
        assert_eq!(text(before), after);
    }
    let other = text("run 'other.exe'");
    assert_eq!(text(r"D:\x y\Other.exe"), format!(r"D:\x y\{}", &other[5..other.len() - 1]));
    assert_eq!(text(&other), other);
    let without_ending = text("DisplayXR_hello_xr.1_2026-01-01_00-00-00.log");
    assert!(!without_ending.contains("hello"), "{without_ending}");
}

#[test]
fn a_policy_is_read_from_a_configuration() {
    let policy: Policy = toml::from_str("hosts = [\"a\"]\n[exe.map]\n\"x.exe\" = \"y.exe\"").expect("it is one");
    assert_eq!(policy.exe, ExeNames::Map([("x.exe".to_owned(), "y.exe".to_owned())].into()));
    let policy: Policy =
        serde_json::from_str(&format!(r#"{{"exe":{{"hash":{{"key":"{}"}}}}}}"#, "0a".repeat(32))).expect("it is one");
    assert_eq!(policy.exe, ExeNames::Hash { key: Key([10; 32]) });
    assert!(!format!("{policy:?}").contains("10"), "the key is printed");
    assert_eq!(toml::from_str::<Policy>("exe = \"keep\"").expect("it is one"), Policy::default());
    for wrong in ["exe = \"hash\"", "[exe.hash]\nkey = \"0a\"", "hots = []"] {
        assert!(toml::from_str::<Policy>(wrong).is_err(), "{wrong}");
    }
}
