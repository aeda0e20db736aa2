//! The tools offered to an agent or to a person's own client. A tool that is not offered cannot be called.

/// Whose client asks for tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolClient {
    /// The agent of a live attempt.
    Attempt { is_breakdown: bool },
    /// A person's own client, without an attempt token.
    Person,
}

const QUEUE_TOOLS: [&str; 6] =
    ["get_next_task", "list_tasks", "get_task", "add_task", "update_task", "set_task_status"];
/// `ask_human` duplicates `ask_user`: Gemini drops every tool called `ask_user`, its own and others'.
const ATTEMPT_TOOLS: [&str; 4] = ["ask_user", "ask_human", "report_outcome", "load_workflow_context"];
const BREAKDOWN_TOOLS: [&str; 1] = ["submit_breakdown"];
/// I12: offered exactly when the Taskfile exists.
pub const USER_TASK_TOOLS: [&str; 2] = ["list_user_tasks", "run_user_task"];

/// The offered tools, in listing order.
pub fn tools_for(client: ToolClient, taskfile_exists: bool) -> Vec<&'static str> {
    let (attempt, breakdown): (&[&str], &[&str]) = match client {
        ToolClient::Attempt { is_breakdown: true } => (&ATTEMPT_TOOLS, &BREAKDOWN_TOOLS),
        ToolClient::Attempt { is_breakdown: false } => (&ATTEMPT_TOOLS, &[]),
        ToolClient::Person => (&[], &[]),
    };
    let user_tasks: &[&str] = if taskfile_exists { &USER_TASK_TOOLS } else { &[] };
    [attempt, &QUEUE_TOOLS, breakdown, user_tasks].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i12_user_task_tools_are_offered_exactly_when_the_file_exists() {
        for client in [
            ToolClient::Attempt { is_breakdown: true },
            ToolClient::Attempt { is_breakdown: false },
            ToolClient::Person,
        ] {
            for exists in [true, false] {
                let offered = tools_for(client, exists);
                for tool in USER_TASK_TOOLS {
                    assert_eq!(offered.contains(&tool), exists, "{client:?} {tool}");
                }
            }
        }
    }

    #[test]
    fn only_an_attempt_may_ask_and_only_a_breakdown_may_plan() {
        assert!(!tools_for(ToolClient::Person, true).contains(&"ask_user"));
        assert!(!tools_for(ToolClient::Attempt { is_breakdown: false }, true).contains(&"submit_breakdown"));
        assert!(tools_for(ToolClient::Attempt { is_breakdown: true }, false).contains(&"submit_breakdown"));
    }
}
