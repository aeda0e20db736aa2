//! Why the engine could not do what was asked: a small enum to branch on, and a hint for the person.

mod explained;

use std::path::PathBuf;

use baton_core::access_token::TokenRefusal;
use baton_core::approval::ApprovalRefusal;
use baton_core::ask_refusal::{AnswerRefusal, AskRefusal};
use baton_core::breakdown::PlanFaults;
use baton_core::choice::Unreadable;
use baton_core::graph::GraphError;
use baton_core::id::{ProjectId, RunId, SessionId, TaskId};
use baton_core::loop_refusal::LoopRefusal;
use baton_core::phase_work::WorkRefusal;
use baton_core::queued_answer::QueueFull;
use baton_core::refusal::Refusal;
use baton_core::run::RunRefusal;
use baton_core::text::{Blank, PersonName, RecipeId, Role};
use baton_store::StoreError;
use baton_store::model::commit::Conflict;
use baton_store::model::query::BadCursor;

use crate::import::ImportError;
use crate::project_report::Progress;
use crate::settings::SettingsError;
use crate::user_tasks::UserTaskError;
use crate::worktree::GitError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("there is no {kind} {key}")]
    NotFound { kind: &'static str, key: String },
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Approval(#[from] ApprovalRefusal),
    #[error(transparent)]
    Run(#[from] RunRefusal),
    #[error("the session {session} runs {recipe} already ({run})")]
    RunOpen { session: SessionId, recipe: RecipeId, run: RunId },
    #[error("no recipe runs on the session {session}")]
    NoRun { session: SessionId },
    #[error("nobody is at work in the loop of {session} who could hear it")]
    NobodyListens { session: SessionId },
    #[error("the recipe {recipe} is the loop, which runs on a session and takes its tasks from the queue")]
    LoopOfTask { recipe: RecipeId },
    #[error(transparent)]
    GateAnswer(#[from] Unreadable),
    #[error("the plan cannot be used:\n{0}")]
    Plan(PlanFaults),
    #[error("{0}")]
    Dependency(Conflict),
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error("{task} kept changing while this was being done")]
    Restless { task: TaskId },
    #[error("what {task} asks for was changed by somebody else meanwhile")]
    Overtaken { task: TaskId },
    #[error("{task} does not wait for an answer")]
    NotWaiting { task: TaskId },
    #[error("the question was answered already, by {by}")]
    AlreadyAnswered { by: String },
    /// I4: a session belongs to the project of its first message.
    #[error("the session {session} belongs to {}", project.map_or_else(|| "no project".to_owned(), |id| id.to_string()))]
    OtherProject { session: SessionId, project: Option<ProjectId> },
    #[error("\"{name}…\" is too long to be the name of a task")]
    ImportName { name: String },
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("this key was used for another message already")]
    KeyReused,
    #[error("{project} is not complete: {} of {} tasks are open", progress.open(), progress.total)]
    ProjectOpen { project: ProjectId, progress: Progress },
    #[error("{project} kept changing while this was being done")]
    ProjectRestless { project: ProjectId },
    #[error("{} cannot be a project's path: {detail}", path.display())]
    ProjectPath { path: PathBuf, detail: String },
    #[error("{path} cannot be used: {detail}")]
    Folder { path: PathBuf, detail: String },
    #[error("\"{name}\" cannot be a namespace")]
    Namespace { name: String },
    #[error("\"{prefix}\" is the beginning of more than one {kind}")]
    Ambiguous { kind: &'static str, prefix: String },
    /// Its machine could not reach the remote when the attempt ended; it tries again by itself.
    #[error("the work of {task} is still on {worker} and has not arrived at the remote")]
    NotArrived { task: TaskId, worker: String },
    #[error("another machine has held {name} for too long")]
    TurnTaken { name: String },
    #[error("no agent is set up for the role {role}")]
    NoAgent { role: Role },
    #[error("a runner stopped unexpectedly: {detail}")]
    Runner { detail: String },
    #[error(transparent)]
    Loop(#[from] LoopRefusal),
    #[error(transparent)]
    Ask(#[from] AskRefusal),
    #[error(transparent)]
    Answer(#[from] AnswerRefusal),
    #[error(transparent)]
    Work(#[from] WorkRefusal),
    #[error(transparent)]
    Token(#[from] TokenRefusal),
    #[error("the token of {name} kept changing while this was being done")]
    TokenRestless { name: PersonName },
    #[error(transparent)]
    QueueFull(#[from] QueueFull),
    #[error(transparent)]
    Blank(#[from] Blank),
    #[error(transparent)]
    UserTask(#[from] UserTaskError),
    #[error("the worktree could not be set up. {told}")]
    SetUp { told: String },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Cursor(#[from] BadCursor),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl EngineError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound { kind: "question", .. } => "see the open questions: baton questions".to_owned(),
            Self::NotFound { kind: "plan", .. } => {
                "hand one in: baton breakdown edit, or have one made: baton breakdown run".to_owned()
            }
            Self::NotFound { kind: "project", .. } => "see what there is: baton project list".to_owned(),
            Self::NotFound { kind: "hold", .. } => "see what is held: baton hold list".to_owned(),
            Self::NotFound { kind: "token", .. } => "see who has one: baton token list".to_owned(),
            Self::NotFound { kind: "recipe", .. } => "see what there is: baton recipe list".to_owned(),
            Self::NotFound { .. } => "see what there is: baton task list".to_owned(),
            Self::Refused(refusal) => refusal.hint(),
            Self::Approval(ApprovalRefusal::Refused(refusal)) => refusal.hint(),
            Self::Approval(_) => "read the breakdown again and repeat".to_owned(),
            Self::Run(_) => "see where it stands: baton recipe list, baton questions".to_owned(),
            Self::RunOpen { session, .. } => {
                format!("wait for it, or stop it: baton recipe exit --session {session}")
            }
            Self::NoRun { .. } => "start one: baton recipe start RECIPE".to_owned(),
            Self::NobodyListens { .. } => "answer its next question instead: baton questions".to_owned(),
            Self::LoopOfTask { recipe } => {
                format!("add the task without a recipe, then start the loop: baton recipe start {recipe}")
            }
            Self::GateAnswer(_) => "answer again with one of the words offered".to_owned(),
            Self::Plan(_) => "mend the plan and submit it again".to_owned(),
            Self::Dependency(_) => {
                "choose other dependencies; baton task show tells what waits on what".to_owned()
            }
            Self::Graph(_) => "see where it stands: baton task show TASK".to_owned(),
            Self::Restless { .. } => "try again".to_owned(),
            Self::Overtaken { task } => format!("read it again, then change it: baton task show {task}"),
            Self::NotWaiting { task } => format!("see where it stands: baton task show {task}"),
            Self::AlreadyAnswered { .. } => "see the open questions: baton questions".to_owned(),
            Self::OtherProject { .. } => "choose another session_id, or leave it out".to_owned(),
            Self::KeyReused => "use a new key for a new message; repeat the old one unchanged".to_owned(),
            Self::ImportName { .. } => "shorten it where it comes from; nothing was imported".to_owned(),
            Self::Import(error) => error.hint(),
            Self::ProjectOpen { project, .. } => format!("see what is left: baton project show {project}"),
            Self::ProjectRestless { .. } => "try again".to_owned(),
            Self::ProjectPath { .. } => "give the whole path of a git repository".to_owned(),
            Self::Folder { .. } => "check that it exists and that you may write there".to_owned(),
            Self::Namespace { .. } => {
                "use letters, digits, - _ and ., a letter or digit first, at most 100".to_owned()
            }
            Self::Ambiguous { .. } => "give more of it".to_owned(),
            Self::NotArrived { .. } => {
                "see whether that machine is there (baton workers), and try again".to_owned()
            }
            Self::TurnTaken { .. } => {
                "see which machines are there (baton workers), and try again".to_owned()
            }
            Self::NoAgent { role } => format!(
                "add an agent to .agent/baton.toml and name it under [roles.{role}] or as default_agent"
            ),
            Self::Runner { .. } => "what it worked on goes back to the queue; the log has more".to_owned(),
            Self::Loop(refusal) => refusal.next(),
            Self::Ask(refusal) => refusal.next(),
            Self::Answer(refusal) => refusal.next(),
            Self::Work(_) => "answer with one of the words offered".to_owned(),
            Self::Token(TokenRefusal::Taken(name)) => {
                format!("take it back first: baton token revoke {name}; or choose another name")
            }
            Self::Token(TokenRefusal::Over(_)) => "choose a later end, or none".to_owned(),
            Self::Token(TokenRefusal::TooMany(_)) => "use a name that had one before".to_owned(),
            Self::TokenRestless { .. } => "try again".to_owned(),
            Self::QueueFull(_) => "see the open questions: baton questions".to_owned(),
            Self::Blank(_) => "write at least one visible character".to_owned(),
            Self::UserTask(error) => error.hint(),
            Self::SetUp { .. } => {
                "mend the task that [worktree] setup names; it runs in a fresh worktree, before the agent"
                    .to_owned()
            }
            Self::Git(error) => error.hint(),
            Self::Settings(_) => "mend .agent/baton.toml and try again".to_owned(),
            Self::Cursor(_) => "start at the beginning, without a cursor".to_owned(),
            Self::Store(error) => error.hint(),
        }
    }
}
