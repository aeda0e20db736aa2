//! Baton's end of the pipe. There is one watchdog for the whole process, because what it waits for is the end of that.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use baton_core::base::id::AttemptId;

use crate::process::identity::ProcessIdentity;
use crate::process::watchdog::message::{WatchMessage, WatchedTrees};

static WATCHDOG: OnceLock<Mutex<WatchdogHandle>> = OnceLock::new();

/// From now on the trees of this process are watched by `program arguments…`, which must call [`super::program`].
///
/// The program is started with the first tree. Without this call nothing is watched, and processes that outlive a
/// killed Baton are ended at its next start.
pub fn enable(program: PathBuf, arguments: impl IntoIterator<Item = impl Into<OsString>>) {
    let arguments = arguments.into_iter().map(Into::into).collect();
    WATCHDOG.get_or_init(|| Mutex::new(WatchdogHandle::new(program, arguments)));
}

/// Has the watchdog look after a tree that is about to be started, until the returned value is dropped.
pub(crate) fn watch(attempt: AttemptId) -> Watch {
    Watch { id: with_handle(|handle| handle.watch(attempt)) }
}

/// A tree under watch.
pub(crate) struct Watch {
    /// None when there is no watchdog.
    id: Option<u64>,
}

impl Watch {
    /// Its first process runs.
    pub(crate) fn started(&self, identity: &ProcessIdentity) {
        if let Some(id) = self.id {
            with_handle(|handle| handle.send(&WatchMessage::Started { id, identity: identity.clone() }));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            with_handle(|handle| handle.send(&WatchMessage::Release { id }));
        }
    }
}

fn with_handle<T>(act: impl FnOnce(&mut WatchdogHandle) -> T) -> Option<T> {
    let handle = WATCHDOG.get()?;
    Some(act(&mut handle.lock().unwrap_or_else(PoisonError::into_inner)))
}

struct WatchdogHandle {
    program: PathBuf,
    arguments: Vec<OsString>,
    process: Option<Child>,
    trees: WatchedTrees,
    last_id: u64,
}

impl WatchdogHandle {
    fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments, process: None, trees: WatchedTrees::default(), last_id: 0 }
    }

    fn watch(&mut self, attempt: AttemptId) -> u64 {
        self.last_id += 1;
        self.send(&WatchMessage::Watch { id: self.last_id, attempt });
        self.last_id
    }

    fn send(&mut self, message: &WatchMessage) {
        self.trees.apply(message);
        let sent = match &mut self.process {
            Some(process) => write(process, message),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        // It is not there yet, it is gone, or it has stopped reading. A release needs no watchdog.
        if sent.is_err()
            && !self.trees.is_empty()
            && let Err(error) = self.replace()
        {
            let program = self.program.display();
            tracing::warn!(%program, %error, "cannot start the watchdog; agents outlive a kill of Baton until its next start");
        }
    }

    /// Starts a watchdog in place of the last one, and tells it what is alive.
    fn replace(&mut self) -> io::Result<()> {
        if let Some(mut last) = self.process.take() {
            // Killed before its pipe is closed: one that was only stopped would take that for Baton's end.
            let _ = last.kill();
            let _ = last.wait();
        }
        let mut process = Command::new(&self.program)
            .args(&self.arguments)
            // It needs nothing, and must not look like a part of an attempt that this Baton itself may be part of.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal from the terminal or to Baton's group is not for it.
            .process_group(0)
            .spawn()?;
        tracing::debug!(pid = process.id(), "started the watchdog");
        for message in self.trees.replay() {
            write(&mut process, &message)?;
        }
        // Lines are shorter than what a pipe takes as one, so from now on each is written whole, or not at all and
        // without a wait.
        if let Some(stdin) = &process.stdin {
            rustix::io::ioctl_fionbio(stdin, true)?;
        }
        self.process = Some(process);
        Ok(())
    }
}

fn write(process: &mut Child, message: &WatchMessage) -> io::Result<()> {
    let stdin = process.stdin.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    stdin.write_all(&message.to_line()?)
}
