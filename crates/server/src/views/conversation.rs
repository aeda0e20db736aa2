//! A session as a conversation: what was said, asked, answered and delivered, in the order it happened.

use baton_core::actor::Actor;
use baton_core::answer_source::AnsweredBy;
use baton_core::attempt_record::{AttemptRecord, Closing};
use baton_core::id::{AttemptId, QuestionId, SessionId, TaskId};
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::session::Message;
use baton_core::text::NonBlank;
use baton_core::time::Timestamp;
use baton_engine::Store;
use baton_engine::desk::Desk;
use baton_engine::error::EngineError;
use baton_engine::query::{Cursor, Page, QuestionFilter, TaskFilter};
use serde::Serialize;

/// Rows of each kind read at once.
const ROWS_PAGE: u32 = 500;

#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    pub at: Timestamp,
    pub task_id: Option<TaskId>,
    #[serde(flatten)]
    pub said: Said,
    /// Its place among what happened in the same millisecond.
    #[serde(skip)]
    key: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Said {
    Message {
        number: u32,
        author: Actor,
        text: NonBlank,
    },
    /// What an agent delivered at the end of an attempt.
    Result {
        attempt_id: AttemptId,
        text: String,
    },
    Question {
        question_id: QuestionId,
        text: NonBlank,
        options: Vec<NonBlank>,
        is_pending: bool,
    },
    Answer {
        question_id: QuestionId,
        text: NonBlank,
        answered_by: AnsweredBy,
    },
}

/// The part of a conversation that comes after `cursor`.
pub async fn conversation<S: Store>(
    desk: &Desk<S>,
    session: &SessionId,
    cursor: Option<Cursor>,
    limit: u32,
) -> Result<Page<Entry>, EngineError> {
    let mut entries = messages(desk, session).await?;
    entries.extend(questions(desk, session).await?);
    entries.extend(results(desk, session).await?);
    entries.sort_by(|a, b| (a.at, &a.key).cmp(&(b.at, &b.key)));
    let place = |entry: &Entry| Cursor { at: entry.at, key: entry.key.clone() };
    let mut rest =
        entries.into_iter().filter(|entry| cursor.as_ref().is_none_or(|cursor| place(entry) > *cursor));
    let items: Vec<Entry> = rest.by_ref().take(limit as usize).collect();
    let next = rest.next().and_then(|_| items.last().map(place));
    Ok(Page { items, next })
}

async fn messages<S: Store>(desk: &Desk<S>, session: &SessionId) -> Result<Vec<Entry>, EngineError> {
    let mut entries = Vec::new();
    let mut after = 0;
    loop {
        let page = desk.store.messages(session, after, ROWS_PAGE).await?;
        let Some(last) = page.last() else { return Ok(entries) };
        after = last.number;
        entries.extend(page.into_iter().map(of_message));
    }
}

async fn questions<S: Store>(desk: &Desk<S>, session: &SessionId) -> Result<Vec<Entry>, EngineError> {
    let filter = QuestionFilter { session: Some(session.clone()), ..QuestionFilter::default() };
    let mut entries = Vec::new();
    let mut cursor = None;
    loop {
        let page = desk.store.questions(&filter, cursor, ROWS_PAGE).await?;
        entries.extend(page.items.iter().flat_map(|stored| of_question(&stored.value)));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

async fn results<S: Store>(desk: &Desk<S>, session: &SessionId) -> Result<Vec<Entry>, EngineError> {
    let filter = TaskFilter { session: Some(session.clone()), ..TaskFilter::default() };
    let mut entries = Vec::new();
    let mut cursor = None;
    loop {
        let page = desk.store.tasks(&filter, cursor, ROWS_PAGE).await?;
        for task in page.items.iter().filter(|stored| stored.value.ledger().started > 0) {
            entries.extend(desk.store.attempts(task.value.id()).await?.iter().filter_map(of_attempt));
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

// The keys put what happens in one moment in the order people expect: a message, the result of the attempt it
// caused, the question in it, its answer.

fn of_message(message: Message) -> Entry {
    Entry {
        at: message.at,
        task_id: message.task_id,
        key: format!("0{:010}", message.number),
        said: Said::Message { number: message.number, author: message.author, text: message.text },
    }
}

fn of_attempt(record: &AttemptRecord) -> Option<Entry> {
    let Some(Closing::Ended { at, end }) = &record.closing else { return None };
    let text = end.reported.output.trim();
    let attempt_id = record.attempt.id;
    (!text.is_empty()).then(|| Entry {
        at: *at,
        task_id: Some(record.task_id),
        key: format!("1{attempt_id}"),
        said: Said::Result { attempt_id, text: text.to_owned() },
    })
}

fn of_question(record: &QuestionRecord) -> Vec<Entry> {
    let question_id = record.question.id;
    let asked = Entry {
        at: record.asked_at,
        task_id: record.task_id,
        key: format!("2{question_id}"),
        said: Said::Question {
            question_id,
            text: record.question.text().clone(),
            options: record.question.draft.options.clone(),
            is_pending: record.state == QuestionState::Pending,
        },
    };
    match &record.state {
        QuestionState::Answered { at, answer, answered_by } => {
            let answered = Entry {
                at: *at,
                task_id: record.task_id,
                key: format!("3{question_id}"),
                said: Said::Answer { question_id, text: answer.clone(), answered_by: answered_by.clone() },
            };
            vec![asked, answered]
        }
        QuestionState::Pending | QuestionState::Withdrawn { .. } => vec![asked],
    }
}
