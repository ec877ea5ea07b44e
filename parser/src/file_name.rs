//! What the name of a log file tells (vocabulary 1.1).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use wire::Process;

/// The greedy first group survives executables with dots and digits in their names.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)^DisplayXR_(.+)\.([0-9]+)_([0-9]{4}-[0-9]{2}-[0-9]{2})_([0-9]{2})-([0-9]{2})-([0-9]{2})\.log$")
        .expect("the pattern is a constant")
});

/// Reads `DisplayXR_<exe>.<pid>_<date>_<time>.log`; `None` for every other base name.
pub fn process(name: &str) -> Option<Process> {
    let groups = NAME.captures(name)?;
    let started = format!("{}T{}:{}:{}", &groups[3], &groups[4], &groups[5], &groups[6]);
    Some(Process { exe: groups[1].to_owned(), pid: groups[2].parse().ok()?, started: possible(started) })
}

/// A start such as `2026-09-14T12:00:00`, unless no clock can show it: what is not known is null, never guessed.
pub(crate) fn possible(started: String) -> Option<String> {
    let part = |range: Range<usize>| started.get(range).and_then(|digits| digits.parse::<u32>().ok());
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let date = (1..=12).contains(&month) && (1..=days).contains(&day);
    let time = part(11..13)? < 24 && part(14..16)? < 60 && part(17..19)? < 60;
    (date && time).then_some(started)
}

/// What header and file name tell together: exe and process id from the header, else the name; the start from the name,
/// else the header (contract section 3).
pub fn merge(header: Option<Process>, name: &str) -> Option<Process> {
    match (header, process(name)) {
        (Some(header), Some(named)) => Some(Process { started: named.started.or(header.started), ..header }),
        (header, named) => header.or(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<(&str, u32, &str)>) {
        let found = process(name);
        let found = found.as_ref().map(|found| (found.exe.as_str(), found.pid, found.started.as_deref().unwrap_or("")));
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn names_of_the_runtime() {
        check(
            "DisplayXR_displayxr-service.exe.20600_2026-08-15_22-53-31.log",
            Some(("displayxr-service.exe", 20600, "2026-08-15T22:53:31")),
        );
        check(
            "DisplayXR_odd.1_2026-01-01_00-00-00.log.exe.7_2026-08-15_22-53-31.log",
            Some(("odd.1_2026-01-01_00-00-00.log.exe", 7, "2026-08-15T22:53:31")),
        );
        check("DisplayXR_a.exe.7_2026-13-45_99-05-06.log", Some(("a.exe", 7, "")));
        check("DisplayXR_a.exe.7_2026-02-29_00-00-00.log", Some(("a.exe", 7, "")));
        check("DisplayXR_a.exe.7_2028-02-29_23-59-59.log", Some(("a.exe", 7, "2028-02-29T23:59:59")));
        check("DisplayXR_a.exe.99999999999_2026-08-15_22-53-31.log", None);
        check("SRMonado_2026-01-24_10-00-00.log", None);
        check("notes.log", None);
    }

    #[test]
    fn the_header_names_the_process_and_the_file_its_start() {
        let header = Process { exe: "a.exe".to_owned(), pid: 1, started: Some("2026-01-01T00:00:00".to_owned()) };
        let merged = merge(Some(header.clone()), "DisplayXR_b.exe.2_2026-08-15_22-53-31.log").expect("both tell");
        assert_eq!((merged.exe.as_str(), merged.pid), ("a.exe", 1));
        assert_eq!(merged.started.as_deref(), Some("2026-08-15T22:53:31"));
        assert_eq!(merge(Some(header.clone()), "x.log"), Some(header));
        assert_eq!(merge(None, "x.log"), None);
    }
}
