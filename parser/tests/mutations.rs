//! Every shape of the vocabulary, a thousand times with other values: shape and values come back equal, and so does the
//! line.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use parser::LogReader;
use parser::vocabulary::{self, Conversion, Row};
use wire::{Event, Fields, Level, Luid, Observation, Reason, Value};

const MUTATIONS: usize = 1000;

/// Texts as hostile as a name can be: apostrophes, parentheses, blanks, dashes, letters of other scripts.
const TEXT: &str = "[a-zA-Z0-9'()\\[\\]{}=:;,./\\\\ \t—–?%_#éüßж中あ🙂-]{0,120}";

fn value(conversion: Conversion) -> BoxedStrategy<Value> {
    match conversion {
        Conversion::Text => TEXT.prop_map(Value::Text).boxed(),
        Conversion::Char => "[!-~]".prop_map(Value::Text).boxed(),
        Conversion::Reasons => {
            "[a-z_]{1,24}(,[a-z_]{1,24}){0,3}".prop_map(|list| Value::Reasons(Reason::list(&list))).boxed()
        }
        Conversion::Uint => prop_oneof![0..100_u64, any::<u64>()].prop_map(Value::Uint).boxed(),
        Conversion::Int => prop_oneof![-100..100_i64, any::<i64>()].prop_map(Value::Int).boxed(),
        Conversion::Hex { width: 16, .. } => any::<u64>().prop_map(Value::Hex).boxed(),
        Conversion::Hex { .. } => any::<u32>().prop_map(|value| Value::Hex(value.into())).boxed(),
        Conversion::Decimal { places } => {
            (any::<bool>(), 0..1_000_000_u32, 0..10_u64.pow(u32::try_from(places).expect("few places")))
                .prop_map(move |(minus, whole, part)| {
                    Value::Decimal(format!("{}{whole}.{part:0places$}", if minus { "-" } else { "" }))
                })
                .boxed()
        }
        Conversion::Luid(_) => any::<u64>().prop_map(|value| Value::Luid(Luid(value))).boxed(),
    }
}

/// A log of records of one row, and the values that they were printed from.
struct Mutations {
    log: Vec<u8>,
    records: Vec<(Fields, String)>,
    excluded: usize,
}

fn mutations(row: &Row, runner: &mut TestRunner) -> Mutations {
    let mut made = Mutations { log: Vec::new(), records: Vec::new(), excluded: 0 };
    let shape = row.shape;
    let prefix = format!("[2026-09-14 12:00:00.137] [{}] ", shape.level.in_file());
    let function = shape.functions.split_ascii_whitespace().next().unwrap_or("?");
    let prefix = if shape.level == Level::Oxr { prefix } else { format!("{prefix}[{function}] ") };
    while made.records.len() < MUTATIONS {
        let mut fields = Fields::new();
        let mut ambiguous = false;
        for (name, conversion, following) in row.template.conversions() {
            let value = value(conversion).new_tree(runner).expect("the strategy has no filter").current();
            if let (Value::Text(text), false) = (&value, following.is_empty()) {
                ambiguous |= text.contains(following);
            }
            fields.push(name, value);
        }
        if ambiguous {
            made.excluded += 1;
            continue;
        }
        let body = row.template.print(&fields).expect("every conversion has its value");
        made.log.extend_from_slice(format!("{prefix}{body}\r\n").as_bytes());
        made.records.push((fields, format!("{prefix}{body}")));
    }
    made
}

fn events(log: &[u8]) -> (Vec<Event>, wire::Counts) {
    let mut events = Vec::new();
    let mut sink = |observation| match observation {
        Observation::Event(event) => events.push(event),
        Observation::Flaw(flaw) => panic!("nothing is wrong with these records: {flaw:?}"),
    };
    let mut reader = LogReader::new();
    reader.feed(log, &mut sink);
    let facts = reader.finish(&mut sink);
    (events, facts.counts)
}

#[test]
fn shape_and_values_come_back() {
    let seed = TestRng::from_seed(RngAlgorithm::ChaCha, b"weavewatch, issue 2, acceptance4");
    let mut runner = TestRunner::new_with_rng(Config::default(), seed);
    let mut excluded = 0;
    for row in &vocabulary::rows()[..vocabulary::FORMATS] {
        let made = mutations(row, &mut runner);
        excluded += made.excluded;
        let (events, counts) = events(&made.log);
        assert_eq!(counts.events, MUTATIONS as u64, "{}", row.shape.id);
        for (event, (fields, line)) in events.iter().zip(&made.records) {
            assert_eq!(event.shape, row.shape.id, "{line}");
            let printed = event.fields.iter().take(fields.iter().count());
            assert!(printed.eq(fields.iter()), "{line}\nprinted {fields:?}\nread    {:?}", event.fields);
            assert!(event.spelling.is_empty(), "{line}: {:?}", event.spelling);
            let json = serde_json::to_string(event).expect("an event is JSON");
            let back: Event = serde_json::from_str(&json).expect("it was just written");
            assert_eq!(&back, event, "{json}");
            let again = parser::format::record(&back).expect("every shape with a format keeps its values");
            assert_eq!(String::from_utf8(again).as_deref(), Ok(line.as_str()));
        }
    }
    println!("{} mutations, {excluded} left out as ambiguous", MUTATIONS * vocabulary::FORMATS);
}
