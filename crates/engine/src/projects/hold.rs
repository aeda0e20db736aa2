//! Projects that cannot be worked on until a person has seen to them: their settings cannot be read, or their set-up fails.
//!
//! The first task that meets this asks, and the question is the hold: no other task of the project starts here while it is
//! pending. So it survives a restart, and every surface can end it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::ask::question::QuestionDraft;
use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::{ProjectId, QuestionId};
use baton_core::base::redact::redact;
use baton_core::base::text::NonBlank;
use baton_core::task::Task;
use baton_store::model::query::QuestionFilter;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard};

use crate::base::error::EngineError;
use crate::projects::Projects;

/// How the question begins, by which it is found again.
const BEGINS: &str = "The set-up of this project fails";
/// Pending questions read at once.
const PAGE: u32 = 200;

/// The pending questions, each with the project it holds; None for work without a project. Cheap to clone.
#[derive(Clone, Default)]
pub struct HeldProjects {
    known: Arc<Mutex<Held>>,
    /// Held while somebody finds out whether to ask: two attempts that fail together ask once.
    asking: Arc<AsyncMutex<()>>,
}

#[derive(Default)]
struct Held {
    is_known: bool,
    questions: BTreeMap<QuestionId, Option<ProjectId>>,
}

impl HeldProjects {
    /// The question that holds this project, as far as this process knows.
    pub fn question(&self, project: Option<ProjectId>) -> Option<QuestionId> {
        self.known().questions.iter().find(|(_, held)| **held == project).map(|(question, _)| *question)
    }

    /// A question was asked: they are all read again.
    pub(crate) fn note_asked(&self) {
        self.known().is_known = false;
    }

    /// One at a time may ask about a project.
    pub(crate) async fn one_at_a_time(&self) -> AsyncMutexGuard<'_, ()> {
        self.asking.lock().await
    }

    fn known(&self) -> MutexGuard<'_, Held> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Projects {
    /// The projects on hold. Costs nothing while there are none.
    pub(crate) async fn held_now(&self) -> Result<BTreeSet<Option<ProjectId>>, EngineError> {
        if !self.held.known().is_known {
            let questions = self.read_held().await?;
            *self.held.known() = Held { is_known: true, questions };
        }
        let questions: Vec<QuestionId> = self.held.known().questions.keys().copied().collect();
        for id in questions {
            let question = self.tasks.store.question(id).await?;
            if question.is_none_or(|stored| stored.value.state != QuestionState::Pending) {
                self.held.known().questions.remove(&id);
            }
        }
        Ok(self.held.known().questions.values().copied().collect())
    }

    async fn read_held(&self) -> Result<BTreeMap<QuestionId, Option<ProjectId>>, EngineError> {
        let mut held = BTreeMap::new();
        let mut cursor = None;
        loop {
            let page = self.tasks.store.questions(&QuestionFilter::pending(), cursor, PAGE).await?;
            for record in page.items.into_iter().map(|stored| stored.value) {
                let is_hold = record.question.text().as_str().starts_with(BEGINS);
                if let Some(task) = record.task_id.filter(|_| is_hold) {
                    held.insert(record.question.id, self.tasks.task(task).await?.value.spec().project_id);
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(held);
            }
        }
    }

    /// The question that puts the task's project on hold because of this error.
    pub(crate) async fn hold_question(
        &self,
        task: &Task,
        error: &EngineError,
    ) -> Result<QuestionDraft, EngineError> {
        let (name, once_more) = if let Some(project) = self.project(task).await? {
            (format!("{} in {}", project.title, project.path), "")
        } else {
            let again = " Settings of this repository count when `baton up` is started again.";
            (self.place.root.display().to_string(), again)
        };
        let text = format!(
            "{BEGINS}: {name}\n\n{}\n\nNo task of it starts until you answer. To fix it: {}. Then answer YES, and it is \
             tried again.{once_more}",
            redact(&error.to_string()),
            error.hint()
        );
        // I22: nothing but this one word starts anything; a person who says no need not answer.
        Ok(QuestionDraft::until_yes(NonBlank::or(&text, task.spec().title.clone())))
    }
}
