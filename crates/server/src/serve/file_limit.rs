//! How many files this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as the system allows, and returns it; none if there is no limit. Connections, git and agents all
/// need files; the usual 1,024 are used up by a thousand silent connections.
pub(super) fn raise() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    match raised {
        Ok(()) => limit.maximum,
        // Some systems allow less than they say.
        Err(error) => {
            tracing::debug!(%error, "the limit on open files stays as it is");
            limit.current
        }
    }
}
