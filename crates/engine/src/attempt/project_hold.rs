//! What keeps a whole project from being worked on: it is asked about once, and nobody is blamed.

use std::io::ErrorKind;

use baton_core::base::id::AttemptId;
use baton_core::task::Task;
use baton_core::task::attempt::AttemptResult;

use crate::attempt::context::AttemptContext;
use crate::attempt::error::AttemptError;
use crate::attempt::executor::Executed;
use crate::attempt::runner::{Runner, without_work};
use crate::base::error::EngineError;
use crate::base::run_fence::NoFence;
use crate::git::{GitError, TRIED_TO_CLONE, TRIED_TO_FETCH};
use crate::projects::error::ProjectError;
use crate::settings::SettingsError;
use crate::user_tasks::UserTaskError;

impl Runner {
    /// Asks about what keeps the whole project from being worked on; its agent is not blamed. A task that meets it while the
    /// question is pending goes back to the queue.
    pub(super) async fn hold_project(
        &self,
        task: &Task,
        attempt: AttemptId,
        error: &EngineError,
    ) -> Result<Executed, EngineError> {
        let AttemptContext { projects, limits, announce, .. } = &self.context;
        let _one = projects.held.one_at_a_time().await;
        projects.held.note_asked();
        if projects.held_now().await?.contains(&task.spec().project_id) {
            return Ok(Executed::Stopped);
        }
        let question = projects.hold_question(task, error).await?;
        announce(&format!("{}: its project is on hold until you answer: {error}", task.id()));
        let end = without_work(AttemptResult::Asked { question }, "");
        let settled = limits.settle_charged(task, attempt, end).await;
        projects.held.note_asked();
        match settled {
            Ok(()) => Ok(Executed::Settled),
            Err(error) if error.is_stale() => Ok(Executed::Stale),
            Err(error) => Err(error),
        }
    }
}

/// Whether any other task of the project would have met it too, and none of another.
pub(super) fn is_of_project(error: &EngineError) -> bool {
    error.is::<SettingsError>()
        || error.is::<UserTaskError>()
        || error.is::<ProjectError>()
        || error.is::<NoFence>()
        || matches!(error.get(), Some(GitError::NotARepository { .. }))
        || matches!(error.get(), Some(AttemptError::SetupFailed { .. }))
}

/// Whether git failed because of the repository that work starts from: it is damaged, belongs to somebody else, or lacks what is
/// needed. What concerns every repository of this machine, or passes, is not among it.
pub(super) fn is_of_repository(error: &EngineError) -> bool {
    let Some(error) = error.get::<GitError>() else { return false };
    match error {
        GitError::Missing { .. } | GitError::TooOld { .. } | GitError::TimedOut { .. } => false,
        // A lock that is still there after git was called again and again belongs to nobody any more.
        GitError::Failed { stderr, .. } => !stderr.contains("No space left on device"),
        GitError::File { source, .. } => source.kind() != ErrorKind::StorageFull,
        _ => !error.is_in_the_way(),
    }
}

/// Whether the remote of a project could not be reached: it may be there again soon.
pub(super) fn is_of_remote(error: &EngineError) -> bool {
    matches!(error.get(), Some(GitError::Failed { tried, .. } | GitError::TimedOut { tried, .. })
        if *tried == TRIED_TO_FETCH || *tried == TRIED_TO_CLONE)
}
