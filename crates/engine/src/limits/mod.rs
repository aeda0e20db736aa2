//! What may be spent and who may be used: budgets, holds on agents, and failures in a row.
//!
//! Core decides; this folder reads and writes the rows. Which task is claimed next belongs to `dispatch`.

pub mod budgets;
pub mod holds;
mod intake;
pub mod intakes;
mod live_spending;
pub mod machine;
pub mod room;
mod routes;
mod systemic;

use std::sync::Arc;

use crate::base::announce::Announce;
use crate::limits::holds::Holds;
use crate::limits::intakes::Intakes;
use crate::limits::live_spending::LiveSpending;
use crate::settings::Settings;
use crate::tasks::service::TaskService;

/// Charges budgets and holds agents. Cheap to clone.
#[derive(Clone)]
pub struct Limits {
    pub holds: Holds,
    /// Failures in a row, by agent.
    pub intakes: Intakes,
    /// What runs here and is not written yet.
    pub live: LiveSpending,
    tasks: TaskService,
    settings: Arc<Settings>,
    announce: Announce,
}

impl Limits {
    pub fn new(tasks: TaskService, settings: Arc<Settings>, announce: Announce) -> Self {
        Self {
            holds: Holds::new(&tasks),
            intakes: Intakes::default(),
            live: LiveSpending::default(),
            tasks,
            settings,
            announce,
        }
    }

    /// The same for the work of a project with these settings.
    #[must_use]
    pub fn with_settings(&self, settings: &Arc<Settings>) -> Self {
        Self { settings: settings.clone(), ..self.clone() }
    }

    /// The same on another handle of the store.
    #[must_use]
    pub fn on_store(&self, tasks: &TaskService) -> Self {
        Self { holds: Holds::new(tasks), tasks: tasks.clone(), ..self.clone() }
    }
}
