//! Pages and page tables: against a script that counts page by page (`fixtures/memory/by_hand.py`), and as laws.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use resolver::cost::memory::{AddressSpace, Layout, LayoutError, PageSize, Place, RootTable, Sharing, round_up};
use resolver::cost::{Frame, Pixels, Rings, Surface, in_crossing};
use serde_json::Value;
use wire::{Crossing, LevelTables, Span};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/memory")
}

fn by_hand() -> String {
    fs::read_to_string(folder().join("by_hand.json")).expect("the fixture is there").replace("\r\n", "\n")
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} is a number in {value}"))
}

fn layouts(document: &Value) -> Vec<(String, Layout)> {
    let layouts = document["layouts"].as_object().expect("layouts by name");
    layouts
        .iter()
        .map(|(name, own)| {
            let bits: Vec<u32> = serde_json::from_value(own["index_bits"].clone()).expect("bits a level");
            let layout = Layout::new(number(own, "page_offset_bits") as u32, &bits, number(own, "entry_bytes"));
            (name.clone(), layout.expect("the script uses layouts that can be"))
        })
        .collect()
}

fn levels(value: &Value) -> Vec<LevelTables> {
    serde_json::from_value(value.clone()).expect("levels with entries, tables and bytes")
}

#[test]
fn pages_and_tables_are_those_that_were_counted_by_hand() {
    let document: Value = serde_json::from_str(&by_hand()).expect("the fixture is JSON");
    let base = number(&document, "base");
    let surfaces = document["surfaces"].as_array().expect("a list of surfaces");
    assert!(surfaces.len() >= 10, "{} surfaces", surfaces.len());
    for (name, layout) in layouts(&document) {
        let mut together = AddressSpace::new(layout.clone(), base);
        for own in surfaces {
            let what = format!("{} in {name}", own["name"]);
            let pages = match number(own, "memory_page_bytes") {
                4096 => PageSize::Small4K,
                _ => PageSize::Large64K,
            };
            let (count, each) = (number(own, "count"), number(own, "bytes_each"));
            let mut alone = AddressSpace::new(layout.clone(), base);
            let mut taken = 0;
            for _ in 0..count {
                taken += alone.map(each, pages).expect("there is room").bytes;
                together.map(each, pages).expect("there is room");
            }
            assert_eq!(taken, number(&own["tables"][&name], "taken_bytes"), "{what}");
            assert_eq!(alone.tables(), levels(&own["tables"][&name]["levels"]), "{what}");
            // The size itself, from pixels.
            let px = Pixels { width: number(own, "width_px") as u32, height: number(own, "height_px") as u32 };
            let frame =
                Frame { panel_px: Some(px), bytes_per_pixel: Some(number(own, "bytes_per_pixel")), ..Frame::default() };
            let surface = in_crossing(&frame, &Rings::default(), Crossing::EveryPresent)[0];
            let memory = Surface { count: Span::exact(1), ..surface }.memory();
            assert_eq!(memory.bytes_each, Span::exact(each), "{what}");
            assert_eq!(memory.in_4k_pages_bytes, Span::exact(number(own, "pages_4k_each") * 4096), "{what}");
            assert_eq!(memory.in_64k_pages_bytes, Span::exact(number(own, "pages_64k_each") * 65536), "{what}");
            assert_eq!(memory.waste_64k_bytes, Span::exact(number(own, "waste_64k_bytes_each")), "{what}");
        }
        assert_eq!(together.tables(), levels(&document["together"][&name]), "all in {name}");
        for own in document["addresses"][&name].as_array().expect("addresses by layout") {
            let place = layout.split(number(own, "address")).expect("the address fits");
            let indices: Vec<u64> = serde_json::from_value(own["indices"].clone()).expect("indices by level");
            assert_eq!(place, Place { indices, offset_bytes: number(own, "offset_bytes") }, "{own} in {name}");
        }
        let Some(roots) = document["roots"][&name].as_array() else {
            assert!(!layout.root_is_resizable(), "{name}");
            continue;
        };
        let mut known: Option<RootTable> = None;
        for own in roots {
            let last = number(own, "space_bytes") - 1;
            let root = RootTable::up_to(&layout, last);
            assert_eq!((root.entries, root.bytes), (number(own, "entries"), number(own, "bytes")), "{own} in {name}");
            if let Some(before) = known {
                let change = before.resize(&layout, last);
                assert_eq!(change.to, root, "{name}");
                let (grows, shrinks) = (root.bytes > before.bytes, root.bytes < before.bytes);
                assert_eq!(change.initialised_bytes, if grows { root.bytes } else { 0 }, "{name}");
                assert_eq!(change.copied_bytes, if shrinks { root.bytes } else { 0 }, "{name}");
                let both = if grows || shrinks { before.bytes + root.bytes } else { root.bytes };
                assert_eq!(change.peak_bytes, both, "{name}");
            }
            known = Some(root);
        }
    }
}

#[test]
fn the_script_still_prints_what_its_file_holds() {
    // tests/run brings a Python; without one the file alone is compared, above.
    let Some(python) = std::env::var_os("WEAVEWATCH_TEST_PYTHON") else { return };
    let run = Command::new(python).arg(folder().join("by_hand.py")).output().expect("Python starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8_lossy(&run.stdout).replace("\r\n", "\n"), by_hand());
}

#[test]
fn layouts_that_no_hardware_has_are_refused() {
    for (page, bits, entry, error) in [
        (12, &[][..], 8, LayoutError::NoLevel),
        (12, &[9, 0][..], 8, LayoutError::IndexBits),
        (12, &[33][..], 8, LayoutError::IndexBits),
        (12, &[9][..], 0, LayoutError::EntryBytes),
        (12, &[9][..], 65, LayoutError::EntryBytes),
        (11, &[9][..], 8, LayoutError::PageBits),
        (12, &[32, 21][..], 8, LayoutError::TooWide),
    ] {
        assert_eq!(Layout::new(page, bits, entry), Err(error), "{page} {bits:?} {entry}");
    }
}

#[test]
fn linked_adapters_mirror_the_root_and_separate_ones_nothing() {
    let layout = Layout::new(12, &[9, 9, 9, 9], 8).expect("it is sound");
    let mut space = AddressSpace::new(layout, 0);
    space.map(33_177_600, PageSize::Large64K).expect("there is room");
    let one = space.on_adapters("render", 1, Sharing::Separate);
    assert_eq!((one.bytes, one.bytes_on_all_adapters, one.mirrored_bytes), (19 * 4096, 19 * 4096, 0));
    let linked = space.on_adapters("render, scanout", 2, Sharing::Linked);
    assert_eq!((linked.bytes_on_all_adapters, linked.mirrored_bytes), (2 * 19 * 4096, 4096));
    assert_eq!(linked.levels, one.levels);
}

#[test]
fn a_space_that_is_full_says_so() {
    let layout = Layout::new(12, &[1], 8).expect("it is sound");
    let mut space = AddressSpace::new(layout, 0);
    assert!(space.map(4096, PageSize::Small4K).is_some());
    assert!(space.map(4097, PageSize::Small4K).is_none(), "one page is left");
    assert!(space.map(0, PageSize::Small4K).is_some_and(|own| own.bytes == 0));
    assert!(space.map(1, PageSize::Small4K).is_some_and(|own| own.waste_bytes == 4095));
    assert!(space.map(1, PageSize::Small4K).is_none());
    assert!(space.map(u64::MAX, PageSize::Small4K).is_none());
    assert_eq!(space.tables()[0].entries, 2);
}

prop_compose! {
    fn any_layout()(page in 12_u32..=31, bits in prop::collection::vec(1_u32..=16, 1..6), entry in 1_u64..=64)
        -> Option<Layout> {
        Layout::new(page, &bits, entry).ok()
    }
}

proptest! {
    #[test]
    fn an_address_is_its_indices_and_its_offset(layout in any_layout(), address: u64) {
        let Some(layout) = layout else { return Ok(()) };
        match layout.split(address) {
            Some(place) => prop_assert_eq!(layout.join(&place), Some(address)),
            None => prop_assert!(layout.address_bits() < 64 && address >> layout.address_bits() != 0),
        }
        let inside = if layout.address_bits() == 64 { address } else { address & ((1 << layout.address_bits()) - 1) };
        let place = layout.split(inside).expect("it has no more bits than the layout");
        prop_assert_eq!(layout.join(&place), Some(inside));
        prop_assert!(place.offset_bytes < layout.page_bytes());
        // An index one too high is no place.
        let mut wrong = place.clone();
        wrong.indices[0] = 1 << layout.levels()[0].index_bits;
        prop_assert_eq!(layout.join(&wrong), None);
        wrong.indices.push(0);
        prop_assert_eq!(layout.join(&wrong), None);
    }

    #[test]
    fn tables_hold_their_entries_and_nothing_is_lost(layout in any_layout(), sizes in prop::collection::vec(0_u64..100_000_000, 0..8)) {
        let Some(layout) = layout else { return Ok(()) };
        let mut space = AddressSpace::new(layout.clone(), 0);
        let mut bytes = 0;
        for size in sizes {
            let Some(mapping) = space.map(size, PageSize::Small4K) else { break };
            prop_assert_eq!(mapping.bytes, size + mapping.waste_bytes);
            prop_assert!(mapping.waste_bytes < layout.page_bytes());
            bytes += mapping.bytes;
        }
        let levels = space.tables();
        prop_assert_eq!(levels[0].entries, bytes / layout.page_bytes(), "one entry a page");
        for (own, level) in levels.iter().zip(layout.levels()) {
            prop_assert!(own.tables <= own.entries && own.entries <= own.tables << level.index_bits);
        }
        for pair in levels.windows(2) {
            prop_assert_eq!(pair[0].tables, pair[1].entries, "an entry for every table below");
        }
    }

    #[test]
    fn rounding_is_up_and_by_less_than_a_unit(bytes: u64, unit in 1_u64..1 << 40) {
        let whole = round_up(bytes, unit);
        prop_assert_eq!(whole % unit, 0);
        prop_assert!(whole >= bytes && whole - bytes < unit || bytes > u64::MAX - unit);
    }
}
