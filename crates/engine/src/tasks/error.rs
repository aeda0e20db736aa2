//! Why a command on a task was not carried out, beyond what core itself refuses.

use baton_core::ask::refusal::explained::ALREADY_ANSWERED;
use baton_core::base::explanation::Explanation;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::text::RecipeId;
use baton_core::explained;
use baton_core::recycle::plan::PlanErrors;

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;

#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The rows changed between every read and its commit.
    #[error("{what} kept changing; nothing was written")]
    Contended { what: String },
    #[error("somebody else changed the text of {task} in the meantime")]
    EditedMeanwhile { task: TaskId },
    #[error("{task} is not waiting for an answer")]
    NotWaiting { task: TaskId },
    #[error("the question was already answered by {by}")]
    AlreadyAnswered { by: String },
    /// I4: a session belongs to the project of its first message.
    #[error("the session {session} belongs to {}", project.map_or_else(|| "no project".to_owned(), |id| id.to_string()))]
    OtherProject { session: SessionId, project: Option<ProjectId> },
    #[error("this Idempotency-Key was already used for another message")]
    KeyReused,
    #[error("the recipe {recipe} is the loop, which runs on a session and takes its tasks from the queue")]
    LoopAsTaskRecipe { recipe: RecipeId },
    #[error("the plan cannot be used:\n{0}")]
    InvalidPlan(PlanErrors),
    #[error("\"{title}\" was discovered too often to be created again")]
    DiscoveredTooOften { title: String },
    #[error(
        "in a Plan → Execute → Review loop a task is created only after the user has said YES. Planning agents hand in \
         {{\"baton\":\"plan\",…}}, reviewing agents {{\"baton\":\"discovered\",…}}; others mention it in their message"
    )]
    OnlyAfterYes,
    #[error("\"{prefix}\" matches more than one task")]
    Ambiguous { prefix: String },
}

failure! {
    TaskError { |it|
        kind: match it {
            Self::Contended { .. } | Self::EditedMeanwhile { .. } | Self::OtherProject { .. } | Self::KeyReused | Self::DiscoveredTooOften { .. } => {
                ErrorKind::Conflict
            }
            Self::NotWaiting { .. } | Self::OnlyAfterYes => ErrorKind::InvalidStatus,
            Self::AlreadyAnswered { .. } => ErrorKind::AlreadyAnswered,
            Self::LoopAsTaskRecipe { .. } | Self::InvalidPlan(_) | Self::Ambiguous { .. } => ErrorKind::InvalidInput,
        },
        hint: match it {
            Self::Contended { .. } => "try again".to_owned(),
            Self::EditedMeanwhile { task } => format!("read it again, then change it: baton task show {task}"),
            Self::NotWaiting { task } => format!("see its state: baton task show {task}"),
            Self::AlreadyAnswered { .. } => "see the open questions".to_owned(),
            Self::OtherProject { .. } => "choose another session_id, or leave it out".to_owned(),
            Self::KeyReused => "use a new key for a new message; repeat the old one unchanged".to_owned(),
            Self::LoopAsTaskRecipe { recipe } => {
                format!("add the task without a recipe, then start the loop: baton recipe start {recipe}")
            }
            Self::InvalidPlan(_) => "fix the plan and submit it again".to_owned(),
            Self::DiscoveredTooOften { .. } => "add it by hand: baton task add".to_owned(),
            Self::OnlyAfterYes => "propose it; the user is asked".to_owned(),
            Self::Ambiguous { .. } => "give more characters of the id".to_owned(),
        },
        explained: it.explained(),
    }
}

explained! { TaskError {
    Self::Contended { .. } => Explanation {
        code: "contended",
        means: "The rows changed every time Baton wanted to commit its decision.",
        cause: "Several programs change the same task, session, project or token at once.",
        next: "Try again in a moment.",
    },
    Self::EditedMeanwhile { .. } => Explanation {
        code: "edited_meanwhile",
        means: "Somebody else changed the task's text while you were editing; nothing was overwritten.",
        cause: "Two people, or a person and an agent, edited the same task.",
        next: "Read it again (`baton task show TASK`), then change it: `baton task edit TASK`.",
    },
    Self::NotWaiting { .. } => Explanation {
        code: "not_waiting",
        means: "The task is not waiting for an answer.",
        cause: "It was answered in the meantime, or never asked anything.",
        next: "`baton task show TASK` shows its state; `baton questions` lists the open questions.",
    },
    Self::AlreadyAnswered { .. } => ALREADY_ANSWERED,
    Self::OtherProject { .. } => Explanation {
        code: "other_project",
        means: "The session belongs to another project.",
        cause: "A conversation and its tasks belong to the project of its first message.",
        next: "Choose another session, or none to use the project's own.",
    },
    Self::KeyReused => Explanation {
        code: "key_reused",
        means: "The Idempotency-Key was already used for another message.",
        cause: "A key identifies one message, so that repeating that message is harmless.",
        next: "Use a new key for a new message, and repeat an old message unchanged.",
    },
    Self::LoopAsTaskRecipe { .. } => Explanation {
        code: "loop_of_task",
        means: "A task cannot run the loop's recipe: the loop runs on a session and takes its tasks from the queue.",
        cause: "`--recipe plan-execute-review` was given for a task.",
        next: "Add the task without a recipe, then start the loop: `baton loop`.",
    },
    Self::InvalidPlan(_) => Explanation {
        code: "bad_plan",
        means: "The plan cannot be used; the message lists everything that is wrong with it.",
        cause: "Items without a title, dependencies on items that do not exist or form a cycle, or too many items.",
        next: "Fix it and submit it again: `baton breakdown edit TASK`.",
    },
    Self::DiscoveredTooOften { .. } => Explanation {
        code: "discovered_too_often",
        means: "Reviews have proposed a task of this title again and again, and each was finished before.",
        cause: "A limit keeps a loop from creating the same task for ever.",
        next: "Add it by hand if it is wanted: `baton task add TITLE`.",
    },
    Self::OnlyAfterYes => Explanation {
        code: "only_after_yes",
        means: "An agent of the loop wanted to add a task by itself.",
        cause: "What a loop discovers is created only after the person has said YES.",
        next: "Propose it in the plan or in the review; the person is asked.",
    },
    Self::Ambiguous { .. } => Explanation {
        code: "ambiguous",
        means: "The beginning of an id matches more than one task.",
        cause: "There are more tasks now than when it was enough.",
        next: "Give one or two more characters.",
    },
} }
