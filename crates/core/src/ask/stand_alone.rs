//! Checks that a question is self-contained: a reader who sees nothing else knows the situation, what is to be
//! decided, and what each offered answer does.
//!
//! Applies to Baton's own questions; an agent chooses its own words.

use crate::ask::detection::asks;
use crate::ask::question::QuestionDraft;
use crate::base::text::NonBlank;

/// Fewer words can hardly say both what happened and what is to be decided.
const WORDS_MIN: usize = 12;
/// Words after an option that say what it does.
const LEADS_WORDS_MIN: usize = 2;

/// What a reader would have to look up elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingContext {
    /// It does not say what is to be decided.
    Decision,
    /// It does not describe the situation.
    Situation,
    /// It offers this answer without saying what it does.
    Leads(NonBlank),
}

impl QuestionDraft {
    /// What the question lacks to be self-contained; empty if nothing.
    pub fn missing_context(&self) -> Vec<MissingContext> {
        let text = self.text.as_str();
        let mut lacks = Vec::new();
        // A question mark is enough here: what Baton asks is meant as a question, wherever the mark stands.
        if !text.contains(['?', '？']) && !asks(text) {
            lacks.push(MissingContext::Decision);
        }
        if text.split_whitespace().count() < WORDS_MIN {
            lacks.push(MissingContext::Situation);
        }
        let unexplained = self.options.iter().filter(|option| !explains(text, option.as_str()));
        lacks.extend(unexplained.cloned().map(MissingContext::Leads));
        lacks
    }
}

/// Whether some mention of the option says what it does. A list such as `[YES/NO]` only offers it.
fn explains(text: &str, option: &str) -> bool {
    text.match_indices(option).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + option.len()..]);
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '/' || c == '[')
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == ']' || c == ')');
        let sentence = after.split_terminator(['.', ';', '\n']).next().unwrap_or_default();
        is_word && sentence.split_whitespace().filter(|word| *word != ":").count() >= LEADS_WORDS_MIN
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::fallback::Fallback;
    use crate::ask::question::QuestionKind;
    use crate::base::git_name::BranchName;
    use crate::base::id::TaskId;
    use crate::limits::budget::{BudgetMeasure, BudgetReached, BudgetScope};
    use crate::phase::discovered::{DiscoveredTask, Proposal};
    use crate::recycle::escalation;
    use crate::task::not_landed::NotLanded;
    use crate::transition::{cannot_land, merge_conflict};

    fn draft(text: &str, options: &[&'static str]) -> QuestionDraft {
        QuestionDraft::new(QuestionKind::Confirmation, NonBlank::new(text).unwrap()).with_options(options)
    }

    #[test]
    fn missing_context_is_named() {
        let options = ["YES", "NO"];
        let whole = "The work is done and waits on its branch. Merge it now? [YES/NO]\n\
                     YES merges it. NO leaves it on its branch.";
        assert_eq!(draft(whole, &options).missing_context(), []);
        let leads = |option| MissingContext::Leads(NonBlank::fixed(option));
        assert_eq!(
            draft("Merge it now? [YES/NO]", &options).missing_context(),
            [MissingContext::Situation, leads("YES"), leads("NO")]
        );
        let half = "The work is done and waits on its branch. Merge it now? YES merges it to main. NO.";
        assert_eq!(draft(half, &options).missing_context(), [leads("NO")]);
        let told = "The work is done and waits on its branch, and nobody has looked at it so far.";
        assert_eq!(draft(told, &[]).missing_context(), [MissingContext::Decision]);
        // A longer word is not the option.
        assert_eq!(
            draft("NOTHING happened here, and nothing will, whatever anybody else says, will it?", &["NO"])
                .missing_context(),
            [leads("NO")]
        );
    }

    #[test]
    fn every_question_the_rules_ask_stands_alone() {
        let mut all: Vec<QuestionDraft> = Fallback::ALL.map(Fallback::question).into();
        for scope in [BudgetScope::Task, BudgetScope::Project, BudgetScope::Day] {
            for measure in [
                BudgetMeasure::Turns,
                BudgetMeasure::Tokens,
                BudgetMeasure::Money,
                BudgetMeasure::Time,
                BudgetMeasure::Progress,
                BudgetMeasure::Disk,
                BudgetMeasure::Log,
                BudgetMeasure::Memory,
            ] {
                all.push(BudgetReached { scope, measure, used: 9, allowed: 9 }.question());
            }
        }
        all.push(escalation(TaskId::from_bits(1), "Parse the dates", "It used its turns up twice."));
        all.push(merge_conflict(&NonBlank::fixed("src/dates.rs")));
        let into = BranchName::integration();
        all.push(cannot_land(&NotLanded::Conflict {
            into,
            files: vec!["src/dates.rs".to_owned()],
            met: Vec::new(),
            met_more: 0,
            met_commits: Vec::new(),
        }));
        let found =
            DiscoveredTask { title: NonBlank::fixed("Dates before 1970"), description: String::new() };
        all.extend(Proposal::new(vec![found]).unwrap().question([]));
        assert_eq!(all.len(), 7 + 24 + 4);
        for question in all {
            assert_eq!(question.missing_context(), [], "{}", question.text);
        }
    }
}
