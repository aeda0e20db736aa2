//! Statements for filtered lists. Only the filters that are set appear, so that each statement has its index.

use std::fmt::Write;

use crate::model::query::{Cursor, QuestionFilter, RunFilter, TaskFilter};
use crate::postgres::connect::pipeline::Param;
use crate::postgres::write::put::searchable;

/// Builds a statement. Values from outside become parameters, never SQL.
pub(crate) struct Select {
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

    /// In the order of `place`, after `cursor`, with one row more than `limit` to tell whether there is a next page.
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

    fn count(mut self, max: u32) -> (String, Vec<Param>) {
        self.params.push(Box::new(i64::from(max)));
        let sql = format!("SELECT count(*) FROM ({} LIMIT ${}) AS counted", self.sql, self.params.len());
        (sql, self.params)
    }
}

pub(crate) fn tasks(filter: &TaskFilter, cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    let select = of_tasks("SELECT id, version, body, created_ms FROM tasks WHERE true", filter);
    select.page("created_ms", "id", cursor, limit)
}

/// What a task was created with. PostgreSQL's text cannot hold NUL, which a body contains in escaped form only.
const SPEC: &str = "(replace(tasks.body, '\\u0000', '\\ufffd')::json -> 'spec')";

fn of_tasks(sql: &str, filter: &TaskFilter) -> Select {
    let mut select = Select::new(sql);
    select.newest_first = filter.newest_first;
    // Our own constants, as literals, so that the planner can use the partial indexes.
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
    if let Some(timestamp) = filter.updated_from {
        select.fixed(&format!("updated_ms >= {}", timestamp.ms()));
    }
    if filter.is_kept {
        select.fixed("queue = 'incoming'");
        select.fixed("NOT is_claimable");
    }
    if let Some(title) = &filter.title {
        select.text("strpos(title, ?) > 0", searchable(title));
    }
    if let Some(text) = &filter.text {
        let description = format!("lower({SPEC} ->> 'description')");
        select.text(&format!("(strpos(title, ?) > 0 OR strpos({description}, ?) > 0)"), searchable(text));
    }
    if let Some(task_type) = filter.task_type {
        select.text(&format!("{SPEC} ->> 'task_type' = ?"), task_type.as_str().to_owned());
    }
    if let Some(agent) = &filter.agent {
        select.text(
            &format!(
                "({SPEC} ->> 'agent' = ? OR EXISTS (SELECT FROM records WHERE kind = 'attempt' AND task = tasks.id \
                 AND replace(records.body, '\\u0000', '\\ufffd')::json -> 'attempt' ->> 'agent' = ?))"
            ),
            agent.to_string(),
        );
    }
    select
}

pub(crate) fn questions(filter: &QuestionFilter, cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    of_questions("SELECT key, version, body, place FROM records WHERE kind = 'question'", filter)
        .page("place", "key", cursor, limit)
}

fn of_questions(sql: &str, filter: &QuestionFilter) -> Select {
    let mut select = Select::new(sql);
    select.newest_first = filter.newest_first;
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
    select
}

pub(crate) fn runs(filter: &RunFilter, cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    let mut select = Select::new("SELECT key, version, body, place FROM records WHERE kind = 'run'");
    select.newest_first = true;
    match filter.is_open {
        Some(true) => select.fixed("is_open"),
        Some(false) => select.fixed("NOT is_open"),
        None => {}
    }
    if let Some(session) = &filter.session {
        select.text("session = ?", session.to_string());
    }
    select.page("place", "key", cursor, limit)
}

pub(crate) fn projects(cursor: Option<Cursor>, limit: u32) -> (String, Vec<Param>) {
    Select::new("SELECT key, version, body, place FROM records WHERE kind = 'project'")
        .page("place", "key", cursor, limit)
}

/// Counts the same rows, up to `max`.
pub(crate) fn count_tasks(filter: &TaskFilter, max: u32) -> (String, Vec<Param>) {
    of_tasks("SELECT FROM tasks WHERE true", filter).count(max)
}

pub(crate) fn count_questions(filter: &QuestionFilter, max: u32) -> (String, Vec<Param>) {
    of_questions("SELECT FROM records WHERE kind = 'question'", filter).count(max)
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
