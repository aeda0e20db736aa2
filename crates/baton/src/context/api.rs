//! The API, answered by the running server if there is one, else in this process on the store. A command cannot tell
//! which.

use std::time::Duration;

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_engine::landing::views::LandingView;
use baton_engine::query::Cursor;
use baton_engine::reports::view::TaskView;
use baton_engine::settings::location::StateLocation;
use baton_server::client::{ApiClient, ClientError, EventStream, with_query};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::context::server_file;
use crate::context::{self, CliContext};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

/// Largest page the API returns.
const PAGE_MAX: u32 = 500;

/// Between two looks at lanes that this process works on.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Checks that print a lot are looked at now and then.
async fn next_change(changes: &mut watch::Receiver<u64>) {
    // The board lives as long as the lander.
    let _ = changes.changed().await;
    tokio::time::sleep(LOOK_EVERY).await;
}

pub(crate) struct Api {
    client: ApiClient,
    pub(crate) place: StateLocation,
    pub(crate) is_json: bool,
    /// The store, if it is open here. Dropping the sender would end event streams.
    here: Option<(CliContext, watch::Sender<bool>)>,
}

impl Api {
    pub(crate) async fn open(options: &GlobalOptions) -> Result<Self, CliError> {
        let (place, settings) = context::find(options)?;
        let is_json = options.json;
        if let Some(address) = server_file::running(&place, None).await {
            let address = address.acting_as(&context::user_name(&settings)?);
            return Ok(Self { client: ApiClient::for_server(address), place, is_json, here: None });
        }
        let context = CliContext::open_at(place.clone(), is_json).await?;
        let (alive, ending) = watch::channel(false);
        let client = ApiClient::in_process(context.app(settings, ending));
        Ok(Self { client, place, is_json, here: Some((context, alive)) })
    }

    pub(crate) async fn close(self) -> Result<(), CliError> {
        match &self.here {
            Some((context, _)) => context.close().await,
            None => Ok(()),
        }
    }

    /// Works on the lane of a task until the task has left it, where no server does that.
    /// `seen` gets what there is to see of the lanes whenever it has changed.
    pub(crate) async fn land(
        &self,
        task: TaskId,
        mut seen: impl FnMut(&LandingView),
    ) -> Result<(), CliError> {
        let Some((context, _)) = &self.here else { return Ok(()) };
        let workspace = context.workspace(context.settings()?);
        let lander = workspace.lander();
        let mut changes = lander.board.changes();
        // In a task of its own: the caller may hold locks that the look-up waits for.
        let mut work = JoinSet::new();
        work.spawn(async move { lander.land(task).await });
        loop {
            seen(&workspace.landing.view(&workspace.projects).await?);
            tokio::select! {
                ended = work.join_next() => {
                    seen(&workspace.landing.view(&workspace.projects).await?);
                    return match ended {
                        Some(Ok(ended)) => Ok(ended?),
                        Some(Err(error)) => Err(CliError::bug(format!("landing ended unexpectedly: {error}"))),
                        None => Ok(()),
                    };
                }
                () = next_change(&mut changes) => {}
            }
        }
    }

    /// Whether a server answers, rather than this process.
    pub(crate) fn is_served(&self) -> bool {
        self.here.is_none()
    }

    /// The store, for what the API cannot do: the open one, or a second connection beside the server.
    pub(crate) async fn context(&self) -> Result<CliContext, CliError> {
        match &self.here {
            Some((context, _)) => Ok(context.clone()),
            None => CliContext::open_at(self.place.clone(), self.is_json).await,
        }
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CliError> {
        Ok(self.client.get(path).await?)
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, CliError> {
        Ok(self.client.post(path, body).await?)
    }

    /// The same for a caller that handles refusals.
    pub(crate) async fn try_post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, ClientError> {
        self.client.post(path, body).await
    }

    pub(crate) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, CliError> {
        Ok(self.client.patch(path, body).await?)
    }

    pub(crate) async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, CliError> {
        Ok(self.client.delete(path).await?)
    }

    pub(crate) async fn events(&self, after: u64) -> Result<EventStream, CliError> {
        Ok(self.client.events(after).await?)
    }

    /// The number of the last event.
    pub(crate) async fn last_event(&self) -> Result<u64, CliError> {
        let health: Value = self.get("/api/health").await?;
        Ok(health["last_seq"].as_u64().unwrap_or_default())
    }

    /// The server's time.
    pub(crate) async fn now(&self) -> Result<Timestamp, CliError> {
        let health: Value = self.get("/api/health").await?;
        read(health["now"].clone())
    }

    /// Parses a task id or a unique prefix of one.
    pub(crate) async fn task_id(&self, text: &str) -> Result<TaskId, CliError> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let mut found: Map<String, Value> =
            self.get(&with_query("/api/tasks/find", &[("prefix", text)])).await?;
        read(found["task_id"].take())
    }

    pub(crate) async fn task(&self, id: TaskId) -> Result<TaskView, CliError> {
        self.get(&format!("/api/tasks/{id}")).await
    }

    /// The task as JSON, or a sentence about what was done.
    pub(crate) async fn confirm(&self, id: TaskId, sentence: &str) -> Result<String, CliError> {
        if self.is_json { output::json(&self.task(id).await?) } else { Ok(sentence.to_owned()) }
    }

    /// Up to `limit` items of a list, and the cursor of the next page.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        list: &ListRequest<'_>,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<(Vec<T>, Option<String>), CliError> {
        // Parsed here, so that a bad cursor is a usage error.
        let _: Option<Cursor> =
            cursor.map(str::parse).transpose().map_err(baton_engine::base::error::EngineError::from)?;
        let mut items: Vec<T> = Vec::new();
        let mut cursor = cursor.map(str::to_owned);
        loop {
            let left = limit - u32::try_from(items.len()).unwrap_or(limit).min(limit);
            let size = left.clamp(1, PAGE_MAX).to_string();
            let mut query = list.query.to_vec();
            query.push(("limit", &size));
            if let Some(cursor) = &cursor {
                query.push(("cursor", cursor));
            }
            let mut page: Map<String, Value> = self.get(&with_query(list.path, &query)).await?;
            let found: Vec<T> = read(page.remove(list.name).unwrap_or_default())?;
            items.extend(found);
            cursor = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() || items.len() >= limit as usize {
                return Ok((items, cursor));
            }
        }
    }
}

/// A list of the API.
pub(crate) struct ListRequest<'a> {
    pub(crate) path: &'a str,
    /// The key of the items in the answer.
    pub(crate) name: &'a str,
    pub(crate) query: &'a [(&'a str, &'a str)],
}

pub(crate) fn read<T: DeserializeOwned>(value: Value) -> Result<T, CliError> {
    serde_json::from_value(value).map_err(|error| ClientError::Garbled(error.to_string()).into())
}
