//! Makes `task` inside a command run this program.

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The executable that acts as `task` when it is called by that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskShim {
    executable: PathBuf,
}

impl TaskShim {
    /// The executable must act as `task` when its own name (`argv[0]`) is `task`.
    pub fn new(executable: impl Into<PathBuf>) -> TaskShim {
        TaskShim { executable: executable.into() }
    }

    /// The current program.
    pub fn current() -> Option<TaskShim> {
        std::env::current_exe().ok().map(TaskShim::new)
    }

    /// `PATH` with a directory in front whose `task` is the executable. `None` if the first `task` on the path already
    /// is, or if no private directory can be created.
    pub fn search_path(&self, path: &str) -> Option<OsString> {
        let first = std::env::split_paths(path).map(|dir| dir.join("task")).find(|p| p.is_file());
        if first.is_some_and(|p| p.canonicalize().is_ok_and(|p| p == self.executable)) {
            return None;
        }
        let dir = self.link()?;
        std::env::join_paths([dir].into_iter().chain(std::env::split_paths(path))).ok()
    }

    /// A private directory with `task` in it, kept between runs.
    fn link(&self) -> Option<PathBuf> {
        let name = format!(
            "baton-task-{:016x}",
            xxhash_rust::xxh3::xxh3_64(self.executable.as_os_str().as_encoded_bytes())
        );
        let dir = runtime_dir().join(name);
        let link = dir.join("task");
        if is_private(&dir) && link.read_link().is_ok_and(|to| to == self.executable) {
            return Some(dir);
        }
        let made = std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&dir);
        if made.is_err() || !is_private(&dir) {
            return None;
        }
        // A concurrent run may create the same link.
        let _ = std::fs::remove_file(&link);
        let _ = std::os::unix::fs::symlink(&self.executable, &link);
        link.read_link().is_ok_and(|to| to == self.executable).then_some(dir)
    }
}

/// The user's runtime directory, else the cache directory, else the temporary directory.
fn runtime_dir() -> PathBuf {
    let var =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute() && p.is_dir());
    var("XDG_RUNTIME_DIR")
        .or_else(|| var("XDG_CACHE_HOME"))
        .or_else(|| var("HOME").map(|home| home.join(".cache")).filter(|p| p.is_dir()))
        .unwrap_or_else(std::env::temp_dir)
}

/// Only a directory that nobody else can write to may come first on the `PATH`.
fn is_private(dir: &Path) -> bool {
    dir.symlink_metadata()
        .is_ok_and(|m| m.is_dir() && m.uid() == rustix::process::geteuid().as_raw() && m.mode() & 0o022 == 0)
}
