//! What every folder uses and no rule depends on: errors, ids, redaction, the HTTP client, fences while something runs in
//! them, and the supervisor that runs background services.

pub mod announce;
pub mod attempt_secret;
pub(crate) mod clock;
pub mod error;
pub(crate) mod fenced;
pub mod http_client;
pub mod ids;
pub mod once;
pub mod redaction;
pub mod refusals;
pub mod run_fence;
pub mod supervisor;
