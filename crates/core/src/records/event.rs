//! Events: an append-only history of every change. Clients read nothing else.
//!
//! The forms are stable: other programs depend on them, and a snapshot test guards them.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::question::Question;
use crate::base::git_name::CommitId;
use crate::base::id::{AttemptId, ProjectId, QuestionId, RoutineId, RunId, SessionId, TaskId};
use crate::base::text::{AgentName, NonBlank, OutcomeName, PersonName, RecipeId, StepName};
use crate::base::time::Timestamp;
use crate::landing::evidence::LandingEvidence;
use crate::landing::verified::VerifiedCommand;
use crate::people::actor::Actor;
use crate::people::role::PersonRole;
use crate::phase::handoff::Handoff;
use crate::recipe::exit_reason::ExitReason;
use crate::records::effect::Effect;
use crate::recycle::RecycleReason;
use crate::recycle::plan::Plan;
use crate::schedule::AgentPlace;
use crate::task::TaskSpec;
use crate::task::attempt::AttemptEnd;
use crate::task::environment::EnvironmentChange;
use crate::task::fence::FenceReport;
use crate::task::guard::RequeueReason;
use crate::task::not_landed::NotLanded;
use crate::task::revision::Revision;
use crate::task::state::{AcceptedBy, ReviewMark};

/// One event, before the store numbers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub at: Timestamp,
    pub by: Actor,
    #[serde(flatten)]
    pub body: EventBody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventBody {
    ProjectCreated {
        project: ProjectId,
        title: NonBlank,
    },
    ProjectCompleted {
        project: ProjectId,
    },
    /// It got open work after a person had completed it.
    ProjectReopened {
        project: ProjectId,
    },
    /// How many of its tasks may run at once; `None` for the configured default.
    ProjectLimited {
        project: ProjectId,
        at_once_max: Option<u32>,
    },
    SessionOpened {
        session: SessionId,
        project: Option<ProjectId>,
    },
    MessagePosted {
        session: SessionId,
        text: NonBlank,
        task: Option<TaskId>,
    },

    TaskCreated {
        spec: Box<TaskSpec>,
        depends_on: Vec<TaskId>,
    },
    TaskClaimed {
        task: TaskId,
        attempt: AttemptId,
        agent: AgentName,
        resumes: Option<AttemptId>,
    },
    AgentStarted {
        task: TaskId,
        attempt: AttemptId,
    },
    /// The attempt's agent got the task's messages up to this number of its session.
    MessagesDelivered {
        task: TaskId,
        attempt: AttemptId,
        up_to: u32,
    },
    /// What confines the attempt's processes, and what does not (I21).
    AttemptFenced {
        task: TaskId,
        attempt: AttemptId,
        fence: FenceReport,
    },
    /// What the attempt works with beside its code has changed.
    EnvironmentChanged {
        task: TaskId,
        attempt: AttemptId,
        change: EnvironmentChange,
    },
    /// A process of the attempt tried what only a person may do, or acted without its token (I19).
    AttemptRefused {
        task: TaskId,
        attempt: AttemptId,
        /// What it tried: `POST /api/tasks/TASK-00000001/accept`.
        action: NonBlank,
        reason: NonBlank,
    },
    /// The proxy of the attempt's fence did not let it through.
    NetworkRefused {
        task: TaskId,
        attempt: AttemptId,
        host: NonBlank,
        reason: NonBlank,
    },
    AttemptEnded {
        task: TaskId,
        attempt: AttemptId,
        end: Box<AttemptEnd>,
    },
    TaskProvisional {
        task: TaskId,
        mark: ReviewMark,
        question: Option<NonBlank>,
    },
    TaskDone {
        task: TaskId,
        accepted_by: AcceptedBy,
        /// What the person who accepted it was warned of, and overrode by force.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        despite: Option<NonBlank>,
    },
    TaskContinues {
        task: TaskId,
        after: AttemptId,
    },
    TaskRequeued {
        task: TaskId,
        attempt: AttemptId,
        reason: RequeueReason,
    },
    TaskRejected {
        task: TaskId,
        reason: NonBlank,
    },
    TaskConflicted {
        task: TaskId,
        detail: NonBlank,
    },
    /// Accepted: it waits in the lane of its branch for a commit that passes the checks.
    TaskLanding {
        task: TaskId,
        accepted_by: Actor,
        /// As for a task that is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        despite: Option<NonBlank>,
    },
    /// Its branch moved to this commit, whose tree passed the checks (I18).
    TaskLanded {
        task: TaskId,
        commit: CommitId,
        /// The commands that verify it, before and after.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        verified: Vec<VerifiedCommand>,
        /// The run of the checks that this rests on. None for work that was in the branch already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<Box<LandingEvidence>>,
    },
    /// It stays in its lane, because its branch fails the checks without it.
    TaskLandingDelayed {
        task: TaskId,
        reason: Box<NotLanded>,
    },
    /// It could not land, and is with its agent or a person again.
    TaskSentBack {
        task: TaskId,
        reason: Box<NotLanded>,
    },
    /// A person merged it although its checks had not passed (I18), or with commits that were withdrawn.
    TaskForced {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<CommitId>,
        /// The withdrawn commits that came in with it, each with its subject.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        withdrawn: Vec<String>,
    },
    TaskRecycled {
        task: TaskId,
        reason: RecycleReason,
        breakdown: TaskId,
    },
    TaskReplaced {
        task: TaskId,
        replaced_by: Vec<TaskId>,
    },
    TaskHeldBack {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<NonBlank>,
    },
    TaskLetGo {
        task: TaskId,
    },
    TaskFailed {
        task: TaskId,
        error: NonBlank,
    },
    TaskRetried {
        task: TaskId,
    },
    TaskCancelled {
        task: TaskId,
        reason: Option<NonBlank>,
    },
    TaskRevised {
        task: TaskId,
        revision: Revision,
    },
    DependentsRewired {
        from: TaskId,
        to: Vec<TaskId>,
    },

    BreakdownReleased {
        task: TaskId,
    },
    PlanSubmitted {
        task: TaskId,
        plan: Box<Plan>,
    },
    PlanApproved {
        task: TaskId,
        subtasks: Vec<TaskId>,
    },
    PlanRejected {
        task: TaskId,
        reason: NonBlank,
    },

    QuestionAsked {
        session: SessionId,
        task: Option<TaskId>,
        question: Box<Question>,
    },
    QuestionAnswered {
        session: SessionId,
        task: Option<TaskId>,
        question: QuestionId,
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
    QuestionWithdrawn {
        session: SessionId,
        task: Option<TaskId>,
        question: QuestionId,
        reason: NonBlank,
    },

    /// An answer was queued for a later question.
    AnswerQueued {
        session: SessionId,
        task: Option<TaskId>,
        text: NonBlank,
    },

    RunStarted {
        run: RunId,
        recipe: RecipeId,
        label: NonBlank,
        session: SessionId,
        task: Option<TaskId>,
        step: StepName,
        /// Counts the whole run.
        step_count: u32,
        #[serde(default = "first_iteration")]
        iteration: u32,
    },
    /// The run continues with another task.
    RunBound {
        run: RunId,
        session: SessionId,
        task: TaskId,
    },
    StepStarted {
        run: RunId,
        session: SessionId,
        step: StepName,
        step_count: u32,
        #[serde(default = "first_iteration")]
        iteration: u32,
    },
    StepLeft {
        run: RunId,
        session: SessionId,
        from: StepName,
        to: StepName,
        outcome: OutcomeName,
    },
    OutcomeRefused {
        run: RunId,
        session: SessionId,
        step: StepName,
        error: NonBlank,
    },
    /// A person ended the run; its agent is being stopped.
    RunStopping {
        run: RunId,
        session: SessionId,
    },
    RunExited {
        run: RunId,
        session: SessionId,
        reason: ExitReason,
        /// What went wrong, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<NonBlank>,
    },

    PhaseHandedOff {
        session: SessionId,
        handoff: Box<Handoff>,
    },

    RoutineChanged {
        routine: RoutineId,
        title: NonBlank,
        change: RoutineChange,
    },
    /// A routine created a task.
    RoutineRan {
        routine: RoutineId,
        task: TaskId,
        /// The moment, commit, task or call.
        cause: String,
    },
    /// A routine should have run and did not.
    RoutineSkipped {
        routine: RoutineId,
        count: u64,
        last: String,
    },

    /// An effect failed permanently, after all retries.
    EffectGivenUp {
        effect: Box<Effect>,
        tries: u32,
        error: NonBlank,
    },
    /// A background service could not do its work for one item. It is retried; the same error is told once.
    ItemFailed {
        service: NonBlank,
        item: NonBlank,
        error: NonBlank,
        tries: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    },
    /// A limit moved the task to another account or to another agent.
    AgentMoved {
        task: TaskId,
        attempt: AttemptId,
        from: AgentPlace,
        to: AgentPlace,
        reason: NonBlank,
    },
    IntakePaused {
        agent: AgentName,
        /// `None` if it lasts until a person releases it.
        until: Option<Timestamp>,
        reason: NonBlank,
    },
    IntakeResumed {
        agent: AgentName,
    },

    /// A person was issued a token.
    TokenCreated {
        name: PersonName,
        role: PersonRole,
        expires_at: Option<Timestamp>,
    },
    TokenRevoked {
        name: PersonName,
    },
}

/// What a person did to a routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutineChange {
    Added,
    Paused,
    Resumed,
    Removed,
}

/// Of events stored before the iteration was recorded.
const fn first_iteration() -> u32 {
    1
}

impl EventBody {
    /// The task an event is about, for the task's own history.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::TaskCreated { spec, .. } => Some(spec.id),
            Self::DependentsRewired { from, .. } => Some(*from),
            Self::TaskClaimed { task, .. }
            | Self::AgentStarted { task, .. }
            | Self::AttemptEnded { task, .. }
            | Self::AttemptFenced { task, .. }
            | Self::EnvironmentChanged { task, .. }
            | Self::MessagesDelivered { task, .. }
            | Self::AttemptRefused { task, .. }
            | Self::NetworkRefused { task, .. }
            | Self::TaskProvisional { task, .. }
            | Self::TaskDone { task, .. }
            | Self::TaskContinues { task, .. }
            | Self::TaskRequeued { task, .. }
            | Self::TaskRejected { task, .. }
            | Self::TaskConflicted { task, .. }
            | Self::TaskLanding { task, .. }
            | Self::TaskLanded { task, .. }
            | Self::TaskLandingDelayed { task, .. }
            | Self::TaskSentBack { task, .. }
            | Self::TaskForced { task, .. }
            | Self::TaskRecycled { task, .. }
            | Self::TaskReplaced { task, .. }
            | Self::TaskFailed { task, .. }
            | Self::TaskRetried { task }
            | Self::TaskHeldBack { task, .. }
            | Self::TaskLetGo { task }
            | Self::TaskCancelled { task, .. }
            | Self::TaskRevised { task, .. }
            | Self::BreakdownReleased { task }
            | Self::PlanSubmitted { task, .. }
            | Self::PlanApproved { task, .. }
            | Self::PlanRejected { task, .. }
            | Self::RoutineRan { task, .. }
            | Self::AgentMoved { task, .. }
            | Self::RunBound { task, .. } => Some(*task),
            Self::MessagePosted { task, .. }
            | Self::QuestionAsked { task, .. }
            | Self::QuestionAnswered { task, .. }
            | Self::QuestionWithdrawn { task, .. }
            | Self::AnswerQueued { task, .. }
            | Self::ItemFailed { task, .. }
            | Self::RunStarted { task, .. } => *task,
            Self::ProjectCreated { .. }
            | Self::ProjectCompleted { .. }
            | Self::ProjectReopened { .. }
            | Self::ProjectLimited { .. }
            | Self::SessionOpened { .. }
            | Self::StepStarted { .. }
            | Self::StepLeft { .. }
            | Self::OutcomeRefused { .. }
            | Self::RunStopping { .. }
            | Self::RunExited { .. }
            | Self::PhaseHandedOff { .. }
            | Self::RoutineChanged { .. }
            | Self::RoutineSkipped { .. }
            | Self::EffectGivenUp { .. }
            | Self::IntakePaused { .. }
            | Self::IntakeResumed { .. }
            | Self::TokenCreated { .. }
            | Self::TokenRevoked { .. } => None,
        }
    }
}
