//! The machine's id: 128 random bits that never leave the state folder, and the pseudonym that is made from them.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use crate::agent::home::write_whole;

const FILE_NAME: &str = "machine-id";

/// Keeps this hash apart from every other use of the same bits.
const LABEL: &[u8] = b"weavewatch machine pseudonym 1\0";

/// The pseudonym of the machine whose bits stand in the state folder; makes the bits where there are none.
pub fn pseudonym(state: &Path) -> anyhow::Result<String> {
    let path = state.join(FILE_NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(&path).with_context(|| format!("failed to write the machine's id to {}", path.display()))?
        }
        Err(error) => return Err(error).with_context(|| format!("failed to read {}", path.display())),
    };
    let id = text.trim();
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        bail!(
            "failed to read the machine's id in {}; put its 32 hex digits back, or delete it to start as a new machine",
            path.display()
        );
    }
    let id = u128::from_str_radix(id, 16).context("failed to read the machine's id")?;
    Ok(hex32(LABEL, &[&id.to_be_bytes()]))
}

/// The pseudonym, where the bits are there.
///
/// # Errors
/// As [`pseudonym`].
pub fn known(state: &Path) -> anyhow::Result<Option<String>> {
    if state.join(FILE_NAME).exists() { pseudonym(state).map(Some) } else { Ok(None) }
}

/// The first 32 hex digits of the SHA-256 of a label and parts.
pub fn hex32(label: &[u8], parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    hash.update(label);
    for part in parts {
        hash.update(part);
    }
    let digest = hash.finalize();
    let half = digest.iter().take(16).fold(0_u128, |half, byte| half << 8 | u128::from(*byte));
    format!("{half:032x}")
}

fn create(path: &Path) -> io::Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(io::Error::other)?;
    let text = format!("{:032x}\n", u128::from_be_bytes(bits));
    write_whole(path, text.as_bytes(), true)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pseudonym_stays_and_does_not_show_the_bits() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let first = pseudonym(folder.path()).expect("the folder is writable");
        let second = pseudonym(folder.path()).expect("the folder is writable");
        let bits = fs::read_to_string(folder.path().join(FILE_NAME)).expect("it was just written");
        assert_eq!(first, second);
        assert_eq!(first.len(), 32);
        assert_ne!(first, bits.trim());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_the_bits() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        pseudonym(folder.path()).expect("the folder is writable");
        let metadata = fs::metadata(folder.path().join(FILE_NAME)).expect("it was just written");
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_id_is_not_replaced_in_silence() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join(FILE_NAME), "12").expect("the folder is writable");
        assert!(pseudonym(folder.path()).is_err());
    }
}
