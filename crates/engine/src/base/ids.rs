//! Where unused ids come from. Core takes them as arguments; here they are drawn.

use std::sync::{Arc, Mutex, PoisonError};

use baton_core::base::id::{AttemptId, CycleId, ProjectId, QuestionId, RunId, TaskId};
use baton_core::transition::command::FreshIds;

/// A source of ids. Random for the product, counted for tests; cheap to clone, and clones share the source.
#[derive(Clone)]
pub struct Ids(Arc<Mutex<Source>>);

enum Source {
    Random,
    Counted(u64),
}

impl Ids {
    pub fn random() -> Self {
        Self(Arc::new(Mutex::new(Source::Random)))
    }

    /// 1, 2, 3 …: ids a test can know beforehand.
    pub fn counted() -> Self {
        Self(Arc::new(Mutex::new(Source::Counted(0))))
    }

    fn bits(&self) -> u64 {
        let mut source = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *source {
            Source::Random => random_bits(),
            Source::Counted(last) => {
                *last += 1;
                *last
            }
        }
    }

    fn short_bits(&self) -> u32 {
        // The lower half: all of it is random, or a count that fits.
        let [a, b, c, d, ..] = self.bits().to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    pub fn task(&self) -> TaskId {
        TaskId::from_bits(self.short_bits())
    }

    pub fn project(&self) -> ProjectId {
        ProjectId::from_bits(self.short_bits())
    }

    pub fn question(&self) -> QuestionId {
        QuestionId::from_bits(self.short_bits())
    }

    pub fn cycle(&self) -> CycleId {
        CycleId::from_bits(self.bits())
    }

    pub fn run(&self) -> RunId {
        RunId::from_bits(self.short_bits())
    }

    pub fn attempt(&self) -> AttemptId {
        AttemptId::from_bits(self.bits())
    }

    /// What one transition may need.
    pub fn fresh(&self) -> FreshIds {
        FreshIds { question: self.question(), breakdown: self.task() }
    }

    /// A secret for one attempt: 32 random bytes as hex, whatever the source of ids.
    pub fn secret() -> String {
        use std::fmt::Write;
        let mut secret = String::with_capacity(64);
        for _ in 0..4 {
            let _ = write!(secret, "{:016x}", random_bits());
        }
        secret
    }
}

/// The system's own randomness. Where it is missing no id and no secret could be trusted, so there is no way on.
#[expect(clippy::expect_used, reason = "a machine without randomness cannot run Baton safely")]
pub(crate) fn random_bits() -> u64 {
    getrandom::u64().expect("the system gives no random numbers")
}
