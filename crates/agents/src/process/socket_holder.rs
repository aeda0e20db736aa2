//! Which process has a connection among its open files.

use std::fs;
use std::path::Path;

use crate::process::table;

pub(super) enum Holder {
    Found(u32),
    /// Nobody that can be looked at; these cannot.
    Hidden(Vec<u32>),
}

/// The process that has the socket open. New processes are looked at first: most connections are theirs.
pub(super) fn find(inode: u64) -> Holder {
    let mut pids: Vec<u32> = table::pids().collect();
    pids.sort_unstable_by(|one, other| other.cmp(one));
    let mut hidden = Vec::new();
    for pid in pids {
        match has_socket(Path::new(&format!("/proc/{pid}/fd")), inode) {
            Some(true) => return Holder::Found(pid),
            Some(false) => {}
            None => hidden.push(pid),
        }
    }
    Holder::Hidden(hidden)
}

/// Whether one of the process's threads has the socket open. Each can have files of its own, and the process's list is that
/// of its first thread, which may even have ended.
pub(super) fn is_held_by_thread(pid: u32, inode: u64) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.map(|thread| thread.path().join("fd")).any(|files| has_socket(&files, inode) == Some(true))
}

/// None if the files cannot be looked at.
fn has_socket(files: &Path, inode: u64) -> Option<bool> {
    let name = format!("socket:[{inode}]");
    let mut links = fs::read_dir(files).ok()?.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    Some(links.any(|link| link.as_os_str() == name.as_str()))
}
