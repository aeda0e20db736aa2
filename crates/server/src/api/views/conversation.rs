//! A session as a conversation: messages, questions, answers and results in chronological order.

use std::collections::BTreeMap;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{AttemptId, QuestionId, RunId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::summary::LoopSummary;
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::recipe::run::Run;
use baton_core::records::session::Message;
use baton_core::task::Task;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_engine::base::error::EngineError;
use baton_engine::query::{Cursor, Page, QuestionFilter, RunFilter, TaskFilter};
use baton_engine::reports::run_view::is_told;
use baton_engine::tasks::service::TaskService;
use serde::Serialize;

/// Rows per query.
const ROWS_PAGE: u32 = 100;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ConversationEntry {
    pub at: Timestamp,
    pub task_id: Option<TaskId>,
    #[serde(flatten)]
    pub content: EntryContent,
    /// Unique in its session; orders entries of the same millisecond.
    #[serde(skip)]
    pub key: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum EntryContent {
    Message {
        number: u32,
        author: Actor,
        text: NonBlank,
    },
    /// An agent's output at the end of an attempt.
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
    /// A recipe or a loop ended; a loop with its totals.
    RunEnded {
        run_id: RunId,
        recipe_id: RecipeId,
        reason: ExitReason,
        category: ExitCategory,
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<LoopSummary>,
    },
}

/// The entries after `cursor`. Reads no more rows than can be in the page: rows of each kind are ordered by time, and an
/// entry is never older than its row.
pub(crate) async fn load_conversation(
    tasks: &TaskService,
    session: &SessionId,
    cursor: Option<Cursor>,
    limit: u32,
) -> Result<Page<ConversationEntry>, EngineError> {
    let mut excerpt = ConversationWindow { after: cursor, limit: limit as usize, entries: BTreeMap::new() };
    add_messages(tasks, session, &mut excerpt).await?;
    add_questions(tasks, session, &mut excerpt).await?;
    add_results(tasks, session, &mut excerpt).await?;
    for entry in ended_runs(tasks, session).await? {
        excerpt.add(entry);
    }
    Ok(excerpt.page())
}

/// The first entries after a cursor, plus one to know whether there are more.
struct ConversationWindow {
    after: Option<Cursor>,
    limit: usize,
    entries: BTreeMap<Cursor, ConversationEntry>,
}

impl ConversationWindow {
    fn add(&mut self, entry: ConversationEntry) {
        let place = Cursor { at: entry.at, key: entry.key.clone() };
        if self.after.as_ref().is_none_or(|after| place > *after) {
            self.entries.insert(place, entry);
            if self.entries.len() > self.limit + 1 {
                self.entries.pop_last();
            }
        }
    }

    /// Whether the window is full and `at` lies behind it.
    fn is_past(&self, at: Timestamp) -> bool {
        self.entries.len() > self.limit && self.entries.last_key_value().is_some_and(|(last, _)| at > last.at)
    }

    fn page(mut self) -> Page<ConversationEntry> {
        let has_more = self.entries.len() > self.limit;
        if has_more {
            self.entries.pop_last();
        }
        let next = self.entries.last_key_value().filter(|_| has_more).map(|(place, _)| place.clone());
        Page { items: self.entries.into_values().collect(), next }
    }
}

async fn add_messages(
    tasks: &TaskService,
    session: &SessionId,
    excerpt: &mut ConversationWindow,
) -> Result<(), EngineError> {
    let mut after = last_message_before(tasks, session, excerpt.after.as_ref()).await?;
    loop {
        let page = tasks.store.messages(session, after, ROWS_PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.number;
        for message in page {
            if excerpt.is_past(message.at) {
                return Ok(());
            }
            excerpt.add(message_entry(message));
        }
    }
}

/// The number of the last message before the cursor, by binary search: numbers increase with time.
async fn last_message_before(
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

async fn add_questions(
    tasks: &TaskService,
    session: &SessionId,
    excerpt: &mut ConversationWindow,
) -> Result<(), EngineError> {
    let filter = QuestionFilter { session: Some(session.clone()), ..QuestionFilter::default() };
    let mut cursor = None;
    loop {
        let page = tasks.store.questions(&filter, cursor, ROWS_PAGE).await?;
        for stored in &page.items {
            if excerpt.is_past(stored.value.asked_at) {
                return Ok(());
            }
            for entry in question_entries(&stored.value) {
                excerpt.add(entry);
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

/// The ends of the session's runs. A session has few.
async fn ended_runs(tasks: &TaskService, session: &SessionId) -> Result<Vec<ConversationEntry>, EngineError> {
    let filter = RunFilter { session: Some(session.clone()), is_open: Some(false) };
    let (mut entries, mut cursor) = (Vec::new(), None);
    loop {
        let page = tasks.store.runs(&filter, cursor, ROWS_PAGE).await?;
        entries.extend(page.items.iter().filter_map(|stored| run_entry(&stored.value)));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

/// Tasks not updated since the cursor have no new results; the store skips them.
async fn add_results(
    tasks: &TaskService,
    session: &SessionId,
    excerpt: &mut ConversationWindow,
) -> Result<(), EngineError> {
    let updated_from = excerpt.after.as_ref().map(|after| after.at);
    let filter = TaskFilter { session: Some(session.clone()), updated_from, ..TaskFilter::default() };
    let mut cursor = None;
    loop {
        let page = tasks.store.tasks(&filter, cursor, ROWS_PAGE).await?;
        let in_window: Vec<&Task> = page
            .items
            .iter()
            .map(|stored| &stored.value)
            .take_while(|task| !excerpt.is_past(task.spec().created_at))
            .collect();
        for entry in attempts_of(tasks, &in_window).await?.iter().filter_map(result_entry) {
            excerpt.add(entry);
        }
        if in_window.len() < page.items.len() {
            return Ok(());
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

async fn attempts_of(service: &TaskService, tasks: &[&Task]) -> Result<Vec<AttemptRecord>, EngineError> {
    let started: Vec<TaskId> =
        tasks.iter().filter(|task| task.ledger().started > 0).map(|task| task.id()).collect();
    Ok(if started.is_empty() { Vec::new() } else { service.store.attempts_of_many(&started).await? })
}

/// The last entries, and whether there are earlier ones. Considers only the newest `limit` messages, questions and tasks:
/// a late answer to an older question is not found.
pub(crate) async fn load_recent(
    tasks: &TaskService,
    session: &SessionId,
    limit: u32,
) -> Result<(Vec<ConversationEntry>, bool), EngineError> {
    let messages = tasks.store.last_messages(session, None, limit).await?;
    let mut has_earlier = messages.first().is_some_and(|first| first.number > 1);
    let asked =
        QuestionFilter { session: Some(session.clone()), newest_first: true, ..QuestionFilter::default() };
    let questions = tasks.store.questions(&asked, None, limit).await?;
    has_earlier |= questions.next.is_some();
    let newest = TaskFilter { session: Some(session.clone()), newest_first: true, ..TaskFilter::default() };
    let page = tasks.store.tasks(&newest, None, limit).await?;
    has_earlier |= page.next.is_some();
    let newest: Vec<&Task> = page.items.iter().map(|stored| &stored.value).collect();
    let attempts = attempts_of(tasks, &newest).await?;
    let mut entries: Vec<ConversationEntry> = messages
        .into_iter()
        .map(message_entry)
        .chain(questions.items.iter().flat_map(|stored| question_entries(&stored.value)))
        .chain(attempts.iter().filter_map(result_entry))
        .chain(ended_runs(tasks, session).await?)
        .collect();
    entries.sort_by(|one, other| (one.at, &one.key).cmp(&(other.at, &other.key)));
    let cut = entries.len().saturating_sub(limit as usize);
    has_earlier |= cut > 0;
    Ok((entries.split_off(cut), has_earlier))
}

// The keys order entries of the same millisecond: message, result of its attempt, question, answer.

fn message_entry(message: Message) -> ConversationEntry {
    ConversationEntry {
        at: message.at,
        task_id: message.task_id,
        key: format!("0{:010}", message.number),
        content: EntryContent::Message { number: message.number, author: message.author, text: message.text },
    }
}

fn result_entry(record: &AttemptRecord) -> Option<ConversationEntry> {
    let Some(AttemptClosing::Ended { at, end }) = &record.closing else { return None };
    let text = end.reported.output.trim();
    let attempt_id = record.attempt.id;
    (!text.is_empty()).then(|| ConversationEntry {
        at: *at,
        task_id: Some(record.task_id),
        key: format!("1{attempt_id}"),
        content: EntryContent::Result { attempt_id, text: text.to_owned() },
    })
}

fn run_entry(run: &Run) -> Option<ConversationEntry> {
    let (reason, at) = (run.exit_reason()?, run.ended_at()?);
    let mut text = reason.message();
    if let Some(error) = run.error() {
        text = format!("{text}: {error}");
    }
    if let Some(summary) = run.summary() {
        text = format!("{text}\n\n{}", summary.to_string().replace('\n', "  \n"));
    }
    is_told(run).then(|| ConversationEntry {
        at,
        task_id: run.task(),
        key: format!("4{}", run.id()),
        content: EntryContent::RunEnded {
            run_id: run.id(),
            recipe_id: run.recipe().clone(),
            reason: reason.clone(),
            category: reason.category(),
            text,
            summary: run.summary(),
        },
    })
}

fn question_entries(record: &QuestionRecord) -> Vec<ConversationEntry> {
    let question_id = record.question.id;
    let asked = ConversationEntry {
        at: record.asked_at,
        task_id: record.task_id,
        key: format!("2{question_id}"),
        content: EntryContent::Question {
            question_id,
            text: record.question.text().clone(),
            options: record.question.draft.options.clone(),
            is_pending: record.state == QuestionState::Pending,
        },
    };
    match &record.state {
        QuestionState::Answered { at, answer, answered_by } => {
            let answered = ConversationEntry {
                at: *at,
                task_id: record.task_id,
                key: format!("3{question_id}"),
                content: EntryContent::Answer {
                    question_id,
                    text: answer.clone(),
                    answered_by: answered_by.clone(),
                },
            };
            vec![asked, answered]
        }
        QuestionState::Pending | QuestionState::Withdrawn { .. } => vec![asked],
    }
}
