//! A vault brought back as a plain folder.
//!
//! Files, links and folders come back byte for byte, and with their "may execute"; other rights and times are
//! as for new files. A repository the agent made inside the worktree comes back as the repository it was.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;
use tempfile::TempDir;

use crate::git::clone::worktrees::Worktrees;
use crate::git::command::conversation::GitConversation;
use crate::git::error::GitError;
use crate::git::vault::tree::unescaped;

/// The longest text a link can have on any system we know.
const LINK_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub folder: PathBuf,
    pub commit: CommitId,
    /// Files and links; folders are not counted.
    pub files: u32,
}

impl Worktrees {
    /// Writes all that is kept of an attempt into a new folder. The folder appears whole or not at all.
    pub async fn restore(&self, attempt: AttemptId, into: &Path) -> Result<Restored, GitError> {
        let commit = self.hidden("vault", attempt).await?.ok_or(GitError::NoVault { attempt })?;
        if into.symlink_metadata().is_ok() {
            return Err(GitError::Exists { path: into.to_owned() });
        }
        let failed = |source| GitError::File { tried: "make", path: into.to_owned(), source };
        let parent = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(failed)?;
        let half = TempDir::new_in(parent).map_err(failed)?;
        let files = self.write_files(&commit, half.path()).await?;
        // A scratch folder is its owner's alone; this one is for people.
        fs::set_permissions(half.path(), fs::Permissions::from_mode(0o755)).map_err(failed)?;
        fs::rename(half.path(), into).map_err(failed)?;
        // Moved away under its new name: there is nothing left to clean up.
        let _ = half.keep();
        Ok(Restored { folder: into.to_owned(), commit, files })
    }

    async fn write_files(&self, commit: &CommitId, root: &Path) -> Result<u32, GitError> {
        let tried = "list what is kept";
        let list = self.repository.call(tried).args(["ls-tree", "-r", "-t", "-z", commit.as_str()]);
        let listed = list.run().await?;
        let mut blobs = self.repository.call("read what is kept").args(["cat-file", "--batch"]).converse()?;
        let mut files = 0_u32;
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let garbled = || GitError::Garbled { tried, answer: String::from_utf8_lossy(line).into_owned() };
            // "mode type id TAB path"
            let tab = line.iter().position(|byte| *byte == b'\t').ok_or_else(garbled)?;
            let (head, path) = (String::from_utf8_lossy(&line[..tab]), &line[tab + 1..]);
            let mut words = head.split(' ');
            let (Some(mode), Some(_), Some(id)) = (words.next(), words.next(), words.next()) else {
                return Err(garbled());
            };
            let path = root.join(original(path).ok_or_else(garbled)?);
            match mode {
                "040000" => fs::create_dir(&path).map_err(|source| GitError::File {
                    tried: "make",
                    path: path.clone(),
                    source,
                })?,
                "100644" | "100755" | "120000" => {
                    write_blob(&mut blobs, id, &path, mode).await?;
                    files += 1;
                }
                _ => return Err(garbled()),
            }
        }
        Ok(files)
    }
}

/// The path an entry had; `None` for one that would lead out of the folder.
fn original(stored: &[u8]) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(OsStr::from_bytes(stored)).components() {
        match part {
            Component::Normal(name) => path.push(unescaped(name)),
            Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return None;
            }
        }
    }
    Some(path)
}

async fn write_blob(blobs: &mut GitConversation, id: &str, path: &Path, mode: &str) -> Result<(), GitError> {
    let failed = |source| GitError::File { tried: "write", path: path.to_owned(), source };
    let header = blobs.ask(format!("{id}\n").as_bytes()).await?;
    let size = header.rsplit_once(' ').and_then(|(_, size)| size.parse::<u64>().ok());
    let size = size.ok_or(GitError::Garbled { tried: "read what is kept", answer: header })?;
    if mode == "120000" {
        let mut target = Vec::new();
        blobs.copy(size.min(LINK_BYTES_MAX), &mut target).await?;
        symlink(OsStr::from_bytes(&target), path).map_err(failed)?;
    } else {
        let file = fs::File::options().write(true).create_new(true).open(path).map_err(failed)?;
        let mut file = tokio::fs::File::from_std(file);
        blobs.copy(size, &mut file).await?;
        tokio::io::AsyncWriteExt::flush(&mut file).await.map_err(failed)?;
        if mode == "100755" {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        }
    }
    // A line end follows each blob.
    blobs.copy(1, &mut tokio::io::sink()).await
}
