//! Waits for a command: its output, its exit, cancellation and deadlines in one poll loop.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, test_kill_process_group,
};

use crate::output::OutputPipe;

use super::cancel::{CancelReason, CancelScope};

/// How long a command may take to exit after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is read after a command exited while a child still holds the pipe.
const DRAIN: Duration = Duration::from_millis(100);
/// The read buffer size.
const CHUNK: usize = 16 * 1024;

/// A running command.
pub(super) struct RunningCommand<'s> {
    pub child: Child,
    pub pipes: Vec<OutputPipe<'s>>,
    /// The command leads its own process group, so its whole tree can be killed.
    pub leads_group: bool,
}

impl RunningCommand<'_> {
    /// Waits until the command exits or is cancelled; returns its status and the reason.
    pub(super) fn wait(mut self, scope: &CancelScope) -> std::io::Result<(ExitStatus, Option<CancelReason>)> {
        if self.pipes.is_empty() && scope.is_unlimited() {
            return Ok((self.child.wait()?, None));
        }
        let handle = self.handle();
        let mut open = vec![true; self.pipes.len()];
        let mut ended: Option<(CancelReason, Instant)> = None;
        let mut killed = false;
        loop {
            if let Some(status) = self.child.try_wait()? {
                if let Some((_, since)) = ended {
                    self.terminate_group(since);
                }
                self.drain(&mut open);
                return Ok((status, ended.map(|(why, _)| why)));
            }
            match ended {
                None => {
                    if let Some(why) = scope.cancel_reason() {
                        self.signal(Signal::TERM);
                        ended = Some((why, Instant::now()));
                    }
                }
                Some((_, since)) if !killed && since.elapsed() >= GRACE => {
                    self.signal(Signal::KILL);
                    killed = true;
                }
                Some(_) => {}
            }
            let limit = match ended {
                Some((_, since)) => {
                    Some(GRACE.saturating_sub(since.elapsed()).max(Duration::from_millis(10)))
                }
                None => scope.remaining(),
            };
            self.poll(scope, handle.as_ref(), ended.is_some(), &mut open, limit)?;
        }
    }

    /// A pidfd, readable when the process exits; without one, polls at an interval.
    fn handle(&self) -> Option<OwnedFd> {
        let pid = Pid::from_child(&self.child);
        pidfd_open(pid, PidfdFlags::empty()).ok()
    }

    fn poll(
        &mut self,
        scope: &CancelScope,
        handle: Option<&OwnedFd>,
        ended: bool,
        open: &mut [bool],
        limit: Option<Duration>,
    ) -> std::io::Result<()> {
        let limit = if handle.is_some() { limit } else { Some(limit.map_or(TICK, |l| l.min(TICK))) };
        let limit = limit.map(|l| Timespec {
            tv_sec: i64::try_from(l.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: l.subsec_nanos().into(),
        });
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(4);
        for (pipe, _) in self.pipes.iter().zip(open.iter()).filter(|(_, open)| **open) {
            fds.push(PollFd::from_borrowed_fd(pipe.reader.as_fd(), PollFlags::IN));
        }
        let pipes = fds.len();
        fds.extend(handle.map(|h| PollFd::from_borrowed_fd(h.as_fd(), PollFlags::IN)));
        if !ended {
            fds.extend(scope.signal_fds().map(|s| PollFd::from_borrowed_fd(s, PollFlags::IN)));
        }
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = fds[..pipes].iter().map(|f| !f.revents().is_empty()).collect();
        drop(fds);
        let waiting: Vec<usize> = (0..self.pipes.len()).filter(|i| open[*i]).collect();
        for (index, _) in waiting.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            open[index] = self.read(index)?;
        }
        Ok(())
    }

    /// Reads once and returns whether there may be more.
    fn read(&mut self, index: usize) -> std::io::Result<bool> {
        let mut buffer = [0_u8; CHUNK];
        let pipe = &mut self.pipes[index];
        match pipe.reader.read(&mut buffer) {
            Ok(0) => Ok(false),
            Ok(n) => {
                (pipe.take)(&buffer[..n]);
                Ok(true)
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Reads what is left without waiting for background processes that hold the pipes open.
    fn drain(&mut self, open: &mut [bool]) {
        let until = Instant::now() + DRAIN;
        while open.iter().any(|o| *o) && Instant::now() < until {
            let before = Instant::now();
            let nothing_more = self.poll(&CancelScope::default(), None, true, open, Some(TICK)).is_err();
            if nothing_more || (before.elapsed() >= TICK && Instant::now() >= until) {
                return;
            }
        }
    }

    /// Gives the rest of the process group the remaining grace period, then kills it.
    fn terminate_group(&self, since: Instant) {
        let pid = Pid::from_child(&self.child);
        let is_left = || self.leads_group && test_kill_process_group(pid).is_ok() && has_live_process(pid);
        while is_left() && since.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(2));
        }
        if is_left() {
            self.signal(Signal::KILL);
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        // The process may already be gone.
        let _ = if self.leads_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
    }
}

/// Whether a process group has live members. Zombies do not count; without `/proc`, every member does.
fn has_live_process(group: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let group = group.as_raw_nonzero().to_string();
    processes.flatten().any(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // After the name in parentheses: state, parent, group.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let state = fields.next();
        state.is_some_and(|s| s != "Z" && s != "X") && fields.nth(1) == Some(&group)
    })
}

/// The polling interval without a pidfd.
const TICK: Duration = Duration::from_millis(10);
