//! The block that opens a log, and the line that closes it (vocabulary 1.2).

use nom::bytes::complete::{tag, take};
use nom::character::complete::{char, digit1, space0};
use nom::combinator::{all_consuming, map_res, recognize, rest, verify};
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

use wire::Process;

use crate::decode::decode;
use crate::file_name;

/// First line of every log; the second name is that of the product's first weeks.
pub const STARTED: [&[u8]; 2] = [b"=== DisplayXR Log Started ===", b"=== SRMonado Log Started ==="];

/// Last line of a log whose process ended by itself.
pub const ENDED: [&[u8]; 2] = [b"=== DisplayXR Log Ended ===", b"=== SRMonado Log Ended ==="];

/// Lines that a header can have before something is wrong with it.
const LONGEST: u8 = 8;

/// Reads the lines of a header, one by one.
#[derive(Debug, Default)]
pub struct Header {
    process: Option<(String, u32)>,
    started: Option<String>,
    lines: u8,
}

impl Header {
    /// Takes a line behind the opening one; false when the line no longer belongs to the header.
    pub fn take(&mut self, line: &[u8]) -> bool {
        self.lines += 1;
        if self.lines > LONGEST {
            return false;
        }
        let text = decode(line);
        if let Ok((_, process)) = process(text.text()) {
            self.process.get_or_insert(process);
        } else if let Ok((_, started)) = timestamp(text.text()) {
            self.started = self.started.take().or_else(|| file_name::possible(started));
        }
        true
    }

    /// True for the rule that closes the block; a blank line follows.
    pub fn is_rule(line: &[u8]) -> bool {
        line.len() >= 8 && line.iter().all(|byte| *byte == b'=')
    }

    /// The process, when the block names it.
    pub fn process(self) -> Option<Process> {
        let (exe, pid) = self.process?;
        Some(Process { exe, pid, started: self.started })
    }
}

/// `Process: MyViewer.exe (PID 22428)`. The executable's name may hold anything, so the id is sought from the right.
fn process(line: &str) -> IResult<&str, (String, u32)> {
    let (behind, _) = (tag("Process:"), space0).parse(line)?;
    let (exe, id) = behind.rsplit_once(" (PID ").unwrap_or((behind, ""));
    let (_, pid) = all_consuming(map_res(nom::sequence::terminated(digit1, char(')')), str::parse)).parse(id)?;
    Ok(("", (exe.to_owned(), pid)))
}

/// `Timestamp: 2026-09-14 12:00:00`, as `2026-09-14T12:00:00`.
fn timestamp(line: &str) -> IResult<&str, String> {
    let number = |digits: usize| verify(take(digits), |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()));
    let date = recognize((number(4), char('-'), number(2), char('-'), number(2)));
    let time = recognize((number(2), char(':'), number(2), char(':'), number(2)));
    preceded((tag("Timestamp:"), space0), (date, delimited(space0, time, rest)))
        .map(|(date, time): (&str, &str)| format!("{date}T{time}"))
        .parse(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Option<Process> {
        let mut header = Header::default();
        for line in lines {
            header.take(line.as_bytes());
        }
        header.process()
    }

    #[test]
    fn a_header_names_process_and_start() {
        let lines =
            ["Log file: C:\\x.log", "Process: My (PID 1) Viewer.exe (PID 22428)", "Timestamp: 2026-09-14 12:00:00"];
        let process = read(&lines).expect("it is a header");
        assert_eq!((process.exe.as_str(), process.pid), ("My (PID 1) Viewer.exe", 22428));
        assert_eq!(process.started.as_deref(), Some("2026-09-14T12:00:00"));
    }

    #[test]
    fn what_is_no_process_is_null() {
        assert_eq!(read(&["Process: x.exe", "Timestamp: 2026-09-14 12:00:00"]), None);
        assert_eq!(read(&["Process: x.exe (PID 99999999999)"]), None);
    }
}
