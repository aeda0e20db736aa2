//! Which projects this machine can work on, and which of them it has at hand.
//!
//! Where many machines share a store, a project without a remote can only be worked on where its folder is. One with a
//! remote can be worked on anywhere, but starts sooner where a clone of it stands: such a machine is left a moment to take
//! the work first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_core::base::id::ProjectId;
use baton_core::schedule::WorkerFit;

use crate::base::error::EngineError;
use crate::projects::Projects;
use crate::projects::source::Source;

/// The list of projects is read again after this long. A project that came meanwhile is found out about when its first
/// task is begun.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// How long a project whose code could not be had is left to others.
const AWAY_FOR: Duration = Duration::from_secs(5);
/// Projects read at once.
const PAGE: u32 = 500;

/// Cheap to clone; clones share what they know.
#[derive(Clone, Default)]
pub struct ProjectsHere(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    read_at: Option<Instant>,
    /// Has a clone or a folder here.
    warm: BTreeSet<ProjectId>,
    /// Could be cloned.
    cold: BTreeSet<ProjectId>,
    /// Is in a folder of another machine.
    elsewhere: BTreeSet<ProjectId>,
    /// Could not be had, and until when it is not tried again.
    away: BTreeMap<ProjectId, Instant>,
}

impl ProjectsHere {
    pub fn warm(&self) -> BTreeSet<ProjectId> {
        self.known().warm.clone()
    }

    /// The code of this project could not be had just now.
    pub fn note_away(&self, project: ProjectId) {
        self.known().away.insert(project, Instant::now() + AWAY_FOR);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_fresh(&self) -> bool {
        self.known().read_at.is_some_and(|at| at.elapsed() < FRESH_FOR)
    }
}

/// What this worker can take now, and whether waiting a moment would leave some of it to others.
pub struct Reach {
    pub fit: WorkerFit,
    pub has_cold: bool,
}

impl Projects {
    /// `takes_cold` says that projects which are not at hand yet may be taken too.
    pub(crate) async fn reach(&self, takes_cold: bool) -> Result<Reach, EngineError> {
        let labels = self.node.labels.clone();
        if !self.place.store.is_shared() {
            return Ok(Reach { fit: WorkerFit { labels, ..WorkerFit::default() }, has_cold: false });
        }
        if !self.here.is_fresh() {
            self.look_at_projects().await?;
        }
        let mut known = self.here.known();
        let now = Instant::now();
        known.away.retain(|_, until| *until > now);
        let mut elsewhere: BTreeSet<ProjectId> = known.elsewhere.clone();
        elsewhere.extend(known.away.keys());
        if !takes_cold {
            elsewhere.extend(&known.cold);
        }
        let has_home = match self.source(None) {
            Source::Here(path) => {
                self.node.duty == baton_core::schedule::worker::WorkerDuty::Server && is_repository(&path)
            }
            Source::Remote(_) => true,
        };
        let has_cold = !known.cold.is_empty();
        Ok(Reach { fit: WorkerFit { labels, elsewhere, has_home }, has_cold })
    }

    async fn look_at_projects(&self) -> Result<(), EngineError> {
        let (mut warm, mut cold, mut elsewhere) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut cursor = None;
        loop {
            let page = self.tasks.store.projects(cursor, PAGE).await?;
            for project in page.items.iter().filter(|project| project.completed_at.is_none()) {
                let source = self.source(Some(project));
                let folder = self.folder_of(&source);
                let group = match source {
                    Source::Here(path) if is_repository(&path) => &mut warm,
                    Source::Here(_) => &mut elsewhere,
                    Source::Remote(_) if folder.is_dir() => &mut warm,
                    Source::Remote(_) => &mut cold,
                };
                group.insert(project.id);
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let mut known = self.here.known();
        (known.warm, known.cold, known.elsewhere) = (warm, cold, elsewhere);
        known.read_at = Some(Instant::now());
        Ok(())
    }
}

/// Told by its folder alone: it is asked often, and whoever begins work looks closer.
fn is_repository(path: &Path) -> bool {
    path.join(".git").exists() || path.join("HEAD").is_file()
}
