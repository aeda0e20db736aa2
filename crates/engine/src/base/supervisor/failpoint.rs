//! Failure injection for tests: every service and every kind of item can be made to fail. Not in release builds.
//!
//! `BATON_FAIL` contains specifications separated by commas or newlines, or names a file that contains them (`@/path`).
//! The file is read at every check, so that a test can end the failure while Baton runs:
//!
//! - `service:outbox`, `service:outbox:panic`: every round of the service fails;
//! - `item:effect`, `item:loop/session-1:panic`: every item of the kind, or those whose key contains the text, fail.

use super::error::ServiceError;
use super::name::{ItemKind, ServiceName};

/// Used in debug builds only.
pub const FAIL_VARIABLE: &str = "BATON_FAIL";

pub(super) fn service(name: ServiceName) -> Result<(), ServiceError> {
    check("service", name.as_str(), "")
}

pub(super) fn item(kind: ItemKind, key: &str) -> Result<(), ServiceError> {
    check("item", kind.as_str(), key)
}

#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "debug builds fail here")]
const fn check(_: &str, _: &str, _: &str) -> Result<(), ServiceError> {
    Ok(())
}

#[cfg(debug_assertions)]
fn check(scope: &str, name: &str, key: &str) -> Result<(), ServiceError> {
    use std::sync::OnceLock;
    static VARIABLE: OnceLock<Option<String>> = OnceLock::new();
    let Some(wanted) = VARIABLE.get_or_init(|| std::env::var(FAIL_VARIABLE).ok()) else { return Ok(()) };
    let from_file = wanted.strip_prefix('@').map(|path| std::fs::read_to_string(path).unwrap_or_default());
    fail_if_listed(from_file.as_deref().unwrap_or(wanted), scope, name, key)
}

#[cfg(debug_assertions)]
fn fail_if_listed(specifications: &str, scope: &str, name: &str, key: &str) -> Result<(), ServiceError> {
    for specification in specifications.split([',', '\n']) {
        let mut parts = specification.trim().split(':');
        if parts.next() != Some(scope) {
            continue;
        }
        let what = parts.next().unwrap_or_default();
        let (kind, needle) = what.split_once('/').unwrap_or((what, ""));
        if kind != name || !key.contains(needle) {
            continue;
        }
        let message = format!("failure injected into {scope} {name}");
        assert!(parts.next() != Some("panic"), "{message}");
        return Err(ServiceError::new(&message));
    }
    Ok(())
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::fail_if_listed;

    #[test]
    fn a_failure_affects_only_what_it_names() {
        let wanted = "service:outbox, item:loop/two\nitem:effect";
        assert!(fail_if_listed(wanted, "service", "outbox", "").is_err());
        assert!(fail_if_listed(wanted, "service", "timers", "").is_ok());
        assert!(fail_if_listed(wanted, "item", "outbox", "").is_ok());
        assert!(fail_if_listed(wanted, "item", "loop", "one").is_ok());
        assert!(fail_if_listed(wanted, "item", "loop", "two").is_err());
        assert!(fail_if_listed(wanted, "item", "effect", "any").is_err());
    }

    #[test]
    #[should_panic(expected = "failure injected into item effect")]
    fn a_failure_may_be_a_panic() {
        let _ = fail_if_listed("item:effect:panic", "item", "effect", "any");
    }
}
