//! A folder on disk as a tree in git, byte for byte, and the names that git would not take.
//!
//! No index is involved, the worktree's own least of all, and no filter: what is stored is what lies on disk.
//! Folders are stored too when they are empty. Of the rights only the owner's "may execute" is stored.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::git::clone::worktrees::Worktrees;
use crate::git::command::call::TIMEOUT_FILES;
use crate::git::error::GitError;
use crate::git::vault::folder::{Entry, Kind};

/// Put before a name that git keeps for itself. `.git` inside the worktree is a repository the agent made.
const ESCAPE: &[u8] = b"%baton%";
/// Names that begin like one of ours are escaped too, so that none is taken for ours.
const OURS: &[u8] = b"%baton";

/// The name under which a file is stored.
pub(crate) fn escaped(name: &OsStr) -> OsString {
    let bytes = name.as_bytes();
    // The one of git's files that `git fsck` does not read, and that people look for in a diff.
    let is_plain = bytes == b".gitignore";
    if !is_plain && (bytes.starts_with(OURS) || bytes.split(|byte| *byte == b'\\').any(is_gits)) {
        OsString::from_vec([ESCAPE, bytes].concat())
    } else {
        name.to_owned()
    }
}

/// Whether some system would read the name as `.git` or `.gitmodules` or their like, and `git fsck` therefore
/// judges it: one with invisible characters, or with a short name of the kind `GIT~1`. Rather too many.
fn is_gits(part: &[u8]) -> bool {
    let seen: Vec<u8> = part.iter().filter(|byte| byte.is_ascii()).map(u8::to_ascii_lowercase).collect();
    seen.starts_with(b".git") || seen.starts_with(b"gi") && seen.contains(&b'~')
}

/// The name a stored file had.
pub(crate) fn unescaped(name: &OsStr) -> &OsStr {
    let bytes = name.as_bytes();
    OsStr::from_bytes(bytes.strip_prefix(ESCAPE).unwrap_or(bytes))
}

impl Worktrees {
    /// Writes the entries of a folder into the repository; the answer is the tree's id.
    pub(crate) async fn write_tree(&self, root: &Path, entries: &[Entry]) -> Result<String, GitError> {
        let blobs = self.write_blobs(root, entries).await?;
        let tried = "write a tree";
        let mut mktree = self.repository.call(tried).args(["mktree", "-z", "--batch"]).converse()?;
        let mut open: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        let record = |mode: &str, kind: &str, id: &str, path: &Path| {
            let name = escaped(path.file_name().unwrap_or_default());
            [format!("{mode} {kind} {id}\t").as_bytes(), name.as_bytes(), b"\0"].concat()
        };
        // From the back: what is in a folder comes after it, so a folder's records are whole when it is met.
        for (entry, blob) in entries.iter().zip(&blobs).rev() {
            let line = match (&entry.kind, blob) {
                (Kind::File { executable: true }, Some(id)) => record("100755", "blob", id, &entry.path),
                (Kind::File { executable: false }, Some(id)) => record("100644", "blob", id, &entry.path),
                (Kind::Link { .. }, Some(id)) => record("120000", "blob", id, &entry.path),
                (Kind::Folder, _) => {
                    let mut inside = open.remove(&entry.path).unwrap_or_default();
                    inside.push(0);
                    let id = mktree.ask(&inside).await?;
                    record("040000", "tree", &id, &entry.path)
                }
                (Kind::Special, _) => continue,
                (Kind::File { .. } | Kind::Link { .. }, None) => {
                    return Err(GitError::Garbled {
                        tried,
                        answer: "fewer files than were listed".to_owned(),
                    });
                }
            };
            let parent = entry.path.parent().unwrap_or(Path::new("")).to_owned();
            open.entry(parent).or_default().extend(line);
        }
        let mut top = open.remove(Path::new("")).unwrap_or_default();
        top.push(0);
        mktree.ask(&top).await
    }

    /// The blob of each entry that has bytes, in the entries' order.
    async fn write_blobs(&self, root: &Path, entries: &[Entry]) -> Result<Vec<Option<String>>, GitError> {
        let scratch = self.scratch()?;
        let failed = |source| GitError::File { tried: "write in", path: scratch.path().to_owned(), source };
        let mut list = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            match &entry.kind {
                Kind::File { .. } => quote_line(&mut list, &root.join(&entry.path)),
                Kind::Link { target } => {
                    // Git would follow the link; a link's blob is the text of it.
                    let text = scratch.path().join(number.to_string());
                    fs::write(&text, target.as_os_str().as_bytes()).map_err(failed)?;
                    quote_line(&mut list, &text);
                }
                Kind::Folder | Kind::Special => {}
            }
        }
        let tried = "store the files";
        let hash = self.repository.call(tried).args(["hash-object", "-w", "--no-filters", "--stdin-paths"]);
        let out = hash.input(list).timeout(TIMEOUT_FILES).run().await?;
        let out = String::from_utf8_lossy(&out);
        let mut ids = out.lines().map(ToOwned::to_owned);
        let blobs = entries.iter().map(|entry| match entry.kind {
            Kind::File { .. } | Kind::Link { .. } => ids.next(),
            Kind::Folder | Kind::Special => None,
        });
        Ok(blobs.collect())
    }
}

/// A path on a line of its own, in the quotes git reads, whatever bytes it has.
fn quote_line(out: &mut Vec<u8>, path: &Path) {
    out.push(b'"');
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            0..=31 | 127 => {
                // Writing to a Vec cannot fail.
                let _ = write!(out, "\\{byte:03o}");
            }
            _ => out.push(*byte),
        }
    }
    out.extend(b"\"\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_git_keeps_for_itself_are_stored_under_another_and_come_back() {
        for (name, stored) in [
            (".git", "%baton%.git"),
            (".GIT", "%baton%.GIT"),
            (".gitmodules", "%baton%.gitmodules"),
            ("%baton%x", "%baton%%baton%x"),
            ("%baton-modules%", "%baton%%baton-modules%"),
            ("git~1", "%baton%git~1"),
            (".g\u{200c}it", "%baton%.g\u{200c}it"),
            ("a\\.git", "%baton%a\\.git"),
            (".gitignore", ".gitignore"),
            ("git", "git"),
            ("a", "a"),
        ] {
            assert_eq!(escaped(OsStr::new(name)), stored);
            assert_eq!(unescaped(OsStr::new(stored)), name);
        }
    }

    #[test]
    fn a_path_is_quoted_for_git() {
        let mut out = Vec::new();
        quote_line(&mut out, Path::new("/a \"b\"\\\n\u{e4}"));
        assert_eq!(out, "\"/a \\\"b\\\"\\\\\\012\u{e4}\"\n".as_bytes());
    }
}
