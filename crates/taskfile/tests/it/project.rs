//! A directory with a Taskfile, and the command line run in it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) struct Project {
    dir: TempDir,
}

impl Project {
    /// A project with these files; a path ending in `/` is a directory.
    pub(crate) fn with(files: &[(&str, &str)]) -> Project {
        let dir = TempDir::new().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Project { dir }
    }

    pub(crate) fn of(taskfile: &str) -> Project {
        Project::with(&[("Taskfile.yml", taskfile)])
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs `baton-task` and returns code, stdout and stderr, with the project's path as `DIR`.
    pub(crate) fn task(&self, args: &[&str]) -> (i32, String, String) {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_baton-task"))
            .args(args)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .env_remove("TASK_TEMP_DIR")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let root = self.path().canonicalize().unwrap().display().to_string();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&root, "DIR");
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }
}
