//! The command line of bubblewrap.
//!
//! The environment is not on it: bubblewrap passes its own on, and a command line is visible to other users.

use std::ffi::OsString;
use std::path::Path;

use crate::fence::layout::{Layout, Mount};

/// The arguments up to and including `--`. The program follows.
pub(super) fn arguments(layout: &Layout, folder: &Path, has_own_network: bool) -> Vec<OsString> {
    let mut words: Vec<OsString> = [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        // The whole tree ends with the process that Baton started, however that one ends.
        "--die-with-parent",
        // Without a terminal nothing can be typed into the person's.
        "--new-session",
        "--cap-drop",
        "ALL",
    ]
    .map(OsString::from)
    .to_vec();
    if has_own_network {
        words.push("--unshare-net".into());
    }
    words.extend(["--dev", "/dev", "--proc", "/proc"].map(OsString::from));
    // Root's own in a namespace is root's in the kernel, too: without this an agent of a Baton that runs as root could name
    // the program that the kernel starts when another one crashes.
    words.extend(["--ro-bind", "/proc/sys", "/proc/sys"].map(OsString::from));
    for mount in &layout.mounts {
        match mount {
            Mount::ReadOnly { source, target } => {
                words.extend(["--ro-bind".into(), source.into(), target.into()]);
            }
            Mount::Writable { source, target } => {
                words.extend(["--bind".into(), source.into(), target.into()]);
            }
            Mount::Empty(path) => words.extend(["--tmpfs".into(), path.into()]),
            Mount::Nothing(path) => words.extend(["--ro-bind".into(), "/dev/null".into(), path.into()]),
            Mount::Link { target, path } => words.extend(["--symlink".into(), target.into(), path.into()]),
        }
    }
    // Folders above a mount point are made in the root, where nothing else belongs.
    words.extend(["--remount-ro".into(), "/".into(), "--chdir".into(), folder.into(), "--".into()]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_follow_each_other_in_the_order_of_the_layout() {
        let layout = Layout {
            mounts: vec![
                Mount::ReadOnly { source: "/usr".into(), target: "/usr".into() },
                Mount::Link { target: "usr/bin".into(), path: "/bin".into() },
                Mount::Empty("/home/mia".into()),
                Mount::Writable { source: "/s/tmp".into(), target: "/tmp".into() },
                Mount::Nothing("/etc/shadow".into()),
            ],
            escaping: Vec::new(),
        };
        let words: Vec<String> = arguments(&layout, Path::new("/s/clone"), true)
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        assert_eq!(
            words.join(" "),
            "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent \
             --new-session --cap-drop ALL --unshare-net --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys \
             --ro-bind /usr /usr --symlink usr/bin /bin --tmpfs /home/mia --bind /s/tmp /tmp --ro-bind /dev/null /etc/shadow \
             --remount-ro / --chdir /s/clone --"
        );
    }
}
