//! Routines: work that starts by time or by event. Core decides which causes become tasks; this folder finds the causes,
//! writes the decision, and takes people's commands.
//!
//! When to look is up to `services`.

mod commands;
mod error;
mod fire;
mod zone;

use baton_core::base::id::RoutineId;
use baton_core::records::change::Versioned;
use baton_core::routine::Routine;

use crate::base::error::{Entity, NotFound, Result};
use crate::projects::Projects;
use crate::tasks::service::TaskService;

pub use commands::NewRoutine;
pub use error::RoutineError;
pub use fire::Called;
pub use zone::local_zone_name;

/// Cheap to clone.
#[derive(Clone)]
pub struct Routines {
    tasks: TaskService,
    projects: Projects,
}

impl Routines {
    pub fn new(projects: &Projects) -> Self {
        Self { tasks: projects.tasks.clone(), projects: projects.clone() }
    }

    /// Oldest first, without those that were removed.
    pub async fn list(&self) -> Result<Vec<Routine>> {
        Ok(self.tasks.store.routines().await?.into_iter().map(|stored| stored.value).collect())
    }

    pub async fn get(&self, id: RoutineId) -> Result<Routine> {
        Ok(self.read(id).await?.value)
    }

    async fn read(&self, id: RoutineId) -> Result<Versioned<Routine>> {
        let found = self.tasks.store.routine(id).await?.filter(|stored| !stored.value.is_removed());
        Ok(found.ok_or_else(|| NotFound::new(Entity::Routine, id))?)
    }
}
