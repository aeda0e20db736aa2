//! Compares sources by content.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::{FingerprintError, FingerprintInput, file_name};

/// How much of a file is read at once.
const PIECE_BYTES: usize = 64 * 1024;

pub(super) fn is_up_to_date(subject: &FingerprintInput<'_>) -> Result<bool, FingerprintError> {
    if subject.sources.is_empty() {
        return Ok(false);
    }
    let path = path(subject);
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let new = compute(subject)?;
    let same = old.trim() == new;
    if !same && !subject.dry {
        let kept = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, format!("{new}\n")));
        kept.map_err(|source| FingerprintError::Keep { path: path.clone(), source })?;
    }
    for glob in subject.generates.iter().filter(|g| !g.exclude) {
        if subject.expand(&glob.pattern)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(same)
}

/// The hash of the sources' names and contents, as go-task prints it.
pub(super) fn compute(subject: &FingerprintInput<'_>) -> Result<String, FingerprintError> {
    let mut hash = Xxh3::new();
    for file in subject.source_files()? {
        if let Some(name) = file.file_name() {
            hash.update(name.as_encoded_bytes());
        }
        hash_file(&file, subject, &mut hash)?;
    }
    let sum = hash.digest128();
    // Each half without leading zeros, because that is how existing projects have it stored.
    Ok(format!("{:x}{:x}", sum >> 64, sum & u128::from(u64::MAX)))
}

/// Hashes a file piece by piece: it may be larger than the memory.
fn hash_file(file: &Path, subject: &FingerprintInput<'_>, hash: &mut Xxh3) -> Result<(), FingerprintError> {
    let failed = |source| FingerprintError::Read { path: file.to_owned(), source };
    let mut reader = std::fs::File::open(file).map_err(failed)?;
    let mut piece = vec![0_u8; PIECE_BYTES];
    loop {
        let read = reader.read(&mut piece).map_err(failed)?;
        if read == 0 {
            return Ok(());
        }
        hash.update(&piece[..read]);
        if subject.scope.cancel_reason().is_some() {
            return Err(FingerprintError::Stopped { pattern: file.display().to_string() });
        }
    }
}

pub(super) fn forget(subject: &FingerprintInput<'_>) {
    // A missing file is fine.
    let _ = std::fs::remove_file(path(subject));
}

fn path(subject: &FingerprintInput<'_>) -> PathBuf {
    subject.state.join("checksum").join(file_name(subject.label))
}
