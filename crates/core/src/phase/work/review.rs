//! The work of the review phase: let agents review, and ask the human about the tasks they discovered.

use serde::{Deserialize, Serialize};

use crate::ask::choice::YesNoEdit;
use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::phase::Phase;
use crate::phase::discovered::{DISCOVERED_MAX, DiscoveredTask, Proposal, ProposalDecision};
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
    /// How the last agent failed.
    failure: String,
    /// What the agent discovered and the list has no room for.
    left_out: Vec<NonBlank>,
    /// The last agent made a review and discovered no task.
    found_no_work: bool,
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

    /// Whether the review discovered no task at all.
    pub const fn found_no_work(&self) -> bool {
        self.found_no_work
    }

    pub const fn duplicates_skipped(&self) -> u32 {
        self.duplicates_skipped
    }

    pub fn start_agent(&mut self, agent: TaskId) {
        if let ReviewStage::ToReview { tries, proposal } = &mut self.stage {
            self.stage = ReviewStage::Reviewing { agent, tries: *tries + 1, proposal: proposal.take() };
        }
    }

    /// How the last agent failed; empty if it did not.
    pub fn failure(&self) -> &str {
        &self.failure
    }

    /// Without findings, another agent tries. `failure` says why there are none.
    pub fn end_agent(&mut self, findings: &str, failure: &str) {
        let ReviewStage::Reviewing { tries, proposal, .. } = &mut self.stage else { return };
        let proposal = proposal.take();
        let findings = findings.trim();
        if findings.is_empty() {
            failure.clone_into(&mut self.failure);
            self.stage = ReviewStage::ToReview { tries: *tries, proposal };
            return;
        }
        self.failure.clear();
        self.found_no_work = proposal.is_none() && self.left_out.is_empty();
        let mut findings = findings.to_owned();
        if !self.left_out.is_empty() {
            let titles: Vec<&str> = self.left_out.iter().map(NonBlank::as_str).collect();
            findings = format!(
                "{findings}\n\nDiscovered too, beyond the {DISCOVERED_MAX} below: {}",
                titles.join("; ")
            );
        }
        self.stage = ReviewStage::Reviewed { findings, list: DiscoveredList::new(proposal) };
    }

    /// Records the tasks the running agent discovered. The first ones are proposed, the rest is named to the human.
    pub fn submit(&mut self, mut discovered: Vec<DiscoveredTask>) {
        if let ReviewStage::Reviewing { proposal, .. } = &mut self.stage {
            let left_out = discovered.split_off(discovered.len().min(DISCOVERED_MAX));
            self.left_out = left_out.into_iter().map(|task| task.title).collect();
            *proposal = Proposal::new(discovered).ok();
        }
    }

    /// The human sends the review back. The next agent is told what the last one found, and the remark.
    pub fn review_again(&mut self, remark: Option<&NonBlank>) {
        if let ReviewStage::Reviewed { findings, .. } = &self.stage {
            let wanted = remark.map_or("Review once more.", NonBlank::as_str);
            let said = format!("The review was sent back. It had found:\n{findings}\n\n{wanted}");
            self.said.extend(NonBlank::new(said).ok());
        }
        self.left_out.clear();
        self.stage = ReviewStage::default();
    }

    /// The human continues without a review.
    pub(super) fn go_on_without(&mut self) {
        let findings = format!("No review was made: {}", self.failure);
        if let ReviewStage::ToReview { proposal, .. } = &mut self.stage {
            let list = DiscoveredList::new(proposal.take());
            self.stage = ReviewStage::Reviewed { findings, list };
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
        let titles: Vec<String> = self
            .proposal()
            .into_iter()
            .flat_map(Proposal::tasks)
            .map(|task| task.title.to_string())
            .collect();
        if let ReviewStage::Reviewed { findings, .. } = &mut self.stage {
            *findings = format!("{findings}\n\nProposed, and open already: {}", titles.join("; "));
        }
        self.set_list(DiscoveredList::Settled);
    }

    pub(super) fn results(&self) -> PhaseResults {
        PhaseResults::Reviewed { discovered: self.discovered, duplicates_skipped: self.duplicates_skipped }
    }

    pub(super) fn next(&self) -> NextAction {
        match &self.stage {
            ReviewStage::ToReview { tries, .. } if *tries >= PHASE_TRIES_MAX => {
                NextAction::Ask { topic: QuestionTopic::ReviewFailed }
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

    /// One task per line, or separated by semicolons: its title and, after a colon, its description.
    pub(super) fn rewrite_list(&mut self, answer: &NonBlank) -> Result<(), WorkRefusal> {
        self.set_list(DiscoveredList::new(Some(Proposal::from_lines(answer.as_str())?)));
        Ok(())
    }

    pub(super) fn drop_list(&mut self) {
        self.set_list(DiscoveredList::Settled);
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
    #[serde(skip_serializing_if = "String::is_empty")]
    failure: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<NonBlank>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    found_no_work: bool,
}

impl From<StoredReviewWork> for ReviewWork {
    fn from(stored: StoredReviewWork) -> Self {
        let StoredReviewWork { agent, tries, findings, proposal, said, .. } = stored;
        let StoredReviewWork { discovered, duplicates_skipped, failure, left_out, found_no_work, .. } =
            stored;
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
        Self { stage, said, discovered, duplicates_skipped, failure, left_out, found_no_work }
    }
}

impl From<ReviewWork> for StoredReviewWork {
    fn from(work: ReviewWork) -> Self {
        let ReviewWork { stage, said, discovered, duplicates_skipped, failure, left_out, found_no_work } =
            work;
        let stored = Self {
            said,
            discovered,
            duplicates_skipped,
            failure,
            left_out,
            found_no_work,
            ..Self::default()
        };
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
