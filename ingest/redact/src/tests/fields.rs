//! Every text in everything that is sent is looked at.

use serde_json::{Value as Json, json};
use wire::{Heartbeat, Loss, Segment};

use super::redactor;

const PLANTED: &str = r"x C:\Users\bob\y";

/// A segment with a value in every place; what is an enum or a number stands there with some value of its kind.
fn full() -> Json {
    let adapter = json!({"name": "a", "luid": "00000000:00015f3a"});
    json!({
        "log": "a", "file": "a", "start": 0, "end": 1,
        "facts": {
            "input": "log", "process": {"exe": "a", "pid": 1, "started": "a"}, "end": "footer",
            "counts": serde_json::to_value(wire::Counts::default()).expect("counts are JSON"),
            "bytes": serde_json::to_value(wire::ByteLedger::default()).expect("counts are JSON"),
            "cli": {
                "topology": {
                    "adapters": [{"name": "a", "luid": "00000000:00015f3a", "dedicated_vram_mib": 1}],
                    "scanout": {"adapter": adapter}, "render_suggestion": {"unresolved": "a"}, "verdict": "a",
                    "weave_on_scanout": "a", "service_split": "a",
                    "service_ingest": {"adapter": {"unresolved": "a"}, "provenance": "a", "forced": ["a", true]},
                },
                "checks": [{"name": "a", "passed": true, "detail": "a"}], "passed": true,
                "perf": {"store": "a", "written": "a", "levers": [{"name": "a", "value": "a", "source": "a"}]},
            },
        },
        "observations": [
            {"event": {
                "offset": 0, "line": 1, "time": "a", "level": "warn", "function": "a", "shape": "a", "kind": "placement",
                "hint": {"path": "d3d11", "named": true},
                "fields": {"a": {"text": "a"}, "b": {"decimal": "a"}, "c": {"reasons": ["same_adapter", "a"]}, "d": {"luid": "00000000:00015f3a"}},
                "spelling": [{"at": 0, "len": 1, "bytes": [1]}],
            }},
            {"flaw": {"offset": 0, "line": 1, "kind": "spliced", "marker": "a", "hint": {"path": "d3d11", "named": true}}},
        ],
        "clock": {"zone": "a", "offset_s": 0, "repeated": true}, "unfinished": true,
    })
}

/// Calls `visit` with the same document once for every text in it, with the planted name in its place: values and keys.
fn plant(document: &Json, visit: &mut dyn FnMut(&str, Json)) {
    fn places(value: &Json, at: &str, found: &mut Vec<String>) {
        match value {
            Json::String(_) => found.push(at.to_owned()),
            Json::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| places(item, &format!("{at}/{index}"), found));
            }
            Json::Object(map) => map.iter().for_each(|(key, item)| places(item, &format!("{at}/{key}"), found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    places(document, "", &mut found);
    for place in found {
        let mut planted = document.clone();
        *planted.pointer_mut(&place).expect("it was just found") = json!(PLANTED);
        visit(&place, planted);
    }
}

#[test]
fn a_full_segment_has_every_key() {
    let segment: Segment = serde_json::from_value(full()).expect("it is a segment");
    let printed = serde_json::to_value(&segment).expect("it is JSON");
    // A key that wire gained is missing here: add it to `full`, so that the tests below reach it.
    assert_eq!(printed, full());
}

#[test]
fn a_name_in_any_text_of_a_segment_goes() {
    let mut reached = 0;
    plant(&full(), &mut |place, planted| {
        // Ids and kinds are no free text; what does not read as one never gets into a segment.
        let Ok(mut segment) = serde_json::from_value::<Segment>(planted) else { return };
        redactor().segment(&mut segment);
        let printed = serde_json::to_string(&segment).expect("it is JSON");
        assert!(!printed.contains("bob"), "{place}: {printed}");
        reached += usize::from(printed.contains("user>") || printed.contains("(user)"));
    });
    assert!(reached >= 24, "only {reached} places took the name");
}

#[test]
fn a_name_in_the_name_of_a_field_goes_and_the_spelling_with_it() {
    let mut document = full();
    let event = &mut document["observations"][0]["event"];
    event["fields"] = json!({PLANTED: {"uint": 1}, "other": {"int": -1}});
    let mut segment: Segment = serde_json::from_value(document).expect("it is a segment");
    redactor().segment(&mut segment);
    let printed = serde_json::to_value(&segment.observations[0]).expect("it is JSON");
    assert_eq!(printed["event"]["fields"], json!({r"x C:\Users\<user>\y": {"uint": 1}, "other": {"int": -1}}));
    assert_eq!(printed["event"]["spelling"], Json::Null);
}

#[test]
fn twice_is_once_for_a_segment() {
    plant(&full(), &mut |place, planted| {
        let Ok(mut once) = serde_json::from_value::<Segment>(planted) else { return };
        redactor().segment(&mut once);
        let mut twice = once.clone();
        redactor().segment(&mut twice);
        assert_eq!(once, twice, "{place}");
    });
}

#[test]
fn a_name_in_a_loss_or_a_heartbeat_goes() {
    let loss = json!({"log": "a", "file": "a", "reason": "a", "bytes": 1, "events": 1});
    plant(&loss, &mut |place, planted| {
        let mut loss: Loss = serde_json::from_value(planted).expect("it is a loss");
        assert_eq!(redactor().loss(&mut loss).users, 1, "{place}");
    });
    let heartbeat = json!({"slowed": "a", "config": {"dir": "a"}});
    plant(&heartbeat, &mut |place, planted| {
        let mut heartbeat: Heartbeat = serde_json::from_value(planted).expect("it is a heartbeat");
        assert_eq!(redactor().heartbeat(&mut heartbeat).users, 1, "{place}");
    });
}
