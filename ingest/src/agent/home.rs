//! The agent's own folder: where each thing lies in it, and the small files that are written whole.
//!
//! A file is written under another name, brought to disk and renamed, so that a crash leaves the old one or the new one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use reqwest::Url;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The folder.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
}

/// Who this machine is to which server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Credential {
    /// The server's address.
    #[serde(with = "address")]
    pub server: Url,
    /// Valid for this machine only where it comes from `enroll`; the server can revoke it.
    pub token: String,
}

/// What `enroll` leaves for the other commands: the credential, and what was agreed to with it. Owner-only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Enrolment {
    /// From the server.
    #[serde(flatten)]
    pub credential: Credential,
    /// The folders that were named, absolute; none means those of this machine.
    #[serde(default)]
    pub dirs: Vec<PathBuf>,
    /// Further root certificates, absolute.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// The proxy.
    #[serde(default)]
    pub proxy: Option<String>,
    /// Plain http to another machine was allowed.
    #[serde(default)]
    pub allow_http: bool,
}

impl Home {
    /// The folder at `path`, which need not exist.
    pub const fn at(path: PathBuf) -> Self {
        Self { folder: path }
    }

    /// Makes the folder for its owner only.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(&self) -> anyhow::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.folder)
            .with_context(|| format!("failed to make {}; give another folder with --state", self.folder.display()))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Where the queue lies.
    pub fn queue(&self) -> PathBuf {
        self.folder.join("queue")
    }

    /// Where batches lie that the server will not take.
    pub fn rejected(&self) -> PathBuf {
        self.folder.join("rejected")
    }

    /// What a running agent says of itself.
    pub fn live(&self) -> PathBuf {
        self.folder.join("live.json")
    }

    /// A wish to send everything now; its text is a number that the answer repeats.
    pub fn flush_wish(&self) -> PathBuf {
        self.folder.join("flush")
    }

    fn credential_path(&self) -> PathBuf {
        self.folder.join("credential.json")
    }

    /// What `enroll` left, if it did.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn enrolment(&self) -> anyhow::Result<Option<Enrolment>> {
        read_json(&self.credential_path())
            .with_context(|| format!("failed to read {}; enrol again", self.credential_path().display()))
    }

    /// Makes sure that an enrolment can be kept: the server ends the old credential when it gives a new one, so a disk that
    /// takes nothing has to be known before.
    ///
    /// # Errors
    /// When the folder cannot be written, or the disk is full.
    pub fn can_keep(&self) -> anyhow::Result<()> {
        /// More than an enrolment takes.
        const ROOM: usize = 16 << 10;
        let path = self.folder.join("credential.probe");
        write_whole(&path, &[b' '; ROOM], true)
            .and_then(|()| fs::remove_file(&path))
            .with_context(|| format!("failed to write into {}", self.folder.display()))
    }

    /// Keeps the enrolment.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn keep(&self, enrolment: &Enrolment) -> anyhow::Result<()> {
        let text = serde_json::to_vec_pretty(enrolment)?;
        let path = self.credential_path();
        write_whole(&path, &text, true).with_context(|| format!("failed to write {}", path.display()))
    }
}

/// An address as its text.
mod address {
    use reqwest::Url;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(url.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
        Url::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The folder where nothing else is said: the user's state folder, or the system's for the Windows service.
pub fn default_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return variable("LOCALAPPDATA").map(|base| base.join("Weavewatch"));
    }
    // systemd's `StateDirectory=`.
    variable("STATE_DIRECTORY").or_else(|| {
        variable("XDG_STATE_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".local/state")))
            .map(|base| base.join("weavewatch"))
    })
}

/// Reads a JSON file; none is `None`.
///
/// # Errors
/// When it cannot be read or is no such JSON.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file for its owner only, so that a crash leaves the old one or the new one. `durable` brings it to disk.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&new).and_then(|mut file| {
        file.write_all(bytes)?;
        if durable { file.sync_all() } else { Ok(()) }
    });
    if let Err(error) = written.and_then(|()| fs::rename(&new, path)) {
        // On a full disk even half a file is in the way.
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    // On Unix a rename is only on disk when its folder is.
    if cfg!(unix)
        && durable
        && let Some(folder) = path.parent()
    {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enrolment_comes_back_and_is_its_owner_s_only() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let home = Home::at(folder.path().join("state"));
        home.create().expect("the folder is writable");
        assert_eq!(home.enrolment().expect("there is none"), None);
        let server = Url::parse("https://weave.example.org/").expect("it is a URL");
        let enrolment = Enrolment {
            credential: Credential { server, token: "t".to_owned() },
            dirs: vec!["/logs".into()],
            ca: None,
            proxy: Some("http://proxy:3128".to_owned()),
            allow_http: true,
        };
        home.keep(&enrolment).expect("the folder is writable");
        assert_eq!(home.enrolment().expect("it was just written"), Some(enrolment));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
            assert_eq!((mode(home.path()), mode(&home.credential_path())), (0o700, 0o600));
        }
        fs::write(home.credential_path(), "\0\0").expect("the folder is writable");
        assert!(home.enrolment().is_err());
    }
}
