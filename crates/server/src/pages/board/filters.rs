//! What the board is narrowed to: text, project, state, type and agent, in its address.

use std::fmt::Display;
use std::str::FromStr;

use baton_core::base::id::ProjectId;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::AgentName;
use baton_engine::query::{Cursor, TaskFilter};
use maud::{Markup, html};

use crate::http::error::{ApiError, Result};
use crate::http::input::Query;
use crate::pages::board::columns::COLUMNS;
use crate::pages::frame::response::PageError;
use crate::pages::projects;
use crate::pages::widgets::percent::encode;
use crate::pages::widgets::words::state_name_badge;
use crate::state::App;

pub(super) struct BoardQuery {
    pub text: Option<String>,
    pub project: Option<ProjectId>,
    /// The name of a column.
    pub state: Option<&'static str>,
    pub task_type: Option<TaskType>,
    pub agent: Option<AgentName>,
    pub is_list: bool,
    /// Where the list goes on.
    pub cursor: Option<Cursor>,
    /// Expanded columns.
    more: Vec<&'static str>,
}

impl BoardQuery {
    pub(super) fn parse(mut query: Query) -> Result<Self> {
        let text: Option<String> = chosen(&mut query, "q")?;
        let state: Option<String> = chosen(&mut query, "state")?;
        let more: String = query.take("more")?.unwrap_or_default();
        let known = |name: &str| COLUMNS.iter().map(|column| column.name).find(|known| *known == name);
        let unknown = || ApiError::invalid("there is no such state", "choose one from the list");
        let wanted = Self {
            text: text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
            project: projects::from_query(&mut query)?,
            state: state.map(|name| known(&name).ok_or_else(unknown)).transpose()?,
            task_type: chosen(&mut query, "type")?,
            agent: chosen(&mut query, "agent")?,
            is_list: query.take::<String>("view")?.as_deref() == Some("list"),
            cursor: query.take("cursor")?,
            more: more.split(',').filter_map(known).collect(),
        };
        query.done()?;
        Ok(wanted)
    }

    pub(super) const fn is_narrowed(&self) -> bool {
        self.text.is_some()
            || self.project.is_some()
            || self.state.is_some()
            || self.task_type.is_some()
            || self.agent.is_some()
    }

    /// For the store, without the state, which a column says.
    pub(super) fn filter(&self) -> TaskFilter {
        TaskFilter {
            text: self.text.clone(),
            project: self.project,
            task_type: self.task_type,
            agent: self.agent.clone(),
            ..TaskFilter::default()
        }
    }

    pub(super) fn is_expanded(&self, column: &str) -> bool {
        self.more.contains(&column)
    }

    /// The address with one more column expanded.
    pub(super) fn expanded(&self, column: &'static str) -> String {
        let known = COLUMNS.iter().map(|each| each.name);
        let names: Vec<&str> = known.filter(|name| *name == column || self.is_expanded(name)).collect();
        format!("{}more={}#{column}", self.address(self.is_list), names.join(","))
    }

    /// The same choice as columns or as a list; ends so that a parameter may follow.
    pub(super) fn address(&self, is_list: bool) -> String {
        let mut address = "/board?".to_owned();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                address.extend([name, "=", &encode(&value), "&"]);
            }
        };
        add("q", self.text.clone());
        add("project", self.project.map(|project| project.to_string()));
        add("state", self.state.map(str::to_owned));
        add("type", self.task_type.map(|task_type| task_type.to_string()));
        add("agent", self.agent.as_ref().map(ToString::to_string));
        add("view", is_list.then(|| "list".to_owned()));
        address
    }

    pub(super) async fn render(&self, app: &App) -> Result<Markup, PageError> {
        let projects = projects::list_projects(app).await?;
        let states: Vec<(&str, &str)> =
            COLUMNS.iter().map(|column| (column.name, state_name_badge(column.state).word)).collect();
        let types: Vec<(&str, &str)> =
            TaskType::ALL.iter().map(|each| (each.as_str(), each.as_str())).collect();
        let agents = app.workspace.settings.agents.keys().map(|name| (name.as_str(), name.as_str()));
        let task_type = self.task_type.map(TaskType::as_str);
        let agent = self.agent.as_ref().map(AgentName::as_str);
        Ok(html! {
            form.filters method="get" action="/board" role="search" data-search {
                label.unseen for="filter" { "Search titles and descriptions" }
                input #filter type="search" name="q" placeholder="Search  /" value=[self.text.as_ref()] autocomplete="off";
                @if !projects.is_empty() {
                    label.unseen for="project" { "Project" }
                    (projects::picker("project", &projects, self.project, "All projects"))
                }
                (select("state", "State", "All states", &states, self.state))
                (select("type", "Type", "All types", &types, task_type))
                (select("agent", "Agent", "All agents", &agents.collect::<Vec<_>>(), agent))
                @if self.is_list { input type="hidden" name="view" value="list"; }
                button type="submit" { "Search" }
                @if self.is_narrowed() { a.button.quiet href=(if self.is_list { "/board?view=list" } else { "/board" }) { "Clear" } }
            }
        })
    }
}

/// A parameter that a form sends empty where nothing was chosen.
fn chosen<T: FromStr<Err: Display>>(query: &mut Query, name: &'static str) -> Result<Option<T>> {
    let Some(text) = query.take::<String>(name)?.filter(|text| !text.is_empty()) else { return Ok(None) };
    let wrong = |error: T::Err| ApiError::invalid(format!("{name}: {error}"), "choose one from the list");
    text.parse().map(Some).map_err(wrong)
}

fn select(name: &str, label: &str, all: &str, choices: &[(&str, &str)], chosen: Option<&str>) -> Markup {
    html! {
        label.unseen for=(name) { (label) }
        select #(name) name=(name) {
            option value="" { (all) }
            @for (value, word) in choices { option value=(value) selected[chosen == Some(value)] { (word) } }
        }
    }
}
