//! `baton export`: everything as JSON lines, or a project as an HTML report.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{ProjectId, SessionId};
use baton_core::records::event::Event;
use baton_engine::base::error::EngineError;
use baton_engine::query::{QuestionFilter, TaskFilter};
use baton_engine::reports::project_report::ProjectReport;
use baton_engine::reports::view::TaskView;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::export::{ExportArgs, ExportFormat};
use crate::commands::import::project_id;
use crate::context::CliContext;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output::{self, ProgressBar};

/// Rows per query.
const PAGE: u32 = 500;
/// Version of the line format.
const FORM: u32 = 1;

pub(crate) async fn run(api: &Api, args: ExportArgs) -> Result<String, CliError> {
    let project = args.project.as_deref().map(project_id).transpose()?;
    let context = api.context().await?;
    let written = write(&context, &args, project).await;
    context.progress.end();
    if api.is_served() {
        context.close().await?;
    }
    let lines = written?;
    match &args.output {
        Some(file) => Ok(format!("Wrote {} ({lines} lines).\n", file.display())),
        None => Ok(String::new()),
    }
}

async fn write(context: &CliContext, args: &ExportArgs, project: Option<ProjectId>) -> Result<u64, CliError> {
    let mut out = ExportOutput::open(args, context)?;
    match args.format {
        ExportFormat::Jsonl => LineExporter { context, project, out: &mut out }.all(args.events).await?,
        ExportFormat::Html => {
            let project = project.ok_or_else(|| {
                CliError::usage(
                    "an HTML report covers one project".to_owned(),
                    "name it with --project; list projects: baton project list",
                )
            })?;
            let report = ProjectReport::load(&context.tasks, project).await?;
            let now = context.tasks.store.now().await.map_err(EngineError::from)?;
            out.text(&baton_server::pages::report::page(&report, now))?;
        }
    }
    out.finish()
}

/// Where the lines go.
struct ExportOutput {
    to: Box<dyn Write + Send>,
    name: String,
    lines: u64,
    /// None when the lines go to the terminal.
    progress: Option<ProgressBar>,
}

impl ExportOutput {
    fn open(args: &ExportArgs, context: &CliContext) -> Result<Self, CliError> {
        let name = args
            .output
            .as_ref()
            .map_or_else(|| "standard output".to_owned(), |file| file.display().to_string());
        let to: Box<dyn Write + Send> = match &args.output {
            Some(file) => {
                Box::new(BufWriter::new(File::create_new(file).map_err(|error| failed(&name, &error))?))
            }
            None => Box::new(BufWriter::new(std::io::stdout())),
        };
        let is_seen = args.output.is_none() && std::io::stdout().is_terminal();
        Ok(Self { to, name, lines: 0, progress: (!is_seen).then(|| context.progress.clone()) })
    }

    fn line(&mut self, kind: &'static str, value: &impl Serialize) -> Result<(), CliError> {
        self.text(&line(kind, value)?)
    }

    fn text(&mut self, text: &str) -> Result<(), CliError> {
        self.lines += text.lines().count() as u64;
        if let Some(progress) = &self.progress {
            progress.at("Exporting lines", self.lines, 0);
        }
        self.to.write_all(text.as_bytes()).map_err(|error| failed(&self.name, &error))
    }

    fn finish(mut self) -> Result<u64, CliError> {
        self.to.flush().map_err(|error| failed(&self.name, &error))?;
        Ok(self.lines)
    }
}

/// The kind, then the record. A record with a `kind` of its own, such as a question, has it renamed: JSON readers drop
/// one of two equal keys.
fn line(kind: &'static str, value: &impl Serialize) -> Result<String, CliError> {
    #[derive(Serialize)]
    struct ExportLine {
        kind: &'static str,
        #[serde(flatten)]
        value: Value,
    }
    let mut value = serde_json::to_value(value)
        .map_err(|error| CliError::bug(format!("cannot write a {kind} as JSON: {error}")))?;
    if let Some(fields) = value.as_object_mut()
        && let Some(own) = fields.remove("kind")
    {
        fields.insert(format!("{kind}_kind"), own);
    }
    output::json_line(&ExportLine { kind, value })
}

fn failed(name: &str, error: &std::io::Error) -> CliError {
    CliError::failed(format!("cannot write {name}: {error}"), "choose a new file in a writable directory")
}

struct LineExporter<'a> {
    context: &'a CliContext,
    project: Option<ProjectId>,
    out: &'a mut ExportOutput,
}

impl LineExporter<'_> {
    async fn all(mut self, with_events: bool) -> Result<(), CliError> {
        let store = &self.context.tasks.store;
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

    async fn projects(&mut self) -> Result<(), CliError> {
        let mut cursor = None;
        loop {
            let page = self.context.tasks.store.projects(cursor, PAGE).await.map_err(EngineError::from)?;
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
    async fn sessions(&mut self) -> Result<(), CliError> {
        let mut cursor = None;
        loop {
            let page = self.context.tasks.store.task_groups(cursor, PAGE).await.map_err(EngineError::from)?;
            for group in &page.items {
                self.session(&group.session).await?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn session(&mut self, id: &SessionId) -> Result<(), CliError> {
        let store = &self.context.tasks.store;
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

    async fn tasks(&mut self) -> Result<(), CliError> {
        let tasks = &self.context.tasks;
        let filter = TaskFilter { project: self.project, ..TaskFilter::default() };
        let mut cursor = None;
        loop {
            let page = tasks.store.tasks(&filter, cursor, PAGE).await.map_err(EngineError::from)?;
            for row in &page.items {
                self.out.line("task", &TaskView::load(tasks, row.value.id()).await?)?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn questions(&mut self) -> Result<(), CliError> {
        let tasks = &self.context.tasks;
        let mut cursor = None;
        loop {
            let page = tasks
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

    async fn is_wanted(&self, record: &QuestionRecord) -> Result<bool, CliError> {
        let Some(only) = self.project else { return Ok(true) };
        let Some(task) = record.task_id else { return Ok(false) };
        Ok(self.context.tasks.task(task).await?.value.spec().project_id == Some(only))
    }

    async fn events(&mut self) -> Result<(), CliError> {
        #[derive(Serialize)]
        struct EventLine<'a> {
            seq: u64,
            #[serde(flatten)]
            event: &'a Event,
        }
        let mut after = 0;
        loop {
            let events = self.context.tasks.events_after(after).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.seq;
            for recorded in &events {
                self.out.line("event", &EventLine { seq: recorded.seq, event: &recorded.event })?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_kind() {
        let written = line("question", &json!({ "id": "Q-1", "kind": "permission" })).unwrap();
        assert_eq!(written, "{\"kind\":\"question\",\"id\":\"Q-1\",\"question_kind\":\"permission\"}\n");
    }
}
