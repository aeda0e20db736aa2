//! What runs in this process now: one entry for each live attempt, how far it is, and a way to stop it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_agents::driver::{PauseSwitch, Pauses};
use baton_core::base::id::{AttemptId, TaskId};
use tokio::sync::watch;

/// Shared by the dispatcher, which fills it, the rescuer, which renews what is in it, and the outbox, which stops it.
#[derive(Clone, Default)]
pub struct Running(Arc<RunningState>);

#[derive(Default)]
struct RunningState {
    attempts: Mutex<BTreeMap<AttemptId, Seat>>,
    entered: AtomicU64,
    /// Counts up whenever an attempt ends.
    ended: watch::Sender<u64>,
    /// Counts up whenever an agent took a turn.
    turned: watch::Sender<u64>,
}

struct Seat {
    stop: watch::Sender<bool>,
    /// The agent is to be ended when no tool of it runs.
    end_turn: watch::Sender<bool>,
    /// Counts up whenever a person said something to the attempt's agent.
    messages: watch::Sender<u64>,
    at_work: Option<AtWork>,
    pauses: PauseSwitch,
    /// Counts up with every attempt.
    number: u64,
}

impl Seat {
    fn new(stop: watch::Sender<bool>, number: u64) -> Self {
        Self {
            stop,
            end_turn: watch::Sender::new(false),
            messages: watch::Sender::default(),
            at_work: None,
            pauses: PauseSwitch::default(),
            number,
        }
    }
}

/// How far a live attempt is. Nothing of it is kept: what counts is measured when the attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWork {
    pub task: TaskId,
    pub turns: u32,
    pub turns_max: u32,
    /// Of those, the turns of shifts that are over.
    turns_before: u32,
}

/// Who may be paused and who is, in the order they started.
pub(crate) struct Pausable {
    pub at_work: Vec<AttemptId>,
    pub paused: Vec<AttemptId>,
}

/// Held while the attempt runs. Dropping it, however that comes about, frees the place.
pub struct RunningAttempt {
    attempt: AttemptId,
    running: Running,
    stop: watch::Receiver<bool>,
}

impl Running {
    pub fn enter(&self, attempt: AttemptId) -> RunningAttempt {
        let (sender, stop) = watch::channel(false);
        let number = self.0.entered.fetch_add(1, Ordering::Relaxed);
        self.attempts().insert(attempt, Seat::new(sender, number));
        RunningAttempt { attempt, running: self.clone(), stop }
    }

    pub fn ids(&self) -> Vec<AttemptId> {
        self.attempts().keys().copied().collect()
    }

    pub fn count(&self) -> usize {
        self.attempts().len()
    }

    /// Asks the attempt to stop. One that does not run here is somebody else's, or over.
    pub fn stop(&self, attempt: AttemptId) -> bool {
        self.attempts().get(&attempt).is_some_and(|seat| seat.stop.send(true).is_ok())
    }

    /// Asks the attempt to stop when no tool of its agent runs. One that does not run here is somebody else's, or over.
    pub fn end_turn(&self, attempt: AttemptId) {
        if let Some(seat) = self.attempts().get(&attempt) {
            seat.end_turn.send_replace(true);
        }
    }

    /// Turns true when the attempt is to stop at a boundary of its agent.
    pub fn turn_ends(&self, attempt: AttemptId) -> watch::Receiver<bool> {
        let seat = self.attempts().get(&attempt).map(|seat| seat.end_turn.subscribe());
        seat.unwrap_or_else(|| watch::channel(false).1)
    }

    /// A message waits for the attempt's agent. One that does not run here is somebody else's, or over.
    pub fn wake_for_messages(&self, attempt: AttemptId) {
        if let Some(seat) = self.attempts().get(&attempt) {
            seat.messages.send_modify(|count| *count += 1);
        }
    }

    /// Changes whenever a message waits for the attempt's agent.
    pub fn message_wakes(&self, attempt: AttemptId) -> watch::Receiver<u64> {
        let seat = self.attempts().get(&attempt).map(|seat| seat.messages.subscribe());
        seat.unwrap_or_else(|| watch::channel(0).1)
    }

    /// The times in which the attempt is paused.
    pub fn pauses(&self, attempt: AttemptId) -> Pauses {
        self.attempts().get(&attempt).map_or_else(Pauses::never, |seat| seat.pauses.watch())
    }

    /// False if it does not run here or is paused already.
    pub(crate) fn pause(&self, attempt: AttemptId) -> bool {
        self.attempts().get(&attempt).is_some_and(|seat| seat.pauses.pause())
    }

    /// False if it does not run here or is not paused.
    pub(crate) fn resume(&self, attempt: AttemptId) -> bool {
        self.attempts().get(&attempt).is_some_and(|seat| seat.pauses.resume())
    }

    pub(crate) fn is_paused(&self, attempt: AttemptId) -> bool {
        self.attempts().get(&attempt).is_some_and(|seat| seat.pauses.is_paused())
    }

    /// The attempts with an agent at work, and those that are paused.
    pub(crate) fn pausable(&self) -> Pausable {
        let attempts = self.attempts();
        let mut all: Vec<(&AttemptId, &Seat)> = attempts.iter().collect();
        all.sort_by_key(|(_, seat)| seat.number);
        let (paused, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, seat)| seat.pauses.is_paused());
        let at_work = rest.into_iter().filter(|(_, seat)| seat.at_work.is_some());
        Pausable {
            at_work: at_work.map(|(attempt, _)| *attempt).collect(),
            paused: paused.into_iter().map(|(attempt, _)| *attempt).collect(),
        }
    }

    pub fn stop_all(&self) {
        for seat in self.attempts().values() {
            // Nobody listens any more: it has just ended.
            let _ = seat.stop.send(true);
        }
    }

    /// An agent starts. `turns_max` is for the whole attempt, with the agents that ran in it before.
    pub fn begin_shift(&self, attempt: AttemptId, task: TaskId, turns_max: u32) {
        self.tell(attempt, |at_work| {
            let before = at_work.map_or(0, |at| at.turns);
            Some(AtWork { task, turns: before, turns_max, turns_before: before })
        });
    }

    /// An agent took a turn, the `turn`th of its shift.
    pub fn note_turn(&self, attempt: AttemptId, turn: u32) {
        self.tell(attempt, |at_work| {
            at_work.map(|at| AtWork { turns: at.turns_before.saturating_add(turn), ..at })
        });
    }

    fn tell(&self, attempt: AttemptId, change: impl FnOnce(Option<AtWork>) -> Option<AtWork>) {
        if let Some(seat) = self.attempts().get_mut(&attempt) {
            seat.at_work = change(seat.at_work);
        }
        self.0.turned.send_modify(|count| *count += 1);
    }

    /// How far an attempt is that runs here.
    pub fn at_work(&self, attempt: AttemptId) -> Option<AtWork> {
        self.attempts().get(&attempt)?.at_work
    }

    /// Everything that runs here and was put to work.
    pub fn all_at_work(&self) -> Vec<AtWork> {
        self.attempts().values().filter_map(|seat| seat.at_work).collect()
    }

    /// Changes whenever an attempt ends here.
    pub fn ends(&self) -> watch::Receiver<u64> {
        self.0.ended.subscribe()
    }

    /// Changes whenever an agent takes a turn here.
    pub fn turns(&self) -> watch::Receiver<u64> {
        self.0.turned.subscribe()
    }

    /// Waits until the attempt does not run here, if it does.
    pub async fn gone(&self, attempt: AttemptId) {
        let mut ends = self.ends();
        while self.attempts().contains_key(&attempt) {
            if ends.changed().await.is_err() {
                return;
            }
        }
    }

    fn attempts(&self) -> MutexGuard<'_, BTreeMap<AttemptId, Seat>> {
        self.0.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningAttempt {
    pub const fn attempt(&self) -> AttemptId {
        self.attempt
    }

    /// Turns true when somebody asked for a stop.
    pub fn stop_signal(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }
}

impl Drop for RunningAttempt {
    fn drop(&mut self) {
        self.running.attempts().remove(&self.attempt);
        self.running.0.ended.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_add_up_over_shifts_and_are_gone_with_the_attempt() {
        let (running, task) = (Running::default(), TaskId::from_bits(1));
        let attempt = AttemptId::from_bits(1);
        let place = running.enter(attempt);
        assert_eq!(running.at_work(attempt), None);
        let shown = || running.at_work(attempt).map(|at| (at.turns, at.turns_max));
        running.begin_shift(attempt, task, 50);
        running.note_turn(attempt, 7);
        assert_eq!(shown(), Some((7, 50)));
        running.begin_shift(attempt, task, 70);
        assert_eq!(shown(), Some((7, 70)));
        running.note_turn(attempt, 2);
        assert_eq!(shown(), Some((9, 70)));
        drop(place);
        assert_eq!(shown(), None);
    }
}
