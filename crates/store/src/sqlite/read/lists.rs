//! Filtered, paged lists, oldest first unless the filter says otherwise.

use std::collections::BTreeMap;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::time::Timestamp;
use baton_core::recipe::run::Run;
use baton_core::records::change::Versioned;
use baton_core::records::project::Project;
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};

use crate::columns::{parse_queue, run_started};
use crate::model::query::{Cursor, Page, QuestionFilter, RunFilter, TaskFilter};
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{bad_row, body, stored, task_key};

/// Builds a WHERE clause.
#[derive(Default)]
struct WhereClause {
    clauses: Vec<String>,
    values: Vec<Value>,
    newest_first: bool,
}

impl WhereClause {
    /// `clause` ends in an operator; `value` becomes its right-hand side.
    fn and(&mut self, clause: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.clauses.push(format!("{clause} ?{}", self.values.len()));
    }

    fn after(&mut self, time: &str, cursor: Option<&Cursor>, key: Option<i64>) {
        if let (Some(cursor), Some(key)) = (cursor, key) {
            self.values.extend([Value::from(cursor.at.ms()), Value::from(key)]);
            let last = self.values.len();
            let beyond = if self.newest_first { '<' } else { '>' };
            self.clauses.push(format!("({time}, id) {beyond} (?{}, ?{last})", last - 1));
        }
    }

    fn text(&self) -> String {
        if self.clauses.is_empty() { String::new() } else { format!("WHERE {}", self.clauses.join(" AND ")) }
    }

    /// How many rows match, up to `max`. `is_wanted` applies conditions SQL cannot express.
    fn count(
        self,
        conn: &Connection,
        select: &str,
        max: u32,
        is_wanted: impl Fn(&Row<'_>) -> Result<bool, SqliteFault>,
    ) -> Result<u64, SqliteFault> {
        let mut statement = conn.prepare_cached(&format!("{select} {}", self.text()))?;
        let mut rows = statement.query(params_from_iter(self.values))?;
        let mut count = 0;
        while count < u64::from(max)
            && let Some(row) = rows.next()?
        {
            count += u64::from(is_wanted(row)?);
        }
        Ok(count)
    }

    /// Reads a page in the order of `time`. `item` decodes a row and its position, or returns `None` to skip it.
    fn page<T>(
        self,
        conn: &Connection,
        (select, time): (&str, &str),
        limit: u32,
        item: impl Fn(&Row<'_>) -> Result<Option<(T, Cursor)>, SqliteFault>,
    ) -> Result<Page<T>, SqliteFault> {
        let order = if self.newest_first { " DESC" } else { "" };
        let sql = format!("{select} {} ORDER BY {time}{order}, id{order}", self.text());
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(self.values))?;
        let mut page = PageBuilder::new(limit);
        while let Some(row) = rows.next()? {
            let Some((item, place)) = item(row)? else { continue };
            if page.is_full() {
                return Ok(page.finish_with_more());
            }
            page.push(item, place);
        }
        Ok(page.finish())
    }
}

pub(crate) fn tasks(
    conn: &Connection,
    filter: &TaskFilter,
    cursor: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Versioned<Task>>, SqliteFault> {
    let mut wanted = task_conditions(filter);
    wanted.after("created_ms", cursor, key_bits(cursor, "TASK-")?);
    let text = TextFilter::new(filter);
    let select = format!("SELECT version, body, id, {} FROM tasks", text.columns());
    wanted.page(conn, (&select, "created_ms"), limit, |row| {
        if !text.matches(row.get_ref(3)?, row.get_ref(4)?) {
            return Ok(None);
        }
        let task: Versioned<Task> = stored(row, RecordKind::Task, row.get::<_, i64>(2)?)?;
        let place = Cursor { at: task.value.spec().created_at, key: task.value.id().to_string() };
        Ok(Some((task, place)))
    })
}

/// SQLite folds only ASCII case, so texts are compared here.
struct TextFilter {
    title: Option<String>,
    /// In the title or the description.
    text: Option<String>,
}

impl TextFilter {
    fn new(filter: &TaskFilter) -> Self {
        let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
        Self { title: lower(&filter.title), text: lower(&filter.text) }
    }

    /// The two columns to compare. What is not compared is not read: then an index is enough to count.
    const fn columns(&self) -> &'static str {
        match (&self.title, &self.text) {
            (None, None) => "'', ''",
            (Some(_), None) => "title, ''",
            (_, Some(_)) => "title, body ->> '$.spec.description'",
        }
    }

    fn matches(&self, title: ValueRef<'_>, description: ValueRef<'_>) -> bool {
        let has = |column: ValueRef<'_>, part: &str| {
            column.as_str().is_ok_and(|text| text.to_lowercase().contains(part))
        };
        self.title.as_ref().is_none_or(|part| has(title, part))
            && self.text.as_ref().is_none_or(|part| has(title, part) || has(description, part))
    }
}

pub(crate) fn count_tasks(conn: &Connection, filter: &TaskFilter, max: u32) -> Result<u64, SqliteFault> {
    let text = TextFilter::new(filter);
    let select = format!("SELECT {} FROM tasks", text.columns());
    task_conditions(filter).count(
        conn,
        &select,
        max,
        |row| Ok(text.matches(row.get_ref(0)?, row.get_ref(1)?)),
    )
}

pub(crate) fn queue_depths(conn: &Connection) -> Result<BTreeMap<QueueName, u64>, SqliteFault> {
    let mut statement = conn.prepare_cached("SELECT queue, count(*) FROM tasks GROUP BY queue")?;
    let mut rows = statement.query([])?;
    let mut depths = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let queue = parse_queue(&name).ok_or_else(|| bad_row(RecordKind::Task, name, "unknown queue"))?;
        depths.insert(queue, row.get::<_, i64>(1)?.cast_unsigned());
    }
    Ok(depths)
}

fn task_conditions(filter: &TaskFilter) -> WhereClause {
    let mut wanted = WhereClause { newest_first: filter.newest_first, ..WhereClause::default() };
    if let Some(queue) = filter.queue {
        wanted.and("queue =", queue.as_str().to_owned());
    }
    if let Some(status) = filter.status {
        wanted.and("status =", status.as_str().to_owned());
    }
    if let Some(project) = filter.project {
        wanted.and("project =", i64::from(project.bits()));
    }
    if let Some(session) = &filter.session {
        wanted.and("session =", session.to_string());
    }
    if let Some(role) = &filter.role {
        wanted.and("role =", role.to_string());
    }
    if let Some(moment) = filter.updated_from {
        wanted.and("updated_ms >=", moment.ms());
    }
    if let Some(task_type) = filter.task_type {
        wanted.and("body ->> '$.spec.task_type' =", task_type.as_str().to_owned());
    }
    if let Some(agent) = &filter.agent {
        wanted.values.push(agent.to_string().into());
        let value = wanted.values.len();
        wanted.clauses.push(format!(
            "(body ->> '$.spec.agent' = ?{value} OR EXISTS (SELECT 1 FROM attempts
                WHERE attempts.task = tasks.id AND attempts.body ->> '$.attempt.agent' = ?{value}))"
        ));
    }
    if filter.is_kept {
        // Literals, so that the partial index applies.
        wanted.clauses.push("queue = 'incoming' AND is_claimable = 0".to_owned());
    }
    wanted
}

pub(crate) fn questions(
    conn: &Connection,
    filter: &QuestionFilter,
    cursor: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Versioned<QuestionRecord>>, SqliteFault> {
    let mut wanted = question_conditions(filter);
    wanted.after("asked_ms", cursor, key_bits(cursor, "Q-")?);
    let select = "SELECT version, body, id FROM questions";
    wanted.page(conn, (select, "asked_ms"), limit, |row| {
        let question: Versioned<QuestionRecord> = stored(row, RecordKind::Question, row.get::<_, i64>(2)?)?;
        let place = Cursor { at: question.value.asked_at, key: question.value.question.id.to_string() };
        Ok(Some((question, place)))
    })
}

pub(crate) fn runs(
    conn: &Connection,
    filter: &RunFilter,
    cursor: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Versioned<Run>>, SqliteFault> {
    let mut wanted = WhereClause { newest_first: true, ..WhereClause::default() };
    if let Some(is_open) = filter.is_open {
        // A literal, so that the partial index over open runs applies.
        wanted.clauses.push(format!("is_open = {}", u8::from(is_open)));
    }
    if let Some(session) = &filter.session {
        wanted.and("session =", session.to_string());
    }
    wanted.after("started_ms", cursor, key_bits(cursor, "RUN-")?);
    let select = "SELECT version, body, id FROM runs";
    wanted.page(conn, (select, "started_ms"), limit, |row| {
        let run: Versioned<Run> = stored(row, RecordKind::Run, row.get::<_, i64>(2)?)?;
        let place = Cursor { at: run_started(&run.value), key: run.value.id().to_string() };
        Ok(Some((run, place)))
    })
}

pub(crate) fn count_questions(
    conn: &Connection,
    filter: &QuestionFilter,
    max: u32,
) -> Result<u64, SqliteFault> {
    question_conditions(filter).count(conn, "SELECT 1 FROM questions", max, |_| Ok(true))
}

fn question_conditions(filter: &QuestionFilter) -> WhereClause {
    let mut wanted = WhereClause { newest_first: filter.newest_first, ..WhereClause::default() };
    if let Some(is_pending) = filter.is_pending {
        // A literal, so that the partial index over pending questions applies.
        wanted.clauses.push(format!("is_pending = {}", u8::from(is_pending)));
    }
    if let Some(task) = filter.task {
        wanted.and("task =", task_key(task));
    }
    if let Some(session) = &filter.session {
        wanted.and("session =", session.to_string());
    }
    wanted
}

pub(crate) fn projects(
    conn: &Connection,
    cursor: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Project>, SqliteFault> {
    let mut wanted = WhereClause::default();
    wanted.after("created_ms", cursor, key_bits(cursor, "PROJ-")?);
    let select = "SELECT created_ms, body, id FROM projects";
    wanted.page(conn, (select, "created_ms"), limit, |row| {
        let project: Project = body(row.get_ref(1)?, RecordKind::Project, row.get::<_, i64>(2)?)?;
        let place = Cursor { at: Timestamp::from_ms(row.get(0)?), key: project.id.to_string() };
        Ok(Some((project, place)))
    })
}

/// The number in a cursor's key. Parsing the cursor checked its form only.
fn key_bits(cursor: Option<&Cursor>, prefix: &str) -> Result<Option<i64>, SqliteFault> {
    let Some(cursor) = cursor else { return Ok(None) };
    let bits = cursor.key.strip_prefix(prefix).and_then(|hex| i64::from_str_radix(hex, 16).ok());
    Ok(Some(bits.ok_or_else(|| bad_row(RecordKind::Cursor, &cursor.key, "it is not from this list"))?))
}

/// Collects items up to a limit; one row beyond it means there is a next page.
pub(crate) struct PageBuilder<T> {
    items: Vec<T>,
    last: Option<Cursor>,
    limit: usize,
}

impl<T> PageBuilder<T> {
    pub(crate) fn new(limit: u32) -> Self {
        Self { items: Vec::new(), last: None, limit: limit as usize }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= self.limit
    }

    pub(crate) fn push(&mut self, item: T, place: Cursor) {
        self.items.push(item);
        self.last = Some(place);
    }

    pub(crate) fn finish_with_more(self) -> Page<T> {
        Page { items: self.items, next: self.last }
    }

    pub(crate) fn finish(self) -> Page<T> {
        Page { items: self.items, next: None }
    }
}
