//! Traces: one for each task, over HTTP and HTTPS, and no failure without a collector.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use serde_json::json;

use super::receiver::{Authority, Receiver};
use crate::agents::fake::{self, outcome, turns};
use crate::port::ReservedPort;
use crate::server::test_server::TestServer;

/// All received spans, which must be Baton's.
fn spans(collector: &Receiver) -> Vec<Span> {
    let mut spans = Vec::new();
    for delivery in collector.taken() {
        assert_eq!(delivery.line, "POST /v1/traces HTTP/1.1");
        let protobuf = "content-type: application/x-protobuf".to_owned();
        assert!(delivery.headers.contains(&protobuf), "{:?}", delivery.headers);
        let request = ExportTraceServiceRequest::decode(delivery.body.as_slice()).unwrap();
        for of_resource in request.resource_spans {
            assert_eq!(text(&of_resource.resource.unwrap().attributes, "service.name"), "baton");
            spans.extend(of_resource.scope_spans.into_iter().flat_map(|of_scope| of_scope.spans));
        }
    }
    assert!(!spans.is_empty(), "pending spans are sent at shutdown");
    spans
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Any> {
    let attribute = attributes.iter().find(|attribute| attribute.key == key)?;
    attribute.value.as_ref()?.value.as_ref()
}

/// The text of an attribute; empty if it is missing.
fn text(attributes: &[KeyValue], key: &str) -> String {
    match value(attributes, key) {
        Some(Any::StringValue(text)) => text.clone(),
        Some(Any::IntValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// Checks the trace of a task with two attempts and a merge.
fn traces_of_a_task(collector: &Receiver, variables: &[(&str, String)]) {
    let usage = json!({ "usage": { "inputTokens": 1200, "outputTokens": 34, "totalTokens": 1234 } });
    let script = turns(json!([
        [{ "commit": "a part" }, { "calls": 9 }, outcome("complete")],
        [{ "tool": "look around" }, usage, outcome("complete")]
    ]));
    let mut repo = fake::repo(&script, "max_turns = 4\nmodel = \"large\"", "");
    repo.variables.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    repo.variables.push(("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), collector.url.clone()));
    let task = repo.add("Something", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    repo.stdout(&["accept", &task]);
    up.end();

    let all = spans(collector);
    let [root] = named(&all, "task")[..] else { panic!("one root: {all:#?}") };
    assert!(root.parent_span_id.is_empty(), "{root:?}");
    assert_eq!(text(&root.attributes, "task"), task);
    let of_task: Vec<Span> = all.iter().filter(|span| span.trace_id == root.trace_id).cloned().collect();
    let parents: BTreeMap<&[u8], &Span> = of_task.iter().map(|span| (&span.span_id[..], span)).collect();
    let parent = |span: &Span| parents[&span.parent_span_id[..]].name.clone();

    let attempts = named(&of_task, "attempt");
    let ends: Vec<String> = attempts.iter().map(|span| text(&span.attributes, "outcome")).collect();
    assert_eq!(ends, ["turn_limit", "complete"]);
    for attempt in &attempts {
        assert_eq!((parent(attempt).as_str(), text(&attempt.attributes, "agent").as_str()), ("task", "fake"));
        assert!(attempt.start_time_unix_nano >= root.start_time_unix_nano);
    }
    let steps = named(&of_task, "step");
    assert_eq!(steps.len(), 2);
    for step in steps {
        assert_eq!((parent(step).as_str(), text(&step.attributes, "recipe").as_str()), ("attempt", "work"));
    }
    let agents = named(&of_task, "invoke_agent fake");
    assert_eq!(agents.len(), 2);
    for agent in &agents {
        assert_eq!(parent(agent), "step");
        assert_eq!(agent.kind(), SpanKind::Client);
        for (key, expected) in [
            ("gen_ai.operation.name", "invoke_agent"),
            ("gen_ai.provider.name", "acp"),
            ("gen_ai.agent.name", "fake"),
            ("gen_ai.request.model", "large"),
        ] {
            assert_eq!(text(&agent.attributes, key), expected, "{key}");
        }
        assert!(!text(&agent.attributes, "gen_ai.conversation.id").is_empty());
    }
    assert_eq!(text(&agents[1].attributes, "gen_ai.usage.input_tokens"), "1200");
    assert_eq!(text(&agents[1].attributes, "gen_ai.usage.output_tokens"), "34");
    let turns = named(&of_task, "turn");
    assert!(turns.len() > 4 && turns.iter().all(|turn| parent(turn) == "invoke_agent fake"), "{turns:#?}");
    let tools: Vec<&Span> = of_task.iter().filter(|span| span.name.starts_with("execute_tool ")).collect();
    assert_eq!(tools.len(), turns.len());
    for tool in tools {
        assert_eq!(parent(tool), "turn");
        assert_eq!(text(&tool.attributes, "gen_ai.operation.name"), "execute_tool");
        assert!(!text(&tool.attributes, "gen_ai.tool.call.id").is_empty());
    }
    let [landing] = named(&of_task, "landing")[..] else { panic!("one landing: {of_task:#?}") };
    assert_eq!((parent(landing).as_str(), text(&landing.attributes, "outcome").as_str()), ("task", "done"));
    // It links to the request that caused it, which is in another trace.
    let request = all.iter().find(|span| span.span_id == landing.links[0].span_id).unwrap();
    assert_eq!(request.kind(), SpanKind::Server);
    assert_ne!(request.trace_id, root.trace_id);
    for span in &all {
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
    }
}

#[test]
fn a_task_is_one_trace_over_http() {
    traces_of_a_task(&Receiver::http(), &[]);
}

#[test]
fn a_task_is_one_trace_over_https_with_a_private_authority() {
    let authority = Authority::new();
    let certificate = [("OTEL_EXPORTER_OTLP_CERTIFICATE", authority.root())];
    traces_of_a_task(&Receiver::https(&authority), &certificate);
}

#[test]
fn requests_are_spans_by_route_and_the_settings_name_the_collector() {
    let collector = Receiver::http();
    let mut server = TestServer::without_agents();
    let settings = format!("[telemetry]\notlp = \"{}/\"\n", collector.url);
    std::fs::write(server.folder.join(".agent/baton.toml"), settings).unwrap();
    server.variables = vec![("OTEL_RESOURCE_ATTRIBUTES".to_owned(), "deployment=test".to_owned())];
    server.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(server.get("/api/tasks").status, 200);
    assert_eq!(server.get("/api/tasks/TASK-00000000").status, 404);
    server.stop();
    let spans = spans(&collector);
    for (name, status) in [("GET /api/tasks", "200"), ("GET /api/tasks/{id}", "404")] {
        let [span] = named(&spans, name)[..] else { panic!("{name}: {spans:#?}") };
        assert_eq!((text(&span.attributes, "status").as_str(), span.kind()), (status, SpanKind::Server));
    }
}

#[test]
fn an_unreachable_collector_costs_one_log_line() {
    let gone = ReservedPort::new();
    let mut server = TestServer::without_agents();
    let variable = |value: &str| vec![("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), value.to_owned())];
    server.variables = variable(&format!("http://{}", gone.address));
    server.up(&["--listen", "127.0.0.1:0"]);
    for _ in 0..20 {
        assert_eq!(server.get("/api/tasks").status, 200);
    }
    let printed = server.stop();
    assert_eq!(printed.matches("cannot send traces to the collector").count(), 1, "{printed}");
    assert!(printed.contains("Connection refused"), "{printed}");
    for bad in ["ftp://elsewhere", "localhost:4318"] {
        server.variables = variable(bad);
        let refused = server.command().args(["up", "--listen", "127.0.0.1:0"]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    }
}
