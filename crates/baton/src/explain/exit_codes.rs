//! Explanations of the exit codes.

use baton_core::base::explanation::Explanation;

pub(crate) const EXPLAINED: [Explanation; 7] = [
    Explanation {
        code: "exit-0",
        means: "Success, also if there was nothing to do (\"no tasks available\").",
        cause: "The command succeeded.",
        next: "No action is needed.",
    },
    Explanation {
        code: "exit-1",
        means: "The work failed.",
        cause: "An agent, a check, git or another operation failed. `baton do` exits with the code of its command \
                instead.",
        next: "Read the message on standard error; `baton task log TASK` prints the agent's log.",
    },
    Explanation {
        code: "exit-2",
        means: "Invalid usage or settings; nothing was done.",
        cause: "An unknown command or flag, an unknown id, a blank text, or invalid settings.",
        next: "Read the message; add `--help` to the command for its usage and examples.",
    },
    Explanation {
        code: "exit-3",
        means: "The store or the server cannot be reached or opened.",
        cause: "A wrong path or address, missing permissions, a damaged file, or a server that does not answer.",
        next: "Follow the hint; `baton doctor` checks everything, `baton config` shows which store is used.",
    },
    Explanation {
        code: "exit-4",
        means: "Refused: the command is valid, but the current state does not allow it.",
        cause: "The task has changed, the question was already answered, or a rule forbids it. The last line of the \
                error names the reason.",
        next: "Look up the reason with `baton explain`, check the current state, and decide again.",
    },
    Explanation {
        code: "exit-10",
        means: "A question is pending, and there is no terminal to answer it.",
        cause: "`baton chat` or `baton loop` was run without a terminal, and an agent asked something.",
        next: "List it with `baton questions` and answer it with `baton answer QUESTION TEXT`; the work then continues. \
               Queue answers in advance with `baton answer --queue TEXT`, or set `[asking] unattended`.",
    },
    Explanation {
        code: "exit-128+n",
        means: "The command was ended by signal n: 130 is SIGINT (Ctrl-C), 143 SIGTERM, 137 SIGKILL.",
        cause: "A person or the system stopped it.",
        next: "No work is lost: start it again.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{FAILED, REFUSED, UNANSWERED, UNREACHABLE, USAGE};

    #[test]
    fn every_exit_code_is_explained() {
        for code in [0, FAILED, USAGE, UNREACHABLE, REFUSED, UNANSWERED] {
            let name = format!("exit-{code}");
            assert!(EXPLAINED.iter().any(|row| row.code == name), "{name}");
        }
    }
}
