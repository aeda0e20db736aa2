//! A project report as clients see it.

use baton_engine::reports::project_report::{Effort, ProjectProgress, ProjectReport, TaskLine};
use serde::Serialize;

use crate::api::views::project::ProjectView;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ReportView {
    pub project: ProjectView,
    pub progress: ProjectProgress,
    pub effort: Effort,
    pub tasks: Vec<TaskLine>,
}

impl From<ProjectReport> for ReportView {
    fn from(report: ProjectReport) -> Self {
        let ProjectReport { project, progress, effort, tasks } = report;
        Self { project: ProjectView::from(&project), progress, effort, tasks }
    }
}
