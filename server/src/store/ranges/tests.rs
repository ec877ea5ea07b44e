use proptest::prelude::*;

use super::*;

const fn range(start: i64, end: i64) -> Range {
    Range { start, end }
}

fn add(stored: &mut Ranges, owners: &mut BTreeMap<i64, i64>, new: Range) {
    if let Claim::Below { limit, known } = stored.claim(new) {
        let told = (new.start..limit).any(|offset| owners.contains_key(&offset));
        assert!(known || !told, "{new:?} would not clear what is there");
        owners.extend((new.start..limit).map(|offset| (offset, new.end)));
    }
}

#[test]
fn gaps_are_counted() {
    assert_eq!(Ranges::default().missing_bytes(10), 10);
    let mut ranges = Ranges::default();
    for new in [range(5, 7), range(0, 2), range(1, 3)] {
        ranges.claim(new);
    }
    assert_eq!(ranges.missing_bytes(10), 5);
}

#[test]
fn the_cost_of_a_range_does_not_grow_with_their_number() {
    for order in [1, -1] {
        let cost = |count: i64| {
            let mut ranges = Ranges::default();
            for place in 0..count {
                let start = (if order > 0 { place } else { count - place }) * 10;
                assert_eq!(ranges.claim(range(start, start + 5)), Claim::Below { limit: start + 5, known: false });
            }
            ranges.looked_at()
        };
        assert_eq!(cost(800), 8 * cost(100));
    }
}

#[test]
fn ranges_that_find_no_room_cost_no_more_than_others() {
    let full = |more: i64| {
        let mut ranges = Ranges::default();
        for place in 0..i64::try_from(MOST).expect("a small number") + more {
            ranges.claim(range(place * 10, place * 10 + 5));
        }
        ranges.looked_at()
    };
    assert!(full(10_000) - full(1) <= 2 * 10_000);
}

#[test]
fn ranges_without_end_stay_few() {
    // A log that grows: every range begins a little before the end of the one before.
    let mut ranges = Ranges::default();
    for step in 0..5_000_i64 {
        let claim = ranges.claim(range(step * 10, step * 10 + 15));
        assert_eq!(claim, Claim::Below { limit: step * 10 + 15, known: step > 0 }, "{step}");
        assert!(ranges.iter().count() <= MOST);
    }
    assert_eq!(ranges.missing_bytes(50_005), 0);
    assert_eq!(ranges.claim(range(20, 35)), Claim::Nothing, "it is inside what was joined");
    let last = range(4_999 * 10, 4_999 * 10 + 15);
    assert_eq!(ranges.claim(last), Claim::Below { limit: last.end, known: true }, "the newest are kept apart");
}

#[test]
fn too_many_gaps_are_refused_and_can_be_closed() {
    let mut ranges = Ranges::default();
    let most = i64::try_from(MOST).expect("a small number");
    for place in 0..most {
        ranges.claim(range(place * 10, place * 10 + 5));
    }
    let stored = ranges.clone();
    assert_eq!(ranges.claim(range(most * 10, most * 10 + 5)), Claim::TooMany);
    assert_eq!(ranges.iter().collect::<Vec<_>>(), stored.iter().collect::<Vec<_>>(), "nothing has changed");
    // What closes a gap or says something again is welcome.
    assert!(matches!(ranges.claim(range(5, 10)), Claim::Below { .. }));
    assert_eq!(ranges.claim(range(10, 15)), Claim::Nothing, "it is inside what was joined");
    assert!(matches!(ranges.claim(range(0, most * 10)), Claim::Below { .. }));
    assert!(matches!(ranges.claim(range(most * 10 + 7, most * 10 + 9)), Claim::Below { .. }));
    assert_eq!(ranges.iter().count(), 2);
}

proptest! {
    #[test]
    fn the_range_that_ends_last_owns_an_offset_in_any_order(
        ranges in prop::collection::vec((0_i64..30, 0_i64..20), 1..12),
        shuffle in any::<prop::sample::Index>(),
    ) {
        let mut ranges: Vec<_> = ranges.into_iter().map(|(start, len)| range(start, start + len)).collect();
        let by = shuffle.index(ranges.len());
        ranges.rotate_left(by);
        let mut stored = Ranges::default();
        let mut owners = BTreeMap::new();
        for range in ranges.iter().chain(ranges.iter().rev()) {
            add(&mut stored, &mut owners, *range);
        }
        for offset in 0..64 {
            let best = ranges.iter().filter(|range| range.start <= offset && offset < range.end).map(|range| range.end);
            prop_assert_eq!(owners.get(&offset).copied(), best.max(), "offset {}", offset);
        }
    }
}
