//! Tasks discovered in a review: proposed to the human, approved or dropped, and never created twice.
//!
//! Only a YES leads to tasks to create (I9). The store creates them; this module only decides which.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::ask::choice::YesNoEdit;
use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::text::NonBlank;
use crate::base::title::normalize_title;

/// More than one review realistically finds, and as many as a person reads before answering.
pub const DISCOVERED_MAX: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredTask {
    pub title: NonBlank,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// An open task has the same title.
    AlreadyOpen,
    /// The list names it more than once.
    TwiceInList,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedTask {
    pub task: DiscoveredTask,
    pub because: SkipReason,
}

/// A list split into new tasks and duplicates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSelection {
    pub create: Vec<DiscoveredTask>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedTask>,
}

/// I9: tasks that are already open, or appear earlier in the list, are skipped and counted. Order is kept.
pub fn select<'a>(
    discovered: impl IntoIterator<Item = DiscoveredTask>,
    open_titles: impl IntoIterator<Item = &'a str>,
) -> TaskSelection {
    let open: BTreeSet<String> = open_titles.into_iter().map(normalize_title).collect();
    let mut listed = BTreeSet::new();
    let mut selection = TaskSelection::default();
    for task in discovered {
        let title = normalize_title(task.title.as_str());
        if open.contains(&title) {
            selection.skipped.push(SkippedTask { task, because: SkipReason::AlreadyOpen });
        } else if listed.insert(title) {
            selection.create.push(task);
        } else {
            selection.skipped.push(SkippedTask { task, because: SkipReason::TwiceInList });
        }
    }
    selection
}

/// A list that cannot be proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProposal {
    #[error("the list of discovered tasks is empty; answer NO to add none")]
    Empty,
    #[error(
        "{count} discovered tasks are too many to ask about at once; keep the {DISCOVERED_MAX} that matter most"
    )]
    TooMany { count: usize },
}

/// Discovered tasks waiting for the human's decision. Nothing can be created from a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<DiscoveredTask>", into = "Vec<DiscoveredTask>")]
pub struct Proposal(Vec<DiscoveredTask>);

impl Proposal {
    pub fn new(tasks: Vec<DiscoveredTask>) -> Result<Self, InvalidProposal> {
        match tasks.len() {
            0 => Err(InvalidProposal::Empty),
            1..=DISCOVERED_MAX => Ok(Self(tasks)),
            count => Err(InvalidProposal::TooMany { count }),
        }
    }

    /// Parses a list written by a person: one task per line or separated by semicolons, each a title and, after a colon,
    /// a description.
    pub fn from_lines(text: &str) -> Result<Self, InvalidProposal> {
        let tasks = text.split(['\n', ';']).filter_map(|line| {
            let line = line.trim().trim_start_matches(['-', '*']).trim();
            let (title, description) = line.split_once(':').unwrap_or((line, ""));
            let title = NonBlank::new(title.trim()).ok()?;
            Some(DiscoveredTask { title, description: description.trim().to_owned() })
        });
        Self::new(tasks.collect())
    }

    pub fn tasks(&self) -> &[DiscoveredTask] {
        &self.0
    }

    /// The question, with its tasks and what each answer does. `open_titles` are the current ones, so that the human
    /// sees what would be skipped. `None` if all are duplicates: there is nothing to decide.
    pub fn question<'a>(&self, open_titles: impl IntoIterator<Item = &'a str>) -> Option<QuestionDraft> {
        let selection = select(self.0.clone(), open_titles);
        if selection.create.is_empty() {
            return None;
        }
        let mut rest =
            format!("\nNew: {}. Duplicates skipped: {}.\n", selection.create.len(), selection.skipped.len());
        // Writing to a String cannot fail.
        for task in &selection.create {
            let _ = writeln!(rest, "- {}", task.title);
        }
        for skipped in &selection.skipped {
            let _ = writeln!(rest, "- (skipped) {}", skipped.task.title);
        }
        rest.push_str("YES adds the new ones. NO adds none. EDIT lets you change the list, and asks again.");
        let text = NonBlank::led_by("Add discovered tasks? [YES/NO/EDIT]", &rest);
        Some(QuestionDraft::new(QuestionKind::Confirmation, text).with_options(YesNoEdit::OPTIONS))
    }

    pub fn apply_answer(self, answer: YesNoEdit) -> ProposalDecision {
        match answer {
            YesNoEdit::Yes => ProposalDecision::Approved(ApprovedTasks(self.0)),
            YesNoEdit::No => ProposalDecision::Dropped,
            YesNoEdit::Edit => ProposalDecision::Editing(ProposalEdit(self)),
        }
    }
}

impl TryFrom<Vec<DiscoveredTask>> for Proposal {
    type Error = InvalidProposal;

    fn try_from(tasks: Vec<DiscoveredTask>) -> Result<Self, InvalidProposal> {
        Self::new(tasks)
    }
}

impl From<Proposal> for Vec<DiscoveredTask> {
    fn from(proposal: Proposal) -> Self {
        proposal.0
    }
}

/// The human's decision on a proposal.
#[derive(Debug, PartialEq, Eq)]
pub enum ProposalDecision {
    Approved(ApprovedTasks),
    Dropped,
    Editing(ProposalEdit),
}

/// I9: proof of a YES. Only that answer creates it, it is neither stored nor copied, and creating the tasks consumes
/// it.
#[derive(Debug, PartialEq, Eq)]
pub struct ApprovedTasks(Vec<DiscoveredTask>);

impl ApprovedTasks {
    /// The tasks to create. `open_titles` are read in the transaction that creates them.
    pub fn resolve<'a>(self, open_titles: impl IntoIterator<Item = &'a str>) -> TasksToCreate {
        TasksToCreate(select(self.0, open_titles))
    }
}

/// Tasks to create now. Only an approval leads here (I9).
#[derive(Debug, PartialEq, Eq)]
pub struct TasksToCreate(TaskSelection);

impl TasksToCreate {
    pub fn into_selection(self) -> TaskSelection {
        self.0
    }

    pub fn selection(&self) -> &TaskSelection {
        &self.0
    }
}

/// The human wants to change the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalEdit(Proposal);

impl ProposalEdit {
    /// The original list, as a starting point.
    pub fn proposal(&self) -> &Proposal {
        &self.0
    }

    /// The human's version, which is proposed again.
    pub fn replace_with(self, tasks: Vec<DiscoveredTask>) -> Result<Proposal, InvalidProposal> {
        Proposal::new(tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn task(title: &str) -> DiscoveredTask {
        DiscoveredTask { title: NonBlank::new(title).unwrap(), description: String::new() }
    }

    #[test]
    fn duplicates_are_skipped_and_the_reason_kept() {
        let found = ["Fix parser", "Add docs", "fix parser.", "ADD TESTS"].map(task);
        let selection = select(found, ["add tests", "Something else"]);
        assert_eq!(selection.create, [task("Fix parser"), task("Add docs")]);
        assert_eq!(
            selection.skipped,
            [
                SkippedTask { task: task("fix parser."), because: SkipReason::TwiceInList },
                SkippedTask { task: task("ADD TESTS"), because: SkipReason::AlreadyOpen },
            ]
        );
    }

    #[test]
    fn i9_each_answer_leads_where_it_says() {
        for &answer in YesNoEdit::ALL {
            let proposal = Proposal::new(vec![task("a")]).unwrap();
            match (answer, proposal.clone().apply_answer(answer)) {
                (YesNoEdit::Yes, ProposalDecision::Approved(approved)) => {
                    assert_eq!(approved.resolve([]).into_selection().create, [task("a")]);
                }
                (YesNoEdit::No, ProposalDecision::Dropped) => {}
                (YesNoEdit::Edit, ProposalDecision::Editing(editing)) => {
                    assert_eq!(editing.proposal(), &proposal);
                    let changed = editing.replace_with(vec![task("b")]).unwrap();
                    assert_eq!(changed.tasks(), [task("b")]);
                }
                (_, other) => panic!("{answer} led to {other:?}"),
            }
        }
    }

    #[test]
    fn an_empty_or_too_long_list_is_not_proposed() {
        assert_eq!(Proposal::new(vec![]), Err(InvalidProposal::Empty));
        let many = vec![task("a"); DISCOVERED_MAX + 1];
        assert_eq!(Proposal::new(many), Err(InvalidProposal::TooMany { count: DISCOVERED_MAX + 1 }));
        assert!(serde_json::from_str::<Proposal>("[]").is_err());
    }

    #[test]
    fn the_question_shows_what_each_answer_leads_to() {
        let proposal = Proposal::new(["Fix parser", "Add docs", "Add tests"].map(task).to_vec()).unwrap();
        let draft = proposal.question(["add docs"]).unwrap();
        insta::assert_snapshot!(draft.text, @r"
        Add discovered tasks? [YES/NO/EDIT]
        New: 2. Duplicates skipped: 1.
        - Fix parser
        - Add tests
        - (skipped) Add docs
        YES adds the new ones. NO adds none. EDIT lets you change the list, and asks again.
        ");
        assert_eq!(draft.options.iter().map(NonBlank::as_str).collect::<Vec<_>>(), ["YES", "NO", "EDIT"]);
        assert_eq!(proposal.question(["fix parser", "add docs", "add tests"]), None);
    }

    proptest! {
        #[test]
        fn i9_nothing_is_created_twice_and_nothing_is_lost(
            found in prop::collection::vec("[aAbB]{1,2}[ .!]{0,2}[cC]?", 0..20),
            open in prop::collection::vec("[aAbB]{1,2}[ .!]{0,2}[cC]?", 0..10),
        ) {
            let tasks: Vec<_> = found.iter().map(|title| task(title)).collect();
            let selection = select(tasks.clone(), open.iter().map(String::as_str));
            prop_assert_eq!(selection.create.len() + selection.skipped.len(), tasks.len());
            let mut titles: BTreeSet<String> = open.iter().map(|title| normalize_title(title)).collect();
            for created in &selection.create {
                prop_assert!(titles.insert(normalize_title(created.title.as_str())));
            }
            for skipped in &selection.skipped {
                prop_assert!(titles.contains(&normalize_title(skipped.task.title.as_str())));
            }
            let again = select(selection.create.clone(), titles.iter().map(String::as_str));
            prop_assert!(again.create.is_empty());
        }
    }
}
