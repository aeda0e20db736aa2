//! The queues from the outbox to other services: timers, questions, notices and worktrees to remove.
//!
//! A queue is shared by all instances of a service, so a restart of the service loses nothing. The effects stay in the
//! store until they are done, so a crash loses nothing either.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::base::id::{AttemptId, EffectId, QuestionId};
use baton_core::records::effect::Notification;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::services::timers::Timers;

/// How long the notice of a question waits for an automatic answer.
const ANSWER_FIRST: Duration = Duration::from_secs(2);

/// A value and a signal that it changed. Cheap to clone.
pub(super) struct Queue<T>(Arc<(Mutex<T>, watch::Sender<u64>)>);

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Queue<T> {
    fn default() -> Self {
        Self(Arc::new((Mutex::default(), watch::Sender::new(0))))
    }
}

impl<T> Queue<T> {
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the receiver.
    pub(super) fn wake(&self) {
        self.0.1.send_modify(|count| *count += 1);
    }

    pub(super) fn signal(&self) -> watch::Receiver<u64> {
        self.0.1.subscribe()
    }
}

/// A notice to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueuedNotice {
    pub about: Notification,
    pub not_before: Instant,
}

#[derive(Clone, Default)]
pub(super) struct Queues {
    pub timers: Queue<Timers>,
    pub questions: Queue<BTreeSet<QuestionId>>,
    pub notices: Queue<BTreeMap<EffectId, QueuedNotice>>,
    /// Attempts whose worktrees nobody needs any more.
    pub removals: Queue<BTreeMap<EffectId, AttemptId>>,
}

impl Queues {
    /// A question goes to the auto-responder first, then to the user, answered or not.
    pub(super) fn ask(&self, question: QuestionId) {
        self.questions.lock().insert(question);
        self.questions.wake();
    }

    pub(super) fn notify(&self, id: EffectId, about: Notification) {
        let pause = if matches!(about, Notification::Question(_)) { ANSWER_FIRST } else { Duration::ZERO };
        let notice = QueuedNotice { about, not_before: Instant::now() + pause };
        self.notices.lock().entry(id).or_insert(notice);
        self.notices.wake();
    }

    pub(super) fn retire(&self, id: EffectId, attempt: AttemptId) {
        self.removals.lock().insert(id, attempt);
        self.removals.wake();
    }

    /// The auto-responder is done with the question; its notice can be sent.
    pub(super) fn looked_at(&self, question: QuestionId) {
        self.questions.lock().remove(&question);
        let now = Instant::now();
        for notice in self.notices.lock().values_mut() {
            if notice.about == Notification::Question(question) {
                notice.not_before = now;
            }
        }
        self.notices.wake();
    }

    /// Clears what another server does from now on.
    pub(super) fn clear(&self) {
        *self.timers.lock() = Timers::default();
        self.questions.lock().clear();
        self.notices.lock().clear();
        self.removals.lock().clear();
    }
}
