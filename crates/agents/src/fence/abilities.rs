//! What this machine can fence with, found out by trying it once.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Each is ready to use, or the reason why it is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAbilities {
    /// bubblewrap with namespaces for users, processes and mounts.
    pub bubblewrap: Result<PathBuf, String>,
    /// A network namespace of its own.
    pub own_network: Result<(), String>,
    pub landlock: Result<(), String>,
    /// The sandbox of macOS.
    pub seatbelt: Result<PathBuf, String>,
}

const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";
/// Longest part of an error message that is kept.
const SAID_CHARS_MAX: usize = 200;

impl HostAbilities {
    /// The abilities of this machine; tried at the first call.
    pub fn current() -> &'static Self {
        static FOUND: OnceLock<HostAbilities> = OnceLock::new();
        FOUND.get_or_init(Self::probe)
    }

    /// A machine that can do nothing, with one reason for everything.
    pub fn nothing(reason: &str) -> Self {
        Self {
            bubblewrap: Err(reason.to_owned()),
            own_network: Err(reason.to_owned()),
            landlock: Err(reason.to_owned()),
            seatbelt: Err(reason.to_owned()),
        }
    }

    fn probe() -> Self {
        let bubblewrap =
            find_bubblewrap().and_then(|program| try_bubblewrap(&program, false).map(|()| program));
        let own_network = bubblewrap.clone().and_then(|program| try_bubblewrap(&program, true));
        Self { bubblewrap, own_network, landlock: try_landlock(), seatbelt: find_seatbelt() }
    }
}

fn find_bubblewrap() -> Result<PathBuf, String> {
    if !cfg!(target_os = "linux") {
        return Err("bubblewrap works on Linux only".to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|file| file.is_file());
    found.ok_or_else(|| "bubblewrap is not installed".to_owned())
}

fn try_bubblewrap(program: &Path, with_network: bool) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]);
    if with_network {
        command.arg("--unshare-net");
    }
    command.args([
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--ro-bind",
        "/proc/sys",
        "/proc/sys",
        "--tmpfs",
        "/tmp",
    ]);
    command.args(["--", "true"]).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line: String = said.lines().next().unwrap_or("it failed").chars().take(SAID_CHARS_MAX).collect();
    Err(format!("bubblewrap does not work here: {line}"))
}

#[cfg(target_os = "linux")]
fn try_landlock() -> Result<(), String> {
    crate::fence::kernel_rules::is_supported()
}

#[cfg(not(target_os = "linux"))]
fn try_landlock() -> Result<(), String> {
    Err("Landlock works on Linux only".to_owned())
}

fn find_seatbelt() -> Result<PathBuf, String> {
    if cfg!(target_os = "macos") && Path::new(SANDBOX_EXEC).is_file() {
        return Ok(SANDBOX_EXEC.into());
    }
    Err("Seatbelt works on macOS only".to_owned())
}
