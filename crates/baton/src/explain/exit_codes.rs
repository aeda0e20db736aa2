//! What a command's exit code means.

use baton_core::explanation::Explanation;

pub const EXPLAINED: [Explanation; 7] = [
    Explanation {
        code: "exit-0",
        means: "Done. Also when there was nothing to do: \"no tasks available\" is no failure.",
        cause: "The command did what it was asked.",
        next: "There is nothing to do.",
    },
    Explanation {
        code: "exit-1",
        means: "The work failed.",
        cause: "An agent, a check, git or a long piece of work did not come to a good end. `baton do` passes the \
                command's own code on instead.",
        next: "Read the message on standard error; `baton task log TASK` has an agent's own words.",
    },
    Explanation {
        code: "exit-2",
        means: "The command was typed or set up wrongly; nothing was done.",
        cause: "An unknown word or flag, an id that does not exist, a blank text, a mistake in the settings.",
        next: "The message says what; add `--help` to any command for its usage and examples.",
    },
    Explanation {
        code: "exit-3",
        means: "The store or the server cannot be reached or opened.",
        cause: "A wrong path or address, missing rights, a damaged file, or a server that does not answer.",
        next: "Do what the hint says; `baton doctor` looks at everything, `baton config` shows which store counts.",
    },
    Explanation {
        code: "exit-4",
        means: "Refused: the command is right, and the state of things does not allow it.",
        cause: "The task has moved on, a question was answered already, or a rule stands in the way. The last line of \
                the error names the reason.",
        next: "Look up that reason with `baton explain`, read the state anew, and decide again.",
    },
    Explanation {
        code: "exit-10",
        means: "A question waits for an answer, and nobody is there to give it.",
        cause: "`baton chat` or `baton loop` was run without a terminal, and an agent asked something.",
        next: "`baton questions` shows it, `baton answer QUESTION TEXT` answers it, and the work goes on. Lay answers \
               down ahead with `baton answer --queue TEXT`, or set `[asking] unattended`.",
    },
    Explanation {
        code: "exit-128+n",
        means: "The command was ended by signal n: 130 is Ctrl-C, 143 a polite request to end, 137 a kill.",
        cause: "A person or the system ended it.",
        next: "Nothing is lost: start it again.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{FAILED, REFUSED, UNANSWERED, UNREACHABLE, USAGE};

    #[test]
    fn every_exit_code_that_is_given_is_explained() {
        for code in [0, FAILED, USAGE, UNREACHABLE, REFUSED, UNANSWERED] {
            let name = format!("exit-{code}");
            assert!(EXPLAINED.iter().any(|row| row.code == name), "{name}");
        }
    }
}
