use proptest::prelude::*;

use super::*;

const fn range(start: i64, end: i64) -> Range {
    Range { start, end }
}

/// Who knows each offset best, by the end of the part.
fn owners(ranges: &Ranges) -> BTreeMap<i64, i64> {
    ranges.owners().flat_map(|(part, limit)| (part.start..limit).map(move |offset| (offset, part.end))).collect()
}

#[test]
fn gaps_are_counted() {
    assert_eq!(Ranges::default().missing_bytes(10), 10);
    let mut ranges = Ranges::default();
    for new in [range(5, 7), range(0, 2), range(1, 3)] {
        ranges.claim(new, 1);
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
                assert_eq!(ranges.claim(range(start, start + 5), 1), Claim::Taken);
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
            ranges.claim(range(place * 10, place * 10 + 5), 1);
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
        assert_eq!(ranges.claim(range(step * 10, step * 10 + 15), 1), Claim::Taken, "{step}");
        assert!(ranges.iter().count() <= MOST);
    }
    assert_eq!(ranges.missing_bytes(50_005), 0);
    assert_eq!(ranges.claim(range(20, 35), 1), Claim::Nothing, "it is inside what was joined");
    let last = range(4_999 * 10, 4_999 * 10 + 15);
    assert_eq!(ranges.claim(last, 1), Claim::Taken, "the newest are kept apart");
    let parts: Vec<_> = ranges.owners().map(|(part, _)| part).collect();
    let all: Vec<_> = (0..5_000).map(|step| range(step * 10, step * 10 + 15)).collect();
    assert_eq!(parts, all, "whatever was joined is made of what came");
}

#[test]
fn what_is_joined_stays_small_enough_to_be_read() {
    let most = i64::try_from(MOST).expect("a small number");
    let mut ranges = Ranges::default();
    for step in 0..3 * most {
        assert_eq!(ranges.claim(range(step * 10, step * 10 + 10), JOINED_BYTES / 100), Claim::Taken);
    }
    assert!(ranges.iter().count() <= MOST);
    assert!(ranges.iter().all(|held| held.plain_bytes <= JOINED_BYTES));
    // Nothing can be joined where each is large, and what touches is welcome all the same.
    let mut ranges = Ranges::default();
    for step in 0..most + 100 {
        assert_eq!(ranges.claim(range(step * 10, step * 10 + 10), JOINED_BYTES), Claim::Taken);
    }
    assert_eq!(ranges.iter().count(), MOST + 100);
    assert_eq!(ranges.claim(range(most * 100, most * 100 + 10), 1), Claim::TooMany);
}

#[test]
fn too_many_gaps_are_refused_and_can_be_closed() {
    let mut ranges = Ranges::default();
    let most = i64::try_from(MOST).expect("a small number");
    for place in 0..most {
        ranges.claim(range(place * 10, place * 10 + 5), 1);
    }
    let stored = ranges.clone();
    assert_eq!(ranges.claim(range(most * 10, most * 10 + 5), 1), Claim::TooMany);
    assert_eq!(ranges.iter().collect::<Vec<_>>(), stored.iter().collect::<Vec<_>>(), "nothing has changed");
    // What closes a gap or says something again is welcome.
    assert_eq!(ranges.claim(range(5, 10), 1), Claim::Taken);
    assert_eq!(ranges.claim(range(10, 15), 1), Claim::Nothing, "it is inside what was joined");
    assert_eq!(ranges.claim(range(0, most * 10), 1), Claim::Taken);
    assert_eq!(ranges.claim(range(most * 10 + 7, most * 10 + 9), 1), Claim::Taken);
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
        for range in ranges.iter().chain(ranges.iter().rev()) {
            stored.claim(*range, 1);
        }
        let owners = owners(&stored);
        for offset in 0..64 {
            let best = ranges.iter().filter(|range| range.start <= offset && offset < range.end).map(|range| range.end);
            prop_assert_eq!(owners.get(&offset).copied(), best.max(), "offset {}", offset);
        }
    }
}
