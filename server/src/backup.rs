//! `backup` and `restore`: everything that a database holds, in one file that fits SQLite and PostgreSQL alike.
//!
//! Which tables there are is asked of the schema ([`crate::store::Schema`]), so none can be forgotten; how the file looks
//! stands in `format`.

mod format;

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::Path;

use anyhow::{Context, bail};

use crate::export::refuse_own;
use crate::new_file::NewFile;
use crate::progress::Progress;
use crate::store::{Cell, Refill, Schema, Store, Table};
use crate::text;
pub use format::{FORMAT, Footer, Header};
use format::{Heading, Part, Reader, Writer};

/// What is held back before it is inserted.
const CHUNK_ROWS: usize = 500;
const CHUNK_BYTES: usize = 4 << 20;

/// Writes a backup of one moment; servers go on meanwhile. The file is for its owner only, because it holds the hashes of
/// tokens and whatever the logs tell, and it takes its name when it is whole and on the disk.
///
/// # Errors
/// When there is such a file already and `replace` is not said, and when database or file fail: nothing is left then.
pub async fn save(store: &Store, file: &Path, replace: bool) -> anyhow::Result<Footer> {
    refuse_own(store.place(), file)?;
    let out = NewFile::create(file, replace)?;
    let cannot = || format!("failed to write {}: check rights and room", file.display());
    let mut snapshot = store.snapshot().await?;
    let version = snapshot.version().await?;
    if version > Store::schema_version() {
        bail!("failed to back up {}: its schema {version} is newer than this program", store.place());
    }
    let schema = Schema::of(version).await?;
    let header = Header {
        format: FORMAT.to_owned(),
        schema: version,
        created: text::now(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let progress = Progress::counter("backing up");
    let mut writer = Writer::new(out, &header).with_context(cannot)?;
    for table in &schema.tables {
        writer.table(table).with_context(cannot)?;
        snapshot
            .each_row(table, |row| {
                progress.add(1);
                writer.row(row).with_context(cannot)
            })
            .await
            .with_context(|| format!("failed to back up the table {}", table.name))?;
    }
    let (footer, out) = writer.finish().with_context(cannot)?;
    out.finish()?;
    Ok(footer)
}

/// A file that was read to its end and found whole.
#[derive(Debug)]
pub struct Whole {
    /// What it is of.
    pub header: Header,
    /// How much there is.
    pub footer: Footer,
    file: File,
}

/// Reads a backup to its end, and makes sure that it is whole and that this program knows its tables.
///
/// # Errors
/// What is wrong with it.
pub async fn check(file: &Path) -> anyhow::Result<Whole> {
    let opened = File::open(file).with_context(|| format!("failed to open {}", file.display()))?;
    let progress = Progress::bytes("checking", opened.metadata().map(|known| known.len()).unwrap_or_default());
    let damaged = || format!("{} is no whole backup: nothing was restored from it", file.display());
    let (mut reader, header) = Reader::new(progress.follow(BufReader::new(&opened))).with_context(damaged)?;
    if header.schema > Store::schema_version() {
        let (theirs, ours) = (header.schema, Store::schema_version());
        bail!("{} is of schema {theirs}, and this program knows {ours}: restore it with a newer one", file.display());
    }
    let schema = Schema::of(header.schema).await?;
    let footer = loop {
        match reader.next_part().with_context(damaged)? {
            Part::Table(heading) => drop(fitting(&schema, &heading).with_context(damaged)?),
            Part::Row(_) => {}
            Part::End(footer) => break footer,
        }
    };
    if let Some(table) = schema.tables.iter().find(|table| !footer.rows.contains_key(&table.name)) {
        bail!("{}: the table {} is missing", damaged(), table.name);
    }
    drop(reader);
    Ok(Whole { header, footer, file: opened })
}

/// Fills an empty database in one transaction, brings its schema up to date, and answers in how many texts the picture of
/// NUL had to take its place.
///
/// # Errors
/// When the database is not empty or fails, or the file is another one meanwhile: nothing is there then.
pub async fn fill(store: &Store, mut whole: Whole) -> anyhow::Result<u64> {
    whole.file.rewind().context("failed to read the backup a second time: name a file, not a pipe")?;
    let progress = Progress::bytes("restoring", whole.file.metadata().map(|known| known.len()).unwrap_or_default());
    let (mut reader, header) = Reader::new(progress.follow(BufReader::new(&whole.file)))?;
    if header != whole.header {
        bail!("failed to restore: the backup was changed meanwhile");
    }
    let Some(mut refill) = store.refill(header.schema).await.context("failed to make the tables")? else {
        bail!("failed to restore: {} is not empty", store.place());
    };
    let mut chunk = Chunk::default();
    loop {
        match reader.next_part()? {
            Part::Table(heading) => {
                chunk.insert(&mut refill).await?;
                chunk.table = Some(fitting(refill.schema(), &heading)?.clone());
            }
            Part::Row(row) => {
                chunk.bytes += row.iter().map(size_bytes).sum::<usize>();
                chunk.rows.push(row);
                if chunk.rows.len() >= CHUNK_ROWS || chunk.bytes >= CHUNK_BYTES {
                    chunk.insert(&mut refill).await?;
                }
            }
            Part::End(_) => break,
        }
    }
    chunk.insert(&mut refill).await?;
    refill.finish().await.context("failed to bring the restored rows up to date")
}

/// Rows of one table that wait for each other.
#[derive(Default)]
struct Chunk {
    table: Option<Table>,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
}

impl Chunk {
    async fn insert(&mut self, refill: &mut Refill<'_>) -> anyhow::Result<()> {
        if let Some(table) = &self.table {
            let inserted = refill.insert(table, &self.rows).await;
            inserted.with_context(|| format!("failed to restore rows of the table {}", table.name))?;
        }
        self.rows.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn size_bytes(cell: &Cell) -> usize {
    match cell {
        Cell::Null | Cell::Int(_) => 8,
        Cell::Text(text) => text.len(),
        Cell::Bytes(bytes) => bytes.len(),
    }
}

/// The table of the schema that a heading is about.
fn fitting<'a>(schema: &'a Schema, heading: &Heading) -> anyhow::Result<&'a Table> {
    let table = schema.table(&heading.table).filter(|table| Heading::of(table) == *heading);
    table.with_context(|| format!("the table {} is none of schema {}", heading.table, schema.version))
}
