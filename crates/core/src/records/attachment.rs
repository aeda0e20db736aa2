//! A file that a person sent with a message: a screenshot, a log, a draft.
//!
//! Its bytes are kept as Base64, since rows are JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::base::id::{AttachmentId, SessionId};
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;

/// Files of one message.
pub const ATTACHMENTS_MAX: usize = 10;
/// Bytes of the files of one message together.
pub const ATTACHED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of a file's name; file systems allow 255, and we put an id before it.
const NAME_BYTES_MAX: usize = 200;

/// The type of a file whose name tells nothing.
const UNKNOWN_TYPE: &str = "application/octet-stream";
const TYPES: [(&str, &str); 13] = [
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
];

/// Why files cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttachmentError {
    #[error("\"{name}\" cannot be the name of an attached file")]
    InvalidName { name: String },
    #[error("the data of {name} is not Base64")]
    NotBase64 { name: String },
    #[error("{name} is empty")]
    Empty { name: String },
    #[error("a message can have at most {ATTACHMENTS_MAX} files")]
    TooMany,
    #[error("the files of a message may have {} MiB together", ATTACHED_BYTES_MAX / (1024 * 1024))]
    TooLarge,
}

/// A stored file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub id: AttachmentId,
    /// Every agent of the session gets it.
    pub session_id: SessionId,
    #[serde(flatten)]
    pub file: AttachedFile,
    pub at: Timestamp,
}

/// A name that is safe as the name of a file, the type, and the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedFile {
    name: String,
    media_type: String,
    data: String,
}

impl AttachedFile {
    /// From Base64. Without a type, the name's ending decides.
    pub fn new(name: &str, media_type: Option<&str>, data: &str) -> Result<Self, AttachmentError> {
        let is_name = !name.trim().is_empty()
            && name.len() <= NAME_BYTES_MAX
            && !name.contains(['/', '\\', '`'])
            && !name.chars().any(char::is_control)
            && ![".", ".."].contains(&name);
        if !is_name {
            return Err(AttachmentError::InvalidName { name: name.chars().take(NAME_BYTES_MAX).collect() });
        }
        let is_type = |text: &&str| {
            text.contains('/')
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/+-.".contains(&byte))
        };
        let media_type = media_type.filter(is_type).unwrap_or_else(|| type_of(name)).to_owned();
        let bytes =
            STANDARD.decode(data).map_err(|_| AttachmentError::NotBase64 { name: name.to_owned() })?;
        if bytes.is_empty() {
            return Err(AttachmentError::Empty { name: name.to_owned() });
        }
        Ok(Self { name: name.to_owned(), media_type, data: data.to_owned() })
    }

    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, AttachmentError> {
        Self::new(name, None, &STANDARD.encode(bytes))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// As Base64.
    pub fn data(&self) -> &str {
        &self.data
    }

    pub fn bytes(&self) -> Result<Vec<u8>, AttachmentError> {
        STANDARD.decode(&self.data).map_err(|_| AttachmentError::NotBase64 { name: self.name.clone() })
    }

    pub fn byte_count(&self) -> usize {
        let padding = self.data.bytes().rev().take_while(|byte| *byte == b'=').count();
        (self.data.len() / 4 * 3).saturating_sub(padding)
    }

    /// For people and agents: name, type and size.
    pub fn describe(&self) -> String {
        format!("`{}` ({}, {} bytes)", self.name, self.media_type, self.byte_count())
    }
}

/// Refuses more files than a message may have.
pub fn check_attachments(files: &[AttachedFile]) -> Result<(), AttachmentError> {
    if files.len() > ATTACHMENTS_MAX {
        return Err(AttachmentError::TooMany);
    }
    let bytes: usize = files.iter().map(AttachedFile::byte_count).sum();
    if bytes > ATTACHED_BYTES_MAX { Err(AttachmentError::TooLarge) } else { Ok(()) }
}

/// The message as it is kept: with the names of its files, so that every reader of the conversation knows of them.
pub fn with_attachments(text: &NonBlank, files: &[AttachedFile]) -> NonBlank {
    if files.is_empty() {
        return text.clone();
    }
    let names: Vec<String> = files.iter().map(AttachedFile::describe).collect();
    let whole = format!("{}\n\nAttached: {}", text.as_str().trim_end(), names.join(", "));
    NonBlank::or(&whole, text.clone())
}

fn type_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    TYPES.iter().find(|(known, _)| *known == ending).map_or(UNKNOWN_TYPE, |(_, media_type)| *media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_bytes_and_gets_its_type_from_its_name() {
        for (name, media_type) in [
            ("Shot.PNG", "image/png"),
            ("notes", UNKNOWN_TYPE),
            ("a.b.log", "text/plain"),
            ("x.zip", UNKNOWN_TYPE),
        ] {
            let file = AttachedFile::from_bytes(name, b"\0\xffbytes").unwrap();
            assert_eq!((file.media_type(), file.byte_count()), (media_type, 7), "{name}");
            assert_eq!(file.bytes().unwrap(), b"\0\xffbytes");
        }
        let named = AttachedFile::new("x", Some("text/x-rust"), "YQ==").unwrap();
        assert_eq!((named.media_type(), named.byte_count()), ("text/x-rust", 1));
        assert_eq!(AttachedFile::new("x", Some("<b>"), "YQ==").unwrap().media_type(), UNKNOWN_TYPE);
    }

    #[test]
    fn names_that_are_paths_and_data_that_is_none_are_refused() {
        for name in ["", " ", "..", "a/b", "..\\b", "a\nb", "a\0", "`x`", &"n".repeat(201)] {
            assert!(matches!(AttachedFile::from_bytes(name, b"x"), Err(AttachmentError::InvalidName { .. })));
        }
        assert!(matches!(AttachedFile::new("x", None, "%%"), Err(AttachmentError::NotBase64 { .. })));
        assert!(matches!(AttachedFile::new("x", None, ""), Err(AttachmentError::Empty { .. })));
    }

    #[test]
    fn a_message_has_a_bounded_number_of_files_and_bytes() {
        let small = AttachedFile::from_bytes("x", b"x").unwrap();
        assert_eq!(check_attachments(&vec![small.clone(); ATTACHMENTS_MAX]), Ok(()));
        assert_eq!(check_attachments(&vec![small; ATTACHMENTS_MAX + 1]), Err(AttachmentError::TooMany));
        let large = AttachedFile::from_bytes("x", &vec![0; ATTACHED_BYTES_MAX / 2 + 1]).unwrap();
        assert_eq!(check_attachments(&[large.clone(), large]), Err(AttachmentError::TooLarge));
    }

    #[test]
    fn the_message_names_its_files() {
        let text = NonBlank::new("Look at this\n").unwrap();
        assert_eq!(with_attachments(&text, &[]), text);
        let file = AttachedFile::from_bytes("shot.png", b"png").unwrap();
        let whole = with_attachments(&text, &[file]);
        assert_eq!(whole.as_str(), "Look at this\n\nAttached: `shot.png` (image/png, 3 bytes)");
    }
}
