//! What the pages of the demo tell: where the story stands, and what to click next. A pure function of the tasks.

use std::time::Duration;

use baton_core::project::is_complete;
use baton_core::state::{Mark, TaskState};
use baton_core::task::Task;
use baton_server::state::guide::{Guide, GuideLink};

/// More running tasks than this are counted, not named.
const NAMED_MAX: usize = 3;

/// The part of the story the tasks are at. What only a person can do comes before what agents do.
pub fn narrate(tasks: &[Task], patience: Duration) -> Guide {
    let standings: Vec<_> = tasks.iter().map(|task| (task.id(), task.standing())).collect();
    let waiting = [question, plan, breakdown, work].iter().find_map(|part| tasks.iter().find_map(part));
    let mut guide =
        if !tasks.is_empty() && is_complete(standings.iter().map(|(id, standing)| (*id, standing))) {
            end()
        } else if let Some(mut waiting) = waiting {
            waiting.paragraphs.push(format!(
                "If you would rather watch, do nothing: after {} seconds the demo decides for you.",
                patience.as_secs()
            ));
            waiting
        } else {
            agents_at_work(tasks)
        };
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
        format!("“{}” cannot go on without a decision that is yours: {}", task.spec().title, asked.text()),
        "Its agent is not kept waiting for you, and nothing is lost if this machine stops now: the question is \
         stored, and the same conversation goes on with your answer. Other work continues meanwhile."
            .to_owned(),
    ];
    Some(part("question", "An agent asks you something", &text, "Answer it in the inbox", "/".to_owned()))
}

fn plan(task: &Task) -> Option<Guide> {
    let TaskState::Provisional(work) = task.state() else { return None };
    let text = [
        "An agent split the task that was too large into smaller ones. Nothing of it happens before you agree; you \
         may also change the plan, or send it back."
            .to_owned(),
        "Approve it, and its tasks take the place of the old one. What waited for that now waits for them.".to_owned(),
    ];
    let address = format!("/breakdowns/{}", task.id());
    (work.mark == Mark::Plan).then(|| {
        part("plan", "A plan waits for your approval", &text, "Read the plan, and approve it", address)
    })
}

fn breakdown(task: &Task) -> Option<Guide> {
    let TaskState::Breakdown { released: false } = task.state() else { return None };
    let text = [
        "The agent on “Add every other language” used all its turns and made not one commit. Baton counts both \
         itself, took the task out of the queue, and kept what there was."
            .to_owned(),
        "Let another agent plan it in smaller parts.".to_owned(),
    ];
    let address = format!("/breakdowns/{}", task.id());
    Some(part("breakdown", "One task was too large", &text, "Let an agent plan it", address))
}

fn work(task: &Task) -> Option<Guide> {
    let TaskState::Provisional(provisional) = task.state() else { return None };
    if !matches!(provisional.mark, Mark::Ready | Mark::NoChanges { .. }) {
        return None;
    }
    let commits = task.ledger().last_end.as_ref().map_or(0, |end| end.verified.commits);
    let commits = if commits == 1 { "1 commit".to_owned() } else { format!("{commits} commits") };
    let text = [
        format!("“{}” is finished, says its agent. Baton looked: {commits}, on a branch of its own.", task.spec().title),
        "Nothing is merged before you accept it. Look at the change, then press Accept; what waited for it starts \
         by itself."
            .to_owned(),
    ];
    let address = format!("/tasks/{}/diff", task.id());
    Some(part("accept", "Work waits for your yes", &text, "See what changed, and accept it", address))
}

fn agents_at_work(tasks: &[Task]) -> Guide {
    let running: Vec<String> = tasks
        .iter()
        .filter(|task| task.state().live_attempt().is_some())
        .map(|task| format!("“{}”", task.spec().title))
        .collect();
    let names = match running.len() {
        0 => "The next task is about to start.".to_owned(),
        1 => format!("{} is worked on, by an agent in a git worktree of its own.", running.join("")),
        2..=NAMED_MAX => {
            format!(
                "{} are worked on side by side, each in a git worktree of its own.",
                running.join(" and ")
            )
        }
        many => format!("{many} tasks are worked on side by side, each in a git worktree of its own."),
    };
    let is_first = tasks.iter().all(|task| !matches!(task.state(), TaskState::Done { .. }));
    let mut text = vec![names];
    if is_first {
        let welcome = "Welcome. A small project is in the queue: six tasks, some of which wait for others. Everything \
                       is real (the queue, git, the agents' processes, the merges) but the model: a script stands in \
                       for it. You are the person who decides.";
        text.insert(0, welcome.to_owned());
    }
    part("work", "Agents are at work", &text, "Watch the board", "/board".to_owned())
}

fn end() -> Guide {
    let text = [
        "That was the whole story: tasks in order, a question, work you accepted, and one task that was too large and \
         became two. All of it is merged on one branch, and every step is in the history."
            .to_owned(),
        "Look around for as long as you like; Ctrl-C in the terminal ends the demo. Then, in a repository of yours:"
            .to_owned(),
    ];
    let mut end = part("end", "Everything is merged", &text, "See it on the board", "/board".to_owned());
    end.commands = vec![
        ("baton init", "looks at the repository and writes two small files"),
        ("baton task add \"What is to be done\"", "puts a first task into the queue"),
        ("baton up", "lets agents work on it, and serves these pages"),
    ];
    end
}

#[cfg(test)]
mod tests {
    use baton_core::actor::Actor;
    use baton_core::command::{Command, Context, Fresh};
    use baton_core::id::{QuestionId, TaskId};
    use baton_core::time::Timestamp;

    use super::super::story;
    use super::*;

    #[test]
    fn an_empty_store_is_not_the_end_of_the_story() {
        let guide = narrate(&[], Duration::from_secs(45));
        assert_eq!((guide.part, guide.all), ("work", 0));
    }

    #[test]
    fn the_story_begins_with_a_welcome_and_ends_with_what_to_type() {
        let spec = story::spec(1, Timestamp::from_ms(0)).unwrap();
        let task = Task::create(spec);
        let guide = narrate(std::slice::from_ref(&task), Duration::from_secs(45));
        assert_eq!(guide.part, "work");
        assert!(guide.paragraphs[0].starts_with("Welcome"), "{guide:?}");

        let fresh = Fresh { question: QuestionId::from_bits(1), breakdown: TaskId::from_bits(2) };
        let context = Context { now: Timestamp::from_ms(1), actor: Actor::human("you"), fresh };
        let gone = task.apply(Command::Cancel { reason: None }, &context).unwrap().task;
        let guide = narrate(&[gone], Duration::from_secs(45));
        assert_eq!(guide.part, "end");
        assert_eq!(guide.commands[0].0, "baton init");
    }
}
