//! A SQLite file: who may read it, how the driver is told its name, and what every connection sets.

use std::io;
use std::path::Path;

use sqlx::{AnyConnection, Executor, Row};

/// Makes the file when it is missing, for its owner only: it holds logs and the hashes of tokens. SQLite gives the same rights
/// to the files beside it. A file that is there keeps the rights that somebody gave it.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// With a write-ahead log readers never wait; `full` makes an acknowledged commit survive a power cut as well.
pub(super) async fn prepare(connection: &mut AnyConnection) -> sqlx::Result<()> {
    let pages: i64 = sqlx::query("pragma page_count").fetch_one(&mut *connection).await?.try_get(0)?;
    if pages == 0 {
        // Only an empty file takes it, so it has to come first. On any other it would be a write.
        connection.execute("pragma auto_vacuum = incremental").await?;
    }
    for pragma in [
        "pragma busy_timeout = 10000",
        "pragma journal_mode = wal",
        "pragma synchronous = full",
        "pragma foreign_keys = on",
        // What is deleted is overwritten where that costs no more writing; `room.rs` does the rest.
        "pragma secure_delete = fast",
    ] {
        connection.execute(pragma).await?;
    }
    Ok(())
}

/// The driver takes a URL only, so everything that means something in one is escaped.
pub(super) fn url(path: &Path, mode: &str) -> sqlx::Result<String> {
    let path = std::path::absolute(path)?;
    let text = path.to_str().ok_or_else(|| sqlx::Error::Configuration("the file's name is not UTF-8".into()))?;
    let escaped: String = text
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    Ok(format!("sqlite://{escaped}?mode={mode}"))
}

#[cfg(test)]
mod tests {
    use super::super::{Place, Store};

    #[tokio::test]
    async fn odd_file_names_are_opened_as_they_stand() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a ?b#c%41 ü.sqlite");
        let store = Store::open(&Place::File(path.clone())).await.expect("it opens");
        store.migrate().await.expect("the schema fits");
        store.can_write().await.expect("it answers");
        assert!(path.exists());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_new_file_and_those_beside_it_are_for_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("new.sqlite");
        let store = Store::open(&Place::File(path.clone())).await.expect("it opens");
        store.migrate().await.expect("the schema fits");
        let rights = |name: &str| {
            let file = std::fs::metadata(folder.path().join(name)).expect("it is there");
            file.permissions().mode() & 0o777
        };
        for name in ["new.sqlite", "new.sqlite-wal", "new.sqlite-shm"] {
            assert_eq!(rights(name), 0o600, "{name}");
        }
        store.close().await;

        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("it is ours");
        Store::open(&Place::File(path)).await.expect("it opens").close().await;
        assert_eq!(rights("new.sqlite"), 0o640, "what somebody chose stays");
    }
}
