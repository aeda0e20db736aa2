//! What the engine could not do, explained. What another type refused is explained there.

use baton_core::ask_refusal::explained::ALREADY_ANSWERED;
use baton_core::explained;
use baton_core::explanation::Explanation;
use baton_core::queued_answer::QueueFull;
use baton_core::text::Blank;
use baton_store::model::query::BadCursor;

use super::EngineError;

explained! { EngineError {
    Self::NotFound { .. } => Explanation {
        code: "not_found",
        means: "There is nothing of that kind under that name or id.",
        cause: "It is mistyped, or belongs to another repository or namespace. Ids may be shortened to a beginning that \
                only one of them has.",
        next: "List what there is: `baton task list`, `baton questions`, `baton project list`, `baton recipe list`.",
    },
    Self::RunOpen { .. } => Explanation {
        code: "run_open",
        means: "The session runs a recipe already, and it runs one at a time.",
        cause: "A recipe or the loop was started there and has not ended.",
        next: "Wait for it, stop it (`baton recipe exit`), or start this one on another session: \
               `baton recipe start RECIPE --session NAME`.",
    },
    Self::NoRun { .. } => Explanation {
        code: "no_run",
        means: "No recipe runs on this session.",
        cause: "It has ended, or runs on another session than the one that was named (\"cli\" unless you say otherwise).",
        next: "Start one: `baton recipe start RECIPE`.",
    },
    Self::NobodyListens { .. } => Explanation {
        code: "nobody_listens",
        means: "What you said to the loop would reach nobody: no agent of it is at work.",
        cause: "The loop waits for an answer, or is between two phases.",
        next: "Answer its question instead: `baton questions`.",
    },
    Self::LoopOfTask { .. } => Explanation {
        code: "loop_of_task",
        means: "A task cannot be done by the recipe of the loop: the loop runs on a session and takes its tasks from the \
                queue.",
        cause: "`--recipe plan-execute-review` was given for a task.",
        next: "Add the task without a recipe, then start the loop: `baton loop`.",
    },
    Self::Plan(_) => Explanation {
        code: "bad_plan",
        means: "The plan cannot be used; the message lists everything that is wrong with it.",
        cause: "Items without a title, dependencies on numbers that are not there or in a circle, or more items than a \
                plan may have.",
        next: "Mend it and hand it in again: `baton breakdown edit TASK`.",
    },
    Self::Restless { .. } => Explanation {
        code: "restless",
        means: "The task changed every time Baton wanted to write its decision.",
        cause: "Several programs work on the same task at once.",
        next: "Try again in a moment; `baton task show TASK` says where it stands.",
    },
    Self::Overtaken { .. } => Explanation {
        code: "overtaken",
        means: "Somebody else changed what the task says while you were writing; nothing of yours was written over it.",
        cause: "Two people, or a person and an agent, edited the same task.",
        next: "Read it again (`baton task show TASK`), then change it: `baton task edit TASK`.",
    },
    Self::NotArrived { .. } => Explanation {
        code: "not_arrived",
        means: "The work is still on the machine that did it, and not at the remote that everybody shares.",
        cause: "That machine could not reach the remote when its agent ended. It tries again by itself.",
        next: "See whether the machine is there (`baton workers`), and accept again later: `baton accept TASK`.",
    },
    Self::TurnTaken { .. } => Explanation {
        code: "turn_taken",
        means: "Something only one machine may do at a time, such as a merge, is held by another one for too long.",
        cause: "That machine is slow, or was cut off in the middle of it; its turn ends by itself after a while.",
        next: "See which machines are there (`baton workers`), and try again.",
    },
    Self::NotWaiting { .. } => Explanation {
        code: "not_waiting",
        means: "The task does not wait for an answer.",
        cause: "It was answered in the meantime, or never asked anything.",
        next: "`baton task show TASK` says where it stands; `baton questions` shows what is open.",
    },
    Self::AlreadyAnswered { .. } => ALREADY_ANSWERED,
    Self::OtherProject { .. } => Explanation {
        code: "other_project",
        means: "The session belongs to another project.",
        cause: "A conversation belongs to the project of its first message, and its tasks with it.",
        next: "Choose another session, or none: then it is the project's own.",
    },
    Self::ImportName { .. } => Explanation {
        code: "import_name",
        means: "An entry to be imported has a name that is too long to be one.",
        cause: "Its id in the other tool is longer than Baton keeps to know it again.",
        next: "Shorten it there. Nothing was imported.",
    },
    Self::KeyReused => Explanation {
        code: "key_reused",
        means: "The Idempotency-Key was used before, for another message.",
        cause: "A key makes the repeat of one message harmless; it stands for that message and no other.",
        next: "Use a new key for a new message, and repeat an old one unchanged.",
    },
    Self::ProjectOpen { .. } => Explanation {
        code: "project_open",
        means: "The project is not complete: some of its tasks are still open.",
        cause: "Every task has to be done or cancelled, or recycled with everything that replaced it done.",
        next: "`baton project show PROJECT` shows what is left.",
    },
    Self::ProjectRestless { .. } => Explanation {
        code: "project_restless",
        means: "The project changed every time Baton wanted to write its decision.",
        cause: "Several programs work on it at once.",
        next: "Try again in a moment.",
    },
    Self::ProjectPath { .. } => Explanation {
        code: "project_path",
        means: "The path cannot be a project's.",
        cause: "It is not there, not a folder, or not absolute where it has to be.",
        next: "Give the whole path of a git repository.",
    },
    Self::Folder { .. } => Explanation {
        code: "folder",
        means: "A folder Baton needs cannot be used.",
        cause: "It cannot be made, read or written: its owner, its rights or the disk.",
        next: "Check it, or choose another with `--state-dir`.",
    },
    Self::Namespace { .. } => Explanation {
        code: "namespace",
        means: "The name cannot be a namespace.",
        cause: "It becomes the name of a file and of a schema: letters, digits, - _ and ., a letter or digit first, at \
                most 100.",
        next: "Choose another with `--namespace`.",
    },
    Self::Ambiguous { .. } => Explanation {
        code: "ambiguous",
        means: "The beginning of an id fits more than one.",
        cause: "There are more of them now than when it was enough.",
        next: "Give a digit or two more.",
    },
    Self::NoAgent { .. } => Explanation {
        code: "no_agent",
        means: "No agent is set up for the work.",
        cause: "Neither the role nor default_agent names one that is there.",
        next: "`baton init` writes the settings with the agents it finds; `baton doctor` says what is wrong with them.",
    },
    Self::Runner { .. } => Explanation {
        code: "runner",
        means: "The part of Baton that watches one agent stopped unexpectedly.",
        cause: "A mistake in Baton, or no memory left.",
        next: "The task goes back to the queue by itself. Please report it with the message.",
    },
    Self::QueueFull(_) => QueueFull::EXPLAINED,
    Self::Blank(_) => Blank::EXPLAINED,
    Self::SetUp { .. } => Explanation {
        code: "set_up",
        means: "The command that prepares a fresh worktree failed, so no agent was started in it.",
        cause: "`[worktree] setup` names a task of .agent/Taskfile.yml that ended with an error; its output is in the \
                message. The task is not blamed; after two in a row the agent rests.",
        next: "Run it by hand in a fresh clone (`baton do NAME`) and mend it; `baton hold list` shows what rests.",
    },
    Self::Cursor(_) => BadCursor::EXPLAINED,
    Self::TokenRestless { .. } => Explanation {
        code: "token_restless",
        means: "The person's token changed every time Baton wanted to write its decision.",
        cause: "Several people give out or revoke tokens at once.",
        next: "Look at `baton token list`, then try again.",
    },
} else {
    Self::Token(refusal) => refusal.explained(),
    Self::Refused(refusal) => refusal.explained(),
    Self::Approval(refusal) => refusal.explained(),
    Self::Run(refusal) => refusal.explained(),
    Self::GateAnswer(unreadable) => unreadable.explained(),
    Self::Dependency(conflict) => conflict.explained(),
    Self::Graph(error) => error.explained(),
    Self::Import(error) => error.explained(),
    Self::Loop(refusal) => refusal.explained(),
    Self::Ask(refusal) => refusal.explained(),
    Self::Answer(refusal) => refusal.explained(),
    Self::Work(refusal) => refusal.explained(),
    Self::UserTask(error) => error.explained(),
    Self::Git(error) => error.explained(),
    Self::Settings(error) => error.explained(),
    Self::Store(error) => error.explained(),
} }
