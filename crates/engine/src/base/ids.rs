//! New ids, random or, in tests, counted. Core takes them as arguments.

use std::sync::{Arc, Mutex, PoisonError};

use baton_core::base::id::{
    AttachmentId, AttemptId, CycleId, ProjectId, QuestionId, RoutineId, RunId, TaskId,
};
use baton_core::transition::command::FreshIds;

/// Generates ids. Cheap to clone; clones share the generator.
#[derive(Clone)]
pub struct Ids(Arc<Mutex<IdGenerator>>);

enum IdGenerator {
    Random,
    Counted(u64),
}

impl Ids {
    pub fn random() -> Self {
        Self(Arc::new(Mutex::new(IdGenerator::Random)))
    }

    /// 1, 2, 3 …, so that a test can predict them.
    pub fn counted() -> Self {
        Self(Arc::new(Mutex::new(IdGenerator::Counted(0))))
    }

    fn bits(&self) -> u64 {
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *generator {
            IdGenerator::Random => random_bits(),
            IdGenerator::Counted(last) => {
                *last += 1;
                *last
            }
        }
    }

    fn short_bits(&self) -> u32 {
        // The lower half, so that counted ids fit.
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

    pub fn routine(&self) -> RoutineId {
        RoutineId::from_bits(self.short_bits())
    }

    pub fn attempt(&self) -> AttemptId {
        AttemptId::from_bits(self.bits())
    }

    pub fn attachment(&self) -> AttachmentId {
        AttachmentId::from_bits(self.bits())
    }

    /// The ids that one transition may need.
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

/// From the system's random number generator. Panics without one, because no id or secret could be trusted.
#[expect(clippy::expect_used, reason = "a machine without randomness cannot run Baton safely")]
pub(crate) fn random_bits() -> u64 {
    getrandom::u64().expect("the system has no random number generator")
}
