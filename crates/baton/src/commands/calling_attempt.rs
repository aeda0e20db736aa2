//! The attempt that a command about user tasks is called by, whatever of its environment it shows.

use std::path::PathBuf;

use baton_engine::settings::location::{
    NAMESPACE_VARIABLE, ROOT_VARIABLE, STATE_DIR_VARIABLE, STORE_VARIABLE, StateLocation, WORKTREE_VARIABLE,
};

use crate::context;
use crate::error::CliError;
use crate::options::GlobalOptions;

const TOKEN_VARIABLE: &str = "BATON_TOKEN";

/// What Baton told the attempt's agent when it started it.
pub(super) struct CallingAttempt {
    pub(super) worktree: Option<PathBuf>,
    pub(super) token: Option<String>,
}

/// The caller's attempt, and the options with what it hides of them. No attempt for a person.
pub(super) fn find_caller(
    options: &GlobalOptions,
) -> Result<(GlobalOptions, Option<CallingAttempt>), CliError> {
    let place = StateLocation::find(&context::current_dir()?, &options.place())?;
    let mut options = options.clone();
    if let Some(variables) = context::attempt::variables_around(&place) {
        let value = |name: &str| variables.get(name).cloned();
        options.root = options.root.or_else(|| value(ROOT_VARIABLE).map(PathBuf::from));
        options.state_dir = options.state_dir.or_else(|| value(STATE_DIR_VARIABLE).map(PathBuf::from));
        options.namespace = options.namespace.or_else(|| value(NAMESPACE_VARIABLE));
        options.store = options.store.or_else(|| value(STORE_VARIABLE)?.parse().ok());
        let worktree = value(WORKTREE_VARIABLE).map(PathBuf::from);
        return Ok((options, Some(CallingAttempt { worktree, token: value(TOKEN_VARIABLE) })));
    }
    // Where the system does not show the processes above this one, its own environment has to do.
    let attempt = std::env::var(TOKEN_VARIABLE).ok().map(|token| CallingAttempt {
        worktree: std::env::var_os(WORKTREE_VARIABLE).map(PathBuf::from),
        token: Some(token),
    });
    Ok((options, attempt))
}
