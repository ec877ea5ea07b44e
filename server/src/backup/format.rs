//! The file of a backup: one zstd stream of lines of JSON, so that any tool can look into it (`zstd -d | jq`).
//!
//! The first line is the [`Header`]. Then, for every table, a line with its name and columns, and a line for each row: an
//! array of texts, numbers and nulls, bytes as `{"hex":"…"}`. The last line is the [`Footer`] with the SHA-256 of all lines
//! before it. What is cut off or changed anywhere is noticed by it, by the stream's own checksum, or by the JSON.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::{Cell, Kind, Table};
use crate::text;

/// The word that begins a backup.
pub const FORMAT: &str = "weavewatch.backup/1";
/// A little slower than the disk, and a tenth of the rows' size.
const LEVEL: i32 = 3;
/// A longer line is damage: no row comes near.
const LINE_BYTES: u64 = 1 << 30;

/// What the backup is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// Version of the database's schema.
    pub schema: i64,
    /// RFC 3339.
    pub created: String,
    /// Version of the program.
    pub program: String,
}

/// How it ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Footer {
    /// Rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// Of all lines before, newlines included, in hex.
    pub sha256: String,
}

/// A table begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Heading {
    /// Its name.
    pub table: String,
    /// Names and types, in the order of the rows' cells.
    pub columns: Vec<(String, String)>,
}

/// Why a file is no whole backup.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// Read errors, and what zstd finds.
    #[error("it cannot be read, or is no zstd stream, or was cut off or changed")]
    Unreadable(#[from] io::Error),
    /// Something else than expected.
    #[error("line {line}: {why}")]
    Line {
        /// From 1.
        line: u64,
        /// As a person would say it.
        why: String,
    },
}

/// One line.
#[derive(Debug)]
pub enum Part {
    /// Of the next rows.
    Table(Heading),
    /// Of the table before it.
    Row(Vec<Cell>),
    /// The end; everything before it was whole.
    End(Footer),
}

/// A backup in the making.
pub struct Writer<W: Write> {
    out: zstd::Encoder<'static, W>,
    digest: Sha256,
    line: Vec<u8>,
    rows: BTreeMap<String, u64>,
    table: String,
}

/// A backup that is read from its begin to its end.
pub struct Reader<R: Read> {
    lines: BufReader<zstd::Decoder<'static, BufReader<R>>>,
    digest: Sha256,
    buffer: Vec<u8>,
    line: u64,
    rows: BTreeMap<String, u64>,
    table: Option<(String, Vec<Kind>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Json {
    Int(i64),
    Text(String),
    Bytes { hex: String },
}

impl Heading {
    /// The heading of a table of the schema.
    pub fn of(table: &Table) -> Self {
        let columns = table.columns.iter().map(|column| (column.name.clone(), column.kind.as_str().to_owned()));
        Self { table: table.name.clone(), columns: columns.collect() }
    }
}

impl<W: Write> Writer<W> {
    /// Begins.
    ///
    /// # Errors
    /// When `out` takes nothing.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        let mut out = zstd::Encoder::new(out, LEVEL)?;
        out.include_checksum(true)?;
        let (line, table) = (Vec::new(), String::new());
        let mut writer = Self { out, digest: Sha256::new(), line, rows: BTreeMap::new(), table };
        writer.put(header)?;
        Ok(writer)
    }

    /// Begins a table.
    ///
    /// # Errors
    /// When there is no room.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        self.table.clone_from(&table.name);
        self.rows.insert(table.name.clone(), 0);
        self.put(&Heading::of(table))
    }

    /// Appends a row of the table.
    ///
    /// # Errors
    /// When there is no room.
    pub fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        let cells: Vec<_> = cells
            .iter()
            .map(|cell| match cell {
                Cell::Null => None,
                Cell::Int(number) => Some(Json::Int(*number)),
                Cell::Text(text) => Some(Json::Text(text.clone())),
                Cell::Bytes(bytes) => Some(Json::Bytes { hex: text::hex(bytes) }),
            })
            .collect();
        *self.rows.entry(self.table.clone()).or_default() += 1;
        self.put(&cells)
    }

    /// Ends, and answers how many rows there were and where they went.
    ///
    /// # Errors
    /// When there is no room.
    pub fn finish(mut self) -> io::Result<(Footer, W)> {
        let footer =
            Footer { rows: std::mem::take(&mut self.rows), sha256: text::hex(&self.digest.clone().finalize()) };
        self.put(&footer)?;
        Ok((footer, self.out.finish()?))
    }

    fn put(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.line.push(b'\n');
        self.digest.update(&self.line);
        self.out.write_all(&self.line)
    }
}

impl<R: Read> Reader<R> {
    /// Begins; the header says of what it is.
    ///
    /// # Errors
    /// When it is no backup.
    pub fn new(input: R) -> Result<(Self, Header), Damage> {
        let lines = BufReader::new(zstd::Decoder::new(input)?);
        let (buffer, rows) = (Vec::new(), BTreeMap::new());
        let mut reader = Self { lines, digest: Sha256::new(), buffer, line: 0, rows, table: None };
        reader.read_line()?;
        let header: Header = serde_json::from_slice(&reader.buffer).map_err(|_| reader.wrong("it is no backup"))?;
        if header.format != FORMAT {
            return Err(reader.wrong("it is no backup, or one of a newer version"));
        }
        reader.digest.update(&reader.buffer);
        Ok((reader, header))
    }

    /// The next line.
    ///
    /// # Errors
    /// When there is damage up to here; nothing that comes after an error means anything.
    pub fn next_part(&mut self) -> Result<Part, Damage> {
        self.read_line()?;
        if self.buffer.first() == Some(&b'[') {
            let row = self.row()?;
            self.digest.update(&self.buffer);
            return Ok(Part::Row(row));
        }
        if let Ok(heading) = serde_json::from_slice::<Heading>(&self.buffer) {
            let kinds = heading.columns.iter().map(|(_, word)| Kind::from_word(word)).collect::<Option<_>>();
            let kinds = kinds.ok_or_else(|| self.wrong("a column has a type that is none of ours"))?;
            if self.rows.insert(heading.table.clone(), 0).is_some() {
                return Err(self.wrong("a table comes twice"));
            }
            self.table = Some((heading.table.clone(), kinds));
            self.digest.update(&self.buffer);
            return Ok(Part::Table(heading));
        }
        let footer: Footer =
            serde_json::from_slice(&self.buffer).map_err(|_| self.wrong("it is no line of a backup"))?;
        if footer.sha256 != text::hex(&self.digest.clone().finalize()) || footer.rows != self.rows {
            return Err(self.wrong("rows were changed, or are missing: the checksum is another one"));
        }
        self.buffer.clear();
        if self.lines.read(&mut [0])? != 0 {
            return Err(self.wrong("something follows the end"));
        }
        Ok(Part::End(footer))
    }

    fn row(&mut self) -> Result<Vec<Cell>, Damage> {
        let cells: Vec<Option<Json>> =
            serde_json::from_slice(&self.buffer).map_err(|_| self.wrong("it is no line of a backup"))?;
        let Some((table, kinds)) = &self.table else { return Err(self.wrong("a row stands before every table")) };
        if cells.len() != kinds.len() {
            return Err(self.wrong("a row has another number of cells than its table has columns"));
        }
        let typed = cells.into_iter().zip(kinds).map(|pair| match pair {
            (None, _) => Some(Cell::Null),
            (Some(Json::Int(number)), Kind::Int) => Some(Cell::Int(number)),
            (Some(Json::Text(text)), Kind::Text) => Some(Cell::Text(text)),
            (Some(Json::Bytes { hex }), Kind::Bytes) => text::from_hex(&hex).map(Cell::Bytes),
            _ => None,
        });
        let typed: Option<Vec<_>> = typed.collect();
        let typed = typed.ok_or_else(|| self.wrong("a cell is of another type than its column"))?;
        if let Some(rows) = self.rows.get_mut(table) {
            *rows += 1;
        }
        Ok(typed)
    }

    fn read_line(&mut self) -> Result<(), Damage> {
        self.buffer.clear();
        self.line += 1;
        (&mut self.lines).take(LINE_BYTES).read_until(b'\n', &mut self.buffer)?;
        if self.buffer.last() == Some(&b'\n') { Ok(()) } else { Err(self.wrong("it ends in the middle")) }
    }

    fn wrong(&self, why: &str) -> Damage {
        Damage::Line { line: self.line, why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests;
