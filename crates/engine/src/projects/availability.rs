//! Which projects this machine can work on, and which it already has.
//!
//! With a shared store, a project without a remote can only be worked on by the machine that has its folder. A project
//! with a remote can be worked on anywhere, but machines with a clone get a short head start, because they begin sooner.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_core::base::id::ProjectId;
use baton_core::records::project::Project;
use baton_core::schedule::WorkerFit;

use crate::base::error::EngineError;
use crate::projects::Projects;
use crate::projects::source::CodeSource;

/// The list of projects is read again after this time. A project created meanwhile is found when its first task starts.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// How long a project whose code was unavailable is left to other machines.
const AWAY_FOR: Duration = Duration::from_secs(5);
/// Failures in a row to reach a remote before a person is asked. In between it is left alone for longer and longer.
const UNREACHED_MAX: u32 = 6;
/// Projects read at once.
const PAGE: u32 = 500;

/// Cheap to clone; clones share their state.
#[derive(Clone, Default)]
pub struct ProjectsHere(Arc<Mutex<ProjectLists>>);

#[derive(Default)]
struct ProjectLists {
    read_at: Option<Instant>,
    /// With a clone or a folder on this machine.
    warm: BTreeSet<ProjectId>,
    /// Can be cloned.
    cold: BTreeSet<ProjectId>,
    /// Only in a folder of another machine.
    elsewhere: BTreeSet<ProjectId>,
    /// Unavailable, and when to try again.
    away: BTreeMap<ProjectId, Instant>,
    /// How often in a row the remote could not be reached.
    unreached: BTreeMap<ProjectId, u32>,
}

impl ProjectsHere {
    pub fn warm(&self) -> BTreeSet<ProjectId> {
        self.known().warm.clone()
    }

    /// Records that the project's code is unavailable now.
    pub fn note_away(&self, project: ProjectId) {
        self.known().away.insert(project, Instant::now() + AWAY_FOR);
    }

    /// The remote of the project cannot be reached, which may pass. False once that has been so too often.
    pub fn note_unreached(&self, project: ProjectId) -> bool {
        let mut known = self.known();
        let times = known.unreached.entry(project).or_default();
        *times += 1;
        if *times >= UNREACHED_MAX {
            known.unreached.remove(&project);
            return false;
        }
        let until = Instant::now() + AWAY_FOR * (1 << (*times - 1));
        known.away.insert(project, until);
        true
    }

    pub fn note_reached(&self, project: ProjectId) {
        self.known().unreached.remove(&project);
    }

    fn known(&self) -> MutexGuard<'_, ProjectLists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are unavailable now.
    fn away(&self) -> BTreeSet<ProjectId> {
        let mut known = self.known();
        let now = Instant::now();
        known.away.retain(|_, until| *until > now);
        known.away.keys().copied().collect()
    }

    fn is_fresh(&self) -> bool {
        self.known().read_at.is_some_and(|at| at.elapsed() < FRESH_FOR)
    }
}

/// What this worker can claim now, and whether other machines should go first for some of it.
pub struct Reach {
    pub fit: WorkerFit,
    pub has_cold: bool,
}

impl Projects {
    /// `takes_cold` includes projects without a clone on this machine.
    pub(crate) async fn reach(&self, takes_cold: bool) -> Result<Reach, EngineError> {
        let labels = self.node.labels.clone();
        let mut held = self.held_now().await?;
        held.extend(self.setups.busy());
        let is_home_held = held.contains(&None);
        if !self.place.store.is_shared() {
            let mut elsewhere: BTreeSet<ProjectId> = held.into_iter().flatten().collect();
            elsewhere.extend(self.here.away());
            let fit = WorkerFit { labels, elsewhere, has_home: !is_home_held, ..WorkerFit::default() };
            return Ok(Reach { fit, has_cold: false });
        }
        if !self.here.is_fresh() {
            self.look_at_projects().await?;
        }
        let away = self.here.away();
        let known = self.here.known();
        let mut elsewhere: BTreeSet<ProjectId> = known.elsewhere.clone();
        elsewhere.extend(away);
        elsewhere.extend(held.into_iter().flatten());
        if !takes_cold {
            elsewhere.extend(&known.cold);
        }
        let has_home = match self.source(None) {
            CodeSource::Here(path) => {
                self.node.duty == baton_core::schedule::worker::WorkerDuty::Server && is_repository(&path)
            }
            CodeSource::Remote(_) => true,
        };
        let has_home = has_home && !is_home_held;
        let has_cold = !known.cold.is_empty();
        Ok(Reach { fit: WorkerFit { labels, elsewhere, has_home, ..WorkerFit::default() }, has_cold })
    }

    /// Open projects whose repository should be in a folder of this machine and is not. With a shared store, it may be on
    /// another.
    pub async fn missing_repositories(&self) -> Result<Vec<(Project, PathBuf)>, EngineError> {
        let mut missing = Vec::new();
        if self.place.store.is_shared() {
            return Ok(missing);
        }
        let mut cursor = None;
        loop {
            let page = self.tasks.store.projects(cursor, PAGE).await?;
            for project in page.items.into_iter().filter(|project| project.completed_at.is_none()) {
                if let CodeSource::Here(path) = self.source(Some(&project))
                    && !is_repository(&path)
                {
                    missing.push((project, path));
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(missing);
            }
        }
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
                    CodeSource::Here(path) if is_repository(&path) => &mut warm,
                    CodeSource::Here(_) => &mut elsewhere,
                    CodeSource::Remote(_) if folder.is_dir() => &mut warm,
                    CodeSource::Remote(_) => &mut cold,
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

/// A cheap check, because it runs often; opening the repository checks more.
fn is_repository(path: &Path) -> bool {
    path.join(".git").exists() || path.join("HEAD").is_file()
}
