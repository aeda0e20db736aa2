//! A small process above each agent that has no process namespace of its own.
//!
//! It is a *child subreaper*: whatever the agent's processes do to lose their parent, they become the keeper's children and
//! stay in the attempt's tree. When the agent ends it ends what is left, and then exits as the agent did. It is Baton's own
//! program in a mode of its own, as the watchdog is; it holds none of the agent's streams.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, wait};
use tokio::signal::unix::{SignalKind, signal};

use crate::process::cgroup;
use crate::process::table::{self, ProcessEntry};

/// Between TERM and KILL for what the agent left behind.
const GRACE: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// As shells have it.
const NOT_STARTED: u8 = 127;
/// Added to the number of the signal that ended a process.
pub(super) const SIGNAL_CODE: i32 = 128;

static KEEPER: OnceLock<Vec<OsString>> = OnceLock::new();

/// From now on agents without a process namespace run below `program arguments…`, which must call [`program`].
pub fn enable(program: PathBuf, arguments: impl IntoIterator<Item = impl Into<OsString>>) {
    let words = std::iter::once(program.into_os_string()).chain(arguments.into_iter().map(Into::into));
    KEEPER.get_or_init(|| words.collect());
}

/// The words before the agent's own command, if there is a keeper. Only Linux has subreapers.
pub(super) fn command() -> Option<&'static [OsString]> {
    if cfg!(target_os = "linux") { KEEPER.get().map(Vec::as_slice) } else { None }
}

/// The whole program: enters the group of the first word, runs the others as a command and keeps its tree.
pub fn program(words: &[OsString]) -> ExitCode {
    let [group, program, arguments @ ..] = words else { return NOT_STARTED.into() };
    cgroup::enter(group);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    {
        // TERM is for the agent; the keeper ends when nothing is left to keep.
        let _inside = runtime.enter();
        for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
            let _ = signal(kind);
        }
    }
    adopt_orphans();
    let child = match Command::new(program).args(arguments).process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => {
            let _ = writeln!(io::stderr(), "baton: cannot start {}: {error}", program.display());
            return NOT_STARTED.into();
        }
    };
    let_go_of_streams();
    let status = wait_for(child.id());
    end_the_rest();
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, signal) => SIGNAL_CODE + signal.unwrap_or(0),
    };
    ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1))
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let _ = rustix::thread::set_name(c"agent-keeper");
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// The agent's streams end when the agent closes them.
fn let_go_of_streams() {
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return };
    let _ = rustix::stdio::dup2_stdin(&null);
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
}

/// Reaps everything until the agent itself has ended.
fn wait_for(agent: u32) -> ExitStatus {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == agent => {
                return ExitStatus::from_raw(status.as_raw());
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return ExitStatus::from_raw(0),
        }
    }
}

fn end_the_rest() {
    let begin = Instant::now();
    let mut is_termed = false;
    loop {
        // Until nothing is left to wait for.
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => continue,
            Err(Errno::CHILD) => return,
            Ok(None) | Err(_) => {}
        }
        let signal = if begin.elapsed() < GRACE { Signal::TERM } else { Signal::KILL };
        if signal == Signal::KILL || !is_termed {
            for entry in descendants() {
                entry.signal(signal);
            }
            is_termed = true;
        }
        sleep(LOOK_EVERY);
    }
}

/// All living processes below this one.
fn descendants() -> Vec<ProcessEntry> {
    let mut entries = Vec::new();
    table::visit(|entry| entries.push(entry));
    let mut found = vec![std::process::id()];
    let mut below = Vec::new();
    while let Some(parent) = found.pop() {
        for entry in entries.iter().filter(|entry| entry.parent == parent && entry.pid != parent) {
            found.push(entry.pid);
            below.push(*entry);
        }
    }
    below.retain(|entry| !entry.is_zombie);
    below
}
