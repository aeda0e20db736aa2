//! What the program says, when standard error is to hold nothing but JSON.

use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::EnvFilter;

use crate::error::CliError;

/// Set once everything on standard error is to be JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);
/// What the program says, as opposed to what it logs; always shown.
const SPOKEN: &str = "baton::output";

/// From here on everything on standard error is JSON, messages and the error of the command included.
pub(crate) fn speak_json() {
    IS_JSON.store(true, Ordering::Relaxed);
}

/// Lets what the program says through, whatever else the log leaves out.
pub(crate) fn spoken_in(filter: EnvFilter) -> EnvFilter {
    match format!("{SPOKEN}=info").parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    }
}

/// Whether the message went out as JSON.
pub(super) fn talk(text: &str) -> bool {
    let is_json = IS_JSON.load(Ordering::Relaxed);
    if is_json {
        tracing::info!(target: SPOKEN, "{text}");
    }
    is_json
}

/// Whether the error went out as JSON.
pub(super) fn error(error: &CliError) -> bool {
    let is_json = IS_JSON.load(Ordering::Relaxed);
    if is_json {
        tracing::error!(target: SPOKEN, hint = error.hint, code = error.code, "{}", error.message);
    }
    is_json
}
