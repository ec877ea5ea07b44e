//! Laws of the front door, over inputs made of everything that a log can hold and anything else.

use proptest::collection::vec;
use proptest::prelude::*;

use parser::{Checkpoint, LogReader};
use wire::{Event, InputKind, Kind, LogFacts, Observation};

/// A piece of a file: what the runtime writes, what damages it, and noise.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let known = [
        "=== DisplayXR Log Started ===\nLog file: x\nProcess: a.exe (PID 1)\nTimestamp: 2026-09-14 12:00:00\n============================\n\n",
        "\n=== DisplayXR Log Ended ===\n",
        "[2026-09-14 12:00:00.137] [WARN ] [d3d_log_weave_placement] ",
        "[2026-09-14 12:00:00.137] [OXR  ] LOG in xrCreateInstance: Instance created",
        "[2026-09-14 12:00:00.137] [OXR  ] WARNING in xrGetVulkanGraphicsDeviceKHR: Did not find runtime suggested GPU, fall back to GPU 0\n\tuuid: 00",
        "[2026-09-14 12:00:00.1",
        "[2026-09-14 12:00:00.137] [WARN ] [submit_fallback] [COMMIT_PROFILE_CLIENT] client=1\n",
        "[2026-09-14 12:00:00.137] [WARN ] [submit_fallback] ",
        "[2026-09-14 12:00:00.137] [WARN ] [submit_fallback",
        "                     ",
        "Some words then ",
        "output-device split",
        "weave placement: CHANGED — weave/present move back to the RENDER adapter for the rest of this session (split=0 reason=no_hwnd) (#918)",
        "weave placement: render='A' LUID=00000000:00000001, panel scanout='B' LUID=00000000:00000002 — weave/present on the SCANOUT adapter (split=1) (#918)",
        "weave placement: brand new",
        "[RENDER] split=1 xb_kb=5 xb_degraded=0",
        "VK output-device split: news",
        " WARN [fn] weave placement: x",
        "{\"level\":\"warn\",\"func\":\"f\",\"message\":\"weave placement: \"}",
        " :: GPU topology (#918 — does the weave cross adapters to reach the panel?)\n\tadapters:     1\n",
        "\n",
        "\r\n",
        "\0",
        "\tcontinued\n",
        "\u{feff}",
    ];
    prop_oneof![
        6 => proptest::sample::select(known.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..40),
        1 => (0..5000_usize).prop_map(|len| vec![b'x'; len]),
        1 => Just(vec![0xff, 0xfe]),
        1 => Just(b"[2026-09-14 12:00:00.137] [OXR  ] ".iter().copied().chain([b'y'; 4061]).collect()),
    ]
}

fn input() -> impl Strategy<Value = Vec<u8>> {
    vec(fragment(), 0..24).prop_map(|fragments| fragments.concat())
}

fn read(input: &[u8], chunk_size: usize) -> (Vec<Observation>, LogFacts) {
    let mut found = Vec::new();
    let mut sink = |observation| found.push(observation);
    let mut reader = LogReader::new();
    for chunk in input.chunks(chunk_size) {
        reader.feed(chunk, &mut sink);
    }
    let facts = reader.finish(&mut sink);
    (found, facts)
}

/// What looks like noise at first and is something else at its end, behind noise that begins in the same way. A NUL at
/// the end of the file makes the reader look twice at everything before it when, and only when, all is one chunk.
#[test]
fn noise_hides_nothing() {
    let begins = "[2026-09-14 12:00:00.137] [WARN ] [submit_fallback";
    for (noise, other, events, flaws) in [
        ("] [2026-09-14 12:00:00.1 is cut", "] [2026-09-14 12:00:00.137] [WARN ] [f] weave placement: x", 0, 2),
        ("] [2026-09-14 12:00:00.1 is cut", "] [2026-09-14 12:00:00.137] [WARN ] [f] plug", 0, 1),
        ("]                     words", "]                     ", 0, 1),
        (" has no end and is long enough", " has no end and is long] [RENDER] split=1 xb_kb=1", 1, 0),
        ("] Some words are long", "] Some output-device split", 0, 1),
    ] {
        let input = format!("{begins}{noise}\n{begins}{noise}\n{begins}{other}\n");
        let (found, facts) = read(input.as_bytes(), input.len());
        let count = |flaw| found.iter().filter(|found| matches!(found, Observation::Flaw(_)) == flaw).count();
        assert_eq!((count(false), count(true)), (events, flaws), "{input}\n{found:?}");
        assert_eq!(facts.counts.records, 3);
        let with_nul = format!("{input}\0");
        assert_eq!(read(with_nul.as_bytes(), 1).0, read(with_nul.as_bytes(), with_nul.len()).0, "{input}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn chunks_do_not_matter(input in input(), chunk_size in 1_usize..9000) {
        prop_assert_eq!(read(&input, chunk_size), read(&input, input.len().max(1)));
    }

    #[test]
    fn a_checkpoint_goes_on_as_if_nothing_had_been(input in input(), cut: prop::sample::Index, chunk_size in 1_usize..9000) {
        let Some(at) = parser::last_record_start(&input[..cut.index(input.len() + 1)]) else { return Ok(()) };
        let mut found = Vec::new();
        let mut sink = |observation| found.push(observation);
        let mut reader = LogReader::new();
        reader.feed(&input[..at], &mut sink);
        let Some(checkpoint) = reader.checkpoint(&mut sink) else { return Ok(()) };
        prop_assert_eq!(checkpoint.offset(), at as u64);
        // It has been on disk since.
        let json = serde_json::to_string(&checkpoint).expect("a checkpoint is JSON");
        let checkpoint: Checkpoint = serde_json::from_str(&json).expect("it was just written");
        let mut resumed = LogReader::resume(checkpoint);
        for chunk in input[at..].chunks(chunk_size) {
            resumed.feed(chunk, &mut sink);
        }
        let facts = resumed.finish(&mut sink);
        // The reader that made the checkpoint can also go on itself.
        reader.feed(&input[at..], &mut |_| {});
        prop_assert_eq!(&reader.finish(&mut |_| {}), &facts);
        prop_assert_eq!((found, facts), read(&input, chunk_size));
    }

    #[test]
    fn the_sums_close(input in input()) {
        let (found, facts) = read(&input, 4096);
        let counts = facts.counts;
        prop_assert_eq!(counts.bytes, input.len() as u64);
        prop_assert_eq!(facts.bytes.total(), counts.bytes);
        prop_assert_eq!(counts.records, counts.events + counts.ignored + counts.unrecognised);
        let events = found.iter().filter(|observation| matches!(observation, Observation::Event(_))).count();
        prop_assert_eq!(counts.events, events as u64);
        prop_assert!(counts.lines <= counts.bytes);
        prop_assert!(found.iter().all(|observation| observation.line() <= counts.lines.max(1)));
        if facts.input != InputKind::Cli {
            prop_assert!(found.iter().all(|observation| observation.offset() < counts.bytes));
            prop_assert!(found.is_sorted_by_key(Observation::offset), "in file order");
        }
    }

    #[test]
    fn placements_print_back_to_their_lines(
        render in "[^\n\r\0]{0,40}",
        scanout in vec(prop_oneof![Just(0xe9_u8), 0x20..0x7f_u8], 0..40),
        luid: u64,
        dash in proptest::sample::select(vec!["—", "\u{e2}\u{20ac}\u{201d}", "-", "?", "--"]),
        reason in "[a-z_]{1,12}(,[a-z_]{1,12})?",
        upper: bool,
        on_render: bool,
    ) {
        let (high, low) = (luid >> 32, luid & 0xffff_ffff);
        let id = if upper { format!("{high:08X}:{low:08X}") } else { format!("{high:08x}:{low:08x}") };
        let tail = if on_render {
            format!("weave on the RENDER adapter; every present crosses adapters to reach scanout (split=0 reason={reason}) (#918)")
        } else {
            "weave/present on the SCANOUT adapter (split=1) (#918)".to_owned()
        };
        let mut line = format!("[2026-09-14 12:00:00.137] [WARN ] [f] weave placement: render='{render}' LUID={id}, panel scanout='").into_bytes();
        line.extend(&scanout);
        line.extend(format!("' LUID={id} {dash} {tail}").as_bytes());
        let (found, _) = read(&line, 100);
        let event = match found.as_slice() {
            [Observation::Event(event)] => event,
            other => return Err(TestCaseError::fail(format!("expected one event, found {other:?}"))),
        };
        prop_assert_eq!(event.kind, Kind::Placement);
        let json = serde_json::to_string(event).expect("an event is JSON");
        let back: Event = serde_json::from_str(&json).expect("it was just written");
        prop_assert_eq!(parser::format::record(&back), Some(line));
    }
}
