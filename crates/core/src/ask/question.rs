//! A question: something only a human may decide.
//!
//! Its text is never blank (I1). Whether it may be asked now is decided by the ask cycle; who may answer it, by the
//! answer source.

use serde::{Deserialize, Serialize};

use crate::base::id::QuestionId;
use crate::base::task_type::TaskType;
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;

/// The kind of decision. It determines who may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The agent lacks a piece of information.
    Clarification,
    /// A yes or no within a phase: run this subtask, add these tasks.
    Confirmation,
    /// The one question that ends a phase.
    Gate,
    /// The agent wants to use a tool without standing permission.
    Permission,
    /// A dangerous operation waits for approval. Only a human may answer.
    Danger,
    /// Baton cannot resolve it without a person. Only a human may answer.
    Escalation,
    /// The agent says it is done and shows no work. Only a human may say that its answer is enough.
    Completion,
}

impl QuestionKind {
    pub const ALL: [Self; 7] = [
        Self::Clarification,
        Self::Confirmation,
        Self::Gate,
        Self::Permission,
        Self::Danger,
        Self::Escalation,
        Self::Completion,
    ];

    /// No policy, default, queued answer or expiry may answer these.
    pub const fn is_human_only(self) -> bool {
        match self {
            Self::Danger | Self::Escalation | Self::Completion => true,
            Self::Clarification | Self::Confirmation | Self::Gate | Self::Permission => false,
        }
    }
}

/// A question before it has an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionDraft {
    pub text: NonBlank,
    pub kind: QuestionKind,
    /// The offered answers, shown as buttons. If empty, any text is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<NonBlank>,
    /// The answer used when nobody answers and the policy allows a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<NonBlank>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// NO leaves the task with the person (I22). Otherwise NO is an answer like others, and the agent continues with it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_holds: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// As much of an agent's words as a question quotes: their end.
const QUOTED_CHARS_MAX: usize = 2_000;

impl QuestionDraft {
    pub fn new(kind: QuestionKind, text: NonBlank) -> Self {
        Self { text, kind, options: Vec::new(), default: None, expires_at: None, no_holds: false }
    }

    /// A question of Baton's own, to which NO holds the task.
    pub fn whether_to_go_on(text: NonBlank) -> Self {
        Self::new(QuestionKind::Clarification, text).with_options(&["YES", "NO"]).holding_on_no()
    }

    /// A question of Baton's own about something that waits until a person says YES, and for nothing else.
    pub fn until_yes(text: NonBlank) -> Self {
        Self::new(QuestionKind::Confirmation, text).with_options(&["YES"])
    }

    pub(crate) fn with_options(mut self, options: &[&'static str]) -> Self {
        self.options = options.iter().map(|option| NonBlank::fixed(option)).collect();
        self
    }

    /// NO holds the task: for questions whether to go on.
    pub fn holding_on_no(mut self) -> Self {
        self.no_holds = true;
        self
    }

    /// The question with what the agent wrote last, so that it can be decided without looking elsewhere.
    pub fn quoting(mut self, words: &str) -> Self {
        let words = words.trim();
        // The line by which it reports its outcome says nothing to a person.
        let is_report = words.lines().count() == 1 && words.starts_with('{') && words.contains("\"outcome\"");
        if words.is_empty() || is_report {
            return self;
        }
        let cut = words.char_indices().rev().nth(QUOTED_CHARS_MAX).map_or(0, |(at, c)| at + c.len_utf8());
        let ellipsis = if cut > 0 { "…" } else { "" };
        let text = format!("{}\n\nThe agent wrote:\n{ellipsis}{}", self.text, &words[cut..]);
        self.text = NonBlank::or(&text, self.text);
        self
    }

    pub fn with_id(self, id: QuestionId) -> Question {
        Question { id, draft: self }
    }
}

/// A question that was asked. I1: it cannot be built without a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: QuestionId,
    #[serde(flatten)]
    pub draft: QuestionDraft,
}

impl Question {
    pub fn text(&self) -> &NonBlank {
        &self.draft.text
    }

    pub fn kind(&self) -> QuestionKind {
        self.draft.kind
    }

    /// Whether one word is the only answer there is: what waits goes on with it, and without it goes on waiting.
    pub fn takes_one_word(&self) -> bool {
        self.kind() == QuestionKind::Confirmation && self.draft.options.len() == 1
    }
}

/// The question a dangerous operation is blocked on.
///
/// I2: the state `Blocked` holds one of these, and it can only be built for a `DANGEROUS_OP` task, so no other task
/// can become blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DangerQuestion(Question);

impl DangerQuestion {
    pub fn for_task(task_type: TaskType, mut question: Question) -> Option<Self> {
        match task_type {
            TaskType::DangerousOp => {
                question.draft.kind = QuestionKind::Danger;
                Some(Self(question))
            }
            TaskType::ReadInfo
            | TaskType::Report
            | TaskType::LightEdit
            | TaskType::Implementation
            | TaskType::ReviewResponse
            | TaskType::ConfigCiChange => None,
        }
    }

    pub fn question(&self) -> &Question {
        &self.0
    }
}
