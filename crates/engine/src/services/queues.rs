//! What the outbox hands to other services: timers to fire, questions to look at, notices to send.
//!
//! Each queue is shared by all instances of a service, so a restart loses nothing; the effects themselves stay in the
//! store until they are done, so a crash loses nothing either.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::base::id::{EffectId, QuestionId};
use baton_core::records::effect::Notification;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::services::timers::Timers;

/// A question may be answered without a human; its notice waits this long for that, and no longer.
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

    /// Wakes whoever works on it.
    pub(super) fn wake(&self) {
        self.0.1.send_modify(|count| *count += 1);
    }

    pub(super) fn signal(&self) -> watch::Receiver<u64> {
        self.0.1.subscribe()
    }
}

/// A notice that is to be sent.
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
}

impl Queues {
    /// A question is first looked at by those who may answer it, then told to the human, whoever answered.
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

    /// The question was looked at; its notice need not wait any longer.
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

    /// Somebody else sees to all of it from now on.
    pub(super) fn clear(&self) {
        *self.timers.lock() = Timers::default();
        self.questions.lock().clear();
        self.notices.lock().clear();
    }
}
