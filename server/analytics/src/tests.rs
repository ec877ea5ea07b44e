use std::fs;

use polars::prelude::{ChunkAgg, ParquetReader, SerReader};

use super::*;

const COLUMNS: &[Column] = &[Column::text("name"), Column::json("body"), Column::int("count"), Column::flag("killed")];

const ROWS: [(Option<&str>, i64); 7] = [
    (Some("=HYPERLINK(\"http://evil\")"), 1),
    (Some("  @SUM(1)"), 2),
    (Some("\u{3000}＝1"), 3),
    (Some("a,\"b\"\n\u{1b}[2J"), -3),
    (Some("exe.\u{202e}gol"), -4),
    (Some("RTX 4080 → Iris Xe"), 4),
    (None, 5),
];

fn rows() -> Vec<Vec<Cell>> {
    let body = |name: Option<&str>| name.map(|name| format!("[\"{}\"]", name.chars().last().unwrap_or(' ')));
    let row = |(name, count): (Option<&str>, i64)| {
        vec![name.map(str::to_owned).into(), body(name).into(), count.into(), (count > 1).into()]
    };
    ROWS.into_iter().map(row).collect()
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
fn nothing_in_csv_acts_on_a_terminal_or_in_a_spreadsheet() {
    let expected = r#"name,body,count,killed
"'=HYPERLINK(""http://evil"")","["")""]",1,false
'  @SUM(1),"["")""]",2,true
'　＝1,"[""1""]",3,true
"a,""b""\n\u{1b}[2J","[""J""]",-3,false
exe.\u{202e}gol,"[""l""]",-4,false
RTX 4080 → Iris Xe,"[""e""]",4,true
,,5,true
"#;
    assert_eq!(String::from_utf8(export(Format::Csv)).expect("UTF-8"), expected);
}

#[test]
fn a_json_document_in_csv_stays_one() {
    const BODY: &[Column] = &[Column::json("body")];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.csv");
    let mut exporter = Exporter::create(&path, Format::Csv, BODY).expect("the file can be made");
    exporter.write(&[vec!["{\"name\":\"exe.\u{202e}gol\"}".to_owned().into()]]).expect("the cell fits");
    exporter.finish().expect("the disk has room");
    let text = fs::read_to_string(&path).expect("it was just written");
    assert_eq!(text, "body\n\"{\"\"name\"\":\"\"exe.\\u202egol\"\"}\"\n");
}

#[test]
fn a_file_takes_its_name_when_it_is_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.csv");
    fs::write(&path, "yesterday").expect("a writable folder");
    let mut given_up = Exporter::create(&path, Format::Csv, COLUMNS).expect("the file can be made");
    given_up.write(&rows()).expect("the cells fit");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "yesterday");
    drop(given_up);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1, "nothing else is left");
    let exporter = Exporter::create(&path, Format::Csv, COLUMNS).expect("the file can be made");
    exporter.finish().expect("the disk has room");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "name,body,count,killed\n");
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_stays_one_and_rights_are_those_of_a_new_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::write(&real, "yesterday").expect("a writable folder");
    let plain = fs::metadata(&real).expect("it is there").permissions().mode();
    symlink(&real, &link).expect("links can be made");
    Exporter::create(&link, Format::Csv, COLUMNS).expect("it begins").finish().expect("the disk has room");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(fs::read_to_string(&real).expect("it is there"), "name,body,count,killed\n");
    assert_eq!(fs::metadata(&real).expect("it is there").permissions().mode(), plain);
}

/// Everything that is written to this device fails for want of space.
#[cfg(target_os = "linux")]
#[test]
fn the_last_bytes_that_find_no_room_are_told() {
    for format in [Format::Csv, Format::Parquet] {
        let exporter = Exporter::create(Path::new("/dev/full"), format, COLUMNS).expect("it begins");
        exporter.finish().expect_err("there is no room");
    }
}

#[test]
fn parquet_keeps_every_value() {
    let frame = ParquetReader::new(std::io::Cursor::new(export(Format::Parquet))).finish().expect("a Parquet file");
    assert_eq!(frame.shape(), (7, 4));
    let names = frame.column("name").and_then(|column| column.str().cloned()).expect("a text column");
    assert_eq!(names.get(0), Some("=HYPERLINK(\"http://evil\")"));
    assert_eq!(names.get(6), None);
    let counts = frame.column("count").and_then(|column| column.i64().cloned()).expect("a number column");
    assert_eq!(counts.sum(), Some(8));
}

#[test]
fn an_empty_table_has_its_header() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.csv");
    let exporter = Exporter::create(&path, Format::Csv, COLUMNS).expect("the file can be made");
    exporter.finish().expect("the disk has room");
    assert_eq!(fs::read_to_string(&path).expect("it was just written"), "name,body,count,killed\n");
}

#[test]
fn a_cell_of_another_kind_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut exporter =
        Exporter::create(&folder.path().join("out"), Format::Csv, COLUMNS).expect("the file can be made");
    assert!(matches!(exporter.write(&[vec![1.into(), Cell::Text(None), 2.into(), true.into()]]), Err(Error::Rows(_))));
    assert!(matches!(exporter.write(&[vec![Cell::Text(None)]]), Err(Error::Rows(_))));
}

#[test]
fn a_stream_is_the_file_piece_by_piece() {
    for format in [Format::Csv, Format::Parquet] {
        let mut stream = Stream::begin(format, COLUMNS).expect("it begins");
        let mut bytes = Vec::new();
        for batch in rows().chunks(2) {
            bytes.extend(stream.write(batch).expect("the cells fit"));
        }
        bytes.extend(stream.finish().expect("it ends"));
        assert_eq!(bytes, export(format), "{format:?}");
    }
}

#[test]
fn nothing_fits_every_column_and_a_short_row_none() {
    for format in [Format::Csv, Format::Parquet] {
        let mut stream = Stream::begin(format, COLUMNS).expect("it begins");
        stream.write(&[vec![Cell::Null; COLUMNS.len()]]).expect("it fits");
        assert!(stream.write(&[vec![Cell::Null]]).is_err(), "{format:?}");
    }
}
