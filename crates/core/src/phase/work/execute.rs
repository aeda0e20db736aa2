//! The work of the execute phase: the subtasks, one after the other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ask::choice::{YesNoFailed, YesNoHelp};
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::people::actor::Actor;
use crate::phase::handoff::{NamedTask, PhaseResults};
use crate::phase::subtask::{Subtask, SubtaskEvent, SubtaskResult, SubtaskState, UnexpectedSubtaskEvent};
use crate::phase::work::{FollowUp, NextAction, QuestionTopic, WorkRefusal};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredExecuteWork", into = "StoredExecuteWork")]
pub struct ExecuteWork {
    pub subtasks: Vec<Subtask>,
    /// Who called each subtask done, and so accepts its work.
    pub done_by: BTreeMap<TaskId, Actor>,
    /// The human is not finished although every subtask is.
    pub wants_more: bool,
}

impl ExecuteWork {
    pub fn new(tasks: impl IntoIterator<Item = (NamedTask, String)>) -> Self {
        let subtasks = tasks.into_iter().map(|(task, description)| Subtask::begin(task, description).0);
        Self { subtasks: subtasks.collect(), ..Self::default() }
    }

    pub fn current(&self) -> Option<&Subtask> {
        self.subtasks.iter().find(|subtask| !subtask.is_finished())
    }

    fn current_mut(&mut self) -> Option<&mut Subtask> {
        self.subtasks.iter_mut().find(|subtask| !subtask.is_finished())
    }

    pub(super) fn next(&self) -> NextAction {
        let Some(current) = self.current() else {
            let topic = if self.wants_more { QuestionTopic::MoreWork } else { QuestionTopic::Gate };
            return NextAction::Ask { topic };
        };
        match current.state() {
            SubtaskState::AskingToRun | SubtaskState::AskingWithHelp => {
                NextAction::Ask { topic: QuestionTopic::MayRun }
            }
            SubtaskState::Running => NextAction::WatchFor { task: current.task.id },
            SubtaskState::AskingWhetherDone => NextAction::Ask { topic: QuestionTopic::IsDone },
            SubtaskState::Finished(_) => NextAction::Rest,
        }
    }

    /// The current subtask cannot run while these are not done, so nobody is asked about it. It is skipped; the gate
    /// says why.
    pub fn skip_blocked(&mut self, waits_on: Vec<NamedTask>) {
        if let Some(current) = self.current_mut() {
            *current = current.passed_over(waits_on);
        }
    }

    /// Another subtask, at the end.
    pub fn add(&mut self, task: NamedTask, description: String) {
        self.subtasks.push(Subtask::begin(task, description).0);
    }

    /// The current subtask has run, and the human wants an agent to work on it again.
    pub fn run_again(&mut self) {
        if let Some(current) = self.current_mut() {
            *current = current.running_again();
        }
    }

    /// The subtasks that did not come to a result and need not stay so.
    pub fn given_up(&self) -> impl Iterator<Item = TaskId> {
        let is_given_up = |subtask: &&Subtask| {
            matches!(subtask.state(), SubtaskState::Finished(SubtaskResult::Failed | SubtaskResult::Skipped))
        };
        self.subtasks.iter().filter(is_given_up).map(|subtask| subtask.task.id)
    }

    /// Somebody lets a subtask that was given up run after all. It comes last, so that the subtask that the human is asked
    /// about stays the current one.
    pub fn take_up(&mut self, task: TaskId) {
        let Some(at) =
            self.subtasks.iter().position(|subtask| subtask.task.id == task && subtask.is_finished())
        else {
            return;
        };
        let subtask = self.subtasks.remove(at);
        self.subtasks.push(subtask.running_again());
        self.wants_more = false;
    }

    /// The agent finished the current subtask.
    pub fn finish_run(&mut self) -> Result<(), UnexpectedSubtaskEvent> {
        self.step(SubtaskEvent::Ran)
    }

    pub(super) fn apply_answer(
        &mut self,
        topic: QuestionTopic,
        answer: &NonBlank,
    ) -> Result<FollowUp, WorkRefusal> {
        let event = match topic {
            QuestionTopic::MayRun => SubtaskEvent::MayRun(YesNoHelp::read(answer.as_str())?),
            _ => SubtaskEvent::IsDone(YesNoFailed::read(answer.as_str())?),
        };
        let task = self.current().map(|subtask| subtask.task.id);
        self.step(event)?;
        Ok(match (task, event) {
            (Some(task), SubtaskEvent::MayRun(YesNoHelp::Yes)) => FollowUp::Run { task },
            (Some(task), SubtaskEvent::IsDone(YesNoFailed::Yes)) => FollowUp::Accept { task },
            (Some(task), SubtaskEvent::IsDone(YesNoFailed::Failed)) => FollowUp::Fail { task },
            _ => FollowUp::Nothing,
        })
    }

    fn step(&mut self, event: SubtaskEvent) -> Result<(), UnexpectedSubtaskEvent> {
        if let Some(current) = self.current_mut() {
            *current = current.after(event)?.0;
        }
        Ok(())
    }

    /// The human is not finished: subtasks that are not completed are asked about once more. If all are, the human is
    /// asked what else is to be done.
    pub fn again(&mut self) {
        self.wants_more = true;
        for subtask in &mut self.subtasks {
            match subtask.state() {
                SubtaskState::Finished(
                    SubtaskResult::Skipped | SubtaskResult::LeftOpen | SubtaskResult::Failed,
                ) => {
                    *subtask = subtask.again();
                    self.wants_more = false;
                }
                SubtaskState::Finished(SubtaskResult::Completed)
                | SubtaskState::AskingToRun
                | SubtaskState::AskingWithHelp
                | SubtaskState::Running
                | SubtaskState::AskingWhetherDone => {}
            }
        }
    }

    pub(super) fn results(&self) -> PhaseResults {
        let with = |result| {
            let finished = move |subtask: &&Subtask| subtask.state() == SubtaskState::Finished(result);
            self.subtasks.iter().filter(finished).map(|subtask| subtask.task.clone()).collect()
        };
        let is_left_out = |subtask: &&Subtask| {
            matches!(
                subtask.state(),
                SubtaskState::Finished(SubtaskResult::Skipped | SubtaskResult::LeftOpen)
            )
        };
        let left_out = self.subtasks.iter().filter(is_left_out).map(|subtask| subtask.task.clone());
        PhaseResults::Executed {
            completed: with(SubtaskResult::Completed),
            failed: with(SubtaskResult::Failed),
            left_out: left_out.collect(),
        }
    }
}

/// The stored form. A subtask that is asked about with help is stored as any other, and the help beside it.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredExecuteWork {
    subtasks: Vec<Subtask>,
    wants_help: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    done_by: BTreeMap<TaskId, Actor>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wants_more: bool,
}

impl From<StoredExecuteWork> for ExecuteWork {
    fn from(stored: StoredExecuteWork) -> Self {
        let StoredExecuteWork { subtasks, done_by, wants_more, .. } = stored;
        let mut work = Self { subtasks, done_by, wants_more };
        if stored.wants_help
            && let Some(current) = work.current_mut()
            && current.state() == SubtaskState::AskingToRun
        {
            *current = current.with_help();
        }
        work
    }
}

impl From<ExecuteWork> for StoredExecuteWork {
    fn from(work: ExecuteWork) -> Self {
        let wants_help =
            work.current().is_some_and(|subtask| subtask.state() == SubtaskState::AskingWithHelp);
        let ExecuteWork { subtasks, done_by, wants_more } = work;
        Self { subtasks, wants_help, done_by, wants_more }
    }
}
