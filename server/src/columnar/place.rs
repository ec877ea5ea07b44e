//! From `file:///…` or `s3://bucket/prefix` to a store, and how bytes get there.

use std::fmt;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Copy, Error};
use crate::text;

/// Read, hashed and sent at a time.
const CHUNK_BYTES: usize = 1 << 20;

impl Copy {
    /// Opens the place; a folder is made when it is missing. Credentials, region and endpoint of S3 come from `AWS_*` in
    /// the environment.
    ///
    /// # Errors
    /// When the URL names no place, or the folder cannot be made.
    pub fn open(url: &str) -> Result<Self, Error> {
        let (store, prefix, folder): (Arc<dyn ObjectStore>, _, _) = match url.split_once("://") {
            Some(("s3", rest)) => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() {
                    return Err(Error::Place("s3:// wants a bucket, such as s3://fleet/weavewatch".to_owned()));
                }
                let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build()?;
                let prefix = Path::parse(prefix.trim_end_matches('/'));
                (Arc::new(store), prefix.map_err(|error| Error::Place(error.to_string()))?, None)
            }
            Some(("file", path)) => local(&folder_of(path)?)?,
            None if FilePath::new(url).is_absolute() => local(FilePath::new(url))?,
            _ => return Err(Error::Place("expected file:///folder or s3://bucket/prefix".to_owned())),
        };
        Ok(Self { store, prefix, folder, url: url.to_owned() })
    }

    /// The same, but a folder that is missing is not made: then there is none.
    ///
    /// # Errors
    /// When the URL names no place, or the folder cannot be used.
    pub fn look(url: &str) -> Result<Option<Self>, Error> {
        let folder = match url.split_once("://") {
            Some(("file", path)) => Some(folder_of(path)?),
            Some(_) => None,
            None => Some(PathBuf::from(url)),
        };
        match folder {
            Some(folder) if folder.is_absolute() && !folder.try_exists()? => Ok(None),
            _ => Self::open(url).map(Some),
        }
    }

    /// Where a name of the layout, such as `logs/day=2026-09-14/part-….parquet`, lies in the store.
    fn at(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), Path::join)
    }

    /// The bytes of a small file; none when it is not there.
    pub(super) async fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.store.get(&self.at(name)).await {
            Ok(found) => Ok(Some(found.bytes().await?.to_vec())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces a small file as a whole.
    pub(super) async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.store.put(&self.at(name), bytes.into()).await?;
        self.make_safe(name).await
    }

    /// Sends a file and answers its size and its checksum (SHA-256 in hex digits).
    pub(super) async fn send(&self, from: &FilePath, name: &str) -> Result<(u64, String), Error> {
        let mut file = tokio::fs::File::open(from).await?;
        let mut writer = BufWriter::new(self.store.clone(), self.at(name));
        let (mut chunk, mut digest, mut size) = (vec![0; CHUNK_BYTES], Sha256::new(), 0);
        loop {
            let read = file.read(&mut chunk).await?;
            if read == 0 {
                break;
            }
            digest.update(&chunk[..read]);
            size += read as u64;
            writer.write_all(&chunk[..read]).await?;
        }
        writer.shutdown().await?;
        self.make_safe(name).await?;
        Ok((size, text::hex(&digest.finalize())))
    }

    /// Brings a file here and answers its size and its checksum.
    pub(super) async fn bring(&self, name: &str, to: &FilePath) -> Result<(u64, String), Error> {
        let found = self.store.get(&self.at(name)).await?;
        let mut file = tokio::fs::File::create(to).await?;
        let (mut digest, mut size) = (Sha256::new(), 0);
        let mut pieces = found.into_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            digest.update(&piece);
            size += piece.len() as u64;
            file.write_all(&piece).await?;
        }
        file.flush().await?;
        Ok((size, text::hex(&digest.finalize())))
    }

    /// The names in a folder of the layout, with everything below.
    pub(super) async fn names(&self, folder: &str) -> Result<Vec<String>, Error> {
        let mut listed = self.store.list(Some(&self.at(folder)));
        let mut names = Vec::new();
        let above = self.prefix.as_ref().len() + usize::from(!self.prefix.as_ref().is_empty());
        while let Some(found) = listed.next().await {
            names.push(found?.location.as_ref()[above..].to_owned());
        }
        Ok(names)
    }

    /// Removes a file; one that is gone already is as good.
    pub(super) async fn remove(&self, name: &str) -> Result<(), Error> {
        match self.store.delete(&self.at(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// An object store answers when it is; a folder has to be asked.
    async fn make_safe(&self, name: &str) -> Result<(), Error> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let file = folder.join(name);
        let synced = tokio::task::spawn_blocking(move || {
            std::fs::File::open(&file)?.sync_all()?;
            // Its name is safe when its folder is; Windows has no such call and does it by itself.
            #[cfg(unix)]
            if let Some(folder) = file.parent() {
                std::fs::File::open(folder)?.sync_all()?;
            }
            Ok::<_, std::io::Error>(())
        });
        Ok(synced.await.map_err(std::io::Error::other)??)
    }
}

impl fmt::Display for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(f)
    }
}

/// The store, where in it the copy begins, and its folder when it is on this machine.
type Opened = (Arc<dyn ObjectStore>, Path, Option<PathBuf>);

fn local(folder: &FilePath) -> Result<Opened, Error> {
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    // Empty folders of days that are gone go too.
    let store = LocalFileSystem::new_with_prefix(&folder)?.with_automatic_cleanup(true);
    Ok((Arc::new(store), Path::default(), Some(folder)))
}

/// `/srv/copy` of `file:///srv/copy`, and `C:/copy` of `file:///C:/copy`.
fn folder_of(path: &str) -> Result<PathBuf, Error> {
    let bytes = path.as_bytes();
    let path = if bytes.len() > 2 && bytes[0] == b'/' && bytes[2] == b':' { &path[1..] } else { path };
    let folder = PathBuf::from(path);
    if !folder.is_absolute() {
        return Err(Error::Place("file:// wants a full path, such as file:///srv/weavewatch".to_owned()));
    }
    Ok(folder)
}
