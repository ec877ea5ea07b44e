//! What stands in a log: encodings, damage, long lines, long logs.

use follow::Limits;
use jiff::tz::TimeZone;
use wire::Clock;

use crate::common::{Machine, event, events, header, name, noise};

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn utf16_that_powershell_appended_to_a_log_is_counted() {
    let mut machine = Machine::new();
    let name = name("A.exe", 1);
    let mut content = (header("A.exe", 1) + &events(0..60)).into_bytes();
    machine.write(&name, &content);
    machine.poll();
    for number in 60..63 {
        let more = [utf16(&event(number)), event(number + 100).into_bytes()].concat();
        machine.append(&name, &more);
        content.extend(more);
        machine.poll();
    }
    // The last line ends with half of the newline's pair, which is a line of its own.
    machine.append(&name, utf16("that is all\r\n"));
    content.extend(utf16("that is all\r\n"));
    machine.poll();
    machine.pass(3600);
    machine.poll();
    machine.assert_holds(&machine.only(), content);
}

#[test]
fn a_log_in_utf16_is_followed() {
    for records in [3, 300] {
        let mut machine = Machine::new();
        let name = name("A.exe", 1);
        let mut text = format!("\u{feff}{}{}", header("A.exe", 1), events(0..records));
        machine.write(&name, utf16(&text));
        machine.poll();
        // Cut inside a line, and inside a letter.
        let more = utf16(&event(900));
        for (piece, ranges) in [(&more[..51], 1), (&more[51..], 2)] {
            machine.append(&name, piece);
            machine.poll();
            assert_eq!(machine.ranges.len(), ranges);
        }
        text += &event(900);
        machine.assert_holds(&machine.only(), utf16(&text));
    }
}

#[test]
fn a_block_of_nul_bytes_after_a_power_cut_is_counted() {
    let mut machine = Machine::new();
    let name = name("A.exe", 1);
    let mut content = (header("A.exe", 1) + &events(0..60)).into_bytes();
    content.extend(&event(60).as_bytes()[..70]);
    content.resize(content.len() + 9000, 0);
    machine.write(&name, &content);
    machine.poll();
    machine.pass(3600);
    machine.poll();
    machine.assert_holds(&machine.only(), &content);
    // A new process may still write behind it.
    let more = "\r\n".to_owned() + &header("A.exe", 1) + &events(70..75);
    machine.append(&name, &more);
    content.extend(more.as_bytes());
    machine.poll();
    machine.assert_holds(&machine.only(), &content);
}

#[test]
fn a_file_of_nothing_but_nul_bytes_is_a_log_without_records() {
    let mut machine = Machine::new();
    machine.write(&name("A.exe", 1), [0; 5000]);
    machine.poll();
    machine.pass(3600);
    machine.poll();
    machine.assert_holds(&machine.only(), [0; 5000]);
    assert_eq!(machine.ranges[0].segment.facts.counts.records, 0);
}

#[test]
fn a_long_log_comes_in_ranges_that_are_cut_at_records() {
    for (buffer_bytes, utf) in [(4096, false), (64 * 1024, false), (64 * 1024, true)] {
        let mut machine = Machine::new();
        machine.buffer_bytes = buffer_bytes;
        machine.limits.json_bytes = 60_000;
        let text = header("A.exe", 1) + &(0..1500).map(|number| event(number) + &noise(number)).collect::<String>();
        let content = if utf { utf16(&format!("\u{feff}{text}")) } else { text.into_bytes() };
        machine.write(&name("A.exe", 1), &content);
        machine.poll();
        assert!(machine.ranges.len() > 5, "{}", machine.ranges.len());
        machine.assert_holds(&machine.only(), &content);
        let (last, others) = machine.ranges.split_last().expect("there are some");
        assert!(last.complete && others.iter().all(|range| !range.complete));
        if !utf {
            assert!(
                machine
                    .ranges
                    .iter()
                    .skip(1)
                    .all(|range| content[range.segment.start as usize..].starts_with(b"[2026"))
            );
            // The first piece that a buffer holds can be more than the limit; nothing else can.
            let allowed = machine.limits.json_bytes.max(3 * buffer_bytes);
            assert!(machine.ranges.iter().all(|range| range.json_bytes <= allowed));
        }
    }
}

#[test]
fn no_range_takes_more_than_its_limit() {
    let text = header("A.exe", 1) + &events(0..200);
    for json_bytes in (10_000..30_000).step_by(500) {
        let mut machine = Machine::new();
        machine.buffer_bytes = 1024;
        machine.limits.json_bytes = json_bytes;
        machine.write(&name("A.exe", 1), &text);
        machine.poll();
        let most = machine.ranges.iter().map(|range| range.json_bytes).max();
        assert!(most <= Some(json_bytes), "{most:?} of {json_bytes}");
        machine.assert_holds(&machine.only(), &text);
    }
}

#[test]
fn a_log_that_says_little_is_cut_by_its_bytes() {
    let mut machine = Machine::new();
    machine.limits.log_bytes = 200_000;
    let text = header("A.exe", 1) + &event(0) + &(0..20_000).map(noise).collect::<String>();
    machine.write(&name("A.exe", 1), &text);
    machine.poll();
    assert!(machine.ranges.len() as u64 >= text.len() as u64 / 300_000, "{}", machine.ranges.len());
    machine.assert_holds(&machine.only(), text);
}

#[test]
fn a_line_that_never_ends_is_no_trouble() {
    let mut machine = Machine::new();
    let name = name("A.exe", 1);
    let mut text = header("A.exe", 1) + &events(0..60) + &noise(1).replace("\r\n", " ");
    machine.write(&name, &text);
    for _ in 0..20 {
        let more = "x".repeat(300_000);
        machine.append(&name, &more);
        text += &more;
        machine.poll();
    }
    assert_eq!(machine.ranges.len(), 1);
    machine.append(&name, "\r\n");
    text += "\r\n";
    machine.poll();
    machine.append(&name, event(61));
    text += &event(61);
    machine.poll();
    machine.assert_holds(&machine.only(), text);
}

#[test]
fn a_log_across_the_autumn_clock_change_has_the_offset_of_its_start() {
    let mut machine = Machine::new();
    machine.config.zone = || TimeZone::get("Europe/Berlin").expect("the zone is in the database");
    let log = |start: &str, from: &str, to: &str| {
        let name = name("A.exe", 1).replace("2026-09-14_12-00-00", start);
        let record = |time: &str, number| event(number).replace("2026-09-14 12:00", time);
        (name, header("A.exe", 1) + &record(from, 1) + &record(to, 2))
    };
    // Before the change and over it; in the hour that comes twice; behind it.
    let logs = [
        (log("2026-10-25_01-50-00", "2026-10-25 02:59", "2026-10-25 02:01"), 7200, false),
        (log("2026-10-25_02-30-00", "2026-10-25 02:30", "2026-10-25 02:10"), 7200, true),
        (log("2026-10-25_03-00-00", "2026-10-25 03:00", "2026-10-25 03:01"), 3600, false),
    ];
    for ((name, text), _, _) in &logs {
        machine.write(name, text);
    }
    machine.poll();
    for ((name, text), offset_s, repeated) in logs {
        let clock = Clock { zone: Some("Europe/Berlin".to_owned()), offset_s, repeated };
        machine.append(&name, event(9));
        machine.restart();
        // The machine has travelled since: the log has not.
        machine.config.zone = || TimeZone::UTC;
        machine.poll();
        let ranges: Vec<_> = machine.ranges.iter().filter(|range| range.segment.file == name).collect();
        assert!(ranges.len() == 2 && ranges.iter().all(|range| range.segment.clock.as_ref() == Some(&clock)), "{name}");
        machine.assert_holds(&ranges[0].log, text + &event(9));
    }
}

#[test]
fn what_a_file_is_may_turn_out_late() {
    let mut machine = Machine::new();
    let name = name("A.exe", 1);
    let record = event(1);
    let capture = format!(" WARN {}", record.split_once("] [WARN ] ").expect("it is a record").1);
    machine.write(&name, capture.repeat(3));
    machine.poll();
    assert_eq!(machine.ranges[0].segment.observations.len(), 3, "a capture of stderr, as far as one can tell");
    let report = " :: GPU topology (#918 — does the weave cross adapters to reach the panel?)\r\n";
    machine.append(&name, report);
    machine.poll();
    machine.assert_holds(&machine.only(), capture.repeat(3) + report);
}

#[test]
fn a_prefix_that_was_taken_half_and_is_completed_after_all_moves_nothing_back() {
    let mut machine = Machine::new();
    machine.limits = Limits { json_bytes: 1, log_bytes: 1 };
    // The first piece that is read again ends inside the completed line.
    machine.buffer_bytes = event(0).len() + 50;
    let name = name("A.exe", 1);
    let (half, rest) = (&event(60)[..5], &event(60)[5..]);
    let text = header("A.exe", 1) + &events(0..60) + half;
    machine.write(&name, &text);
    machine.poll();
    machine.pass(3600);
    machine.poll();
    assert_eq!(machine.ranges.last().map(|range| range.segment.end), Some(text.len() as u64));
    machine.append(&name, rest.to_owned() + &events(61..64));
    machine.poll();
    machine.assert_holds(&machine.only(), text + rest + &events(61..64));
}
