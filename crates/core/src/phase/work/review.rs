//! The work of the review phase: let agents review, and ask the human about the tasks they discovered.

use serde::{Deserialize, Serialize};

use crate::ask::choice::YesNoEdit;
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::phase::Phase;
use crate::phase::discovered::{Proposal, ProposalDecision};
use crate::phase::handoff::PhaseResults;
use crate::phase::work::{FollowUp, NextAction, PHASE_TRIES_MAX, QuestionTopic, WorkRefusal};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredReviewWork", into = "StoredReviewWork")]
pub struct ReviewWork {
    stage: ReviewStage,
    /// What the human said before an agent started.
    said: Vec<NonBlank>,
    /// Tasks created after the human's YES.
    discovered: u32,
    duplicates_skipped: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ReviewStage {
    /// An agent has to be started.
    ToReview {
        tries: u32,
        proposal: Option<Proposal>,
    },
    Reviewing {
        agent: TaskId,
        tries: u32,
        proposal: Option<Proposal>,
    },
    /// The agent has reported what it found, in its own words.
    Reviewed {
        findings: String,
        list: DiscoveredList,
    },
}

/// The list of discovered tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DiscoveredList {
    /// Nothing was discovered, or the human has decided.
    Settled,
    Proposed(Proposal),
    /// The human rewrites it.
    Editing(Proposal),
}

impl Default for ReviewStage {
    fn default() -> Self {
        Self::ToReview { tries: 0, proposal: None }
    }
}

impl DiscoveredList {
    fn new(proposal: Option<Proposal>) -> Self {
        proposal.map_or(Self::Settled, Self::Proposed)
    }
}

impl ReviewWork {
    /// The task of the reviewing agent.
    pub fn agent(&self) -> Option<TaskId> {
        match &self.stage {
            ReviewStage::Reviewing { agent, .. } => Some(*agent),
            ReviewStage::ToReview { .. } | ReviewStage::Reviewed { .. } => None,
        }
    }

    /// What the agent found; empty until it has reported.
    pub fn findings(&self) -> &str {
        match &self.stage {
            ReviewStage::Reviewed { findings, .. } => findings,
            ReviewStage::ToReview { .. } | ReviewStage::Reviewing { .. } => "",
        }
    }

    /// The discovered tasks the human has not decided about.
    pub fn proposal(&self) -> Option<&Proposal> {
        match &self.stage {
            ReviewStage::ToReview { proposal, .. } | ReviewStage::Reviewing { proposal, .. } => {
                proposal.as_ref()
            }
            ReviewStage::Reviewed { list: DiscoveredList::Settled, .. } => None,
            ReviewStage::Reviewed {
                list: DiscoveredList::Proposed(proposal) | DiscoveredList::Editing(proposal),
                ..
            } => Some(proposal),
        }
    }

    pub fn said(&self) -> &[NonBlank] {
        &self.said
    }

    pub const fn discovered(&self) -> u32 {
        self.discovered
    }

    pub const fn duplicates_skipped(&self) -> u32 {
        self.duplicates_skipped
    }

    pub fn start_agent(&mut self, agent: TaskId) {
        if let ReviewStage::ToReview { tries, proposal } = &mut self.stage {
            self.stage = ReviewStage::Reviewing { agent, tries: *tries + 1, proposal: proposal.take() };
        }
    }

    /// Without findings, another agent tries.
    pub fn end_agent(&mut self, findings: &str) {
        let ReviewStage::Reviewing { tries, proposal, .. } = &mut self.stage else { return };
        let proposal = proposal.take();
        self.stage = match findings.trim() {
            "" => ReviewStage::ToReview { tries: *tries, proposal },
            findings => {
                ReviewStage::Reviewed { findings: findings.to_owned(), list: DiscoveredList::new(proposal) }
            }
        };
    }

    /// Records the tasks the running agent discovered.
    pub fn submit(&mut self, discovered: Option<Proposal>) {
        if let ReviewStage::Reviewing { proposal, .. } = &mut self.stage {
            *proposal = discovered;
        }
    }

    /// Counts approved tasks: created ones, and duplicates that were skipped.
    pub fn count(&mut self, created: u32, skipped: u32) {
        self.discovered = self.discovered.saturating_add(created);
        self.duplicates_skipped = self.duplicates_skipped.saturating_add(skipped);
    }

    /// Everything proposed is open already: nobody is asked, and it is counted (I9).
    pub fn skip_proposal(&mut self) {
        let skipped = self.proposal().map_or(0, |proposal| proposal.tasks().len());
        self.count(0, u32::try_from(skipped).unwrap_or(u32::MAX));
        self.set_list(DiscoveredList::Settled);
    }

    pub(super) fn results(&self) -> PhaseResults {
        PhaseResults::Reviewed { discovered: self.discovered, duplicates_skipped: self.duplicates_skipped }
    }

    pub(super) fn next(&self) -> NextAction {
        match &self.stage {
            ReviewStage::ToReview { tries, .. } if *tries >= PHASE_TRIES_MAX => {
                NextAction::GiveUp { why: "the review agents reported no findings" }
            }
            ReviewStage::ToReview { .. } => NextAction::StartAgent,
            ReviewStage::Reviewing { agent, .. } => NextAction::WatchFor { task: *agent },
            ReviewStage::Reviewed { list, .. } => NextAction::Ask {
                topic: match list {
                    DiscoveredList::Settled => QuestionTopic::Gate,
                    DiscoveredList::Proposed(_) => QuestionTopic::Discovered,
                    DiscoveredList::Editing(_) => QuestionTopic::List,
                },
            },
        }
    }

    /// False once the agent has reported: no later one could be told.
    pub(super) fn add_remark(&mut self, text: &NonBlank) -> bool {
        let is_open = !matches!(self.stage, ReviewStage::Reviewed { .. });
        if is_open {
            self.said.push(text.clone());
        }
        is_open
    }

    pub(super) fn decide(&mut self, answer: YesNoEdit) -> Result<FollowUp, WorkRefusal> {
        let ReviewStage::Reviewed { list: DiscoveredList::Proposed(proposal), .. } = &self.stage else {
            return Err(WorkRefusal::NotAsked(Phase::Review));
        };
        let (list, follow_up) = match proposal.clone().apply_answer(answer) {
            ProposalDecision::Approved(approved) => (DiscoveredList::Settled, FollowUp::Create(approved)),
            ProposalDecision::Dropped => (DiscoveredList::Settled, FollowUp::Nothing),
            ProposalDecision::Editing(editing) => {
                (DiscoveredList::Editing(editing.proposal().clone()), FollowUp::Nothing)
            }
        };
        self.set_list(list);
        Ok(follow_up)
    }

    /// One task per line: its title and, after a colon, its description. Only blank lines adds none.
    pub(super) fn rewrite_list(&mut self, answer: &NonBlank) {
        self.set_list(DiscoveredList::new(Proposal::from_lines(answer.as_str()).ok()));
    }

    fn set_list(&mut self, next: DiscoveredList) {
        if let ReviewStage::Reviewed { list, .. } = &mut self.stage {
            *list = next;
        }
    }
}

/// The stored form: every field of every stage beside each other.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredReviewWork {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<TaskId>,
    tries: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    findings: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<Proposal>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    said: Vec<NonBlank>,
    is_editing: bool,
    discovered: u32,
    duplicates_skipped: u32,
}

impl From<StoredReviewWork> for ReviewWork {
    fn from(stored: StoredReviewWork) -> Self {
        let StoredReviewWork {
            agent, tries, findings, proposal, said, discovered, duplicates_skipped, ..
        } = stored;
        let stage = match (agent, findings.is_empty()) {
            (_, false) => {
                let list = match proposal {
                    Some(proposal) if stored.is_editing => DiscoveredList::Editing(proposal),
                    proposal => DiscoveredList::new(proposal),
                };
                ReviewStage::Reviewed { findings, list }
            }
            (Some(agent), true) => ReviewStage::Reviewing { agent, tries, proposal },
            (None, true) => ReviewStage::ToReview { tries, proposal },
        };
        Self { stage, said, discovered, duplicates_skipped }
    }
}

impl From<ReviewWork> for StoredReviewWork {
    fn from(work: ReviewWork) -> Self {
        let ReviewWork { stage, said, discovered, duplicates_skipped } = work;
        let stored = Self { said, discovered, duplicates_skipped, ..Self::default() };
        match stage {
            ReviewStage::ToReview { tries, proposal } => Self { tries, proposal, ..stored },
            ReviewStage::Reviewing { agent, tries, proposal } => {
                Self { agent: Some(agent), tries, proposal, ..stored }
            }
            ReviewStage::Reviewed { findings, list } => {
                let (proposal, is_editing) = match list {
                    DiscoveredList::Settled => (None, false),
                    DiscoveredList::Proposed(proposal) => (Some(proposal), false),
                    DiscoveredList::Editing(proposal) => (Some(proposal), true),
                };
                Self { findings, proposal, is_editing, ..stored }
            }
        }
    }
}
