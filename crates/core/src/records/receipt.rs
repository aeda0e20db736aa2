//! A receipt: what came of something that carried a key of its own: a message, a task of another tool, a title a
//! review came upon.
//!
//! It is written in the same change, so a sender that heard no answer may send again: the second time finds the
//! receipt and does nothing. It names what was asked, so a key used for something else is seen.

use serde::{Deserialize, Serialize};

use crate::base::id::{ProjectId, SessionId, TaskId};
use crate::base::task_type::TaskType;
use crate::base::text::RecipeId;
use crate::base::time::Timestamp;

/// A sender's key, within limits that keep it safe in a header and a row. Each project has its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReceiptKey(String);

/// A text that cannot be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key has 1 to 255 visible ASCII characters")]
pub struct BadReceiptKey;

impl ReceiptKey {
    pub const LEN_MAX: usize = 255;

    pub fn of_chat(project: ProjectId, key: &str) -> Result<Self, BadReceiptKey> {
        let is_good =
            !key.is_empty() && key.len() <= Self::LEN_MAX && key.bytes().all(|b| b.is_ascii_graphic());
        if is_good { Ok(Self(format!("chat/{project}/{key}"))) } else { Err(BadReceiptKey) }
    }

    /// What a task is called where it was imported from. Any name will do: what is not visible ASCII is written as
    /// hexadecimal, and only a name that is then too long is refused.
    pub fn of_import(source: &str, name: &str) -> Result<Self, BadReceiptKey> {
        let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'%');
        let written =
            |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") };
        let part = |text: &str| text.bytes().map(written).collect::<String>();
        let key = format!("import/{}/{}", part(source), part(name));
        if name.is_empty() || key.len() > Self::IMPORT_LEN_MAX { Err(BadReceiptKey) } else { Ok(Self(key)) }
    }

    /// Room for a source that is a path and a name of its own.
    const IMPORT_LEN_MAX: usize = 1024;

    /// A discovered task's: one for each time a task of that title is created (I9). `title` is the digest of its normal
    /// form, in hex.
    pub fn of_discovered(title: &str, time: u32) -> Result<Self, BadReceiptKey> {
        let is_good =
            !title.is_empty() && title.len() <= Self::LEN_MAX && title.bytes().all(|b| b.is_ascii_hexdigit());
        if is_good { Ok(Self(format!("discovered/{title}/{time}"))) } else { Err(BadReceiptKey) }
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
    /// The message this is the receipt of; its text is kept there. None where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u32>,
    pub task_id: TaskId,
    pub wanted: Wanted,
    pub at: Timestamp,
}

/// What the sender asked for beside the text. Left out is not the same as chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<TaskType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<RecipeId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_visible_and_bounded_and_its_projects_own() {
        let project = ProjectId::from_bits(7);
        assert_eq!(ReceiptKey::of_chat(project, "a-1").unwrap().as_str(), "chat/PROJ-00000007/a-1");
        for bad in ["", "a b", "a\n", "ä", &"x".repeat(256)] {
            assert_eq!(ReceiptKey::of_chat(project, bad), Err(BadReceiptKey), "{bad:?}");
        }
    }

    #[test]
    fn an_imported_name_may_be_anything_and_never_meets_another() {
        let key = |source, name| ReceiptKey::of_import(source, name).map(|key| key.as_str().to_owned());
        assert_eq!(key("beads:/src/a b", "bd-1"), Ok("import/beads:%2fsrc%2fa%20b/bd-1".to_owned()));
        assert_ne!(key("a", "b/c"), key("a/b", "c"));
        assert_eq!(key("a", ""), Err(BadReceiptKey));
        assert_eq!(key("a", &"ä".repeat(600)), Err(BadReceiptKey));
    }

    #[test]
    fn the_stored_form_is_stable() {
        let receipt = Receipt {
            key: ReceiptKey::of_chat(ProjectId::from_bits(7), "a-1").unwrap(),
            session_id: "chat".parse().unwrap(),
            message: Some(3),
            task_id: TaskId::from_bits(1),
            wanted: Wanted { task_type: Some(TaskType::Report), recipe: None },
            at: Timestamp::from_ms(0),
        };
        let stored = serde_json::to_string(&receipt).unwrap();
        insta::assert_snapshot!(stored, @r#"{"key":"chat/PROJ-00000007/a-1","session_id":"chat","message":3,"task_id":"TASK-00000001","wanted":{"task_type":"REPORT"},"at":"1970-01-01T00:00:00.000Z"}"#);
        assert_eq!(serde_json::from_str::<Receipt>(&stored).unwrap(), receipt);
    }
}
