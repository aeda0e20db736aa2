//! The dialogue about one subtask in the execute phase: may it run, and is it done.
//!
//! The phase keeps its state between questions. It asks nobody and runs nothing: each step says what to do next.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::choice::{YesNoFailed, YesNoHelp};
use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::text::NonBlank;
use crate::phase::handoff::NamedTask;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", content = "result", rename_all = "snake_case")]
pub enum SubtaskState {
    /// The human is asked whether it may run.
    AskingToRun,
    /// The human asked for help, and is asked once more with it. Stored as `asking_to_run`; see `ExecuteWork`.
    #[serde(rename(serialize = "asking_to_run"), skip_deserializing)]
    AskingWithHelp,
    /// The agent works on it.
    Running,
    /// The human is asked whether it is done.
    AskingWhetherDone,
    Finished(SubtaskResult),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubtaskResult {
    Completed,
    Failed,
    /// It ran, and the human says it is not done: the task stays open.
    LeftOpen,
    /// The human did not want it to run.
    Skipped,
}

impl SubtaskState {
    pub const ALL: [Self; 8] = [
        Self::AskingToRun,
        Self::AskingWithHelp,
        Self::Running,
        Self::AskingWhetherDone,
        Self::Finished(SubtaskResult::Completed),
        Self::Finished(SubtaskResult::Failed),
        Self::Finished(SubtaskResult::LeftOpen),
        Self::Finished(SubtaskResult::Skipped),
    ];
}

impl fmt::Display for SubtaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AskingToRun | Self::AskingWithHelp => "waiting for approval to run",
            Self::Running => "running",
            Self::AskingWhetherDone => "waiting for confirmation that it is done",
            Self::Finished(_) => "finished",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", content = "answer", rename_all = "snake_case")]
pub enum SubtaskEvent {
    MayRun(YesNoHelp),
    /// The agent finished it, successfully or not.
    Ran,
    IsDone(YesNoFailed),
}

impl SubtaskEvent {
    pub const ALL: [Self; 7] = [
        Self::MayRun(YesNoHelp::Yes),
        Self::MayRun(YesNoHelp::No),
        Self::MayRun(YesNoHelp::Help),
        Self::Ran,
        Self::IsDone(YesNoFailed::Yes),
        Self::IsDone(YesNoFailed::No),
        Self::IsDone(YesNoFailed::Failed),
    ];
}

impl fmt::Display for SubtaskEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MayRun(answer) => write!(f, "the answer {answer} to \"Execute?\""),
            Self::Ran => f.write_str("the end of its run"),
            Self::IsDone(answer) => write!(f, "the answer {answer} to \"Done?\""),
        }
    }
}

/// What to do after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubtaskStep {
    Ask(QuestionDraft),
    /// Show the help, then ask the same question again.
    HelpThenAsk {
        help: String,
        question: QuestionDraft,
    },
    Run,
    Finish(SubtaskResult),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{event} does not fit a subtask that is {state}; check its state and continue from there")]
pub struct UnexpectedSubtaskEvent {
    pub state: SubtaskState,
    pub event: SubtaskEvent,
}

/// The dialogue about one subtask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subtask {
    pub task: NamedTask,
    /// What HELP shows besides the meaning of the answers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The unfinished tasks it was skipped for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_on: Vec<NamedTask>,
    /// An agent failed at it before, and nobody has done it since: not trying again leaves it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_failed: bool,
    #[serde(flatten)]
    state: SubtaskState,
}

impl Subtask {
    /// A new dialogue and its first question.
    pub fn begin(task: NamedTask, description: String) -> (Self, QuestionDraft) {
        let state = SubtaskState::AskingToRun;
        let subtask = Self { task, description, waits_on: Vec::new(), has_failed: false, state };
        let question = subtask.may_it_run();
        (subtask, question)
    }

    pub fn state(&self) -> SubtaskState {
        self.state
    }

    pub const fn is_finished(&self) -> bool {
        matches!(self.state, SubtaskState::Finished(_))
    }

    /// The same question, asked with help.
    pub(crate) fn with_help(&self) -> Self {
        Self { state: SubtaskState::AskingWithHelp, ..self.clone() }
    }

    /// An agent works on it once more.
    pub(crate) fn running_again(&self) -> Self {
        Self { state: SubtaskState::Running, waits_on: Vec::new(), ..self.clone() }
    }

    /// The dialogue skipped before it began.
    pub(crate) fn passed_over(&self, waits_on: Vec<NamedTask>) -> Self {
        Self { waits_on, state: SubtaskState::Finished(self.without_run()), ..self.clone() }
    }

    /// The dialogue once more, from its beginning.
    pub(crate) fn again(&self) -> Self {
        let has_failed = self.state == SubtaskState::Finished(SubtaskResult::Failed);
        Self { has_failed, ..Self::begin(self.task.clone(), self.description.clone()).0 }
    }

    /// What it is if it does not run.
    fn without_run(&self) -> SubtaskResult {
        if self.has_failed { SubtaskResult::Failed } else { SubtaskResult::Skipped }
    }

    pub fn after(&self, event: SubtaskEvent) -> Result<(Self, SubtaskStep), UnexpectedSubtaskEvent> {
        use SubtaskEvent::{IsDone, MayRun, Ran};
        use SubtaskState::{AskingToRun, AskingWhetherDone, AskingWithHelp, Finished, Running};
        let (state, step) = match (self.state, event) {
            (AskingToRun | AskingWithHelp, MayRun(YesNoHelp::Yes)) => (Running, SubtaskStep::Run),
            (AskingToRun | AskingWithHelp, MayRun(YesNoHelp::No)) => finish(self.without_run()),
            (AskingToRun | AskingWithHelp, MayRun(YesNoHelp::Help)) => {
                let step = SubtaskStep::HelpThenAsk { help: self.help(), question: self.may_it_run() };
                (AskingWithHelp, step)
            }
            (Running, Ran) => (AskingWhetherDone, SubtaskStep::Ask(self.is_it_done())),
            (AskingWhetherDone, IsDone(YesNoFailed::Yes)) => finish(SubtaskResult::Completed),
            (AskingWhetherDone, IsDone(YesNoFailed::No)) => finish(SubtaskResult::LeftOpen),
            (AskingWhetherDone, IsDone(YesNoFailed::Failed)) => finish(SubtaskResult::Failed),
            (AskingToRun | AskingWithHelp, Ran | IsDone(_))
            | (Running, MayRun(_) | IsDone(_))
            | (AskingWhetherDone, MayRun(_) | Ran)
            | (Finished(_), MayRun(_) | Ran | IsDone(_)) => {
                return Err(UnexpectedSubtaskEvent { state: self.state, event });
            }
        };
        Ok((Self { state, ..self.clone() }, step))
    }

    /// The question the dialogue is waiting on, if any.
    pub fn question(&self) -> Option<QuestionDraft> {
        match self.state {
            SubtaskState::AskingToRun | SubtaskState::AskingWithHelp => Some(self.may_it_run()),
            SubtaskState::AskingWhetherDone => Some(self.is_it_done()),
            SubtaskState::Running | SubtaskState::Finished(_) => None,
        }
    }

    fn title(&self) -> String {
        self.task.title.as_str().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn may_it_run(&self) -> QuestionDraft {
        let text = NonBlank::led_by("Execute: ", &format!("{}? [YES/NO/HELP]", self.title()));
        QuestionDraft::new(QuestionKind::Confirmation, text).with_options(YesNoHelp::OPTIONS)
    }

    fn is_it_done(&self) -> QuestionDraft {
        let text = NonBlank::led_by("Done: ", &format!("{}? [YES/NO/FAILED]", self.title()));
        QuestionDraft::new(QuestionKind::Confirmation, text).with_options(YesNoFailed::OPTIONS)
    }

    pub fn help(&self) -> String {
        let about = match self.description.trim() {
            "" => "It has no description beyond its title.",
            description => description,
        };
        format!(
            "{} {}\n{about}\n\nYES runs it now, and then asks whether it is done. NO skips it and goes to the \
             next. HELP shows this text.",
            self.task.id,
            self.title()
        )
    }
}

fn finish(result: SubtaskResult) -> (SubtaskState, SubtaskStep) {
    (SubtaskState::Finished(result), SubtaskStep::Finish(result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::TaskId;

    fn begun() -> (Subtask, QuestionDraft) {
        let task = NamedTask { id: TaskId::from_bits(7), title: NonBlank::fixed("Parse\n the file") };
        Subtask::begin(task, "Read it line by line.".to_owned())
    }

    #[test]
    fn every_pair_of_state_and_event() {
        use SubtaskResult::{Completed, Failed, LeftOpen, Skipped};
        use SubtaskState::{AskingToRun, AskingWhetherDone, AskingWithHelp, Finished, Running};
        // A row for each state, a column for each event, in the order of their `ALL`. None is out of turn.
        let table: [[Option<SubtaskState>; 7]; 8] = [
            [Some(Running), Some(Finished(Skipped)), Some(AskingWithHelp), None, None, None, None],
            [Some(Running), Some(Finished(Skipped)), Some(AskingWithHelp), None, None, None, None],
            [None, None, None, Some(AskingWhetherDone), None, None, None],
            [
                None,
                None,
                None,
                None,
                Some(Finished(Completed)),
                Some(Finished(LeftOpen)),
                Some(Finished(Failed)),
            ],
            [None; 7],
            [None; 7],
            [None; 7],
            [None; 7],
        ];
        for (state, row) in SubtaskState::ALL.into_iter().zip(table) {
            for (event, expected) in SubtaskEvent::ALL.into_iter().zip(row) {
                let subtask = Subtask { state, ..begun().0 };
                let json = serde_json::to_string(&subtask).unwrap();
                let stored = if state == AskingWithHelp { AskingToRun } else { state };
                assert_eq!(serde_json::from_str::<Subtask>(&json).unwrap().state, stored, "{json}");
                match (subtask.after(event), expected) {
                    (Ok((next, _)), Some(expected)) => {
                        assert_eq!(next.state, expected, "{state:?} {event:?}");
                    }
                    (Err(refusal), None) => assert_eq!(refusal, UnexpectedSubtaskEvent { state, event }),
                    (other, expected) => panic!("{state:?} {event:?}: {other:?}, expected {expected:?}"),
                }
            }
        }
    }

    #[test]
    fn what_failed_and_is_not_tried_again_stays_failed() {
        let failed = Subtask { state: SubtaskState::Finished(SubtaskResult::Failed), ..begun().0 };
        let (declined, _) = failed.again().after(SubtaskEvent::MayRun(YesNoHelp::No)).unwrap();
        assert_eq!(declined.state(), SubtaskState::Finished(SubtaskResult::Failed));
        assert_eq!(failed.again().passed_over(Vec::new()).state(), declined.state());
        let (skipped, _) = begun().0.after(SubtaskEvent::MayRun(YesNoHelp::No)).unwrap();
        let (skipped, _) = skipped.again().after(SubtaskEvent::MayRun(YesNoHelp::No)).unwrap();
        assert_eq!(skipped.state(), SubtaskState::Finished(SubtaskResult::Skipped));
    }

    #[test]
    fn help_is_shown_and_the_same_question_asked_again() {
        let (subtask, question) = begun();
        assert_eq!(question.text.as_str(), "Execute: Parse the file? [YES/NO/HELP]");
        let (after, step) = subtask.after(SubtaskEvent::MayRun(YesNoHelp::Help)).unwrap();
        assert_eq!(after, subtask.with_help());
        let SubtaskStep::HelpThenAsk { help, question: again } = step else { panic!("{step:?}") };
        assert_eq!(again, question);
        insta::assert_snapshot!(help, @r"
        TASK-00000007 Parse the file
        Read it line by line.

        YES runs it now, and then asks whether it is done. NO skips it and goes to the next. HELP shows this text.
        ");
    }

    #[test]
    fn after_its_run_the_human_says_whether_it_is_done() {
        let (subtask, _) = begun();
        let (running, step) = subtask.after(SubtaskEvent::MayRun(YesNoHelp::Yes)).unwrap();
        assert_eq!(step, SubtaskStep::Run);
        let (asking, step) = running.after(SubtaskEvent::Ran).unwrap();
        let SubtaskStep::Ask(question) = step else { panic!("{step:?}") };
        assert_eq!(question.text.as_str(), "Done: Parse the file? [YES/NO/FAILED]");
        assert_eq!(
            question.options.iter().map(NonBlank::as_str).collect::<Vec<_>>(),
            ["YES", "NO", "FAILED"]
        );
        let (_, step) = asking.after(SubtaskEvent::IsDone(YesNoFailed::Failed)).unwrap();
        assert_eq!(step, SubtaskStep::Finish(SubtaskResult::Failed));
    }
}
