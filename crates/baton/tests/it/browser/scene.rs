//! Scripts and tasks for the tests of the pages.

use baton_core::base::id::TaskId;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::{Task, TaskSpec};
use baton_engine::base::ids::Ids;
use baton_engine::settings::location::{LocationOptions, StateLocation as EnginePlace};
use baton_engine::tasks::service::TaskService;
use serde_json::{Value, json};

use crate::server::test_server::TestServer;

/// An agent that asks how to greet, and greets accordingly.
pub(crate) fn asking_script() -> Value {
    json!([
        { "when": "greeting", "resumed": false, "steps": [
            { "turns": 2 },
            { "ask": { "question": "Should the greeting be **formal**?", "options": ["formal", "casual"] } },
        ]},
        { "when": "greeting", "resumed": true, "steps": [
            { "read_answer": "The answer (" }, { "turns": 3 },
            { "write": { "path": "greeting.txt", "text": "{{answer}}\n" } },
            { "commit": "Greet" },
            { "result": { "status": "COMPLETE", "output": "It is {{answer}} now." } },
        ]},
    ])
}

/// Adds a task and waits until it asks.
pub(crate) fn add_waiting_task(server: &TestServer, title: &str) -> String {
    let id = add_task(server, title);
    server.wait_for_status(&id, "AWAITING_RESPONSE");
    id
}

pub(crate) fn add_task(server: &TestServer, title: &str) -> String {
    add_task_after(server, title, &[])
}

pub(crate) fn add_task_after(server: &TestServer, title: &str, depends_on: &[&str]) -> String {
    let task = json!({ "title": title, "task_type": "IMPLEMENTATION", "depends_on": depends_on });
    let answer = server.post("/api/tasks", &task);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["task_id"].as_str().unwrap().to_owned()
}

/// The id of a task's pending question.
pub(crate) fn question_id(server: &TestServer, task: &str) -> String {
    server.task(task)["question"]["id"].as_str().unwrap().to_owned()
}

/// Writes tasks directly into the store before the server starts. Every tenth is open.
pub(crate) fn fill_store(server: &TestServer, count: u32) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = LocationOptions { namespace: Some("test".to_owned()), ..LocationOptions::default() };
        let place = EnginePlace::find(&server.folder, &options).unwrap();
        let tasks = TaskService::new(place.open_store().await.unwrap(), Ids::random());
        let context = tasks.context(Actor::human("mia")).await.unwrap();
        for numbers in (0..count).collect::<Vec<_>>().chunks(500) {
            let mut change = Change::new();
            for number in numbers {
                change = change.and(create(*number, &context));
            }
            tasks.write(change).await.unwrap();
        }
        tasks.close().await.unwrap();
    });
}

fn create(number: u32, context: &baton_core::transition::command::CommandContext) -> Change {
    let spec = TaskSpec {
        description: "Something to do.".to_owned(),
        ..TaskSpec::new(
            TaskId::from_bits(number),
            format!("session-{}", number % 40).parse().unwrap(),
            TaskType::Implementation,
            NonBlank::new(format!("Task number {number} of very many")).unwrap(),
            context.now.plus_ms(-i64::from(number) * 1_000),
        )
    };
    let body = EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: Vec::new() };
    let event = |body| Event { at: context.now, by: context.actor.clone(), body };
    let task = Task::create(spec);
    if number.is_multiple_of(10) {
        return Change::create(task, &[], event(body));
    }
    let cancelled =
        task.apply(baton_core::transition::command::Command::Cancel { reason: None }, context).unwrap();
    Change::create(cancelled.task, &[], event(body))
}
