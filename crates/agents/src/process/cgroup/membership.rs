//! Which group a process is in, by the number that the kernel gives it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::process::cgroup::base::group_folder;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) struct GroupId {
    pub(in crate::process) id: u64,
    /// Who may move processes into it.
    pub(in crate::process) owner: u32,
}

/// The group of a process; none where the system has no groups of version 2.
pub(in crate::process) fn id_of(pid: u32) -> Option<GroupId> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let folder = group_folder(&groups, &mounts)?;
    look(&folder)
}

/// The group of the folder is the folder's own number.
fn look(folder: &Path) -> Option<GroupId> {
    let folder = fs::metadata(folder).ok()?;
    Some(GroupId { id: folder.ino(), owner: folder.uid() })
}
