//! Who accepts finished work.

use crate::base::accept_policy::AcceptPolicy;
use crate::base::text::Role;
use crate::landing::lane::waits_for_person;
use crate::task::Task;
use crate::task::state::{Provisional, ReviewMark, TaskState};

/// What a policy does about a finished task. Whatever carries a mark waits for a person, under every policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyStep {
    /// A person decides.
    Wait,
    Accept,
    /// An agent that did not do the work reviews it first.
    Review,
}

/// `is_checked`: something runs before the work lands. Without that nothing would stand between an agent and the branch.
pub fn policy_step(policy: AcceptPolicy, is_checked: bool, task: &Task) -> PolicyStep {
    let is_ready = matches!(
        task.state(),
        TaskState::Provisional(Provisional { mark: ReviewMark::Ready, question: None, .. })
    );
    // In a loop the person decides about each subtask.
    let is_in_loop = Role::loop_phases().contains(&task.spec().role);
    if !is_ready || !is_checked || is_in_loop || waits_for_person(task) {
        return PolicyStep::Wait;
    }
    match policy {
        AcceptPolicy::Person => PolicyStep::Wait,
        AcceptPolicy::Green => PolicyStep::Accept,
        AcceptPolicy::Reviewed => PolicyStep::Review,
    }
}
