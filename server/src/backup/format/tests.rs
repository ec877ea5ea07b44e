//! Whatever stands in a row comes back, and no change of a single byte goes unnoticed.

use proptest::prelude::*;

use super::*;
use crate::store::Column;

fn table() -> Table {
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    let columns = vec![column("a", Kind::Text), column("b", Kind::Int), column("c", Kind::Bytes)];
    Table { name: "t".to_owned(), columns, key: vec!["a".to_owned()], parents: vec![] }
}

fn header() -> Header {
    let word = str::to_owned;
    Header { format: word(FORMAT), schema: 3, created: word("2026-09-14T12:00:00.000Z"), program: word("0.1.0") }
}

fn written(rows: &[Vec<Cell>]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).expect("memory takes everything");
    writer.table(&table()).expect("memory takes everything");
    for row in rows {
        writer.row(row).expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything").1
}

fn read(bytes: &[u8]) -> Result<(Vec<Vec<Cell>>, Footer), Damage> {
    let (mut reader, found) = Reader::new(bytes)?;
    assert_eq!(found, header());
    let mut rows = Vec::new();
    loop {
        match reader.next_part()? {
            Part::Table(heading) => assert_eq!(heading, Heading::of(&table())),
            Part::Row(row) => rows.push(row),
            Part::End(footer) => return Ok((rows, footer)),
        }
    }
}

fn rows() -> impl Strategy<Value = Vec<Vec<Cell>>> {
    let texts = prop_oneof![
        any::<String>(),
        Just("\0 \u{1b}[2J \u{2028} \"\\ \r\n {\"hex\":\"00\"} \u{10ffff}".to_owned()),
        Just(String::new())
    ];
    let numbers = prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)];
    let or_null = |cell: Option<Cell>| cell.unwrap_or(Cell::Null);
    let row = (
        prop::option::of(texts.prop_map(Cell::Text)).prop_map(or_null),
        prop::option::of(numbers.prop_map(Cell::Int)).prop_map(or_null),
        prop::option::of(any::<Vec<u8>>().prop_map(Cell::Bytes)).prop_map(or_null),
    );
    prop::collection::vec(row.prop_map(|(a, b, c)| vec![a, b, c]), 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_row_comes_back(rows in rows()) {
        let (found, footer) = read(&written(&rows)).expect("it is whole");
        prop_assert_eq!(footer.rows["t"], rows.len() as u64);
        prop_assert_eq!(found, rows);
    }

    #[test]
    fn what_is_cut_off_or_changed_is_refused(rows in rows(), place in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let whole = written(&rows);
        let place = place.index(whole.len());
        prop_assert!(read(&whole[..place]).is_err(), "cut at {}", place);
        let mut changed = whole.clone();
        changed[place] ^= 1 << bit;
        // Some bits of a zstd frame mean nothing, such as one that is reserved for later: then the rows are still the same.
        if let Ok((found, _)) = read(&changed) {
            prop_assert_eq!(found, rows);
        }
    }
}

#[test]
fn a_change_below_the_compression_is_noticed() {
    let row = vec![Cell::Text("engaged".to_owned()), Cell::Int(7), Cell::Bytes(vec![0, 255])];
    let lines = String::from_utf8(zstd::decode_all(written(&[row]).as_slice()).expect("zstd")).expect("UTF-8");
    let packed = |lines: &str| zstd::encode_all(lines.as_bytes(), 0).expect("memory takes everything");
    assert!(read(&packed(&lines)).is_ok());
    let without_row: Vec<_> = lines.lines().filter(|line| !line.starts_with('[')).collect();
    let row = lines.lines().find(|line| line.starts_with('[')).expect("there is one");
    for (changed, why) in [
        (lines.replace("engaged", "refused"), "checksum"),
        (without_row.join("\n") + "\n", "checksum"),
        (lines.replace("[\"engaged\",7", "[\"engaged\",\"7\""), "another type"),
        (lines.replace("00ff", "00fg"), "another type"),
        (lines.replace("[\"engaged\",7", "[7"), "number of cells"),
        (lines.clone() + "\n", "follows the end"),
        (lines.replace(FORMAT, "weavewatch.backup/2"), "newer version"),
        (lines.replace("\"bigint\"", "\"float\""), "none of ours"),
        (lines.replacen(row, &format!("{row}\nnonsense"), 1), "no line"),
    ] {
        let said = read(&packed(&changed)).expect_err(why).to_string();
        assert!(said.contains(why), "{why}: {said}");
    }
    assert!(matches!(read(b"PK\x03\x04"), Err(Damage::Unreadable(_))));
}
