//! What most commands work with: the API, answered by the running server where there is one, else in this process on
//! the store. A command cannot tell which.

use baton_core::id::TaskId;
use baton_core::time::Timestamp;
use baton_engine::place::Place;
use baton_engine::query::Cursor;
use baton_engine::view::TaskView;
use baton_server::client::{ApiClient, ClientError, EventStream, with_query};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::cli::Common;
use crate::fault::Fault;
use crate::office::{self, Office};
use crate::output;
use crate::server_file;

/// As many items as the API gives at once.
const PAGE_MAX: u32 = 500;

pub struct Api {
    client: ApiClient,
    pub place: Place,
    pub is_json: bool,
    /// The store, where it had to be opened here. The sender lives as long: without it streams of events would end.
    here: Option<(Office, watch::Sender<bool>)>,
}

impl Api {
    pub async fn open(common: &Common) -> Result<Self, Fault> {
        let (place, settings) = office::find(common)?;
        let is_json = common.json;
        if let Some(address) = server_file::running(&place, None).await {
            let address = address.acting_as(&office::person(&settings));
            return Ok(Self { client: ApiClient::for_server(address), place, is_json, here: None });
        }
        let office = Office::at(place.clone(), is_json).await?;
        let (alive, ending) = watch::channel(false);
        let client = ApiClient::in_process(office.app(settings, ending));
        Ok(Self { client, place, is_json, here: Some((office, alive)) })
    }

    pub async fn close(self) -> Result<(), Fault> {
        match &self.here {
            Some((office, _)) => office.close().await,
            None => Ok(()),
        }
    }

    /// Whether a server answers.
    pub fn is_served(&self) -> bool {
        self.here.is_none()
    }

    /// The store itself, for what no call can do: the one that is open here, or one opened beside the server.
    pub async fn office(&self) -> Result<Office, Fault> {
        match &self.here {
            Some((office, _)) => Ok(office.clone()),
            None => Office::at(self.place.clone(), self.is_json).await,
        }
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        Ok(self.client.get(path).await?)
    }

    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, Fault> {
        Ok(self.client.post(path, body).await?)
    }

    /// The same for a caller that looks at the refusal itself.
    pub async fn try_post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, ClientError> {
        self.client.post(path, body).await
    }

    pub async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, Fault> {
        Ok(self.client.patch(path, body).await?)
    }

    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        Ok(self.client.delete(path).await?)
    }

    pub async fn events(&self, after: u64) -> Result<EventStream, Fault> {
        Ok(self.client.events(after).await?)
    }

    /// The number of the last event there is.
    pub async fn last_event(&self) -> Result<u64, Fault> {
        let health: Value = self.get("/api/health").await?;
        Ok(health["last_seq"].as_u64().unwrap_or_default())
    }

    /// The time where the answers come from.
    pub async fn now(&self) -> Result<Timestamp, Fault> {
        let health: Value = self.get("/api/health").await?;
        read(health["now"].clone())
    }

    /// A task by its id, or by any beginning of it that only one task has.
    pub async fn task_id(&self, text: &str) -> Result<TaskId, Fault> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let mut found: Map<String, Value> =
            self.get(&with_query("/api/tasks/find", &[("prefix", text)])).await?;
        read(found["task_id"].take())
    }

    pub async fn task(&self, id: TaskId) -> Result<TaskView, Fault> {
        self.get(&format!("/api/tasks/{id}")).await
    }

    /// The task as JSON, or a sentence about what was done.
    pub async fn tell(&self, id: TaskId, sentence: &str) -> Result<String, Fault> {
        if self.is_json { output::json(&self.task(id).await?) } else { Ok(sentence.to_owned()) }
    }

    /// Up to `limit` items of a list, and where it goes on.
    pub async fn list<T: DeserializeOwned>(
        &self,
        list: &List<'_>,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<(Vec<T>, Option<String>), Fault> {
        // Looked at here, so that a mistake in it is told as a mistake of the command's.
        let _: Option<Cursor> =
            cursor.map(str::parse).transpose().map_err(baton_engine::error::EngineError::from)?;
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

/// A list of the API: where it is, what is wanted of it, and under which name its items are.
pub struct List<'a> {
    pub path: &'a str,
    pub name: &'a str,
    pub query: &'a [(&'a str, &'a str)],
}

pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, Fault> {
    serde_json::from_value(value).map_err(|error| ClientError::Garbled(error.to_string()).into())
}
