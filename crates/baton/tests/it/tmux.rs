//! A terminal in a tmux server of its own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::wait;

const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) struct Tmux {
    server: String,
    session: &'static str,
}

impl Tmux {
    /// Runs a shell's line in the folder.
    pub(crate) fn start(session: &'static str, folder: &Path, line: &str) -> Self {
        let tmux = Self { server: format!("baton-test-{}-{session}", std::process::id()), session };
        let line = format!("cd '{}' && {line}", folder.display());
        tmux.run(&["new-session", "-d", "-s", session, "-x", "120", "-y", "40", &line]);
        tmux
    }

    fn run(&self, arguments: &[&str]) -> String {
        let tmux = ["-L", &self.server, "-f", "/dev/null"];
        let output = Command::new("tmux").args(tmux).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn screen(&self) -> String {
        self.run(&["capture-pane", "-p", "-J", "-S", "-2000", "-t", self.session])
    }

    pub(crate) fn shows(&self, what: &str) {
        wait::until(PATIENCE, || self.screen().contains(what), || format!("{what:?} in {}", self.screen()));
    }

    /// Keys by their tmux names.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.run(&[&["send-keys", "-t", self.session], keys].concat());
    }

    pub(crate) fn types(&self, line: &str) {
        self.press(&[line, "Enter"]);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.server, "kill-server"]).output();
    }
}
