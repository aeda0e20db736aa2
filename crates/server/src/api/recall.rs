//! The answer to a call that was carried out although its answer is not known, because Baton ended in between: what the call
//! created, as it is now.

use baton_core::base::id::{RunId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::records::receipt::CreatedRecord;
use baton_core::records::session::Message;
use baton_engine::base::error::{EngineError, Entity, NotFound};
use baton_engine::reports::run_view::RunView;
use baton_engine::reports::view::TaskView;
use baton_engine::runs::SessionRuns;
use serde_json::{Value, json};

use crate::api::route::Recall;
use crate::api::routes::projects::find_project;
use crate::api::routes::{breakdowns, routines, sessions};
use crate::api::views::message::TaskMessageView;
use crate::api::views::project::ProjectView;
use crate::api::views::routine::RoutineView;
use crate::api::views::transition::{AcceptedView, TransitionView};
use crate::http::error::{ApiError, Code, Result};
use crate::mcp::ToolAnswer;
use crate::state::App;

/// What is said of a command whose answer was lost.
const UNKNOWN_END: &str =
    "the user task was started with this Idempotency-Key, and Baton ended before it was through";

/// A call that was carried out.
pub(crate) struct DoneCall<'a> {
    pub key: &'a str,
    /// The id in the path; empty if there is none.
    pub path_id: &'a str,
    pub body: &'a [u8],
    pub created: &'a [CreatedRecord],
    pub actor: Actor,
}

impl DoneCall<'_> {
    /// What its answer would be now.
    pub(crate) async fn answer(&self, app: &App, recall: Recall) -> Result<Value> {
        let tasks = app.tasks();
        Ok(match recall {
            Recall::Task => json!(TaskView::load(tasks, self.task()?).await?),
            Recall::Breakdown => breakdowns::recall(app, self.task()?, self.body, self.actor.clone()).await?,
            Recall::Approval => breakdowns::approval(self.in_path()?, self.tasks()),
            Recall::Project => {
                let id =
                    self.first(|one| if let CreatedRecord::Project(id) = one { Some(*id) } else { None });
                json!(ProjectView::from(&find_project(app, id?).await?))
            }
            Recall::Routine => {
                let id =
                    self.first(|one| if let CreatedRecord::Routine(id) = one { Some(*id) } else { None });
                json!(RoutineView::from(&routines::routines(app).get(id?).await?))
            }
            Recall::RoutineCall => routines::recall(app, self.in_path()?, self.key, self.body).await?,
            Recall::Run => json!(self.run(app).await?),
            Recall::SessionMessage => json!(self.message(app).await?),
            Recall::TaskMessage => {
                let task = tasks.task(self.in_path()?).await?.value;
                json!(TaskMessageView::new(&task, &self.message(app).await?))
            }
            Recall::QueuedAnswers => json!(sessions::queued_answers(app, self.in_path()?).await?),
            Recall::Recycling => json!(self.transition(app).await?),
            Recall::Tool if self.path_id == "run_user_task" => {
                json!(ToolAnswer::error(UNKNOWN_END.to_owned()))
            }
            Recall::UserTask => {
                return Err(ApiError::new(
                    Code::Conflict,
                    UNKNOWN_END,
                    "see what it did, then use a new key",
                ));
            }
            Recall::Tool => json!(ToolAnswer::json(&json!({ "created": self.created }))),
            Recall::Review => json!(AcceptedView::new(self.transition(app).await?, None)),
        })
    }

    async fn run(&self, app: &App) -> Result<RunView> {
        let id: Result<RunId> =
            self.first(|one| if let CreatedRecord::Run(id) = one { Some(*id) } else { None });
        let stored = match id {
            Ok(id) => app.tasks().store.run(id).await?.map(|stored| stored.value),
            // The loop makes its run with its first phase.
            Err(_) => SessionRuns::new(app.tasks()).latest(&self.in_path()?).await?,
        };
        let missing = || EngineError::from(NotFound::new(Entity::Run, self.path_id));
        Ok(RunView::load(app.tasks(), &stored.ok_or_else(missing)?).await?)
    }

    async fn message(&self, app: &App) -> Result<Message> {
        let (session, number) = self.first(|one| match one {
            CreatedRecord::Message { session_id, number } => Some((session_id.clone(), *number)),
            CreatedRecord::Task(_)
            | CreatedRecord::Project(_)
            | CreatedRecord::Routine(_)
            | CreatedRecord::Run(_) => None,
        })?;
        let found = app.tasks().store.messages(&session, number.saturating_sub(1), 1).await?;
        found.into_iter().next().ok_or_else(not_recorded)
    }

    /// Where the task in the path is by now.
    async fn transition(&self, app: &App) -> Result<TransitionView> {
        let task = app.tasks().task(self.in_path()?).await?.value;
        Ok(TransitionView::new(task.state().status(), &task))
    }

    fn tasks(&self) -> Vec<TaskId> {
        let task = |one: &CreatedRecord| if let CreatedRecord::Task(id) = one { Some(*id) } else { None };
        self.created.iter().filter_map(task).collect()
    }

    fn task(&self) -> Result<TaskId> {
        self.tasks().first().copied().ok_or_else(not_recorded)
    }

    fn first<T>(&self, pick: impl Fn(&CreatedRecord) -> Option<T>) -> Result<T> {
        self.created.iter().find_map(pick).ok_or_else(not_recorded)
    }

    fn in_path<T: std::str::FromStr>(&self) -> Result<T> {
        self.path_id.parse().map_err(|_| not_recorded())
    }
}

/// Only for receipts of an older version.
fn not_recorded() -> ApiError {
    ApiError::new(
        Code::Conflict,
        "this request was carried out before, and its answer is not known",
        "look up what it created; use a new key for a new request",
    )
}
