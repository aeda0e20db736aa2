//! One group: what is in it, what it uses, and its end.

use std::fs;
use std::path::{Path, PathBuf};

/// Kills everything in the group at once.
pub(in crate::process) fn kill(folder: &Path) {
    // It is gone if there is nothing to kill.
    let _ = fs::write(folder.join("cgroup.kill"), "1");
}

/// Every process in the group and in those that were made in it.
pub(in crate::process) fn pids(folder: &Path) -> Vec<u32> {
    let own = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let mut found: Vec<u32> = own.lines().filter_map(|pid| pid.parse().ok()).collect();
    for inner in inner_groups(folder) {
        found.extend(pids(&inner));
    }
    found
}

/// What the group uses that cannot be had back by forgetting files. None where memory is not counted.
pub(in crate::process) fn memory_bytes(folder: &Path) -> Option<u64> {
    let stat = fs::read_to_string(folder.join("memory.stat")).ok()?;
    let of = |name: &str| -> Option<u64> {
        stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    };
    let swapped = fs::read_to_string(folder.join("memory.swap.current")).ok();
    let swapped = swapped.and_then(|text| text.trim().parse().ok()).unwrap_or(0_u64);
    Some(of("anon")?.saturating_add(of("shmem").unwrap_or(0)).saturating_add(swapped))
}

/// Removes the group and those in it. The system refuses while a process is in one.
pub(in crate::process) fn remove(folder: &Path) {
    for inner in inner_groups(folder) {
        remove(&inner);
    }
    let _ = fs::remove_dir(folder);
}

fn inner_groups(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_files_take_can_be_had_back_and_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(memory_bytes(folder.path()), None);
        let stat = "anon 1000\nfile 900000\nkernel 7\nshmem 200\nanon_thp 5\n";
        fs::write(folder.path().join("memory.stat"), stat).unwrap();
        fs::write(folder.path().join("memory.swap.current"), "30\n").unwrap();
        assert_eq!(memory_bytes(folder.path()), Some(1_230));
    }
}
