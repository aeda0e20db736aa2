//! Clients that follow the event log get every event once and in order, however often they reconnect.

use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Events, post};
use super::test_server::TestServer;
use super::websocket::Socket;

/// Events that are created while the clients follow.
///
/// One request each, all at once: fewer than the server takes from one client before it limits their rate, which a fast
/// machine would reach.
const EVENTS: u64 = 3_200;
/// The most that a client gets of one connection, so that it loses several however fast the machine is.
const PER_CONNECTION: u64 = EVENTS / 16;
/// The interval at which a client loses its connection.
const CUT_EVERY: Duration = Duration::from_millis(100);

/// Creates one event for each new task.
fn make_events(address: &str) {
    std::thread::scope(|scope| {
        for worker in 0..8 {
            scope.spawn(move || {
                for number in 0..EVENTS / 8 {
                    let title = format!("Task {worker}-{number}");
                    let answer = post(address, "/api/tasks", &json!({ "title": title }));
                    assert_eq!(answer.status, 201, "{answer:?}");
                }
            });
        }
    });
}

/// A connection that can be closed, and its messages.
type Following = (TcpStream, Box<dyn Iterator<Item = Value>>);

/// Reconnects after each cut until it has seen `EVENTS`. Also returns the number of cuts.
fn follow_with_cuts(mut connect: impl FnMut(u64) -> Following) -> (Vec<Value>, u32) {
    let (mut seen, mut cuts): (Vec<Value>, u32) = (Vec::new(), 0);
    while (seen.len() as u64) < EVENTS {
        let after = seen.last().map_or(0, |event| event["seq"].as_u64().unwrap());
        let (stream, mut events) = connect(after);
        // On a busy machine the first one may take longer than the connection lasts.
        seen.extend(events.next());
        std::thread::scope(|scope| {
            let cutter = scope.spawn(|| {
                std::thread::park_timeout(CUT_EVERY);
                let _ = stream.shutdown(Shutdown::Both);
            });
            let left = (EVENTS - seen.len() as u64).min(PER_CONNECTION);
            seen.extend(events.take(usize::try_from(left).unwrap()));
            cutter.thread().unpark();
        });
        cuts += 1;
    }
    (seen, cuts)
}

fn numbers(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
}

#[test]
fn clients_cut_off_every_100_ms_end_with_exactly_the_log() {
    let server = TestServer::without_agents().start();
    let address = server.address.clone();
    let (stream, socket) = std::thread::scope(|scope| {
        let stream = scope.spawn(|| {
            follow_with_cuts(|after| {
                let events = Events::after(&address, after);
                (events.stream().try_clone().unwrap(), Box::new(events))
            })
        });
        let socket = scope.spawn(|| {
            follow_with_cuts(|after| {
                let mut socket = Socket::connected(&address);
                socket.send(&json!({ "type": "subscribe", "last_seq": after }));
                let stream = socket.stream().try_clone().unwrap();
                (stream, Box::new(socket.filter(|message| message["seq"].is_u64())))
            })
        });
        make_events(&address);
        (stream.join().unwrap(), socket.join().unwrap())
    });
    let all: Vec<u64> = (1..=EVENTS).collect();
    assert!(stream.1 > 3 && socket.1 > 3, "cut off {} and {} times", stream.1, socket.1);
    assert_eq!(numbers(&stream.0), all);
    assert_eq!(numbers(&socket.0), all);
    let log: Vec<Value> = Events::after(&address, 0).take(stream.0.len()).collect();
    assert_eq!(stream.0, log);
    for (message, event) in socket.0.iter().zip(&log) {
        assert_eq!((&message["type"], &message["change"]), (&json!("task_changed"), &json!("created")));
        assert_eq!(message["task_id"], event["spec"]["id"]);
    }
}

#[test]
fn clients_that_do_not_read_are_not_buffered_for() {
    let server = TestServer::without_agents().start();
    let description = "x".repeat(100 * 1024);
    for number in 0..400 {
        let body = json!({ "title": format!("Task {number}"), "description": description });
        assert_eq!(server.post("/api/tasks", &body).status, 201);
    }
    let before = server.memory_kib();
    let silent: Vec<Events> = (0..20).map(|_| Events::after(&server.address, 0)).collect();
    // Once another client has read everything, the server has buffered as much as it will.
    assert_eq!(Events::after(&server.address, 0).take(400).count(), 400);
    let growth = server.memory_kib().saturating_sub(before);
    // The log is 40 MiB; buffered for each of them it would be 800.
    assert!(growth < 100 * 1024, "twenty clients that do not read took {growth} KiB");
    // A client that starts to read late misses nothing.
    let late = silent.into_iter().next().unwrap();
    assert_eq!(numbers(&late.take(400).collect::<Vec<_>>()), (1..=400).collect::<Vec<u64>>());
}

#[test]
fn a_thousand_idle_listeners_take_little_memory() {
    let server = TestServer::without_agents().start();
    let before = server.memory_kib();
    let mut listeners: Vec<Events> = (0..1_000).map(|_| Events::after(&server.address, 0)).collect();
    let project = server.project();
    for listener in &mut listeners {
        assert_eq!(listener.next().unwrap()["event"], "project_created");
    }
    let growth = server.memory_kib().saturating_sub(before);
    // An idle connection of the unoptimised program takes some forty kilobytes; a page of events for each would be far more.
    // `cargo bench -p baton --bench pages` measures the processor time.
    assert!(growth < 64 * 1024, "a thousand listeners took {growth} KiB");
    assert_eq!(server.get(&format!("/api/projects/{project}")).status, 200, "others are served");
}
