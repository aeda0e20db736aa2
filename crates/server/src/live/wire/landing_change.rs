//! What a change of a task says about its way into its branch.

use baton_core::base::git_name::CommitId;
use baton_core::landing::evidence::LandingEvidence;
use baton_core::records::event::EventBody;
use serde::Serialize;

/// The states are those of `landing` of `GET /api/tasks/{id}`, which also has the position and who is before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LandingChange {
    Waiting {
        /// Why it waits although its turn has come.
        #[serde(skip_serializing_if = "Option::is_none")]
        delayed: Option<String>,
    },
    Landed {
        commit: CommitId,
        #[serde(skip_serializing_if = "Option::is_none")]
        evidence: Option<Box<LandingEvidence>>,
    },
    SentBack {
        reason: String,
    },
    Forced {
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<CommitId>,
    },
}

impl LandingChange {
    pub(super) fn of_event(body: &EventBody) -> Option<Self> {
        Some(match body {
            EventBody::TaskLanding { .. } => Self::Waiting { delayed: None },
            EventBody::TaskLandingDelayed { reason, .. } => {
                Self::Waiting { delayed: Some(reason.headline()) }
            }
            EventBody::TaskLanded { commit, evidence, .. } => {
                Self::Landed { commit: commit.clone(), evidence: evidence.clone() }
            }
            EventBody::TaskSentBack { reason, .. } => Self::SentBack { reason: reason.headline() },
            EventBody::TaskForced { commit, .. } => Self::Forced { commit: commit.clone() },
            _ => return None,
        })
    }
}
