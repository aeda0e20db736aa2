//! The commands that help with the codes of core, which knows no command line.

/// The commands for a code, with `TASK` and other words in capitals for what has to be filled in.
pub(crate) fn commands(code: &str) -> &'static [&'static str] {
    match code {
        "wrong_state" => &["baton task show TASK", "baton explain states"],
        "stale" => &["baton task restore ATTEMPT FOLDER"],
        "waiting_on" | "not_yours" | "standing_is_final" | "max-total-steps" | "internal-error" => {
            &["baton task show TASK"]
        }
        "not_released" => &["baton breakdown run TASK", "baton loop"],
        "split_by_hand" => &["baton breakdown edit TASK", "baton breakdown approve TASK"],
        "other_question" | "not_pending" | "question_pending" | "withdrawn" | "unknown_question"
        | "wrong_results" | "out_of_turn" | "not_asked" | "not_at_gate" | "queue_full" => {
            &["baton questions"]
        }
        "human_only" | "automation_stopped" | "unreadable_choice" | "unreadable_answer" | "not_the_gate"
        | "none_of_them" | "ambiguous_answer" => &["baton answer QUESTION TEXT"],
        "too_large" => &["baton recycle TASK", "baton accept TASK --force"],
        "needs_review" => {
            &["baton task diff TASK", "baton reject TASK --reason TEXT", "baton accept TASK --force"]
        }
        "needs_human" => &["baton task show TASK", "baton task diff TASK", "baton accept TASK"],
        "is_plan" => &[
            "baton breakdown show TASK",
            "baton breakdown approve TASK",
            "baton breakdown reject TASK --reason TEXT",
        ],
        "no_reader" => &["baton task add TITLE", "baton task show TASK"],
        "not_breakdown" => &["baton breakdown list", "baton recycle TASK"],
        "not_too_large" => &["baton recycle TASK"],
        "bad_replacement" | "no_replacement" => &["baton breakdown edit TASK"],
        "has_begun" => &["baton task cancel TASK", "baton task add TITLE --after OTHER"],
        "other_task" | "id_count" => &["baton breakdown show TASK", "baton breakdown approve TASK"],
        "already_answered" => &["baton task show TASK", "baton questions"],
        "no_cycle" => &["baton loop --from plan"],
        "limit_reached" => &["baton task add TITLE --description TEXT"],
        "is_gate" => &["baton loop", "baton answer QUESTION YES"],
        "unknown_task" => &["baton task list"],
        "token_taken" => &["baton token revoke NAME"],
        "token_over" => &["baton token create NAME --role viewer"],
        "too_many_tokens" => &["baton token list"],
        "no_such_edge" => &["baton explain phases"],
        "iteration_limit" => &["baton loop"],
        "max-step-visits-exceeded" => &["baton task log TASK", "baton task retry TASK"],
        "orchestration-error" => &["baton task log TASK", "baton doctor"],
        "error" => &["baton task log TASK", "baton doctor", "baton task retry TASK"],
        "no-prompt" | "missing" => &["baton recipe check"],
        "unknown_key" | "wrong_shape" => &["baton recipe schema"],
        "unreachable_step" => &["baton recipe show RECIPE"],
        "not_the_loop" => &["baton recipe show plan-execute-review"],
        "exited" => &["baton recipe start RECIPE"],
        "awaits_gate" => &["baton questions", "baton recipe exit"],
        "other_recipe" => &["baton recipe exit"],
        "step_changed" => &["baton recipe exit", "baton recipe start RECIPE"],
        _ => &[],
    }
}

/// The same, with the ids the message names filled in, for the hint of an error.
pub(crate) fn hint(code: &str, hint: &str, message: &str) -> String {
    let commands: Vec<String> = commands(code).iter().map(|command| fill_in(command, message)).collect();
    if commands.is_empty() {
        return hint.to_owned();
    }
    format!("{}: {}", hint.trim_end_matches('.'), commands.join(", "))
}

fn fill_in(command: &str, message: &str) -> String {
    let words = command.split(' ').map(|word| match word {
        "TASK" => first_id(message, "TASK-").unwrap_or(word),
        "QUESTION" => first_id(message, "Q-").unwrap_or(word),
        "ATTEMPT" => first_id(message, "ATT-").unwrap_or(word),
        "NAME" => message.strip_suffix(" already has a token").unwrap_or(word),
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The first id with this prefix.
fn first_id<'a>(message: &'a str, prefix: &str) -> Option<&'a str> {
    let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-';
    message.split(is_end).find(|word| {
        word.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use crate::explain::catalogue;
    use crate::reference::missing;
    use clap::CommandFactory;

    #[test]
    fn every_command_exists_and_no_text_names_one_twice() {
        let program = Cli::command();
        for entry in catalogue::entries() {
            let code = entry.explanation.code;
            for command in commands(code) {
                let line = command.strip_prefix("baton ").unwrap();
                assert_eq!(missing(&program, line), None, "{code}: {command}");
                assert!(!entry.explanation.next.contains("`baton "), "{code} is not a code of core");
            }
        }
    }

    #[test]
    fn a_hint_names_the_ids_of_its_message() {
        let message = "TASK-00000007 is done: accept is not possible in this state";
        assert_eq!(
            hint("wrong_state", "see what it allows now", message),
            "see what it allows now: baton task show TASK-00000007, baton explain states"
        );
        assert_eq!(hint("closed", "start it again", message), "start it again");
    }
}
