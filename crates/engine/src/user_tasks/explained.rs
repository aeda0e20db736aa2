//! Why a user task was not run, explained.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::user_tasks::error::UserTaskError;

explained! { UserTaskError {
    Self::NoTaskfile => Explanation {
        code: "no_taskfile",
        means: "The project has no commands of its own: there is no .agent/Taskfile.yml.",
        cause: "Nobody has written one, or you are in another repository.",
        next: "`baton init` writes one from what the repository has.",
    },
    Self::Unreadable(_) => Explanation {
        code: "taskfile_unreadable",
        means: "The Taskfile cannot be used; the message has the place and the reason.",
        cause: "A mistake in its YAML or its templates, or an include that is not there.",
        next: "Fix it, then look: `baton tasks`.",
    },
    Self::Unknown { .. } => Explanation {
        code: "unknown_user_task",
        means: "The Taskfile has no such task on offer.",
        cause: "The name is mistyped, or the task is internal or has no description: those are not offered.",
        next: "`baton tasks` shows what there is.",
    },
    Self::OpenQuote => Explanation {
        code: "open_quote",
        means: "The arguments end inside a quote.",
        cause: "Arguments are split by the rules of a shell.",
        next: "Close the quote, or put a backslash before it.",
    },
    Self::NulInArgs => Explanation {
        code: "nul_in_args",
        means: "The arguments contain a NUL character.",
        cause: "Programs receive arguments as texts that end at the first NUL.",
        next: "Leave the NUL character out of the arguments.",
    },
    Self::UnknownKeys(_) => Explanation {
        code: "unknown_keys",
        means: "The Taskfile, or a file it includes, has a key that is not known; the message has the place.",
        cause: "A misspelled key would be ignored: a task with `cmdz` does nothing and succeeds.",
        next: "Fix the key, or begin it with `x-` if it is meant for another program.",
    },
    Self::Untrusted => Explanation {
        code: "untrusted",
        means: "The Taskfile is new or has changed, and nobody has said that it may run as it is.",
        cause: "`[user_tasks] trust = \"prompt\"` is set, and commands run with your rights.",
        next: "Read the file, then say yes: `baton tasks --trust`.",
    },
    Self::Folder { .. } => Explanation {
        code: "user_task_folder",
        means: "A folder for the run could not be used.",
        cause: "Its owner, its rights or the disk.",
        next: "Check the path in the message.",
    },
    Self::NotFenced(_) => Explanation {
        code: "user_task_not_fenced",
        means: "The user task was not run: the fence that its attempt has cannot be built for it (I21).",
        cause: "`fence = \"strict\"` is all or nothing, and something that it needs is missing; the message says what.",
        next: "`baton doctor` shows what is missing. Install bubblewrap, or set `fence = \"auto\"`.",
    },
    Self::Lost(_) => Explanation {
        code: "run_lost",
        means: "The run was begun and its end was not seen.",
        cause: "Baton was ending, or ran out of memory or threads.",
        next: "See whether it was done, then try again.",
    },
} }
