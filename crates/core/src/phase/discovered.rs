//! Tasks a review discovered: proposed to the human, approved or dropped, and never created twice.
//!
//! The way to a list of tasks to create leads through a YES and nowhere else (I9). Creating them is the
//! store's work; this module only says which.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::ask::choice::YesNoEdit;
use crate::ask::question::{Draft, QuestionKind};
use crate::base::text::NonBlank;
use crate::base::title::normalised_title;

/// More than one review finds in earnest, and as many as a person reads before saying yes.
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
    /// A task of that title is still open.
    AlreadyOpen,
    /// The list names it more than once.
    TwiceInList,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub task: DiscoveredTask,
    pub because: SkipReason,
}

/// A list with its duplicates told apart from the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    pub create: Vec<DiscoveredTask>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// I9: what is open already, or stands in the list before, is skipped and counted. Order is kept.
pub fn select<'a>(
    discovered: impl IntoIterator<Item = DiscoveredTask>,
    open_titles: impl IntoIterator<Item = &'a str>,
) -> Selection {
    let open: BTreeSet<String> = open_titles.into_iter().map(normalised_title).collect();
    let mut listed = BTreeSet::new();
    let mut selection = Selection::default();
    for task in discovered {
        let title = normalised_title(task.title.as_str());
        if open.contains(&title) {
            selection.skipped.push(Skipped { task, because: SkipReason::AlreadyOpen });
        } else if listed.insert(title) {
            selection.create.push(task);
        } else {
            selection.skipped.push(Skipped { task, because: SkipReason::TwiceInList });
        }
    }
    selection
}

/// A list that cannot be proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadProposal {
    #[error("the list of discovered tasks is empty; answer NO to add none")]
    Empty,
    #[error(
        "{count} discovered tasks are too many to ask about at once; keep the {DISCOVERED_MAX} that matter most"
    )]
    TooMany { count: usize },
}

/// Discovered tasks that wait for the human's word. Nothing can be created from a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<DiscoveredTask>", into = "Vec<DiscoveredTask>")]
pub struct Proposal(Vec<DiscoveredTask>);

impl Proposal {
    pub fn new(tasks: Vec<DiscoveredTask>) -> Result<Self, BadProposal> {
        match tasks.len() {
            0 => Err(BadProposal::Empty),
            1..=DISCOVERED_MAX => Ok(Self(tasks)),
            count => Err(BadProposal::TooMany { count }),
        }
    }

    /// As a person writes them: one on each line, its title and, behind a colon, what it is about.
    pub fn from_lines(text: &str) -> Result<Self, BadProposal> {
        let tasks = text.lines().filter_map(|line| {
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

    /// The question, with the tasks it is about and what each answer leads to. `open_titles` are those of
    /// now, so that the human sees what would be skipped. None when all are duplicates: there is nothing
    /// to decide.
    pub fn question<'a>(&self, open_titles: impl IntoIterator<Item = &'a str>) -> Option<Draft> {
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
        Some(Draft::new(QuestionKind::Confirmation, text).with_options(YesNoEdit::OPTIONS))
    }

    pub fn answered(self, answer: YesNoEdit) -> Verdict {
        match answer {
            YesNoEdit::Yes => Verdict::Approved(Approved(self.0)),
            YesNoEdit::No => Verdict::Dropped,
            YesNoEdit::Edit => Verdict::Editing(Editing(self)),
        }
    }
}

impl TryFrom<Vec<DiscoveredTask>> for Proposal {
    type Error = BadProposal;

    fn try_from(tasks: Vec<DiscoveredTask>) -> Result<Self, BadProposal> {
        Self::new(tasks)
    }
}

impl From<Proposal> for Vec<DiscoveredTask> {
    fn from(proposal: Proposal) -> Self {
        proposal.0
    }
}

/// What the human said to a proposal.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Approved(Approved),
    Dropped,
    Editing(Editing),
}

/// I9: the proof of a YES. It is made by that answer alone, is not stored and not copied, and is used up
/// by creating the tasks.
#[derive(Debug, PartialEq, Eq)]
pub struct Approved(Vec<DiscoveredTask>);

impl Approved {
    /// Which tasks to create. `open_titles` are read in the transaction that creates them.
    pub fn against<'a>(self, open_titles: impl IntoIterator<Item = &'a str>) -> ToCreate {
        ToCreate(select(self.0, open_titles))
    }
}

/// Tasks to create now. Only an approval leads here (I9).
#[derive(Debug, PartialEq, Eq)]
pub struct ToCreate(Selection);

impl ToCreate {
    pub fn into_selection(self) -> Selection {
        self.0
    }

    pub fn selection(&self) -> &Selection {
        &self.0
    }
}

/// The human wants to change the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Editing(Proposal);

impl Editing {
    /// The list as it was, to start from.
    pub fn proposal(&self) -> &Proposal {
        &self.0
    }

    /// The human's version, which is asked about again.
    pub fn replaced_by(self, tasks: Vec<DiscoveredTask>) -> Result<Proposal, BadProposal> {
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
                Skipped { task: task("fix parser."), because: SkipReason::TwiceInList },
                Skipped { task: task("ADD TESTS"), because: SkipReason::AlreadyOpen },
            ]
        );
    }

    #[test]
    fn i9_each_answer_leads_where_it_says() {
        for &answer in YesNoEdit::ALL {
            let proposal = Proposal::new(vec![task("a")]).unwrap();
            match (answer, proposal.clone().answered(answer)) {
                (YesNoEdit::Yes, Verdict::Approved(approved)) => {
                    assert_eq!(approved.against([]).into_selection().create, [task("a")]);
                }
                (YesNoEdit::No, Verdict::Dropped) => {}
                (YesNoEdit::Edit, Verdict::Editing(editing)) => {
                    assert_eq!(editing.proposal(), &proposal);
                    let changed = editing.replaced_by(vec![task("b")]).unwrap();
                    assert_eq!(changed.tasks(), [task("b")]);
                }
                (_, other) => panic!("{answer} led to {other:?}"),
            }
        }
    }

    #[test]
    fn a_list_nobody_can_judge_is_not_proposed() {
        assert_eq!(Proposal::new(vec![]), Err(BadProposal::Empty));
        let many = vec![task("a"); DISCOVERED_MAX + 1];
        assert_eq!(Proposal::new(many), Err(BadProposal::TooMany { count: DISCOVERED_MAX + 1 }));
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
            let mut titles: BTreeSet<String> = open.iter().map(|title| normalised_title(title)).collect();
            for created in &selection.create {
                prop_assert!(titles.insert(normalised_title(created.title.as_str())));
            }
            for skipped in &selection.skipped {
                prop_assert!(titles.contains(&normalised_title(skipped.task.title.as_str())));
            }
            let again = select(selection.create.clone(), titles.iter().map(String::as_str));
            prop_assert!(again.create.is_empty());
        }
    }
}
