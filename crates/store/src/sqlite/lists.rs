//! Lists with filters and pages, oldest first unless the filter says otherwise.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::time::Timestamp;
use baton_core::records::change::Versioned;
use baton_core::records::project::Project;
use baton_core::task::Task;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::fault::Fault;
use super::rows::{bad_row, body, of_task, stored};
use crate::query::{Cursor, Page, QuestionFilter, TaskFilter};

/// A WHERE clause in the making.
#[derive(Default)]
struct Where {
    clauses: Vec<String>,
    values: Vec<Value>,
    newest_first: bool,
}

impl Where {
    /// `clause` ends in the operator; the value takes its place behind it.
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

    /// What `select` finds of these, in the order of `time`. `item` makes one of a row and says where it stands, or
    /// passes over it.
    fn page<T>(
        self,
        conn: &Connection,
        (select, time): (&str, &str),
        limit: u32,
        item: impl Fn(&Row<'_>) -> Result<Option<(T, Cursor)>, Fault>,
    ) -> Result<Page<T>, Fault> {
        let order = if self.newest_first { " DESC" } else { "" };
        let sql = format!("{select} {} ORDER BY {time}{order}, id{order}", self.text());
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(self.values))?;
        let mut page = PageInTheMaking::new(limit);
        while let Some(row) = rows.next()? {
            let Some((item, place)) = item(row)? else { continue };
            if page.is_full() {
                return Ok(page.with_more());
            }
            page.push(item, place);
        }
        Ok(page.at_the_end())
    }
}

pub fn tasks(
    conn: &Connection,
    filter: &TaskFilter,
    cursor: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Versioned<Task>>, Fault> {
    let mut wanted = Where { newest_first: filter.newest_first, ..Where::default() };
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
    wanted.after("created_ms", cursor, key_bits(cursor, "TASK-")?);
    let title = filter.title.as_ref().map(|title| title.to_lowercase());
    let select = "SELECT version, body, id, title FROM tasks";
    wanted.page(conn, (select, "created_ms"), limit, |row| {
        if let Some(title) = &title
            && !row.get_ref(3)?.as_str().is_ok_and(|found| found.to_lowercase().contains(title.as_str()))
        {
            // SQLite knows only ASCII's upper and lower case.
            return Ok(None);
        }
        let task: Versioned<Task> = stored(row, "task", row.get::<_, i64>(2)?)?;
        let place = Cursor { at: task.value.spec().created_at, key: task.value.id().to_string() };
        Ok(Some((task, place)))
    })
}

pub fn questions(
    conn: &Connection,
    filter: &QuestionFilter,
    cursor: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Versioned<QuestionRecord>>, Fault> {
    let mut wanted = Where::default();
    if let Some(is_pending) = filter.is_pending {
        // Written out, so that the index over the pending ones fits.
        wanted.clauses.push(format!("is_pending = {}", u8::from(is_pending)));
    }
    if let Some(task) = filter.task {
        wanted.and("task =", of_task(task));
    }
    if let Some(session) = &filter.session {
        wanted.and("session =", session.to_string());
    }
    wanted.after("asked_ms", cursor, key_bits(cursor, "Q-")?);
    let select = "SELECT version, body, id FROM questions";
    wanted.page(conn, (select, "asked_ms"), limit, |row| {
        let question: Versioned<QuestionRecord> = stored(row, "question", row.get::<_, i64>(2)?)?;
        let place = Cursor { at: question.value.asked_at, key: question.value.question.id.to_string() };
        Ok(Some((question, place)))
    })
}

pub fn projects(conn: &Connection, cursor: Option<&Cursor>, limit: u32) -> Result<Page<Project>, Fault> {
    let mut wanted = Where::default();
    wanted.after("created_ms", cursor, key_bits(cursor, "PROJ-")?);
    let select = "SELECT created_ms, body, id FROM projects";
    wanted.page(conn, (select, "created_ms"), limit, |row| {
        let project: Project = body(row.get_ref(1)?, "project", row.get::<_, i64>(2)?)?;
        let place = Cursor { at: Timestamp::from_ms(row.get(0)?), key: project.id.to_string() };
        Ok(Some((project, place)))
    })
}

/// The number in a cursor's key. The key was checked for form only when it was read.
fn key_bits(cursor: Option<&Cursor>, prefix: &str) -> Result<Option<i64>, Fault> {
    let Some(cursor) = cursor else { return Ok(None) };
    let bits = cursor.key.strip_prefix(prefix).and_then(|hex| i64::from_str_radix(hex, 16).ok());
    Ok(Some(bits.ok_or_else(|| bad_row("cursor", &cursor.key, "it is not from this list"))?))
}

/// Filled up to its limit; one row more says that there is a next page.
pub struct PageInTheMaking<T> {
    items: Vec<T>,
    last: Option<Cursor>,
    limit: usize,
}

impl<T> PageInTheMaking<T> {
    pub fn new(limit: u32) -> Self {
        Self { items: Vec::new(), last: None, limit: limit as usize }
    }

    pub fn is_full(&self) -> bool {
        self.items.len() >= self.limit
    }

    pub fn push(&mut self, item: T, place: Cursor) {
        self.items.push(item);
        self.last = Some(place);
    }

    pub fn with_more(self) -> Page<T> {
        Page { items: self.items, next: self.last }
    }

    pub fn at_the_end(self) -> Page<T> {
        Page { items: self.items, next: None }
    }
}
