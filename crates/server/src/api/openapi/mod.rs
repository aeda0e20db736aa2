//! The `OpenAPI` document, generated from the routes.

#[cfg(test)]
mod reference;
pub(crate) mod shapes;

use axum::Json;
use axum::extract::State;
use schemars::generate::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::api::route::{ResponseBody, Route, RouteDoc, SchemaRef};
use crate::api::routes;
use crate::http::error::{ApiError, Result};
use crate::http::input::NoQuery;
use crate::http::{paths, roles};
use crate::schema::{Components, refer, words};
use crate::state::App;

/// Real responses, one per call. A test regenerates and compares them.
const EXAMPLES: &str = include_str!("examples.json");

pub(crate) async fn serve(State(_): State<App>, _: NoQuery) -> Result<Json<Value>> {
    Ok(Json(document()))
}

pub(crate) fn document() -> Value {
    let examples: Value = serde_json::from_str(EXAMPLES).unwrap_or_default();
    let routes = routes::all();
    let schemas = schemas(&routes);
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(&route, &schemas, &examples[route.doc.id]);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Baton",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A durable orchestrator for coding agents. Every error is an object with code, \
                            message and hint. The WebSocket is at /ws, Prometheus metrics at /metrics.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": { "Error": {
                "description": "What failed and what to do next",
                "content": { "application/json": { "schema": refer("Error") } },
            } },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "token": [] }],
    })
}

/// The schemas derived from the routes' types, and those of types that cannot be derived here.
fn schemas(routes: &[Route]) -> Map<String, Value> {
    let mut components = Components::default();
    components.add_request(words::add_all);
    components.add_response(SchemaGenerator::subschema_for::<ApiError>);
    for view in shapes::VIEWS {
        components.add_response(view);
    }
    for route in routes {
        if let Some(SchemaRef::Derived { add, .. }) = &route.doc.takes {
            components.add_request(*add);
        }
        if let ResponseBody::Json(SchemaRef::Derived { add, .. }) = &route.doc.response {
            components.add_response(*add);
        }
    }
    let mut schemas = components.into_schemas();
    schemas.extend(shapes::all());
    schemas
}

fn operation(route: &Route, schemas: &Map<String, Value>, example: &Value) -> Value {
    let doc = &route.doc;
    let parameters: Vec<Value> = doc
        .parameters
        .iter()
        .map(|parameter| {
            json!({
                "name": parameter.name,
                "in": parameter.place,
                "required": parameter.place == "path",
                "description": parameter.description,
                "schema": refer(parameter.shape),
            })
        })
        .collect();
    let mut operation = json!({
        "operationId": doc.id,
        "summary": doc.summary,
        "parameters": parameters,
        "responses": responses(doc, example),
    });
    // Login needs no role.
    if route.path != paths::LOGIN {
        let method = route.method.to_uppercase().parse().unwrap_or_default();
        operation["x-needs-role"] = json!(roles::required_role(&method, route.path));
    }
    if let Some(schema) = &doc.takes {
        let mut content = json!({ "schema": refer(schema.name()) });
        if !example["request"].is_null() {
            content["example"] = example["request"].clone();
        }
        operation["requestBody"] = json!({
            "required": schemas.get(schema.name()).is_some_and(|schema| schema.get("required").is_some()),
            "content": { "application/json": content },
        });
    }
    operation
}

fn responses(doc: &RouteDoc, example: &Value) -> Value {
    let (media_type, schema) = match &doc.response {
        ResponseBody::Json(schema) => ("application/json", refer(schema.name())),
        ResponseBody::EventStream => ("text/event-stream", json!({ "type": "string" })),
        ResponseBody::Text => ("text/plain", json!({ "type": "string" })),
    };
    let mut content = json!({ "schema": schema });
    if !example["answer"].is_null() {
        content["example"] = example["answer"].clone();
    }
    let mut responses = Map::new();
    responses.insert(
        doc.status.to_string(),
        json!({ "description": doc.summary, "content": { media_type: content } }),
    );
    let refusals = [
        (400, true),
        (401, true),
        (403, true),
        (404, doc.may_be_missing),
        (409, doc.may_conflict),
        (413, doc.takes.is_some()),
        (429, true),
        (500, true),
        (503, true),
    ];
    for (status, _) in refusals.into_iter().filter(|(_, may_come)| *may_come) {
        responses.insert(status.to_string(), json!({ "$ref": "#/components/responses/Error" }));
    }
    Value::Object(responses)
}
