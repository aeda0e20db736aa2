//! Whose work a task is. Many projects and people use the same machines, and a limit keeps each to a part of them.

use serde::{Deserialize, Serialize};

use super::capacity::{Capacity, Load};
use crate::id::ProjectId;
use crate::text::NonBlank;

/// The project a task belongs to and the person who asked for it, as far as it has them. What belongs to nobody is
/// held by no limit of theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Share {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<NonBlank>,
}

impl Share {
    /// How many more of this share may start, whatever else limits them: the smaller of its project's room and its
    /// person's. A store looks no further into a share than this.
    pub fn room(&self, capacity: &Capacity, load: &Load) -> u32 {
        let of_project = self.project.map_or(u32::MAX, |project| {
            capacity.per_project.max(&project).saturating_sub(load.of_project(project))
        });
        let of_person = self.person.as_ref().map_or(u32::MAX, |person| {
            capacity.per_person.max(person).saturating_sub(load.of_person(person))
        });
        of_project.min(of_person)
    }
}
