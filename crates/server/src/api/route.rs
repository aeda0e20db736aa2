//! A route and its documentation in one place: the router and the `OpenAPI` document are built from the same list, so an
//! undocumented route cannot exist.

use std::borrow::Cow;

use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, patch, post};
use schemars::JsonSchema;
use schemars::generate::SchemaGenerator;

use crate::schema::AddSchema;
use crate::state::App;

pub(crate) struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub doc: RouteDoc,
    pub handler: MethodRouter<App>,
}

/// Its documentation. Schemas of parameters are `schema::words`, by name.
#[derive(Debug, Clone)]
pub(crate) struct RouteDoc {
    pub id: &'static str,
    pub summary: &'static str,
    pub parameters: Vec<RouteParameter>,
    /// The schema of the request body, if there is one.
    pub takes: Option<SchemaRef>,
    pub status: u16,
    pub response: ResponseBody,
    /// Whether it may answer 404.
    pub may_be_missing: bool,
    /// Whether it may answer 409.
    pub may_conflict: bool,
    /// What a repeat with the same `Idempotency-Key` is answered, should the first answer not be known.
    pub recall: Option<Recall>,
}

/// Where the answer to a call is found that was carried out, but not answered because Baton ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recall {
    Task,
    Project,
    Routine,
    RoutineCall,
    Breakdown,
    /// The tasks of an approved plan.
    Approval,
    Run,
    SessionMessage,
    QueuedAnswers,
    TaskMessage,
    Recycling,
    Review,
    Tool,
    UserTask,
}

/// The schema of a body: derived from a type, or one of `openapi::shapes`.
#[derive(Debug, Clone)]
pub(crate) enum SchemaRef {
    Derived { name: Cow<'static, str>, add: AddSchema },
    Named(&'static str),
}

impl SchemaRef {
    fn derived<T: JsonSchema>() -> Self {
        Self::Derived { name: T::schema_name(), add: SchemaGenerator::subschema_for::<T> }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Derived { name, .. } => name,
            Self::Named(name) => name,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum ResponseBody {
    Json(SchemaRef),
    EventStream,
    Text,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteParameter {
    pub name: &'static str,
    pub place: &'static str,
    pub shape: &'static str,
    pub description: &'static str,
}

impl Route {
    pub(crate) fn get<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        handler: H,
    ) -> Self {
        Self::new("get", path, id, get(handler))
    }

    pub(crate) fn post<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        handler: H,
    ) -> Self {
        Self::new("post", path, id, post(handler))
    }

    pub(crate) fn patch<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        handler: H,
    ) -> Self {
        Self::new("patch", path, id, patch(handler))
    }

    pub(crate) fn delete<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        handler: H,
    ) -> Self {
        Self::new("delete", path, id, delete(handler))
    }

    fn new(method: &'static str, path: &'static str, id: &'static str, handler: MethodRouter<App>) -> Self {
        let mut doc = RouteDoc {
            id,
            summary: "",
            parameters: Vec::new(),
            takes: None,
            status: 200,
            response: ResponseBody::Text,
            may_be_missing: false,
            may_conflict: false,
            recall: None,
        };
        if let Some((name, shape)) = path_parameter(path) {
            doc.parameters.push(RouteParameter { name, place: "path", shape, description: "The id or name" });
            doc.may_be_missing = true;
        }
        Self { method, path, doc, handler }
    }

    /// Sets the summary and the type of the response.
    pub(crate) fn returns<T: JsonSchema>(self, summary: &'static str) -> Self {
        self.returns_schema(summary, SchemaRef::derived::<T>())
    }

    /// The same for a schema of `openapi::shapes`.
    pub(crate) fn returns_named(self, summary: &'static str, shape: &'static str) -> Self {
        self.returns_schema(summary, SchemaRef::Named(shape))
    }

    fn returns_schema(mut self, summary: &'static str, schema: SchemaRef) -> Self {
        self.doc.summary = summary;
        self.doc.response = ResponseBody::Json(schema);
        self
    }

    pub(crate) fn streams(mut self, summary: &'static str) -> Self {
        self.doc.summary = summary;
        self.doc.response = ResponseBody::EventStream;
        self
    }

    /// The work it asks for is done later.
    pub(crate) fn accepted(mut self) -> Self {
        self.doc.status = 202;
        self
    }

    pub(crate) fn created(mut self) -> Self {
        self.doc.status = 201;
        self
    }

    /// Sets the type of the request body.
    pub(crate) fn takes<T: JsonSchema>(mut self) -> Self {
        self.doc.takes = Some(SchemaRef::derived::<T>());
        self
    }

    /// The same for a schema of `openapi::shapes`.
    pub(crate) fn takes_named(mut self, shape: &'static str) -> Self {
        self.doc.takes = Some(SchemaRef::Named(shape));
        self
    }

    pub(crate) fn query(
        mut self,
        name: &'static str,
        shape: &'static str,
        description: &'static str,
    ) -> Self {
        self.doc.parameters.push(RouteParameter { name, place: "query", shape, description });
        self
    }

    pub(crate) fn header(
        mut self,
        name: &'static str,
        shape: &'static str,
        description: &'static str,
    ) -> Self {
        self.doc.parameters.push(RouteParameter { name, place: "header", shape, description });
        self
    }

    /// A paged list; `cursor` is the schema of its cursor.
    pub(crate) fn paged(self, cursor: &'static str) -> Self {
        self.query("limit", "Limit", "Page size").query("cursor", cursor, "next_cursor of the previous page")
    }

    /// A repeat with the same `Idempotency-Key` changes nothing and returns the first answer.
    pub(crate) fn once(mut self, recall: Recall) -> Self {
        self.doc.recall = Some(recall);
        self.header(
            "Idempotency-Key",
            "IdempotencyKey",
            "For 24 hours, repeating the call with the same key returns the first answer",
        )
        .may_conflict()
    }

    /// The call may answer 404 for something besides its path.
    pub(crate) fn may_be_missing(mut self) -> Self {
        self.doc.may_be_missing = true;
        self
    }

    /// The call may answer 409.
    pub(crate) fn may_conflict(mut self) -> Self {
        self.doc.may_conflict = true;
        self
    }
}

/// A path's variable and its schema, from the preceding segment.
fn path_parameter(path: &'static str) -> Option<(&'static str, &'static str)> {
    let (before, rest) = path.split_once("/{")?;
    let (name, _) = rest.split_once('}')?;
    let shape = match before.rsplit('/').next() {
        Some("projects") => "ProjectId",
        Some("questions") => "QuestionId",
        Some("routines") => "RoutineId",
        Some("task-groups" | "sessions") => "SessionId",
        Some("user-tasks") => "UserTaskName",
        Some("tools") => "ToolName",
        Some("tokens") => "PersonName",
        _ => "TaskId",
    };
    Some((name, shape))
}
