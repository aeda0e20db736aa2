//! Why a service or one of its items failed, in one line.

use std::any::Any;
use std::error::Error;
use std::fmt;

use baton_core::base::redact::redact;

use crate::base::error::EngineError;

/// The longest error, because it is stored in events.
const CHARS_MAX: usize = 1_000;

/// The message of an error with its causes. Any error turns into one by `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceError(String);

impl ServiceError {
    pub fn new(message: &str) -> Self {
        let message: String = redact(message.trim()).chars().take(CHARS_MAX).collect();
        Self(if message.is_empty() { "no reason given".to_owned() } else { message })
    }

    /// The message of a caught panic.
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no reason given".to_owned());
        Self::new(&format!("panicked: {message}"))
    }
}

impl<E: Error> From<E> for ServiceError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        Self::new(&message)
    }
}

impl From<EngineError> for ServiceError {
    fn from(error: EngineError) -> Self {
        Self::new(&error.to_string())
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
