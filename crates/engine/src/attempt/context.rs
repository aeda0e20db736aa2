//! What running an attempt needs.

use std::sync::Arc;

use crate::attempt::host::AgentHost;
use crate::base::announce::Announce;
use crate::cluster::running::Running;
use crate::limits::Limits;
use crate::projects::Projects;
use crate::projects::leased_values::Values;
use crate::settings::Settings;
use crate::settings::location::StateLocation;
use crate::tasks::service::TaskService;

/// Cheap to clone.
#[derive(Clone)]
pub struct AttemptContext {
    pub tasks: TaskService,
    pub settings: Arc<Settings>,
    pub place: StateLocation,
    pub projects: Projects,
    pub limits: Limits,
    pub agents: AgentHost,
    pub running: Running,
    pub announce: Announce,
}

impl AttemptContext {
    /// The same for a task that has these values.
    #[must_use]
    pub(crate) fn with_values(&self, values: Values) -> Self {
        Self { agents: self.agents.with_values(values), ..self.clone() }
    }

    /// The same for the work of a project with these settings.
    #[must_use]
    pub(crate) fn with_settings(&self, settings: Arc<Settings>) -> Self {
        Self {
            projects: self.projects.with_settings(&settings),
            limits: self.limits.with_settings(&settings),
            agents: self.agents.with_settings(&settings),
            settings,
            ..self.clone()
        }
    }
}
