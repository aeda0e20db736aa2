//! Where groups are made, and how a process gets into one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use baton_core::base::id::AttemptId;

use crate::process::cgroup::group::remove;

/// Where Baton itself is when its group passes controllers on.
const LEAF: &str = "baton-main";
/// Before the pid of the Baton that made a group.
const PREFIX: &str = "baton-";
/// The type of a group below a threaded one.
const INVALID: &str = "domain invalid";
/// Parents of a process that are looked at, and rounds in which processes are moved.
const GENERATIONS_MAX: u32 = 64;
/// Half of what everything else has, so that people and Baton come first.
const CPU_WEIGHT: &str = "50";
/// In the place of a group's folder.
const NO_GROUP: &str = "-";
/// When the machine is out of memory after all, the kernel takes agents before Baton and the programs of people.
const KILLED_EARLIER: &str = "500";

static IS_ENABLED: AtomicBool = AtomicBool::new(false);
static BASE: OnceLock<Option<GroupBase>> = OnceLock::new();

/// The group that Baton makes others in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupBase {
    folder: PathBuf,
    limits_memory: bool,
    weighs_processors: bool,
}

/// What the system leaves to a Baton that is started like this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delegation {
    /// No groups at all.
    Nothing,
    /// Groups that are killed as one.
    Groups,
    /// Groups with limits on memory.
    Memory,
}

/// Looks only; nothing is moved.
pub fn delegation() -> Delegation {
    let Some(folder) = base_folder().filter(|folder| allows_groups(folder)) else {
        return Delegation::Nothing;
    };
    let is_passed_on = has_word(&folder.join("cgroup.subtree_control"), "memory");
    let can_pass_on = has_word(&folder.join("cgroup.controllers"), "memory") && is_alone(&folder);
    if is_passed_on || can_pass_on { Delegation::Memory } else { Delegation::Groups }
}

/// From now on agents are started in groups of their own.
pub fn enable() {
    IS_ENABLED.store(true, Ordering::Relaxed);
}

/// For a command that runs agents, before it starts any program: prepares the group that theirs are made in.
pub fn prepare() {
    if is_enabled() {
        base();
    }
}

fn is_enabled() -> bool {
    cfg!(target_os = "linux") && IS_ENABLED.load(Ordering::Relaxed)
}

/// Where groups are made; none where the system does not allow it. The first call moves Baton into a leaf, if it has to.
fn base() -> Option<&'static GroupBase> {
    BASE.get_or_init(GroupBase::prepare).as_ref()
}

/// The limits of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupLimits {
    pub memory_bytes: Option<u64>,
}

/// A new group for a run of the attempt; none where groups cannot be made.
pub(in crate::process) fn create(attempt: AttemptId, limits: GroupLimits) -> Option<PathBuf> {
    if is_enabled() { base()?.create(attempt, limits).ok() } else { None }
}

/// The group, as [`enter`] reads it.
pub(in crate::process) fn word(group: Option<&Path>) -> OsString {
    group.map_or_else(|| NO_GROUP.into(), |folder| folder.as_os_str().to_owned())
}

/// Moves this process to where a word of [`word`] says.
pub(in crate::process) fn enter(word: &OsStr) {
    // The agent is the attempt's all the same; its memory is measured either way.
    if word != NO_GROUP
        && let Err(error) = fs::write(Path::new(word).join("cgroup.procs"), "0")
    {
        let _ = writeln!(io::stderr(), "baton: cannot enter {}: {error}", word.display());
    }
    // A system without this setting kills whatever it likes.
    let _ = fs::write("/proc/self/oom_score_adj", KILLED_EARLIER);
}

/// The words before a command that do the same. By a shell: it starts sooner than Baton's own program.
pub(in crate::process) fn words(group: Option<&Path>) -> Vec<OsString> {
    if !is_enabled() {
        return Vec::new();
    }
    let script = format!(
        "[ \"$0\" = {NO_GROUP} ] || echo 0 > \"$0/cgroup.procs\"; echo {KILLED_EARLIER} > /proc/self/oom_score_adj; exec \"$@\""
    );
    vec!["/bin/sh".into(), "-c".into(), script.into(), word(group)]
}

impl GroupBase {
    fn prepare() -> Option<Self> {
        let folder = base_folder()?;
        remove_abandoned(&folder);
        let is_passed_on = |name: &str| has_word(&folder.join("cgroup.subtree_control"), name);
        let is_wanted =
            |name: &&str| !is_passed_on(name) && has_word(&folder.join("cgroup.controllers"), name);
        let wanted: Vec<&str> = ["memory", "cpu"].into_iter().filter(is_wanted).collect();
        if !wanted.is_empty() && may_pass_on(&folder) {
            for controller in wanted {
                // What is not passed on is not limited.
                let _ = fs::write(folder.join("cgroup.subtree_control"), format!("+{controller}"));
            }
        }
        let (limits_memory, weighs_processors) = (is_passed_on("memory"), is_passed_on("cpu"));
        let base = Self { folder, limits_memory, weighs_processors };
        allows_groups(&base.folder).then_some(base)
    }

    fn create(&self, attempt: AttemptId, limits: GroupLimits) -> io::Result<PathBuf> {
        let folder = self.folder.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // A group that is not whole lets nobody in.
        let kind = fs::read_to_string(folder.join("cgroup.type")).unwrap_or_default();
        if kind.trim() == INVALID {
            fs::remove_dir(&folder)?;
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the control group is in a threaded one"));
        }
        let mut files = Vec::new();
        if let Some(limit) = limits.memory_bytes.filter(|_| self.limits_memory) {
            files.extend(memory_limits(limit));
        }
        if self.weighs_processors {
            files.push(("cpu.weight", CPU_WEIGHT.to_owned()));
        }
        for (name, value) in files {
            if let Err(error) = fs::write(folder.join(name), value) {
                tracing::warn!(%error, name, "cannot limit an attempt by its control group");
            }
        }
        Ok(folder)
    }
}

/// Above the limit that is measured: its processes become slow before they are too many, and are killed by the kernel only
/// if nobody has asked about them by then.
fn memory_limits(limit: u64) -> [(&'static str, String); 2] {
    let with = |part: u64| limit.saturating_add(limit / part).to_string();
    [("memory.high", with(16)), ("memory.max", with(4))]
}

/// Whether controllers can be passed on to the groups below: no process may be directly in the group, unless it is the root.
/// The system refuses that for memory, but not for processors: the group becomes a threaded one then, and no process can enter
/// one below it.
fn may_pass_on(folder: &Path) -> bool {
    let is_root = !folder.join("cgroup.type").exists();
    is_root || processes(folder).is_some_and(|pids| pids.is_empty()) || moved_to_leaf(folder)
}

/// Those directly in the group.
fn processes(folder: &Path) -> Option<Vec<u32>> {
    let pids = fs::read_to_string(folder.join("cgroup.procs")).ok()?;
    Some(pids.lines().filter_map(|pid| pid.parse().ok()).collect())
}

/// Whether this process and those it has started are the only ones directly in the group.
fn is_alone(folder: &Path) -> bool {
    processes(folder).is_some_and(|pids| pids.into_iter().all(is_of_this_process))
}

fn is_of_this_process(mut pid: u32) -> bool {
    for _ in 0..GENERATIONS_MAX {
        if pid == std::process::id() {
            return true;
        }
        match parent(pid) {
            Some(parent) => pid = parent,
            None => return false,
        }
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    // The name, in brackets, may hold anything.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Only a try tells whether groups may be made here.
fn allows_groups(folder: &Path) -> bool {
    let tried = folder.join(format!("{PREFIX}{}-try", std::process::id()));
    if fs::create_dir(&tried).is_err() {
        return false;
    }
    let can_kill = tried.join("cgroup.kill").exists();
    fs::remove_dir(&tried).is_ok() && can_kill
}

/// The group of this process, or the one around it if it has moved into a leaf.
fn base_folder() -> Option<PathBuf> {
    let read = |name: &str| fs::read_to_string(Path::new("/proc/self").join(name)).ok();
    let own = group_folder(&read("cgroup")?, &read("mountinfo")?)?;
    if own.file_name().is_some_and(|name| name == LEAF) {
        own.parent().map(Path::to_owned)
    } else {
        Some(own)
    }
}

/// Moves this process and those it has started. False if somebody else's is in the group, too, or the system refuses.
fn moved_to_leaf(folder: &Path) -> bool {
    let leaf = folder.join(LEAF);
    // It may be there from an earlier run.
    let _ = fs::create_dir(&leaf);
    // One that is started meanwhile is where the one is that starts it.
    for _ in 0..GENERATIONS_MAX {
        let Some(pids) = processes(folder) else { return false };
        if pids.is_empty() {
            return true;
        }
        if !pids.iter().all(|pid| is_of_this_process(*pid)) {
            break;
        }
        for pid in pids {
            // One that has ended needs no place; one that cannot be moved is seen in the next round.
            let _ = fs::write(leaf.join("cgroup.procs"), pid.to_string());
        }
    }
    let _ = fs::remove_dir(&leaf);
    false
}

/// Groups of a Baton that was killed. One with a process stays, until recovery ends that.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let made_by =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        if made_by.is_some_and(|pid: u32| !Path::new("/proc").join(pid.to_string()).exists()) {
            remove(&entry.path());
        }
    }
}

fn has_word(file: &Path, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|one| one == word))
}

/// The folder of the version 2 group in `/proc/self/cgroup`, below its mount in `/proc/self/mountinfo`.
pub(super) fn group_folder(cgroup: &str, mountinfo: &str) -> Option<PathBuf> {
    let path = Path::new(cgroup.lines().find_map(|line| line.strip_prefix("0::"))?);
    mountinfo.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        // A group outside of the mount begins with `/..`.
        let below = path.strip_prefix(root).ok().filter(|below| !below.starts_with(".."))?;
        kind.starts_with("cgroup2 ").then(|| Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
        31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        32 24 0:28 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_own_group_is_found_below_its_mount() {
        let found = |cgroup: &str, mounts: &str| group_folder(cgroup, mounts);
        let both = "4:memory:/x\n0::/user.slice/app.scope\n";
        assert_eq!(found(both, MOUNTS), Some("/sys/fs/cgroup/unified/user.slice/app.scope".into()));
        assert_eq!(found("0::/\n", MOUNTS), Some("/sys/fs/cgroup/unified/".into()));
        let inside = MOUNTS.replace("0:28 / ", "0:28 /docker/1 ");
        assert_eq!(found("0::/docker/1/a\n", &inside), Some("/sys/fs/cgroup/unified/a".into()));
        assert_eq!(found("0::/elsewhere\n", &inside), None);
        assert_eq!(found("0::/../other\n", MOUNTS), None);
        assert_eq!(found("4:memory:/x\n", MOUNTS), None);
        assert_eq!(found("0::/a\n", "24 1 0:22 / /proc rw - proc proc rw\nx\n"), None);
    }

    #[test]
    fn what_this_process_has_started_is_told_from_what_others_have() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (of_child, of_others) = (is_of_this_process(child.id()), is_of_this_process(1));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(of_child && is_of_this_process(std::process::id()));
        assert!(!of_others && !is_of_this_process(u32::MAX));
    }

    #[test]
    fn memory_is_slowed_down_above_the_limit_and_ended_later() {
        let limits = memory_limits(1_600).map(|(name, value)| format!("{name}={value}"));
        assert_eq!(limits, ["memory.high=1700", "memory.max=2000"]);
    }
}
