//! A session as a conversation: what was said, asked, answered and delivered, in the order it happened.

use std::collections::BTreeMap;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{AttemptId, QuestionId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::session::Message;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_engine::base::error::EngineError;
use baton_engine::query::{Cursor, Page, QuestionFilter, TaskFilter};
use baton_engine::tasks::service::TaskService;
use serde::Serialize;

/// Rows of each kind read at once.
const ROWS_PAGE: u32 = 100;

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

/// The part of a conversation that comes after `cursor`. Of the session no more is read than could be in it: each
/// kind of row comes in the order of its time, and what comes of a row never comes before the row itself.
pub async fn conversation(
    tasks: &TaskService,
    session: &SessionId,
    cursor: Option<Cursor>,
    limit: u32,
) -> Result<Page<Entry>, EngineError> {
    let mut excerpt = Excerpt { after: cursor, limit: limit as usize, entries: BTreeMap::new() };
    messages(tasks, session, &mut excerpt).await?;
    questions(tasks, session, &mut excerpt).await?;
    results(tasks, session, &mut excerpt).await?;
    Ok(excerpt.page())
}

/// The first entries after a place; one more than wanted, to know whether there are more.
struct Excerpt {
    after: Option<Cursor>,
    limit: usize,
    entries: BTreeMap<Cursor, Entry>,
}

impl Excerpt {
    fn add(&mut self, entry: Entry) {
        let place = Cursor { at: entry.at, key: entry.key.clone() };
        if self.after.as_ref().is_none_or(|after| place > *after) {
            self.entries.insert(place, entry);
            if self.entries.len() > self.limit + 1 {
                self.entries.pop_last();
            }
        }
    }

    /// Whether nothing that happens at this moment or later can get in.
    fn is_past(&self, at: Timestamp) -> bool {
        self.entries.len() > self.limit && self.entries.last_key_value().is_some_and(|(last, _)| at > last.at)
    }

    fn page(mut self) -> Page<Entry> {
        let has_more = self.entries.len() > self.limit;
        if has_more {
            self.entries.pop_last();
        }
        let next = self.entries.last_key_value().filter(|_| has_more).map(|(place, _)| place.clone());
        Page { items: self.entries.into_values().collect(), next }
    }
}

async fn messages(
    tasks: &TaskService,
    session: &SessionId,
    excerpt: &mut Excerpt,
) -> Result<(), EngineError> {
    let mut after = first_after(tasks, session, excerpt.after.as_ref()).await?;
    loop {
        let page = tasks.store.messages(session, after, ROWS_PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.number;
        for message in page {
            if excerpt.is_past(message.at) {
                return Ok(());
            }
            excerpt.add(of_message(message));
        }
    }
}

/// The number of the last message before a moment. They are numbered in the order of their time, so it is looked for
/// where it must be.
async fn first_after(
    tasks: &TaskService,
    session: &SessionId,
    cursor: Option<&Cursor>,
) -> Result<u32, EngineError> {
    let Some(cursor) = cursor else { return Ok(0) };
    let count = tasks.store.session(session).await?.map_or(0, |stored| stored.value.message_count);
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = tasks.store.messages(session, middle, 1).await?;
        if found.first().is_some_and(|message| message.at < cursor.at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

async fn questions(
    tasks: &TaskService,
    session: &SessionId,
    excerpt: &mut Excerpt,
) -> Result<(), EngineError> {
    let filter = QuestionFilter { session: Some(session.clone()), ..QuestionFilter::default() };
    let mut cursor = None;
    loop {
        let page = tasks.store.questions(&filter, cursor, ROWS_PAGE).await?;
        for stored in &page.items {
            if excerpt.is_past(stored.value.asked_at) {
                return Ok(());
            }
            for entry in of_question(&stored.value) {
                excerpt.add(entry);
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

/// Tasks nobody touched since have nothing to add, and the store passes over them.
async fn results(tasks: &TaskService, session: &SessionId, excerpt: &mut Excerpt) -> Result<(), EngineError> {
    let updated_from = excerpt.after.as_ref().map(|after| after.at);
    let filter = TaskFilter { session: Some(session.clone()), updated_from, ..TaskFilter::default() };
    let mut cursor = None;
    loop {
        let page = tasks.store.tasks(&filter, cursor, ROWS_PAGE).await?;
        for stored in &page.items {
            let task = &stored.value;
            if excerpt.is_past(task.spec().created_at) {
                return Ok(());
            }
            if task.ledger().started > 0 {
                let attempts = tasks.store.attempts(task.id()).await?;
                for entry in attempts.iter().filter_map(of_attempt) {
                    excerpt.add(entry);
                }
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(());
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
    let Some(AttemptClosing::Ended { at, end }) = &record.closing else { return None };
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
