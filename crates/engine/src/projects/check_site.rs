//! Where the commands of a project's people run on behalf of an attempt.

use std::ffi::OsStr;
use std::path::Path;

use baton_agents::process::environment::{ATTEMPT_ID, AgentEnvironment};
use baton_core::base::id::AttemptId;

use crate::limits::machine;
use crate::projects::Projects;
use crate::projects::leased_values::Values;
use crate::settings::location::StateLocation;
use crate::user_tasks::Site;

/// They get the allow-list's variables and those named, but not the attempt's token; its id is in their environment, so that
/// they are found and ended with it. What a task remembers between runs goes to `memory`: in the folder it works in, it would
/// look like work.
pub(crate) fn attempt_site(
    place: &StateLocation,
    root: &Path,
    folder: &Path,
    attempt: AttemptId,
    memory: &Path,
    variables: &[String],
    values: &Values,
) -> Site {
    let mut environment = AgentEnvironment::allowed(std::env::vars_os(), variables);
    for (name, value) in values {
        environment.set(name, value);
    }
    environment.set(ATTEMPT_ID, attempt.to_string());
    environment.set("TASK_TEMP_DIR", memory);
    for (name, value) in place.variables() {
        environment.set(name, value);
    }
    let plain = |text: &OsStr| text.to_string_lossy().into_owned();
    let environment = environment.iter().map(|(name, value)| (plain(name), plain(value))).collect();
    Site {
        root: root.to_owned(),
        copy_of: None,
        folder: folder.to_owned(),
        environment: Some(environment),
        values: values.clone(),
        fence: None,
        memory_bytes_max: None,
    }
}

impl Projects {
    /// What the processes of a check, a set-up or a hook may use together: as much as those of an attempt.
    pub(crate) fn command_memory_bytes(&self) -> Option<u64> {
        self.serving.room.attempt_memory_bytes(machine::memory_mb())
    }

    /// For checks of accepted work, which need no variables of an agent.
    pub(crate) fn check_site(
        &self,
        root: &Path,
        folder: &Path,
        attempt: AttemptId,
        memory: &Path,
        values: &Values,
    ) -> Site {
        let site = attempt_site(&self.place, root, folder, attempt, memory, &[], values);
        Site { memory_bytes_max: self.command_memory_bytes(), ..site }
    }
}
