//! Traces for a collector elsewhere: told when there is one, and no trouble to anybody when there is not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::place::Place;

/// A small collector: takes every delivery and hands it to the test.
fn collector() -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (sender, deliveries) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut first, mut line, mut len) = (String::new(), String::new(), 0);
            reader.read_line(&mut first).unwrap();
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    len = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; len];
            reader.read_exact(&mut body).unwrap();
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
            if sender.send((first, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (endpoint, deliveries)
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let attributes = span["attributes"].as_array().unwrap();
    &attributes.iter().find(|attribute| attribute["key"] == key).unwrap()["value"]
}

#[test]
fn requests_are_told_to_the_collector() {
    let (endpoint, deliveries) = collector();
    let mut place = Place::without_agents();
    std::fs::write(place.folder.join(".agent/baton.toml"), format!("[telemetry]\notlp = \"{endpoint}\"\n"))
        .unwrap();
    place.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(place.get("/api/tasks").status, 200);
    assert_eq!(place.get("/api/tasks/TASK-00000000").status, 404);
    place.stop();
    let delivered: Vec<(String, Value)> = deliveries.try_iter().collect();
    assert!(!delivered.is_empty(), "what was not sent before is sent at the end");
    let mut spans = Vec::new();
    for (request, body) in &delivered {
        assert!(request.starts_with("POST /v1/traces HTTP/1.1"), "{request}");
        let resource = &body["resourceSpans"][0];
        assert_eq!(attribute(&resource["resource"], "service.name")["stringValue"], "baton");
        spans.extend(resource["scopeSpans"][0]["spans"].as_array().unwrap().clone());
    }
    let routes: Vec<(&str, &str)> = spans
        .iter()
        .map(|span| {
            let text = |key: &str, kind: &str| attribute(span, key)[kind].as_str().unwrap();
            (text("route", "stringValue"), text("status", "intValue"))
        })
        .collect();
    assert!(
        routes.contains(&("/api/tasks", "200")) && routes.contains(&("/api/tasks/{id}", "404")),
        "{routes:?}"
    );
    for span in &spans {
        assert_eq!(span["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
        let nanos = |key: &str| span[key].as_str().unwrap().parse::<u128>().unwrap();
        assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
    }
}

#[test]
fn a_collector_that_is_away_costs_a_line_in_the_log_and_nothing_else() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut place = Place::without_agents();
    place.variables = vec![("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), format!("http://{gone}"))];
    place.up(&["--listen", "127.0.0.1:0"]);
    for _ in 0..20 {
        assert_eq!(place.get("/api/tasks").status, 200);
    }
    let said = place.stop();
    assert_eq!(said.matches("the collector took no traces").count(), 1, "{said}");
    place.variables[0].1 = "https://elsewhere".to_owned();
    let refused = place.command().args(["up", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}
