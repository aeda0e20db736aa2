//! Answers pending questions from queued answers or by policy, without a person.

use baton_core::base::id::QuestionId;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::receipt::{Receipt, ReceiptKey, RequestedWork};
use baton_store::model::commit::Commit;
use baton_store::model::query::QuestionFilter;
use serde_json::json;

use crate::asking::{Attended, AutoResponder};
use crate::base::supervisor::{Item, ItemKind, ItemResult, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::projects::Projects;
use crate::projects::hooks::HookCall;
use crate::services::queues::Queues;
use crate::services::workspace::Workspace;
use crate::settings::hooks::HookName;
use crate::tasks::service::TaskService;

/// Pending questions read at once.
const PAGE: u32 = 200;

pub(super) struct QuestionService {
    tasks: TaskService,
    projects: Projects,
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
        let responder = AutoResponder::by_settings(&workspace.projects, &workspace.settings);
        let projects = workspace.projects.clone();
        Self {
            tasks: workspace.tasks.clone(),
            projects,
            responder,
            leadership,
            queues,
            items,
            is_begun: false,
        }
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

impl QuestionService {
    /// Runs the project's hook for a question that waits for a person, once for each question.
    async fn run_hook(&self, id: QuestionId) -> Result<(), ServiceError> {
        let Some(record) = self.tasks.store.question(id).await? else { return Ok(()) };
        let Some(task) = record.value.task_id else { return Ok(()) };
        let task = self.tasks.task(task).await?.value;
        let has_hook = |settings: std::sync::Arc<crate::settings::Settings>| {
            settings.hooks.command(HookName::OnQuestion).is_some()
        };
        // Settings that cannot be read, or that nobody has allowed, are reported by the attempt that needs them.
        if !self.projects.settings_to_run(&task).await.is_ok_and(has_hook) {
            return Ok(());
        }
        let key = ReceiptKey::for_question_hook(id);
        if self.tasks.store.receipt(&key).await?.is_some() {
            return Ok(());
        }
        let receipt = Receipt {
            key,
            session_id: record.value.session_id.clone(),
            message: None,
            task_id: Some(task.id()),
            wanted: RequestedWork::default(),
            delivered: None,
            answer: None,
            at: self.tasks.store.now().await?,
        };
        let change = Change::new().put(Record::Receipt(receipt), WriteGuard::New);
        if let Commit::Conflict(_) = self.tasks.store.commit(change).await? {
            // Another machine was first.
            return Ok(());
        }
        let projects = self.projects.clone();
        // It may take long, and other questions are to be looked at meanwhile.
        tokio::spawn(async move {
            let more = json!({ "question_id": id, "question": record.value.question.text() });
            let call =
                HookCall { name: HookName::OnQuestion, task: &task, attempt: None, folder: None, more };
            projects.run_last_hook(call).await;
        });
        Ok(())
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
                ItemResult::Done(attended) => {
                    self.queues.looked_at(id);
                    if matches!(attended, Attended::Waits { .. } | Attended::Escalated) {
                        self.run_hook(id).await?;
                    }
                }
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
