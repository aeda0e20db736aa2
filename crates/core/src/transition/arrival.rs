//! Tasks imported from another tool, in the state they had there.
//!
//! Baton did not see that work, so it claims nothing: work finished elsewhere is done on the word of the person who
//! imports it, and recorded as theirs. Work in progress starts over.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::people::actor::Actor;
use crate::records::event::EventBody;
use crate::task::state::{AcceptedBy, TaskState};
use crate::task::{Task, TaskSpec};

/// The state of a task in the tool it comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportedState {
    /// To do.
    #[default]
    Open,
    /// To do later, or a heading over other tasks: not claimable until a person releases it.
    Held,
    Done,
    Cancelled,
}

impl ImportedState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Held => "held",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// The task and the events of its import.
    pub fn admit(self, spec: TaskSpec, depends_on: Vec<TaskId>, by: &Actor) -> (Task, Vec<EventBody>) {
        let task = spec.id;
        let mut events = vec![EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on }];
        let mut admitted = match self {
            Self::Held => Task::create_held(spec),
            Self::Open | Self::Done | Self::Cancelled => Task::create(spec),
        }
        .with_requester(by.person());
        match self {
            Self::Open | Self::Held => {}
            Self::Done => {
                let accepted_by = AcceptedBy::Actor { actor: by.clone() };
                admitted.state = TaskState::Done { accepted_by: accepted_by.clone() };
                events.push(EventBody::TaskDone { task, accepted_by, despite: None });
            }
            Self::Cancelled => {
                admitted.state = TaskState::Cancelled { by: by.clone(), reason: None };
                events.push(EventBody::TaskCancelled { task, reason: None });
            }
        }
        (admitted, events)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::graph::Standing;

    use crate::base::task_type::TaskType;
    use crate::base::text::NonBlank;
    use crate::base::time::Timestamp;

    fn spec() -> TaskSpec {
        TaskSpec::new(
            TaskId::from_bits(1),
            "import".parse().unwrap(),
            TaskType::Implementation,
            NonBlank::new("Mend it").unwrap(),
            Timestamp::from_ms(1),
        )
    }

    #[test]
    fn each_imported_state_is_kept_and_survives_json() {
        let expected = [
            (ImportedState::Open, true, Standing::Open, 1),
            (ImportedState::Held, false, Standing::Open, 1),
            (ImportedState::Done, false, Standing::Done, 2),
            (ImportedState::Cancelled, false, Standing::Cancelled, 2),
        ];
        for (arrival, is_claimable, standing, events) in expected {
            let (task, told) = arrival.admit(spec(), Vec::new(), &Actor::human("mia"));
            assert_eq!((task.is_claimable(), task.standing(), told.len()), (is_claimable, standing, events));
            let json = serde_json::to_string(&task).unwrap();
            assert_eq!(serde_json::from_str::<Task>(&json).unwrap(), task, "{arrival:?}");
        }
    }
}
