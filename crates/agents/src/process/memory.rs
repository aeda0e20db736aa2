//! How much memory the processes of a tree use.
//!
//! What a process has resident is quick to read but counts what processes share once for each of them. So it is only
//! believed while it is below the limit in question; above, the kernel is asked for each process's part.

use std::fs;

use crate::process::cgroup;
use crate::process::memory_files;
use crate::process::table::ProcessEntry;
use crate::process::tree::ProcessTree;

const KIB: u64 = 1 << 10;

/// What a tree uses, memory that was swapped out included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeMemory {
    pub bytes: u64,
    /// The name of the process with the most of it.
    pub largest: Option<String>,
}

impl ProcessTree {
    /// Exact if it is more than `limit`, else an upper bound.
    pub async fn memory(&self, limit: u64) -> TreeMemory {
        let tree = self.clone();
        let measured = tokio::task::spawn_blocking(move || {
            let members = tree.members();
            let files = memory_files::bytes(&members);
            let by_process = measure(&members, limit.saturating_sub(files));
            let by_group = tree.groups().filter_map(cgroup::memory_bytes).sum();
            TreeMemory { bytes: by_process.bytes.saturating_add(files).max(by_group), ..by_process }
        });
        // It was cancelled: the runtime is shutting down, and the tree with it.
        measured.await.unwrap_or_default()
    }
}

fn measure(members: &[ProcessEntry], limit: u64) -> TreeMemory {
    let quick = sum(members, resident_bytes);
    if quick.bytes <= limit {
        quick
    } else {
        sum(members, |pid| own_bytes(pid).or_else(|| resident_bytes(pid)))
    }
}

fn sum(members: &[ProcessEntry], bytes_of: impl Fn(u32) -> Option<u64>) -> TreeMemory {
    let each: Vec<(u64, u32)> =
        members.iter().filter_map(|entry| Some((bytes_of(entry.pid)?, entry.pid))).collect();
    let largest = each.iter().max().and_then(|(_, pid)| name(*pid));
    TreeMemory { bytes: each.iter().map(|(bytes, _)| bytes).sum(), largest }
}

/// None if it is gone. A process that shares everything with its parent counts in full.
fn resident_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(field(&status, "VmRSS:")? + field(&status, "VmSwap:").unwrap_or(0))
}

/// Its own memory and its part of what it shares. None if it is gone or does not let itself be read.
fn own_bytes(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(field(&rollup, "Pss:")? + field(&rollup, "SwapPss:").unwrap_or(0))
}

fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// `VmRSS:      1234 kB`
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = value.split_whitespace().next()?.parse().ok()?;
    Some(kib.saturating_mul(KIB))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn fields_are_read_as_the_kernel_writes_them() {
        let status = "Name:\tx\nVmPeak:\t  900 kB\nVmRSS:\t   12 kB\nVmSwap:\t    4 kB\n";
        assert_eq!((field(status, "VmRSS:"), field(status, "VmSwap:")), (Some(12 * KIB), Some(4 * KIB)));
        assert_eq!(field("Rss: 9 kB\nPss:    7 kB\nPss_Anon: 1 kB\n", "Pss:"), Some(7 * KIB));
        for text in ["", "VmRSS:", "VmRSS: x kB"] {
            assert_eq!(field(text, "VmRSS:"), None);
        }
    }

    #[test]
    fn what_processes_share_counts_once_when_it_matters() {
        let start = || Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let mut processes: Vec<_> = std::iter::repeat_with(start).take(8).collect();
        let entries: Vec<_> =
            processes.iter().map(|process| ProcessEntry::find(process.id()).unwrap()).collect();
        // All of them run the same program with the same libraries.
        let (bound, exact) = (measure(&entries, u64::MAX), measure(&entries, 0));
        for process in &mut processes {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        assert!(exact.bytes > 0 && exact.bytes < bound.bytes, "{exact:?} {bound:?}");
        assert_eq!(measure(&entries, 0), TreeMemory::default(), "they are gone");
    }
}
