//! Files that were sent with the messages of a session, put where the session's agents can read them.
//!
//! They lie in the `.git` folder of the attempt's clone: inside every fence, and never part of a commit. What an agent
//! left in their place is not followed: a link there could lead anywhere.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use baton_core::base::id::SessionId;
use baton_core::records::attachment::Attachment;

use crate::attempt::error::AttemptError;
use crate::base::error::Result;
use crate::git::{Checkout, Worktrees};
use crate::tasks::service::TaskService;

/// The newest files of a session that its agents get.
const FILES_MAX: u32 = 50;
/// Their folder, in `.git`.
const FOLDER: &str = "attachments";

/// Puts the session's files in place; returns one line about each, oldest first.
pub(crate) async fn place(
    tasks: &TaskService,
    session: &SessionId,
    worktrees: &Worktrees,
    checkout: &Checkout,
) -> Result<Vec<String>> {
    let files = tasks.store.attachments(session, FILES_MAX).await?;
    let mut lines = Vec::new();
    for git_folder in worktrees.git_folders(checkout).iter().take(1) {
        for stored in files.iter().rev() {
            let attachment = &stored.value;
            let name = format!("{}-{}", attachment.id, attachment.file.name());
            let failed = |detail: String| AttemptError::NotAttached { name: name.clone(), detail };
            write(git_folder, &name, attachment).map_err(|error| failed(error.to_string()))?;
            lines.push(format!(
                "- `.git/{FOLDER}/{name}` ({}, {} bytes)",
                attachment.file.media_type(),
                attachment.file.byte_count()
            ));
        }
    }
    Ok(lines)
}

fn write(git_folder: &Path, name: &str, attachment: &Attachment) -> io::Result<()> {
    let folder = git_folder.join(FOLDER);
    for real in [git_folder, &folder] {
        match fs::symlink_metadata(real) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("{} is not a folder", real.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && *real == folder => {
                fs::create_dir(&folder)?;
            }
            Err(error) => return Err(error),
        }
    }
    let path = folder.join(name);
    match fs::remove_file(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let bytes = attachment.file.bytes().map_err(io::Error::other)?;
    // Fails on whatever an agent puts there in between.
    OpenOptions::new().write(true).create_new(true).open(&path)?.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::base::id::AttachmentId;
    use baton_core::base::time::Timestamp;
    use baton_core::records::attachment::AttachedFile;

    #[test]
    fn links_that_an_agent_left_are_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (git, outside) = (scratch.path().join(".git"), scratch.path().join("outside"));
        fs::create_dir(&git).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "kept").unwrap();
        let attachment = Attachment {
            id: AttachmentId::from_bits(1),
            session_id: "mine".parse().unwrap(),
            file: AttachedFile::from_bytes("a.txt", b"new").unwrap(),
            at: Timestamp::from_ms(0),
        };
        std::os::unix::fs::symlink(&outside, git.join(FOLDER)).unwrap();
        assert!(write(&git, "a.txt", &attachment).is_err());
        assert!(!outside.join("a.txt").exists());

        fs::remove_file(git.join(FOLDER)).unwrap();
        fs::create_dir(git.join(FOLDER)).unwrap();
        std::os::unix::fs::symlink(outside.join("kept"), git.join(FOLDER).join("a.txt")).unwrap();
        write(&git, "a.txt", &attachment).unwrap();
        assert_eq!(fs::read(git.join(FOLDER).join("a.txt")).unwrap(), b"new");
        assert_eq!(fs::read(outside.join("kept")).unwrap(), b"kept", "the link was replaced, not followed");
    }
}
