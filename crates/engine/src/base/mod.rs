//! What every folder uses and no rule depends on: errors, ids, redaction, the HTTP client, and the supervisor that runs
//! background services.

pub mod announce;
pub mod attempt_secret;
pub(crate) mod clock;
pub mod error;
pub(crate) mod fenced;
pub mod http_client;
pub mod ids;
pub mod redaction;
pub mod refusals;
pub mod supervisor;
