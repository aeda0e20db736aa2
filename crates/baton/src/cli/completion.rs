//! Shell completion values: tasks, questions, recipes, projects and user tasks.
//!
//! Runs on every Tab press, so it reads once and offers nothing if anything fails.

use std::ffi::OsStr;

use baton_core::ask::question_record::QuestionRecord;
use baton_engine::query::TaskFilter;
use baton_engine::settings::Settings;
use baton_engine::settings::recipes::RecipeLibrary;
use baton_engine::user_tasks::{Site, UserTasks};
use clap_complete::engine::CompletionCandidate;

use crate::context::{self, CliContext};
use crate::explain;
use crate::options::GlobalOptions;

/// More than a person reads.
const OFFERED_MAX: u32 = 200;

pub(crate) fn tasks(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = read_store(async |context| {
        let page = context.tasks.store.tasks(&TaskFilter::default(), None, OFFERED_MAX).await.ok()?;
        let offered = page.items.iter().map(|row| row.value.spec());
        Some(offered.map(|spec| (spec.id.to_string(), spec.title.to_string())).collect())
    });
    candidates(typed, found)
}

pub(crate) fn questions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = read_store(async |context| {
        let pending = context.tasks.pending_questions(OFFERED_MAX).await.ok()?;
        let line =
            |record: &QuestionRecord| record.question.text().as_str().lines().next().map(str::to_owned);
        let pair =
            |record: &QuestionRecord| (record.question.id.to_string(), line(record).unwrap_or_default());
        Some(pending.iter().map(pair).collect())
    });
    candidates(typed, found)
}

pub(crate) fn projects(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = read_store(async |context| {
        let page = context.tasks.store.projects(None, OFFERED_MAX).await.ok()?;
        Some(page.items.iter().map(|project| (project.id.to_string(), project.title.to_string())).collect())
    });
    candidates(typed, found)
}

pub(crate) fn recipes(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = place().map(|(place, _)| {
        let listed = RecipeLibrary::for_repository(&place.root).list();
        listed.iter().map(|one| (one.recipe.id().to_string(), one.recipe.label().to_string())).collect()
    });
    candidates(typed, found)
}

pub(crate) fn user_tasks(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = place().and_then(|(place, settings)| {
        let tasks = UserTasks::new(&place.state_dir, settings.user_tasks);
        let list = tasks.list(&Site::of_person(&place.root)).ok()?;
        Some(list.tasks.into_iter().map(|task| (task.name, task.description)).collect())
    });
    candidates(typed, found)
}

pub(crate) fn explanations(typed: &OsStr) -> Vec<CompletionCandidate> {
    let entries = explain::catalogue::entries().into_iter().map(|entry| entry.explanation);
    let codes = entries.map(|row| (row.code.to_owned(), row.means.to_owned()));
    let topics =
        explain::topics::ExplainTopic::ALL.map(|topic| (topic.name().to_owned(), topic.about().to_owned()));
    candidates(typed, Some(topics.into_iter().chain(codes).collect()))
}

fn place() -> Option<(baton_engine::settings::location::StateLocation, Settings)> {
    // The shell does not pass on the flags typed so far.
    context::find(&GlobalOptions::from_environment()?).ok()
}

fn read_store<T>(read: impl AsyncFnOnce(&CliContext) -> Option<T>) -> Option<T> {
    let (place, _) = place()?;
    // Completion must not create a store.
    if matches!(place.store, baton_engine::settings::store_address::StoreAddress::File)
        && !place.store_path().exists()
    {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let context = CliContext::open_at(place, false).await.ok()?;
        let found = read(&context).await;
        context.close().await.ok()?;
        found
    })
}

/// Keeps the values that start with `typed`, with or without the prefix of an id.
fn candidates(typed: &OsStr, found: Option<Vec<(String, String)>>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let matches = |value: &str| {
        value.starts_with(&*typed)
            || value.split_once('-').is_some_and(|(_, rest)| !typed.is_empty() && rest.starts_with(&*typed))
    };
    let matching = found.into_iter().flatten().filter(|(value, _)| matches(value));
    matching.map(|(value, about)| CompletionCandidate::new(value).help(Some(about.into()))).collect()
}
