//! The mailbox: what the agents at work here have handed in by tool, and where each of them works.
//!
//! In memory, by attempt. What is handed in counts when the attempt's shift ends, so it lives exactly as long as the
//! shift does; should Baton be killed before, the attempt is begun again and hands it in again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_agents::report::OutcomeReport;
use baton_core::ask::question::QuestionDraft;
use baton_core::base::id::AttemptId;
use baton_core::base::text::OutcomeName;
use baton_core::recycle::plan::PlanDraft;

use crate::user_tasks::{Site, UserTasks};

/// Cheap to clone; all clones are the same.
#[derive(Clone, Default)]
pub struct Mailbox(Arc<Mutex<HashMap<AttemptId, Compartment>>>);

/// Of one attempt.
struct Compartment {
    bench: Bench,
    letters: Letters,
}

/// Where an attempt works, and how its step may end.
#[derive(Clone)]
pub struct Bench {
    pub site: Site,
    /// As its project lets them run.
    pub user_tasks: UserTasks,
    /// The outcomes its step allows; none where it has no step.
    pub outcomes: Vec<OutcomeName>,
    /// What its agent was told.
    pub prompt: String,
}

/// What was handed in; the last word counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Letters {
    pub outcome: Option<OutcomeReport>,
    pub plan: Option<PlanDraft>,
    /// The question the agent was told to end its turn over.
    pub left_at: Option<QuestionDraft>,
    /// The agent has seen what tools it has.
    pub has_looked: bool,
}

impl Mailbox {
    /// From here on the attempt may hand something in.
    pub fn open(&self, attempt: AttemptId, bench: Bench) {
        self.boxes().insert(attempt, Compartment { bench, letters: Letters::default() });
    }

    /// The shift is over: what was handed in, and nothing more is taken.
    pub fn close(&self, attempt: AttemptId) -> Letters {
        self.boxes().remove(&attempt).map(|one| one.letters).unwrap_or_default()
    }

    /// None when the attempt is not at work in this process.
    pub fn bench(&self, attempt: AttemptId) -> Option<Bench> {
        self.boxes().get(&attempt).map(|one| one.bench.clone())
    }

    pub fn put_outcome(&self, attempt: AttemptId, name: String, description: Option<String>) -> bool {
        self.put(attempt, |letters| letters.outcome = Some(OutcomeReport { name, description }))
    }

    pub fn put_plan(&self, attempt: AttemptId, plan: PlanDraft) -> bool {
        self.put(attempt, |letters| letters.plan = Some(plan))
    }

    /// What the agent waits for when it ends its turn; none once it has its answer.
    pub fn put_left_at(&self, attempt: AttemptId, question: Option<QuestionDraft>) -> bool {
        self.put(attempt, |letters| letters.left_at = question)
    }

    /// The agent is shown its tools.
    pub fn note_looked(&self, attempt: AttemptId) -> bool {
        self.put(attempt, |letters| letters.has_looked = true)
    }

    /// False when the attempt is not at work in this process.
    fn put(&self, attempt: AttemptId, write: impl FnOnce(&mut Letters)) -> bool {
        let mut boxes = self.boxes();
        let found = boxes.get_mut(&attempt);
        let is_here = found.is_some();
        if let Some(one) = found {
            write(&mut one.letters);
        }
        is_here
    }

    /// A lock that was held by a thread that died still guards sound data: each change is one assignment.
    fn boxes(&self) -> MutexGuard<'_, HashMap<AttemptId, Compartment>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
