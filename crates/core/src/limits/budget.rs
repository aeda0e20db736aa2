//! Budgets: how much may be used before a person is asked.
//!
//! What counts is what Baton measured. A budget that is used up is never silent and never the task's fault: it is a
//! question, or a hold. Each yes of a person grants as much again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::question::{Draft, QuestionKind};
use crate::ask::question_record::{QuestionRecord, QuestionState};
use crate::base::text::NonBlank;
use crate::limits::spending::Amount;
use crate::task::attempt::Evidence;

const YES: &str = "YES";
const NO: &str = "NO";
/// How every question about a budget begins; by it an answer is known for one.
const OPENING: &str = "The budget of this ";

/// The most that may be used; none is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    pub turns: Option<u64>,
    pub tokens: Option<u64>,
    pub cost_micro_usd: Option<u64>,
    pub wall_ms: Option<u64>,
    /// Turns in which nothing new came of it: no commit, no change, no green check.
    pub idle_turns: Option<u64>,
}

/// What a budget is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Task,
    Project,
    Day,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    Turns,
    Tokens,
    Money,
    Time,
    Progress,
}

/// A budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    pub scope: Scope,
    pub measure: Measure,
    pub used: u64,
    pub allowed: u64,
}

/// What a person said to the last question about a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// How often as much again was granted.
    pub times: u64,
    /// The last word was no.
    pub is_refused: bool,
}

impl Budget {
    /// The first measure that is used up.
    pub fn reached(&self, scope: Scope, used: Amount) -> Option<Reached> {
        let measures = [
            (Measure::Turns, self.turns, used.turns),
            (Measure::Tokens, self.tokens, used.tokens),
            (Measure::Money, self.cost_micro_usd, used.cost_micro_usd),
            (Measure::Time, self.wall_ms, used.wall_ms),
        ];
        measures.into_iter().find_map(|(measure, allowed, used)| {
            let allowed = allowed?;
            (used >= allowed).then_some(Reached { scope, measure, used, allowed })
        })
    }

    /// The budget with as much again for each time that was granted.
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

    /// What is left of what can be measured while an agent works. At least one of each: whether anything is left at
    /// all is decided before.
    pub fn left(&self, used: Amount) -> (Option<u64>, Option<u64>) {
        let left = |allowed: Option<u64>, used: u64| allowed.map(|all| all.saturating_sub(used).max(1));
        (left(self.turns, used.turns), left(self.wall_ms, used.wall_ms))
    }

    /// Whether the last attempts, newest last, came to nothing for too many turns.
    pub fn is_stuck(&self, ends: &[&Evidence]) -> Option<Reached> {
        let allowed = self.idle_turns?;
        let idle = ends.iter().rev().take_while(|evidence| !shows_progress(evidence));
        let used = idle.map(|evidence| u64::from(evidence.turns)).sum();
        let measure = Measure::Progress;
        (used >= allowed).then_some(Reached { scope: Scope::Task, measure, used, allowed })
    }
}

/// Something is there that was not before, or holds that did not.
fn shows_progress(evidence: &Evidence) -> bool {
    evidence.shows_work() || evidence.checks.iter().any(|check| check.exit_code == 0)
}

impl Reached {
    /// For a person to decide. I1: it always says what happened and what is to be decided.
    pub fn question(&self) -> Draft {
        let text = format!(
            "{OPENING}{} is used up: {self}. What was done so far is kept. May it go on, with as much again?\n\n\
             YES: it goes on where it stopped, with as much again. NO: the task ends here, as failed; a retry begins it anew.",
            self.scope.as_str()
        );
        let fallback = NonBlank::fixed("The budget is used up. May it go on?");
        Draft::new(QuestionKind::Confirmation, NonBlank::or(&text, fallback)).with_options(&[YES, NO])
    }
}

impl Granted {
    /// Out of everything a task asked so far, oldest first.
    pub fn of(questions: &[QuestionRecord]) -> Self {
        let mut granted = Self { times: 0, is_refused: false };
        for record in questions {
            let is_ours = record.question.text().as_str().starts_with(OPENING);
            if let (true, QuestionState::Answered { answer, .. }) = (is_ours, &record.state) {
                granted.is_refused = !answer.as_str().trim().eq_ignore_ascii_case(YES);
                granted.times += u64::from(!granted.is_refused);
            }
        }
        granted
    }
}

impl Scope {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Project => "project",
            Self::Day => "day",
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { used, allowed, .. } = self;
        match self.measure {
            Measure::Turns => write!(f, "{used} of {allowed} turns"),
            Measure::Tokens => write!(f, "{used} of {allowed} tokens"),
            Measure::Money => write!(f, "{} of {} dollars", dollars(*used), dollars(*allowed)),
            Measure::Time => write!(f, "{} of {} minutes", used / 60_000, allowed / 60_000),
            Measure::Progress => {
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
    use crate::task::attempt::Check;
    use proptest::prelude::*;

    fn evidence(turns: u32, commits: u32) -> Evidence {
        Evidence { commits, turns, ..Evidence::default() }
    }

    #[test]
    fn the_first_measure_that_is_used_up_is_named() {
        let budget = Budget { turns: Some(50), cost_micro_usd: Some(2_500_000), ..Budget::default() };
        let used = |turns, cost_micro_usd| Amount { turns, cost_micro_usd, ..Amount::default() };
        assert_eq!(budget.reached(Scope::Task, used(49, 2_499_999)), None);
        let turns = budget.reached(Scope::Task, used(53, 9_000_000)).unwrap();
        assert_eq!(turns.to_string(), "53 of 50 turns");
        let money = budget.reached(Scope::Day, used(1, 2_510_000)).unwrap();
        assert_eq!((money.measure, money.to_string()), (Measure::Money, "2.51 of 2.50 dollars".to_owned()));
        assert_eq!(Budget::default().reached(Scope::Task, used(u64::MAX, u64::MAX)), None);
    }

    #[test]
    fn only_turns_since_the_last_progress_count_against_it() {
        let budget = Budget { idle_turns: Some(20), ..Budget::default() };
        let (idle, work) = (evidence(15, 0), evidence(15, 1));
        assert_eq!(budget.is_stuck(&[&work, &idle]), None);
        assert_eq!(budget.is_stuck(&[&idle, &work, &idle]), None);
        assert_eq!(budget.is_stuck(&[&idle, &idle]).map(|reached| reached.used), Some(30));
        let name = NonBlank::fixed("tests");
        let green = Evidence {
            checks: vec![Check { name, exit_code: 0, output_tail: String::new() }],
            ..evidence(15, 0)
        };
        assert_eq!(budget.is_stuck(&[&idle, &green]), None);
    }

    #[test]
    fn each_yes_grants_as_much_again_and_a_no_stands_until_the_next_yes() {
        let reached = Reached { scope: Scope::Task, measure: Measure::Turns, used: 5, allowed: 5 };
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
            Granted::of(&answers.iter().map(|answer| asked(*answer)).collect::<Vec<_>>())
        };
        assert_eq!(granted(&[Some("YES"), Some("yes"), None]), Granted { times: 2, is_refused: false });
        assert_eq!(granted(&[Some("YES"), Some("NO")]), Granted { times: 1, is_refused: true });
        assert_eq!(Budget { turns: Some(5), ..Budget::default() }.granted(2).turns, Some(15));
    }

    proptest! {
        #[test]
        fn what_is_left_is_never_more_than_allowed_and_never_nothing(allowed in 1_u64.., used in 0_u64..) {
            let budget = Budget { turns: Some(allowed), ..Budget::default() };
            let used = Amount { turns: used, ..Amount::default() };
            let (turns, time) = budget.left(used);
            prop_assert!((1..=allowed).contains(&turns.unwrap()));
            prop_assert_eq!(time, None);
            prop_assert_eq!(budget.reached(Scope::Task, used).is_some(), used.turns >= allowed);
        }
    }
}
