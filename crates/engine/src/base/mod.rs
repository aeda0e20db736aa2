//! Small helpers without rules of their own: ids, redaction, the HTTP client.

pub mod error;
pub mod http_client;
pub mod ids;
pub mod redaction;
pub mod refusals;
