//! `baton export`: everything, one JSON object on each line, or a project as a page that needs nothing else.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use baton_core::event::Event;
use baton_core::id::{ProjectId, SessionId};
use baton_core::question_record::QuestionRecord;
use baton_engine::error::EngineError;
use baton_engine::project_report::ProjectReport;
use baton_engine::query::{QuestionFilter, TaskFilter};
use baton_engine::view::TaskView;
use serde::Serialize;
use serde_json::{Value, json};

use super::import::project_id;
use crate::api::Api;
use crate::cli::export::{Export, Format};
use crate::fault::{FAILED, Fault};
use crate::office::Office;
use crate::output::{self, Progress};

/// Rows read at once.
const PAGE: u32 = 500;
/// The version of the lines' form.
const FORM: u32 = 1;

pub async fn run(api: &Api, asked: Export) -> Result<String, Fault> {
    let project = asked.project.as_deref().map(project_id).transpose()?;
    let office = api.office().await?;
    let written = write(&office, &asked, project).await;
    office.progress.end();
    if api.is_served() {
        office.close().await?;
    }
    let lines = written?;
    match &asked.output {
        Some(file) => Ok(format!("{} is written ({lines} lines).\n", file.display())),
        None => Ok(String::new()),
    }
}

async fn write(office: &Office, asked: &Export, project: Option<ProjectId>) -> Result<u64, Fault> {
    let mut out = Out::open(asked, office)?;
    match asked.format {
        Format::Jsonl => Lines { office, project, out: &mut out }.all(asked.events).await?,
        Format::Html => {
            let project = project.ok_or_else(|| {
                Fault::usage(
                    "a report is of one project".to_owned(),
                    "name it with --project; baton project list shows them",
                )
            })?;
            let report = ProjectReport::load(&office.desk, project).await?;
            let now = office.desk.store.now().await.map_err(EngineError::from)?;
            out.text(&baton_server::pages::report::page(&report, now))?;
        }
    }
    out.finish()
}

/// Where the lines go.
struct Out {
    to: Box<dyn Write + Send>,
    name: String,
    lines: u64,
    /// None where the lines themselves are seen.
    progress: Option<Progress>,
}

impl Out {
    fn open(asked: &Export, office: &Office) -> Result<Self, Fault> {
        let name = asked
            .output
            .as_ref()
            .map_or_else(|| "standard output".to_owned(), |file| file.display().to_string());
        let to: Box<dyn Write + Send> = match &asked.output {
            Some(file) => {
                Box::new(BufWriter::new(File::create_new(file).map_err(|error| failed(&name, &error))?))
            }
            None => Box::new(BufWriter::new(std::io::stdout())),
        };
        let is_seen = asked.output.is_none() && std::io::stdout().is_terminal();
        Ok(Self { to, name, lines: 0, progress: (!is_seen).then(|| office.progress.clone()) })
    }

    fn line(&mut self, kind: &'static str, value: &impl Serialize) -> Result<(), Fault> {
        self.text(&line(kind, value)?)
    }

    fn text(&mut self, text: &str) -> Result<(), Fault> {
        self.lines += text.lines().count() as u64;
        if let Some(progress) = &self.progress {
            progress.at("Exporting lines", self.lines, 0);
        }
        self.to.write_all(text.as_bytes()).map_err(|error| failed(&self.name, &error))
    }

    fn finish(mut self) -> Result<u64, Fault> {
        self.to.flush().map_err(|error| failed(&self.name, &error))?;
        Ok(self.lines)
    }
}

/// What it is, then the record. A record that has a kind of its own, as questions do, keeps it under another name: a line
/// with one name twice would lose one of them to whoever reads it.
fn line(kind: &'static str, value: &impl Serialize) -> Result<String, Fault> {
    #[derive(Serialize)]
    struct Line {
        kind: &'static str,
        #[serde(flatten)]
        value: Value,
    }
    let mut value = serde_json::to_value(value).map_err(|error| Fault {
        message: format!("a {kind} cannot be written as JSON: {error}"),
        hint: "this is a mistake in Baton; please report it".to_owned(),
        code: FAILED,
    })?;
    if let Some(fields) = value.as_object_mut()
        && let Some(own) = fields.remove("kind")
    {
        fields.insert(format!("{kind}_kind"), own);
    }
    output::json_line(&Line { kind, value })
}

fn failed(name: &str, error: &std::io::Error) -> Fault {
    Fault {
        message: format!("{name} cannot be written: {error}"),
        hint: "choose a file that is not there yet, in a folder you may write to".to_owned(),
        code: FAILED,
    }
}

struct Lines<'a> {
    office: &'a Office,
    project: Option<ProjectId>,
    out: &'a mut Out,
}

impl Lines<'_> {
    async fn all(mut self, with_events: bool) -> Result<(), Fault> {
        let store = &self.office.desk.store;
        let now = store.now().await.map_err(EngineError::from)?;
        self.out.line("export", &json!({ "form": FORM, "at": now, "version": env!("CARGO_PKG_VERSION") }))?;
        self.projects().await?;
        self.sessions().await?;
        self.tasks().await?;
        self.questions().await?;
        if with_events {
            self.events().await?;
        }
        Ok(())
    }

    async fn projects(&mut self) -> Result<(), Fault> {
        let mut cursor = None;
        loop {
            let page = self.office.desk.store.projects(cursor, PAGE).await.map_err(EngineError::from)?;
            for project in
                page.items.iter().filter(|project| self.project.is_none_or(|only| only == project.id))
            {
                self.out.line("project", project)?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Each with its messages.
    async fn sessions(&mut self) -> Result<(), Fault> {
        let mut cursor = None;
        loop {
            let page = self.office.desk.store.task_groups(cursor, PAGE).await.map_err(EngineError::from)?;
            for group in &page.items {
                self.session(&group.session).await?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn session(&mut self, id: &SessionId) -> Result<(), Fault> {
        let store = &self.office.desk.store;
        let Some(session) = store.session(id).await.map_err(EngineError::from)? else { return Ok(()) };
        if self.project.is_some() && session.value.project_id != self.project {
            return Ok(());
        }
        self.out.line("session", &session.value)?;
        let mut after = 0;
        loop {
            let messages = store.messages(id, after, PAGE).await.map_err(EngineError::from)?;
            let Some(last) = messages.last() else { return Ok(()) };
            after = last.number;
            for message in &messages {
                self.out.line("message", message)?;
            }
        }
    }

    async fn tasks(&mut self) -> Result<(), Fault> {
        let desk = &self.office.desk;
        let filter = TaskFilter { project: self.project, ..TaskFilter::default() };
        let mut cursor = None;
        loop {
            let page = desk.store.tasks(&filter, cursor, PAGE).await.map_err(EngineError::from)?;
            for row in &page.items {
                self.out.line("task", &TaskView::load(desk, row.value.id()).await?)?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn questions(&mut self) -> Result<(), Fault> {
        let desk = &self.office.desk;
        let mut cursor = None;
        loop {
            let page = desk
                .store
                .questions(&QuestionFilter::default(), cursor, PAGE)
                .await
                .map_err(EngineError::from)?;
            for row in &page.items {
                if self.is_wanted(&row.value).await? {
                    self.out.line("question", &row.value)?;
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn is_wanted(&self, record: &QuestionRecord) -> Result<bool, Fault> {
        let Some(only) = self.project else { return Ok(true) };
        let Some(task) = record.task_id else { return Ok(false) };
        Ok(self.office.desk.task(task).await?.value.spec().project_id == Some(only))
    }

    async fn events(&mut self) -> Result<(), Fault> {
        #[derive(Serialize)]
        struct Line<'a> {
            seq: u64,
            #[serde(flatten)]
            event: &'a Event,
        }
        let mut after = 0;
        loop {
            let events = self.office.desk.events_after(after).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.seq;
            for recorded in &events {
                self.out.line("event", &Line { seq: recorded.seq, event: &recorded.event })?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_is_once() {
        let written = line("question", &json!({ "id": "Q-1", "kind": "permission" })).unwrap();
        assert_eq!(written, "{\"kind\":\"question\",\"id\":\"Q-1\",\"question_kind\":\"permission\"}\n");
    }
}
