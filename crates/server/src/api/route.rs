//! A route and what is said about it, in one place: the router and the document of the API are made of the same list,
//! so a route that is not described does not exist.

use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, patch, post};

use crate::state::App;

/// One call of the API.
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub doc: RouteDoc,
    pub handler: MethodRouter<App>,
}

/// What the document says of it. Shapes are named; `openapi::shapes` has them.
#[derive(Debug, Clone)]
pub struct RouteDoc {
    pub id: &'static str,
    pub summary: &'static str,
    pub parameters: Vec<RouteParameter>,
    /// The shape of the body, where the call takes one.
    pub takes: Option<&'static str>,
    pub status: u16,
    pub response: ResponseBody,
    /// Whether it names something that may not be there.
    pub may_be_missing: bool,
    /// Whether the state of things may refuse it.
    pub may_conflict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseBody {
    Shape(&'static str),
    EventStream,
    Text,
}

#[derive(Debug, Clone, Copy)]
pub struct RouteParameter {
    pub name: &'static str,
    pub place: &'static str,
    pub shape: &'static str,
    pub doc: &'static str,
}

impl Route {
    pub fn get<H: Handler<T, App>, T: 'static>(path: &'static str, id: &'static str, handler: H) -> Self {
        Self::new("get", path, id, get(handler))
    }

    pub fn post<H: Handler<T, App>, T: 'static>(path: &'static str, id: &'static str, handler: H) -> Self {
        Self::new("post", path, id, post(handler))
    }

    pub fn patch<H: Handler<T, App>, T: 'static>(path: &'static str, id: &'static str, handler: H) -> Self {
        Self::new("patch", path, id, patch(handler))
    }

    pub fn delete<H: Handler<T, App>, T: 'static>(path: &'static str, id: &'static str, handler: H) -> Self {
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
        };
        if let Some((name, shape)) = path_parameter(path) {
            doc.parameters.push(RouteParameter { name, place: "path", shape, doc: "Which one" });
            doc.may_be_missing = true;
        }
        Self { method, path, doc, handler }
    }

    /// One sentence, and the shape of the answer.
    pub fn returns(mut self, summary: &'static str, shape: &'static str) -> Self {
        self.doc.summary = summary;
        self.doc.response = ResponseBody::Shape(shape);
        self
    }

    pub fn streams(mut self, summary: &'static str) -> Self {
        self.doc.summary = summary;
        self.doc.response = ResponseBody::EventStream;
        self
    }

    pub fn created(mut self) -> Self {
        self.doc.status = 201;
        self
    }

    pub fn takes(mut self, shape: &'static str) -> Self {
        self.doc.takes = Some(shape);
        self
    }

    pub fn query(mut self, name: &'static str, shape: &'static str, doc: &'static str) -> Self {
        self.doc.parameters.push(RouteParameter { name, place: "query", shape, doc });
        self
    }

    pub fn header(mut self, name: &'static str, shape: &'static str, doc: &'static str) -> Self {
        self.doc.parameters.push(RouteParameter { name, place: "header", shape, doc });
        self
    }

    /// A list in pages; `cursor` is the shape of its places.
    pub fn paged(self, cursor: &'static str) -> Self {
        self.query("limit", "Limit", "How many at most").query(
            "cursor",
            cursor,
            "Where the previous page ended",
        )
    }

    /// What it names beside the path may not be there.
    pub fn may_be_missing(mut self) -> Self {
        self.doc.may_be_missing = true;
        self
    }

    /// The state of things may refuse it.
    pub fn may_conflict(mut self) -> Self {
        self.doc.may_conflict = true;
        self
    }
}

/// The variable of a path and the shape of its values, from what stands before it.
fn path_parameter(path: &'static str) -> Option<(&'static str, &'static str)> {
    let (before, rest) = path.split_once("/{")?;
    let (name, _) = rest.split_once('}')?;
    let shape = match before.rsplit('/').next() {
        Some("projects") => "ProjectId",
        Some("questions") => "QuestionId",
        Some("task-groups" | "sessions") => "SessionId",
        Some("user-tasks") => "UserTaskName",
        Some("tools") => "ToolName",
        Some("tokens") => "PersonName",
        _ => "TaskId",
    };
    Some((name, shape))
}
