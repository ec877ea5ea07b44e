//! Everything that is held of one machine in a `.zip`, for the person who asks for their data: what the API answers, every
//! event, and the rows of every table as they are stored. Which tables hold something of a machine is asked of the schema.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use axum::body::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::channel;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use super::{Pieces, refuse_own};
use crate::exit::Usage;
use crate::logs::Item;
use crate::new_file::NewFile;
use crate::store::{Cell, Machine, Schema, Store, Table};
use crate::text;

/// Rows, logs or events in memory at a time.
const ROWS: u32 = 500;

/// Writes everything of a machine to a new file.
///
/// # Errors
/// When database or file fail, or there is such a file; nothing is left then.
pub async fn save(store: &Store, id: &str, file: &Path) -> anyhow::Result<()> {
    refuse_own(store.place(), file)?;
    let unknown = || Usage(format!("failed to export: there is no machine {id}, see `export --table machines`"));
    let machine = store.machine(id).await?.ok_or_else(unknown)?;
    let mut new = NewFile::create(file, false)?;
    let (sender, mut receiver) = channel(1);
    let making = async {
        // Moved, so that it is dropped at the end and the other side notices.
        let sender = sender;
        write(store, &machine, &sender).await
    };
    let saving = async {
        while let Some(piece) = receiver.recv().await {
            new.write_all(&piece?)?;
        }
        Ok::<_, io::Error>(())
    };
    let (made, saved) = tokio::join!(making, saving);
    made?;
    saved.with_context(|| format!("failed to write {}", file.display()))?;
    new.finish()
}

/// Makes the archive and hands its bytes on as they come together, until nobody wants more.
///
/// # Errors
/// When the database fails.
pub(super) async fn write(store: &Store, machine: &Machine, pieces: &Pieces) -> anyhow::Result<()> {
    let mut archive = Archive::default();
    archive.member("README.txt")?;
    archive.bytes(about(&machine.id).as_bytes())?;
    archive.member("machine.json")?;
    archive.line(machine)?;

    let mut after = None;
    let mut logs = Vec::new();
    archive.member("logs.ndjson")?;
    loop {
        let (ids, next) = store.log_ids(&machine.id, after.as_ref(), ROWS).await?;
        for id in &ids {
            if let Some(log) = store.log(id).await? {
                archive.line(&Item::from(log))?;
            }
        }
        logs.extend(ids);
        if pieces.send(Ok(archive.take())).await.is_err() {
            return Ok(());
        }
        after = next;
        if after.is_none() {
            break;
        }
    }
    archive.member("events.ndjson")?;
    for log in &logs {
        if !events(store, log, &mut archive, pieces).await? {
            return Ok(());
        }
    }
    let schema = Schema::newest().await?;
    for table in &schema.tables {
        let Some(condition) = schema.of_machine(table) else { continue };
        archive.member(&format!("tables/{}.ndjson", table.name))?;
        let mut key = None;
        loop {
            let rows = store.plain_rows(table, Some((&condition, &machine.id)), key.as_deref(), ROWS).await?;
            let Some(last) = rows.last() else { break };
            key = Some(table.key_of(last));
            for row in &rows {
                archive.line(&object(table, row))?;
            }
            if pieces.send(Ok(archive.take())).await.is_err() {
                return Ok(());
            }
        }
    }
    let _ = pieces.send(Ok(archive.finish()?)).await;
    Ok(())
}

/// The events of one log; false when nobody wants more.
async fn events(store: &Store, log: &str, archive: &mut Archive, pieces: &Pieces) -> anyhow::Result<bool> {
    let mut after = (log.to_owned(), -1, -1);
    loop {
        let rows = store.event_rows(&after, ROWS).await?;
        let own = rows.iter().take_while(|row| row.log == log);
        let mut count = 0;
        for row in own {
            count += 1;
            let event: Value = serde_json::from_str(&row.body).unwrap_or_else(|_| Value::String(row.body.clone()));
            archive.line(&json!({"log": row.log, "line": row.line, "offset": row.record_offset, "event": event}))?;
            after = (row.log.clone(), row.record_offset, row.ordinal);
        }
        if pieces.send(Ok(archive.take())).await.is_err() {
            return Ok(false);
        }
        if count < ROWS as usize {
            return Ok(true);
        }
    }
}

fn about(id: &str) -> String {
    format!(
        "Everything that this server holds of the machine {id}, as of {}.\n\n\
         machine.json    what its agent said last, and what was lost\n\
         logs.ndjson     one line of JSON a log: what it says, and why\n\
         events.ndjson   one line of JSON an event that was read in a log\n\
         tables/         the rows of every table as they are stored; bytes are hexadecimal\n\n\
         The machine goes by a pseudonym. The server does not know the name of the machine or of its users.\n",
        text::now()
    )
}

fn object(table: &Table, row: &[Cell]) -> Value {
    let cells = table.columns.iter().zip(row).map(|(column, cell)| {
        let value = match cell {
            Cell::Null => Value::Null,
            Cell::Text(text) => Value::String(text.clone()),
            Cell::Int(number) => json!(number),
            Cell::Bytes(bytes) => Value::String(text::hex(bytes)),
        };
        (column.name.clone(), value)
    });
    Value::Object(cells.collect())
}

/// A `.zip` whose bytes can be taken while it grows.
struct Archive {
    zip: ZipWriter<StreamWriter<Shared>>,
    bytes: Shared,
}

/// Bytes that two parties reach.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Default for Archive {
    fn default() -> Self {
        let bytes = Shared::default();
        Self { zip: ZipWriter::new_stream(bytes.clone()), bytes }
    }
}

impl Archive {
    fn member(&mut self, name: &str) -> io::Result<()> {
        Ok(self.zip.start_file(name, SimpleFileOptions::default())?)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.zip.write_all(bytes)
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        // Control and direction characters are spelled out: somebody may look at it on a terminal.
        let text = serde_json::to_string(value)?;
        self.bytes(wire::cell::json(&text).as_bytes())?;
        self.bytes(b"\n")
    }

    fn take(&self) -> Bytes {
        std::mem::take(&mut *self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }

    fn finish(self) -> io::Result<Bytes> {
        let Self { zip, bytes } = self;
        zip.finish()?;
        let bytes = std::mem::take(&mut *bytes.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(bytes.into())
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
