//! Who accepts finished work, and what it has to show before it lands.

use crate::base::accept_policy::AcceptPolicy;
use crate::base::text::{NonBlank, Role};
use crate::landing::lane::waits_for_branch;
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
    if !is_ready || !is_checked || is_in_loop || waits_for_branch(task) {
        return PolicyStep::Wait;
    }
    match policy {
        AcceptPolicy::Person => PolicyStep::Wait,
        AcceptPolicy::Green => PolicyStep::Accept,
        AcceptPolicy::Reviewed => PolicyStep::Review,
    }
}

/// The commands among the verification steps of a plan: what is written in backticks, or after `$ `. The others are for readers.
pub fn commands_in(steps: &[NonBlank]) -> Vec<NonBlank> {
    let command = |step: &NonBlank| {
        let text = step.as_str().trim();
        let quoted = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        let quoted = quoted.filter(|inner| !inner.contains('`'));
        NonBlank::new(quoted.or_else(|| text.strip_prefix("$ "))?).ok()
    };
    steps.iter().filter_map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_as_a_command_is_one() {
        let steps = ["`cargo test`", "$ make check", "Look at the page", "run `x` and `y`", "`` ` ``", "``"];
        let steps: Vec<NonBlank> = steps.iter().map(|step| NonBlank::new(*step).unwrap()).collect();
        let found = commands_in(&steps);
        assert_eq!(found.iter().map(NonBlank::as_str).collect::<Vec<_>>(), ["cargo test", "make check"]);
    }
}
