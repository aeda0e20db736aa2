//! `/metrics` after a task.

use serde_json::json;

use super::open_metrics::{Samples, parse};
use crate::agents::fake::{self, outcome, turns};
use crate::server::client;

fn scrape(address: &str) -> Samples {
    let answer = client::get(address, "/metrics");
    assert!(
        answer
            .head
            .to_ascii_lowercase()
            .contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{}",
        answer.head
    );
    parse(&answer.body)
}

#[test]
fn metrics_count_work_once_however_often_they_are_scraped() {
    let usage = json!({ "usage": { "inputTokens": 1200, "outputTokens": 34, "totalTokens": 1234 } });
    let script = turns(json!([[{ "commit": "work" }, usage, { "cost": 0.25 }, outcome("complete")]]));
    let repo = fake::repo(&script, "", "");
    let up = repo.up();
    let printed = up.wait_for_line("Listening on http://");
    let address = printed.strip_prefix("Listening on http://").unwrap();
    let before = scrape(address);
    assert_eq!(before.get("baton_queue_depth{queue=\"incoming\"}"), Some(&0.0));
    let task = repo.add("Something", &[]);
    repo.until_queue(&task, "provisional");
    scrape(address);
    let samples = scrape(address);
    for (series, expected) in [
        ("baton_attempts_total{end=\"complete\"}", 1.0),
        ("baton_queue_depth{queue=\"provisional\"}", 1.0),
        ("baton_tasks_unaccepted", 1.0),
        ("baton_tasks_ready", 0.0),
        ("baton_questions_pending", 0.0),
        ("baton_question_oldest_seconds", 0.0),
        ("baton_task_wait_seconds_count", 1.0),
        ("baton_dispatch_seconds_count", 1.0),
        ("baton_task_state_seconds_count{state=\"incoming\"}", 1.0),
        ("baton_task_state_seconds_count{state=\"claimed\"}", 1.0),
        ("baton_agent_tokens_total{agent=\"fake\",project=\"\",kind=\"input\"}", 1200.0),
        ("baton_agent_tokens_total{agent=\"fake\",project=\"\",kind=\"output\"}", 34.0),
        ("baton_agent_cost_usd_total{agent=\"fake\",project=\"\"}", 0.25),
        ("baton_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"200\"}", 2.0),
    ] {
        assert_eq!(samples.get(series), Some(&expected), "{series} in {samples:#?}");
    }
    repo.stdout(&["accept", &task]);
    let after = scrape(address);
    assert_eq!(after.get("baton_task_state_seconds_count{state=\"provisional\"}"), Some(&1.0));
    up.end();
}
