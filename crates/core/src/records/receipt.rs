//! A receipt: the result of a request with an idempotency key: a message, an imported task, a discovered title.
//!
//! It is written in the same change, so a sender that got no answer may retry: the retry finds the receipt and does
//! nothing. It records the request, so that a key reused for something else is detected.

use serde::{Deserialize, Serialize};

use crate::base::id::{ProjectId, QuestionId, RoutineId, RunId, SessionId, TaskId};
use crate::base::task_type::TaskType;
use crate::base::text::{NonBlank, RecipeId};
use crate::base::time::Timestamp;
use crate::routine::cause::Cause;

/// A sender's key, limited so that it is safe in a header and a row. Each project has its own keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReceiptKey(String);

/// A text that is not a valid key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key has 1 to 255 visible ASCII characters")]
pub struct InvalidReceiptKey;

impl ReceiptKey {
    pub const LEN_MAX: usize = 255;

    pub fn for_chat(project: ProjectId, key: &str) -> Result<Self, InvalidReceiptKey> {
        let is_good =
            !key.is_empty() && key.len() <= Self::LEN_MAX && key.bytes().all(|b| b.is_ascii_graphic());
        if is_good { Ok(Self(format!("chat/{project}/{key}"))) } else { Err(InvalidReceiptKey) }
    }

    /// The key of an imported task. Any name is accepted: what is not visible ASCII is percent-encoded, and only a
    /// name that is then too long is rejected.
    pub fn for_import(source: &str, name: &str) -> Result<Self, InvalidReceiptKey> {
        let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'%');
        let written =
            |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") };
        let part = |text: &str| text.bytes().map(written).collect::<String>();
        let key = format!("import/{}/{}", part(source), part(name));
        if name.is_empty() || key.len() > Self::IMPORT_LEN_MAX {
            Err(InvalidReceiptKey)
        } else {
            Ok(Self(key))
        }
    }

    /// Room for a path as the source, plus a name.
    const IMPORT_LEN_MAX: usize = 1024;

    /// The key of a discovered task: one for each time a task of that title is created (I9). `title` is the hex
    /// digest of its normal form.
    pub fn for_discovered(title: &str, time: u32) -> Result<Self, InvalidReceiptKey> {
        let is_good =
            !title.is_empty() && title.len() <= Self::LEN_MAX && title.bytes().all(|b| b.is_ascii_hexdigit());
        if is_good { Ok(Self(format!("discovered/{title}/{time}"))) } else { Err(InvalidReceiptKey) }
    }

    /// The key of one run of a routine: what caused it starts one task.
    pub fn for_routine(routine: RoutineId, cause: &Cause) -> Self {
        Self(format!("routine/{routine}/{cause}"))
    }

    /// The key of a call of the API. Each person has their own for every path, and each day.
    pub fn for_call(person: &str, call: &str, day: i64, key: &str) -> Self {
        Self(format!("call/{person}/{call}/{day}/{key}"))
    }

    /// The key of the hook for a question.
    pub fn for_question_hook(question: QuestionId) -> Self {
        Self(format!("hook/{question}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ReceiptKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub key: ReceiptKey,
    pub session_id: SessionId,
    /// The message it belongs to, which has the text. `None` if there was no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u32>,
    /// `None` for a message to a run without a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub wanted: RequestedWork,
    /// Where the message went, if it became no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<DeliveredTo>,
    /// The answer to a call with a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<KeptAnswer>,
    pub at: Timestamp,
}

/// What a call was answered, and a digest of what it asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptAnswer {
    pub request_digest: String,
    /// None until the answer is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// What the call created: should Baton end before it has answered, a repeat is answered with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<CreatedRecord>,
}

/// A row that a call created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreatedRecord {
    Task(TaskId),
    Project(ProjectId),
    Routine(RoutineId),
    Run(RunId),
    Message { session_id: SessionId, number: u32 },
}

/// The run, or the agent of a task, that a message went to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredTo {
    /// `None` where it went to a task without a run of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe_id: Option<RecipeId>,
    /// The question it answered; `None` where an agent reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_id: Option<QuestionId>,
    pub text: NonBlank,
}

/// What the sender asked for besides the text. Omitted is not the same as chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedWork {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<TaskType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<RecipeId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_visible_bounded_and_scoped_to_its_project() {
        let project = ProjectId::from_bits(7);
        assert_eq!(ReceiptKey::for_chat(project, "a-1").unwrap().as_str(), "chat/PROJ-00000007/a-1");
        for bad in ["", "a b", "a\n", "ä", &"x".repeat(256)] {
            assert_eq!(ReceiptKey::for_chat(project, bad), Err(InvalidReceiptKey), "{bad:?}");
        }
    }

    #[test]
    fn imported_names_may_be_anything_and_never_collide() {
        let key = |source, name| ReceiptKey::for_import(source, name).map(|key| key.as_str().to_owned());
        assert_eq!(key("beads:/src/a b", "bd-1"), Ok("import/beads:%2fsrc%2fa%20b/bd-1".to_owned()));
        assert_ne!(key("a", "b/c"), key("a/b", "c"));
        assert_eq!(key("a", ""), Err(InvalidReceiptKey));
        assert_eq!(key("a", &"ä".repeat(600)), Err(InvalidReceiptKey));
    }

    #[test]
    fn the_stored_form_is_stable() {
        let receipt = Receipt {
            key: ReceiptKey::for_chat(ProjectId::from_bits(7), "a-1").unwrap(),
            session_id: "chat".parse().unwrap(),
            message: Some(3),
            task_id: Some(TaskId::from_bits(1)),
            wanted: RequestedWork { task_type: Some(TaskType::Report), recipe: None },
            delivered: None,
            answer: None,
            at: Timestamp::from_ms(0),
        };
        let stored = serde_json::to_string(&receipt).unwrap();
        insta::assert_snapshot!(stored, @r#"{"key":"chat/PROJ-00000007/a-1","session_id":"chat","message":3,"task_id":"TASK-00000001","wanted":{"task_type":"REPORT"},"at":"1970-01-01T00:00:00.000Z"}"#);
        assert_eq!(serde_json::from_str::<Receipt>(&stored).unwrap(), receipt);
    }
}
