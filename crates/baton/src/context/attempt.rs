//! Whether this process belongs to an attempt that works here (I19).
//!
//! What an agent sets, changes or hides of its own environment does not count: Baton's own variables stand in the environment of
//! the attempt's first process, which is above everything that the agent starts.

use std::collections::BTreeMap;
use std::path::Path;

use baton_core::base::id::AttemptId;
use baton_engine::peer;
use baton_engine::settings::location::{
    NAMESPACE_VARIABLE, ROOT_VARIABLE, STATE_DIR_VARIABLE, STORE_VARIABLE, StateLocation, WORKTREE_VARIABLE,
};

use crate::error::CliError;

const ATTEMPT_VARIABLE: &str = "BATON_ATTEMPT_ID";

/// What Baton gave to the attempt that this process belongs to, if that works for this place rather than that its agent uses a
/// Baton of its own in another one.
pub(crate) fn variables_around(place: &StateLocation) -> Option<BTreeMap<String, String>> {
    peer::variables_around(|variables| is_of_place(variables, place))
}

/// Refuses what only a person may do.
pub(crate) fn check_is_person(place: &StateLocation) -> Result<(), CliError> {
    variables_around(place).map_or(Ok(()), |variables| Err(refusal(&variables)))
}

/// Refuses to change a file of the person's home on behalf of an attempt that has the same home.
pub(crate) fn check_is_persons_file(file: &Path) -> Result<(), CliError> {
    let is_below = |variables: &BTreeMap<String, String>, name: &str| {
        variables.get(name).is_some_and(|home| !home.is_empty() && file.starts_with(home))
    };
    let around = peer::variables_around(|variables| {
        is_below(variables, "HOME") || is_below(variables, "XDG_CONFIG_HOME")
    });
    around.map_or(Ok(()), |variables| Err(refusal(&variables)))
}

/// Refuses the secret of another attempt than the one this process belongs to.
pub(crate) fn check_own_secret(place: &StateLocation, attempt: AttemptId) -> Result<(), CliError> {
    let around = variables_around(place);
    let is_other =
        |variables: &BTreeMap<String, String>| variables.get(ATTEMPT_VARIABLE) != Some(&attempt.to_string());
    around.filter(is_other).map_or(Ok(()), |variables| Err(refusal(&variables)))
}

fn refusal(variables: &BTreeMap<String, String>) -> CliError {
    let attempt = variables.get(ATTEMPT_VARIABLE).map_or("an attempt", String::as_str);
    CliError::refused(
        format!("this command runs in {attempt}, and only a person may do this"),
        "agents use the tools of their attempt: ask_user, report_outcome, add_task and the others",
    )
}

fn is_of_place(variables: &BTreeMap<String, String>, place: &StateLocation) -> bool {
    let is = |name: &str, path: &Path| {
        variables.get(name).is_some_and(|value| is_same_folder(Path::new(value), path))
    };
    let has = |name: &str, text: &str| variables.get(name).is_some_and(|value| value == text);
    let is_same_store = place.store.is_shared()
        && has(STORE_VARIABLE, &place.store.without_credentials())
        && has(NAMESPACE_VARIABLE, &place.namespace);
    is(ROOT_VARIABLE, &place.root)
        || is(STATE_DIR_VARIABLE, &place.state_dir)
        || is(WORKTREE_VARIABLE, &place.root)
        || is_same_store
}

/// A link to a folder leads to the same one.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
