//! The guide on the demo's pages: what is happening and what to click next. A pure function of the tasks.

use std::time::Duration;

use baton_core::records::project::is_complete;
use baton_core::task::Task;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::{ReviewMark, TaskState};
use baton_server::state::guide::{Guide, GuideLink};

use crate::commands::demo::story;

/// More running tasks than this are counted instead of named.
const NAMED_MAX: usize = 3;

/// The current step. Decisions of a person come before the work of agents.
pub(crate) fn narrate(tasks: &[Task], patience: Duration) -> Guide {
    let standings: Vec<_> = tasks.iter().map(|task| (task.id(), task.standing())).collect();
    let waiting = [question, plan, breakdown, work].iter().find_map(|part| tasks.iter().find_map(part));
    let mut guide =
        if !tasks.is_empty() && is_complete(standings.iter().map(|(id, standing)| (*id, standing))) {
            end()
        } else if let Some(mut waiting) = waiting {
            waiting.paragraphs.push(format!(
                "If you do nothing, the demo decides for you after {} seconds.",
                patience.as_secs()
            ));
            waiting
        } else {
            agents_at_work(tasks)
        };
    guide.paragraphs.extend(tasks.iter().find_map(sent_back));
    let is_over = |task: &&Task| matches!(task.state(), TaskState::Done { .. } | TaskState::Recycled { .. });
    (guide.finished, guide.all) = (tasks.iter().filter(is_over).count(), tasks.len());
    guide
}

fn part(part: &'static str, heading: &str, paragraphs: &[String], label: &str, address: String) -> Guide {
    Guide {
        part,
        heading: heading.to_owned(),
        paragraphs: paragraphs.to_vec(),
        next: Some(GuideLink { label: label.to_owned(), address }),
        commands: Vec::new(),
        finished: 0,
        all: 0,
    }
}

fn question(task: &Task) -> Option<Guide> {
    let asked = task.pending_question()?;
    let text = [
        format!("“{}” needs a decision from you: {}", task.spec().title, asked.text()),
        "The question is stored, so nothing is lost if this machine stops now. Your answer resumes the agent's \
         session. Other tasks continue meanwhile."
            .to_owned(),
    ];
    Some(part("question", "An agent has a question", &text, "Answer it under For you", "/".to_owned()))
}

fn plan(task: &Task) -> Option<Guide> {
    let TaskState::Provisional(work) = task.state() else { return None };
    let text = [
        "An agent planned the task that was too large as smaller ones. Nothing happens until you approve the plan; you \
         can also edit or reject it."
            .to_owned(),
        "Once approved, its tasks replace the old one, and tasks that depended on it depend on them.".to_owned(),
    ];
    let address = format!("/breakdowns/{}", task.id());
    (work.mark == ReviewMark::Plan)
        .then(|| part("plan", "A plan needs your approval", &text, "Review and approve the plan", address))
}

fn breakdown(task: &Task) -> Option<Guide> {
    let TaskState::Breakdown { released: false } = task.state() else { return None };
    let text = [
        "The agent on “Add every other language” used all its turns without a commit. Baton counts both itself, \
         took the task out of the queue, and kept its files."
            .to_owned(),
        "Have another agent plan it as smaller tasks.".to_owned(),
    ];
    let address = format!("/breakdowns/{}", task.id());
    Some(part("breakdown", "One task was too large", &text, "Have an agent plan it", address))
}

fn work(task: &Task) -> Option<Guide> {
    let TaskState::Provisional(provisional) = task.state() else { return None };
    if !matches!(provisional.mark, ReviewMark::Ready | ReviewMark::NoChanges { .. }) {
        return None;
    }
    if story::wants_comment(task) {
        return Some(comment(task));
    }
    let commits = task.ledger().last_end.as_ref().map_or(0, |end| end.verified.commits);
    let commits = if commits == 1 { "1 commit".to_owned() } else { format!("{commits} commits") };
    let text = [
        format!("The agent reports “{}” as finished. Baton verified: {commits}, on a branch of its own.", task.spec().title),
        "Nothing is merged until you accept it. Review the changes, then press Accept; tasks that depend on it start \
         by themselves."
            .to_owned(),
    ];
    let address = format!("/tasks/{}/diff", task.id());
    Some(part("accept", "Finished work needs your review", &text, "Review and accept the changes", address))
}

/// A first version that is worth a comment.
fn comment(task: &Task) -> Guide {
    let text = [
        "The agent reports the guide as finished, and it names none of the languages.".to_owned(),
        "Open the changes, click beside a line, write what should change, and press Request changes. The agent goes on in \
         the same session with your comment. Or accept it as it is."
            .to_owned(),
    ];
    let address = format!("/tasks/{}/diff", task.id());
    part("comment", "This work deserves a comment", &text, "Review the changes with a comment", address)
}

/// A task whose work met another's, until it has landed after all.
fn sent_back(task: &Task) -> Option<String> {
    let Some(TaskNote::NotLanded { reason, .. }) = task.ledger().notes.last() else { return None };
    if matches!(task.state(), TaskState::Done { .. } | TaskState::Cancelled { .. }) {
        return None;
    }
    let met: Vec<String> = reason.met().iter().map(|met| format!("“{}”", met.title)).collect();
    Some(format!(
        "“{}” passed its checks alone and fails them together with {}, although git merges both without a conflict. Nothing was \
         merged: it went back to its agent with the output. The page Landing shows both verdicts.",
        task.spec().title,
        met.join(" and ")
    ))
}

fn agents_at_work(tasks: &[Task]) -> Guide {
    let running: Vec<String> = tasks
        .iter()
        .filter(|task| task.state().live_attempt().is_some())
        .map(|task| format!("“{}”", task.spec().title))
        .collect();
    let names = match running.len() {
        0 => idle(tasks),
        1 => format!("An agent is working on {} in its own git worktree.", running.join("")),
        2..=NAMED_MAX => {
            format!(
                "Agents are working on {} in parallel, each in its own git worktree.",
                running.join(" and ")
            )
        }
        many => format!("Agents are working on {many} tasks in parallel, each in its own git worktree."),
    };
    let is_first = tasks.iter().all(|task| !matches!(task.state(), TaskState::Done { .. }));
    let mut text = vec![names];
    if is_first {
        let welcome = "Welcome. The queue holds a small project: seven tasks, some of which depend on others. Everything is \
                       real (queue, git, agent processes, merges) except the model, which is a script. You make the \
                       decisions.";
        text.insert(0, welcome.to_owned());
    }
    part("work", "Agents are working", &text, "Watch the board", "/board".to_owned())
}

fn idle(tasks: &[Task]) -> String {
    match tasks.iter().find(|task| matches!(task.state(), TaskState::Landing(_))) {
        Some(task) => format!("The checks run on the branch together with “{}”.", task.spec().title),
        None => "The next task is about to start.".to_owned(),
    }
}

fn end() -> Guide {
    let text = [
        "You saw tasks run in order, a question, work that was reviewed, two tasks that passed their checks alone and failed them \
         together, and a task that was too large and became two. Everything is merged into one branch, and every step is in the history."
            .to_owned(),
        "Browse the pages as long as you like; press Ctrl-C in the terminal to stop. Then, in your own repository:"
            .to_owned(),
    ];
    let mut end = part("end", "Everything is merged", &text, "See it on the board", "/board".to_owned());
    end.commands = vec![
        ("baton init", "set up the repository"),
        ("baton task add \"Fix the login\"", "add a task"),
        ("baton up", "run agents and these pages"),
    ];
    end
}

#[cfg(test)]
mod tests {
    use baton_core::base::id::{QuestionId, TaskId};
    use baton_core::base::time::Timestamp;
    use baton_core::people::actor::Actor;
    use baton_core::transition::command::{Command, CommandContext, FreshIds};

    use super::*;

    #[test]
    fn an_empty_store_is_not_the_end() {
        let guide = narrate(&[], Duration::from_secs(45));
        assert_eq!((guide.part, guide.all), ("work", 0));
    }

    #[test]
    fn the_guide_starts_with_a_welcome_and_ends_with_commands() {
        let spec = story::spec(1, Timestamp::from_ms(0)).unwrap();
        let task = Task::create(spec);
        let guide = narrate(std::slice::from_ref(&task), Duration::from_secs(45));
        assert_eq!(guide.part, "work");
        assert!(guide.paragraphs[0].starts_with("Welcome"), "{guide:?}");

        let fresh = FreshIds { question: QuestionId::from_bits(1), breakdown: TaskId::from_bits(2) };
        let context = CommandContext { now: Timestamp::from_ms(1), actor: Actor::human("you"), fresh };
        let gone = task.apply(Command::Cancel { reason: None }, &context).unwrap().task;
        let guide = narrate(&[gone], Duration::from_secs(45));
        assert_eq!(guide.part, "end");
        assert_eq!(guide.commands[0].0, "baton init");
    }
}
