use std::fs;

use polars::prelude::{ChunkAgg, ParquetReader, SerReader};

use super::*;

const COLUMNS: &[Column] = &[Column::text("name"), Column::int("count"), Column::flag("killed")];

fn rows() -> Vec<Vec<Cell>> {
    let row = |name: Option<&str>, count: i64| vec![name.map(str::to_owned).into(), count.into(), (count > 1).into()];
    vec![
        row(Some("=HYPERLINK(\"http://evil\")"), 1),
        row(Some("  @SUM(1)"), 2),
        row(Some("a,\"b\"\nc"), -3),
        row(Some("RTX 4080 → Iris Xe"), 4),
        row(None, 5),
    ]
}

fn export(format: Format) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out");
    let mut exporter = Exporter::create(&path, format, COLUMNS).expect("the file can be made");
    for batch in rows().chunks(2) {
        exporter.write(batch).expect("the cells fit");
    }
    exporter.finish().expect("the disk has room");
    fs::read(&path).expect("it was just written")
}

#[test]
fn formulas_are_text_in_csv() {
    let expected = "name,count,killed\n\
        \"'=HYPERLINK(\"\"http://evil\"\")\",1,false\n\
        '  @SUM(1),2,true\n\
        \"a,\"\"b\"\"\nc\",-3,false\n\
        RTX 4080 → Iris Xe,4,true\n\
        ,5,true\n";
    assert_eq!(String::from_utf8(export(Format::Csv)).expect("UTF-8"), expected);
}

#[test]
fn parquet_keeps_every_value() {
    let frame = ParquetReader::new(std::io::Cursor::new(export(Format::Parquet))).finish().expect("a Parquet file");
    assert_eq!(frame.shape(), (5, 3));
    let names = frame.column("name").and_then(|column| column.str().cloned()).expect("a text column");
    assert_eq!(names.get(0), Some("=HYPERLINK(\"http://evil\")"));
    assert_eq!(names.get(4), None);
    let counts = frame.column("count").and_then(|column| column.i64().cloned()).expect("a number column");
    assert_eq!(counts.sum(), Some(9));
}

#[test]
fn an_empty_table_has_its_header() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.csv");
    let exporter = Exporter::create(&path, Format::Csv, COLUMNS).expect("the file can be made");
    exporter.finish().expect("the disk has room");
    assert_eq!(fs::read_to_string(&path).expect("it was just written"), "name,count,killed\n");
}

#[test]
fn a_cell_of_another_kind_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut exporter =
        Exporter::create(&folder.path().join("out"), Format::Csv, COLUMNS).expect("the file can be made");
    assert!(matches!(exporter.write(&[vec![1.into(), 2.into(), true.into()]]), Err(Error::Rows(_))));
    assert!(matches!(exporter.write(&[vec![Cell::Text(None)]]), Err(Error::Rows(_))));
}
