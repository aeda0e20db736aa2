//! Lists with filters: a statement is put together from the filters that are set, so that each finds its index.

use std::fmt::Write;

use super::pipeline::Param;
use super::put::searchable;
use crate::query::{Cursor, QuestionFilter, TaskFilter};

/// A statement in the making. Texts from outside go in as parameters, never into the SQL.
pub(super) struct Select {
    sql: String,
    params: Vec<Param>,
    newest_first: bool,
}

impl Select {
    fn new(sql: &str) -> Self {
        Self { sql: sql.to_owned(), params: Vec::new(), newest_first: false }
    }

    fn text(&mut self, condition: &str, value: String) {
        self.params.push(Box::new(value));
        // Writing to a String cannot fail.
        let _ = write!(self.sql, " AND {}", condition.replace('?', &format!("${}", self.params.len())));
    }

    fn fixed(&mut self, condition: &str) {
        let _ = write!(self.sql, " AND {condition}");
    }

    /// In the order of `place`, after `cursor`, with one row more than `limit` to know whether there are more.
    fn page(mut self, place: &str, key: &str, cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
        if let Some(Cursor { at, key: last }) = cursor {
            self.params.push(Box::new(at.ms()));
            self.params.push(Box::new(last));
            let count = self.params.len();
            let beyond = if self.newest_first { '<' } else { '>' };
            let _ = write!(self.sql, " AND ({place}, {key}) {beyond} (${}, ${count})", count - 1);
        }
        self.params.push(Box::new(i64::from(limit) + 1));
        let order = if self.newest_first { " DESC" } else { "" };
        let _ = write!(self.sql, " ORDER BY {place}{order}, {key}{order} LIMIT ${}", self.params.len());
        (self.sql, self.params)
    }
}

pub(super) fn tasks(filter: &TaskFilter, cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    let mut select = Select::new("SELECT id, version, body, created_ms FROM tasks WHERE true");
    select.newest_first = filter.newest_first;
    // Our own words, and in the SQL itself, so that the server can see which index holds them.
    if let Some(queue) = filter.queue {
        select.fixed(&format!("queue = '{}'", queue.as_str()));
    }
    if let Some(status) = filter.status {
        select.fixed(&format!("status = '{}'", status.as_str()));
    }
    if let Some(project) = filter.project {
        select.text("project = ?", project.to_string());
    }
    if let Some(session) = &filter.session {
        select.text("session = ?", session.to_string());
    }
    if let Some(role) = &filter.role {
        select.text("role = ?", role.to_string());
    }
    if let Some(moment) = filter.updated_from {
        select.fixed(&format!("updated_ms >= {}", moment.ms()));
    }
    if let Some(title) = &filter.title {
        select.text("strpos(title, ?) > 0", searchable(title));
    }
    select.page("created_ms", "id", cursor, limit)
}

pub(super) fn questions(filter: &QuestionFilter, cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    let mut select = Select::new("SELECT key, version, body, place FROM records WHERE kind = 'question'");
    match filter.is_pending {
        Some(true) => select.fixed("is_open"),
        Some(false) => select.fixed("NOT is_open"),
        None => {}
    }
    if let Some(task) = filter.task {
        select.text("task = ?", task.to_string());
    }
    if let Some(session) = &filter.session {
        select.text("session = ?", session.to_string());
    }
    select.page("place", "key", cursor, limit)
}

pub(super) fn projects(cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    Select::new("SELECT key, version, body, place FROM records WHERE kind = 'project'")
        .page("place", "key", cursor, limit)
}

pub(super) fn groups(cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    Select::new("SELECT session, created_ms FROM groups WHERE true").page(
        "created_ms",
        "session",
        cursor,
        limit,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::base::time::Timestamp;
    use baton_core::task::state::QueueName;

    #[test]
    fn only_the_filters_that_are_set_are_in_the_statement() {
        let (sql, params) = tasks(&TaskFilter::default(), None, 20);
        assert_eq!(
            sql,
            "SELECT id, version, body, created_ms FROM tasks WHERE true ORDER BY created_ms, id LIMIT $1"
        );
        assert_eq!(params.len(), 1);

        let filter = TaskFilter {
            queue: Some(QueueName::Incoming),
            title: Some("Fix' OR 1".to_owned()),
            ..TaskFilter::default()
        };
        let cursor = Cursor { at: Timestamp::from_ms(5), key: "TASK-00000001".to_owned() };
        let (sql, params) = tasks(&filter, Some(cursor), 20);
        assert_eq!(
            sql,
            "SELECT id, version, body, created_ms FROM tasks WHERE true AND queue = 'incoming' AND strpos(title, $1) > 0 \
             AND (created_ms, id) > ($2, $3) ORDER BY created_ms, id LIMIT $4"
        );
        assert_eq!(params.len(), 4);
    }
}
