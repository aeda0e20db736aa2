//! Budgets: how much may be used before a person is asked.
//!
//! Only what Baton measured counts. An exhausted budget is never silent and never the task's fault: it becomes a
//! question or a hold. Each YES grants the same amount again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::ask::question_record::{QuestionRecord, QuestionState};
use crate::base::text::NonBlank;
use crate::limits::spending::SpendingAmount;
use crate::task::attempt::Evidence;

const YES: &str = "YES";
const NO: &str = "NO";
/// Every budget question starts with this, so that its answer can be recognised.
const OPENING: &str = "The budget of this ";

/// The most that may be used; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    pub turns: Option<u64>,
    pub tokens: Option<u64>,
    pub cost_micro_usd: Option<u64>,
    pub wall_ms: Option<u64>,
    /// Turns without progress: no commit, no change, no passing check.
    pub idle_turns: Option<u64>,
}

/// What a budget applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetScope {
    Task,
    Project,
    Day,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetMeasure {
    Turns,
    Tokens,
    Money,
    Time,
    Progress,
    /// Megabytes of the worktree.
    Disk,
    /// Megabytes that the agent printed.
    Log,
    /// Megabytes of all processes of an attempt.
    Memory,
}

/// A budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetReached {
    pub scope: BudgetScope,
    pub measure: BudgetMeasure,
    pub used: u64,
    pub allowed: u64,
}

/// What a person answered to the budget questions so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetGrant {
    /// How often the budget was granted again.
    pub times: u64,
}

impl Budget {
    /// The first measure that is used up.
    pub fn reached(&self, scope: BudgetScope, used: SpendingAmount) -> Option<BudgetReached> {
        let measures = [
            (BudgetMeasure::Turns, self.turns, used.turns),
            (BudgetMeasure::Tokens, self.tokens, used.tokens),
            (BudgetMeasure::Money, self.cost_micro_usd, used.cost_micro_usd),
            (BudgetMeasure::Time, self.wall_ms, used.wall_ms),
        ];
        measures.into_iter().find_map(|(measure, allowed, used)| {
            let allowed = allowed?;
            (used >= allowed).then_some(BudgetReached { scope, measure, used, allowed })
        })
    }

    /// The budget after `times` further grants.
    pub fn granted(&self, times: u64) -> Self {
        let more = |allowed: Option<u64>| allowed.map(|one| one.saturating_mul(times.saturating_add(1)));
        Self {
            turns: more(self.turns),
            tokens: more(self.tokens),
            cost_micro_usd: more(self.cost_micro_usd),
            wall_ms: more(self.wall_ms),
            idle_turns: more(self.idle_turns),
        }
    }

    /// What is left of the measures that can be enforced while an agent runs. At least one of each: whether anything
    /// is left at all is decided before the run.
    pub fn left(&self, used: SpendingAmount) -> (Option<u64>, Option<u64>) {
        let left = |allowed: Option<u64>, used: u64| allowed.map(|all| all.saturating_sub(used).max(1));
        (left(self.turns, used.turns), left(self.wall_ms, used.wall_ms))
    }

    /// Whether the last attempts, newest last, made no progress for too many turns.
    pub fn is_stuck(&self, ends: &[&Evidence]) -> Option<BudgetReached> {
        let allowed = self.idle_turns?;
        let idle = ends.iter().rev().take_while(|evidence| !shows_progress(evidence));
        let used = idle.map(|evidence| u64::from(evidence.turns)).sum();
        let measure = BudgetMeasure::Progress;
        (used >= allowed).then_some(BudgetReached { scope: BudgetScope::Task, measure, used, allowed })
    }
}

/// Something new exists, or a check passes that failed before.
fn shows_progress(evidence: &Evidence) -> bool {
    evidence.shows_work() || evidence.checks.iter().any(|check| check.exit_code == 0)
}

impl BudgetReached {
    /// A question for a person. I1: it always says what happened and what is to be decided.
    pub fn question(&self) -> QuestionDraft {
        let text = format!(
            "{OPENING}{} is used up: {self}. What was done so far is kept. May it go on, with as much again?\n\n\
             YES: it goes on where it stopped, with as much again. NO: the task is held, and no agent works on it until you \
             release it.",
            self.scope.as_str()
        );
        let fallback = NonBlank::fixed("The budget is used up. May it go on?");
        QuestionDraft::new(QuestionKind::Confirmation, NonBlank::or(&text, fallback))
            .with_options(&[YES, NO])
            .holding_on_no()
    }
}

impl BudgetGrant {
    /// Computed from all questions of the task.
    pub fn new(questions: &[QuestionRecord]) -> Self {
        let is_yes = |record: &&QuestionRecord| match &record.state {
            QuestionState::Answered { answer, .. } => answer.as_str().trim().eq_ignore_ascii_case(YES),
            _ => false,
        };
        let is_ours = |record: &&QuestionRecord| record.question.text().as_str().starts_with(OPENING);
        let asked = questions.iter().filter(is_ours);
        Self { times: asked.filter(is_yes).count() as u64 }
    }
}

impl BudgetScope {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Project => "project",
            Self::Day => "day",
        }
    }
}

impl fmt::Display for BudgetReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { used, allowed, .. } = self;
        match self.measure {
            BudgetMeasure::Turns => write!(f, "{used} of {allowed} turns"),
            BudgetMeasure::Tokens => write!(f, "{used} of {allowed} tokens"),
            BudgetMeasure::Money => write!(f, "{} of {} dollars", dollars(*used), dollars(*allowed)),
            BudgetMeasure::Time => write!(f, "{} of {} minutes", used / 60_000, allowed / 60_000),
            BudgetMeasure::Disk => {
                write!(f, "its worktree has grown to {used} MB; {allowed} MB are allowed")
            }
            BudgetMeasure::Log => write!(f, "its agent has printed {used} MB; {allowed} MB are allowed"),
            BudgetMeasure::Memory => {
                write!(
                    f,
                    "its processes used {used} MB of memory, so they were ended; {allowed} MB are allowed"
                )
            }
            BudgetMeasure::Progress => {
                write!(f, "{used} turns without a new commit, change or green check; {allowed} are allowed")
            }
        }
    }
}

fn dollars(micro: u64) -> String {
    format!("{}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::answer_source::AnsweredBy;
    use crate::base::id::{QuestionId, SessionId};
    use crate::base::time::Timestamp;
    use crate::task::attempt::CheckResult;
    use proptest::prelude::*;

    fn evidence(turns: u32, commits: u32) -> Evidence {
        Evidence { commits, turns, ..Evidence::default() }
    }

    #[test]
    fn the_first_measure_that_is_used_up_is_named() {
        let budget = Budget { turns: Some(50), cost_micro_usd: Some(2_500_000), ..Budget::default() };
        let used =
            |turns, cost_micro_usd| SpendingAmount { turns, cost_micro_usd, ..SpendingAmount::default() };
        assert_eq!(budget.reached(BudgetScope::Task, used(49, 2_499_999)), None);
        let turns = budget.reached(BudgetScope::Task, used(53, 9_000_000)).unwrap();
        assert_eq!(turns.to_string(), "53 of 50 turns");
        let money = budget.reached(BudgetScope::Day, used(1, 2_510_000)).unwrap();
        assert_eq!(
            (money.measure, money.to_string()),
            (BudgetMeasure::Money, "2.51 of 2.50 dollars".to_owned())
        );
        assert_eq!(Budget::default().reached(BudgetScope::Task, used(u64::MAX, u64::MAX)), None);
    }

    #[test]
    fn only_turns_since_the_last_progress_count_against_it() {
        let budget = Budget { idle_turns: Some(20), ..Budget::default() };
        let (idle, work) = (evidence(15, 0), evidence(15, 1));
        assert_eq!(budget.is_stuck(&[&work, &idle]), None);
        assert_eq!(budget.is_stuck(&[&idle, &work, &idle]), None);
        assert_eq!(budget.is_stuck(&[&idle, &idle]).map(|reached| reached.used), Some(30));
        let name = NonBlank::fixed("tests");
        let green = Evidence { checks: vec![CheckResult::new(name, 0, "")], ..evidence(15, 0) };
        assert_eq!(budget.is_stuck(&[&idle, &green]), None);
    }

    #[test]
    fn each_yes_grants_the_budget_again() {
        let reached =
            BudgetReached { scope: BudgetScope::Task, measure: BudgetMeasure::Turns, used: 5, allowed: 5 };
        let asked = |answer: Option<&str>| {
            let state = answer.map_or(QuestionState::Pending, |answer| QuestionState::Answered {
                at: Timestamp::from_ms(1),
                answer: NonBlank::new(answer).unwrap(),
                answered_by: AnsweredBy::human("mia"),
            });
            QuestionRecord {
                question: reached.question().with_id(QuestionId::from_bits(1)),
                session_id: "s".parse::<SessionId>().unwrap(),
                task_id: None,
                asked_at: Timestamp::from_ms(0),
                state,
            }
        };
        let granted = |answers: &[Option<&str>]| {
            BudgetGrant::new(&answers.iter().map(|answer| asked(*answer)).collect::<Vec<_>>())
        };
        assert_eq!(granted(&[Some("YES"), Some("yes"), None]), BudgetGrant { times: 2 });
        assert_eq!(granted(&[Some("YES"), Some("NO")]), BudgetGrant { times: 1 });
        assert_eq!(Budget { turns: Some(5), ..Budget::default() }.granted(2).turns, Some(15));
    }

    proptest! {
        #[test]
        fn the_remaining_budget_is_within_the_limit_and_never_zero(allowed in 1_u64.., used in 0_u64..) {
            let budget = Budget { turns: Some(allowed), ..Budget::default() };
            let used = SpendingAmount { turns: used, ..SpendingAmount::default() };
            let (turns, time) = budget.left(used);
            prop_assert!((1..=allowed).contains(&turns.unwrap()));
            prop_assert_eq!(time, None);
            prop_assert_eq!(budget.reached(BudgetScope::Task, used).is_some(), used.turns >= allowed);
        }
    }
}
