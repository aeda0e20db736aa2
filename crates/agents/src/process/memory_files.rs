//! Files in memory that only the processes of a tree see, such as the `/tmp` of a fence. No process has to have one open, so
//! they are counted by file system.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::process::table::ProcessEntry;

/// What is in the file systems in memory that these processes see and Baton does not.
pub(super) fn bytes(members: &[ProcessEntry]) -> u64 {
    let ours = mounts("/proc/self/mountinfo").unwrap_or_default();
    let mut theirs = BTreeMap::new();
    for entry in members {
        let root = PathBuf::from(format!("/proc/{}/root", entry.pid));
        for (device, point) in mounts(&format!("/proc/{}/mountinfo", entry.pid)).unwrap_or_default() {
            if !ours.contains_key(&device) {
                theirs.entry(device).or_insert_with(|| root.join(point.trim_start_matches('/')));
            }
        }
    }
    theirs.values().filter_map(used).sum()
}

fn used(folder: &PathBuf) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(found.f_frsize))
}

/// The file systems in memory, by device, and where one of each is. None if the process is gone.
fn mounts(mountinfo: &str) -> Option<BTreeMap<String, String>> {
    Some(parse(&fs::read_to_string(mountinfo).ok()?))
}

/// `36 35 0:52 / /tmp rw,relatime - tmpfs tmpfs rw`
fn parse(mountinfo: &str) -> BTreeMap<String, String> {
    let one = |line: &str| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(2);
        let (device, root, point) = (fields.next()?, fields.next()?, fields.next()?);
        // Its root, so that the whole of it is counted.
        (kind.starts_with("tmpfs ") && root == "/").then(|| (device.to_owned(), point.to_owned()))
    };
    mountinfo.lines().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_in_memory_are_found_by_device() {
        let text = "24 1 0:22 / /proc rw - proc proc rw\n36 35 0:52 / /tmp rw,relatime shared:9 - tmpfs tmpfs rw\n\
            37 35 0:53 /inner /data rw - tmpfs tmpfs rw\n38 35 0:52 / /var/tmp rw - tmpfs tmpfs rw\nx - tmpfs\n";
        let found = parse(text);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("0:52".to_owned(), "/var/tmp".to_owned())]);
    }
}
