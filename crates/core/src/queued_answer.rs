//! Answers the human lays down before they are asked. The session keeps them until a question comes that one fits.

use serde::{Deserialize, Serialize};

use crate::explanation::Explanation;
use crate::id::TaskId;
use crate::session::Session;
use crate::text::NonBlank;

/// Answers one session keeps. A script that lays down more has lost count.
pub const QUEUED_ANSWERS_MAX: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedAnswer {
    pub text: NonBlank,
    /// Only for questions of this task; for any of the session's where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session has its {QUEUED_ANSWERS_MAX} answers laid down already; let some be used first")]
pub struct QueueFull;

impl QueueFull {
    pub const EXPLAINED: Explanation = Explanation {
        code: "queue_full",
        means: "The session has as many answers laid down as it may keep.",
        cause: "`baton answer --queue` was called again and again, and no question came that an answer fits.",
        next: "Look what is asked (`baton questions`); answers are used up as questions come.",
    };
}

impl Session {
    pub fn with_queued(&self, answer: QueuedAnswer) -> Result<Self, QueueFull> {
        if self.queued.len() >= QUEUED_ANSWERS_MAX {
            return Err(QueueFull);
        }
        let mut session = self.clone();
        session.queued.push(answer);
        Ok(session)
    }

    /// What may answer a question of `task`, first laid down first, each with its place in the queue.
    pub fn queued_for(&self, task: Option<TaskId>) -> (Vec<usize>, Vec<NonBlank>) {
        let fits = |answer: &QueuedAnswer| answer.task.is_none() || answer.task == task;
        let of_task = self.queued.iter().enumerate().filter(|(_, answer)| fits(answer));
        of_task.map(|(place, answer)| (place, answer.text.clone())).unzip()
    }

    /// The queue after the answer at `place` was used.
    pub fn without_queued(&self, place: usize) -> Self {
        let mut session = self.clone();
        if place < session.queued.len() {
            session.queued.remove(place);
        }
        session
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn session() -> Session {
        Session::open("cli".parse().unwrap(), None, Timestamp::from_ms(1))
    }

    fn answer(text: &'static str, task: Option<u32>) -> QueuedAnswer {
        QueuedAnswer { text: NonBlank::fixed(text), task: task.map(TaskId::from_bits) }
    }

    #[test]
    fn a_question_gets_the_answers_of_its_task_and_of_everybody_in_order() {
        let session = session().with_queued(answer("for one", Some(1))).unwrap();
        let session = session.with_queued(answer("for all", None)).unwrap();
        let session = session.with_queued(answer("for two", Some(2))).unwrap();
        let texts = |task: Option<u32>| {
            let (places, texts) = session.queued_for(task.map(TaskId::from_bits));
            (places, texts.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(texts(Some(1)), (vec![0, 1], vec!["for one".to_owned(), "for all".to_owned()]));
        assert_eq!(texts(Some(2)), (vec![1, 2], vec!["for all".to_owned(), "for two".to_owned()]));
        assert_eq!(texts(None), (vec![1], vec!["for all".to_owned()]));
        assert_eq!(session.without_queued(1).queued.len(), 2);
        assert_eq!(session.without_queued(9), session);
    }

    #[test]
    fn a_queue_has_an_end() {
        let mut session = session();
        for _ in 0..QUEUED_ANSWERS_MAX {
            session.queued.push(answer("yes", None));
        }
        assert_eq!(session.with_queued(answer("yes", None)), Err(QueueFull));
    }
}
