//! The lanes there are: one for each branch that accepted work waits for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::landing::lane::{LaneMember, LaneOrder, lane_order};
use baton_core::records::project::Project;
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use baton_store::model::query::TaskFilter;

use crate::base::error::EngineError;
use crate::landing::foundations;
use crate::projects::Projects;
use crate::projects::source::CodeSource;

/// Tasks read at once.
const PAGE: u32 = 200;

/// A branch of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneKey {
    pub repository: PathBuf,
    pub branch: BranchName,
}

impl std::fmt::Display for LaneKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.branch, self.repository.display())
    }
}

/// A lane and the tasks in it.
#[derive(Debug, Clone)]
pub struct Lane {
    pub key: LaneKey,
    pub source: CodeSource,
    pub project: Option<Project>,
    /// In the order in which they land.
    pub tasks: Vec<Task>,
    /// Those that cannot land before tasks do that are not in the lane.
    pub resting: Vec<LaneMember>,
}

/// Every lane that has a task.
pub async fn load(projects: &Projects) -> Result<Vec<Lane>, EngineError> {
    let filter = TaskFilter { queue: Some(QueueName::Landing), ..TaskFilter::default() };
    let mut lanes: BTreeMap<LaneKey, Lane> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = projects.tasks.store.tasks(&filter, cursor, PAGE).await?;
        for stored in page.items {
            let task = stored.value;
            let mut lane = empty_lane(projects, &task).await?;
            lane = lanes.remove(&lane.key).unwrap_or(lane);
            lane.tasks.push(task);
            lanes.insert(lane.key.clone(), lane);
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let mut lanes: Vec<Lane> = lanes.into_values().collect();
    for lane in &mut lanes {
        let mut members = Vec::with_capacity(lane.tasks.len());
        for task in std::mem::take(&mut lane.tasks) {
            let unmet = foundations::unmet(projects, &task).await?.iter().map(|found| found.task).collect();
            members.push(LaneMember { task, unmet });
        }
        LaneOrder { candidates: lane.tasks, resting: lane.resting } = lane_order(members);
    }
    Ok(lanes)
}

/// The lane of one task, with all that wait in it; None if the task does not wait, or for a task that is not in the lane.
pub async fn find(projects: &Projects, task: TaskId) -> Result<Option<Lane>, EngineError> {
    let is_in = |lane: &Lane| lane.tasks.iter().any(|other| other.id() == task);
    Ok(load(projects).await?.into_iter().find(is_in))
}

/// The tasks that still wait in this lane.
pub(crate) async fn waiting(projects: &Projects, key: &LaneKey) -> Result<Vec<Task>, EngineError> {
    let lane = load(projects).await?.into_iter().find(|lane| lane.key == *key);
    Ok(lane.map(|lane| lane.tasks).unwrap_or_default())
}

/// The lane that the work of this task belongs to.
pub(crate) async fn key_of(projects: &Projects, task: &Task) -> Result<LaneKey, EngineError> {
    Ok(empty_lane(projects, task).await?.key)
}

async fn empty_lane(projects: &Projects, task: &Task) -> Result<Lane, EngineError> {
    let project = projects.project(task).await?;
    let source = projects.source(project.as_ref());
    let branch = project.as_ref().map_or_else(BranchName::integration, Project::branch);
    let key = LaneKey { repository: projects.folder_of(&source), branch };
    Ok(Lane { key, source, project, tasks: Vec::new(), resting: Vec::new() })
}
