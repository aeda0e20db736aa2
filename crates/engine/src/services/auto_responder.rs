//! Answers pending questions from queued answers or by policy, without a person.

use baton_core::base::id::QuestionId;
use baton_store::model::query::QuestionFilter;

use crate::asking::AutoResponder;
use crate::base::supervisor::{Item, ItemKind, ItemResult, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::services::queues::Queues;
use crate::services::workspace::Workspace;
use crate::tasks::service::TaskService;

/// Pending questions read at once.
const PAGE: u32 = 200;

pub(super) struct QuestionService {
    tasks: TaskService,
    responder: AutoResponder,
    leadership: Leadership,
    queues: Queues,
    items: Items,
    /// Whether the questions from before the start were checked.
    is_begun: bool,
}

impl QuestionService {
    pub(super) fn new(workspace: &Workspace, leadership: Leadership, queues: Queues) -> Self {
        let items = workspace.items(ServiceName::AutoResponder);
        let responder = AutoResponder::new(workspace.tasks.clone(), workspace.settings.asking.policy());
        Self { tasks: workspace.tasks.clone(), responder, leadership, queues, items, is_begun: false }
    }

    /// Queues all pending questions, because a policy may have been set while Baton was down.
    async fn begin(&mut self) -> Result<(), ServiceError> {
        let mut cursor = None;
        loop {
            let page = self.tasks.store.questions(&QuestionFilter::pending(), cursor, PAGE).await?;
            self.queues.questions.lock().extend(page.items.iter().map(|stored| stored.value.question.id));
            cursor = page.next;
            if cursor.is_none() {
                self.is_begun = true;
                return Ok(());
            }
        }
    }
}

impl Service for QuestionService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() {
            self.is_begun = false;
            return Ok(Round::default());
        }
        if !self.is_begun {
            self.begin().await?;
        }
        let waiting: Vec<QuestionId> = self.queues.questions.lock().iter().copied().collect();
        for id in waiting {
            let mut item = Item::new(ItemKind::Question, &id);
            if let Some(record) = self.tasks.store.question(id).await? {
                (item.task, item.session) = (record.value.task_id, Some(record.value.session_id));
            }
            match self.items.attempt(&item, self.responder.attend(id)).await? {
                ItemResult::Done(_) => self.queues.looked_at(id),
                ItemResult::Failed { .. } => {
                    // Notify the user now; an automatic answer is tried again later.
                    self.queues.looked_at(id);
                    self.queues.questions.lock().insert(id);
                }
                ItemResult::Waiting => {}
            }
        }
        Ok(self.items.end_round())
    }
}
