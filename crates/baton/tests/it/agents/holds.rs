//! A failure of the provider holds the agent and does not fail the task. A hold expires, survives a kill of Baton, and can
//! be released.

use serde_json::{Value, json};

use super::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::test_repo::TestRepo;

fn fails(message: &str) -> Value {
    json!({ "error": { "code": -32603, "message": message } })
}

fn holds(repo: &TestRepo) -> Vec<Value> {
    repo.json(&["hold", "list"])["holds"].as_array().unwrap().clone()
}

fn until_held(repo: &TestRepo) -> Value {
    let mut found = None;
    repo.until("a hold", || {
        found = holds(repo).pop();
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn a_rate_limit_holds_the_agent_until_it_expires() {
    let script = turns(
        json!([[fails("429 Too Many Requests: rate limit, try again in 6s")], [{ "commit": "done" }, outcome("complete")]]),
    );
    let repo = fake::repo(&script, "", "max_agents = 1\n");
    let first = repo.add("First", &[]);
    let second = repo.add("Second", &[]);
    let up = repo.up();
    let hold = until_held(&repo);
    assert_eq!((&hold["agent"], &hold["why"]), (&json!("fake"), &json!("rate_limit")));
    repo.until_queue(&first, "provisional");
    repo.until_queue(&second, "provisional");
    up.end();
    assert_eq!(holds(&repo), [] as [Value; 0]);
    let (since, until) = (hold["since"].as_str().unwrap(), hold["until"].as_str().unwrap());
    for attempt in repo.attempts(&first).iter().chain(&repo.attempts(&second)) {
        let started = attempt["attempt"]["started_at"].as_str().unwrap();
        assert!(started < since || started >= until, "nothing starts on a held agent: {hold} {attempt}");
    }
    // The session that met the limit continues, and the failure does not count against the task.
    assert_eq!(repo.attempts(&first).len(), 2);
    let end = &repo.attempts(&first)[0]["closing"]["end"]["reported"];
    assert_eq!((&end["result"], &end["cause"]), (&json!("ERROR"), &json!("systemic")));
    let of_first = &sessions(&repo)[0];
    assert_eq!(prompts(of_first).len(), 2, "{of_first:#?}");
}

#[test]
fn a_hold_without_an_end_survives_a_kill_and_lasts_until_released() {
    let script = turns(
        json!([[fails("401 Unauthorized: invalid api key")], [{ "commit": "done" }, outcome("complete")]]),
    );
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    let hold = until_held(&repo);
    assert_eq!((&hold["why"], &hold["until"]), (&json!("authentication"), &Value::Null));
    up.kill();
    let up = repo.up();
    assert_eq!(holds(&repo).len(), 1);
    let listed = repo.stdout(&["hold", "list"]);
    assert!(
        listed.contains("fake (authentication)") && listed.contains("baton hold release fake"),
        "{listed}"
    );
    repo.until_queue(&task, "incoming");
    assert_eq!(repo.stdout(&["hold", "release", "fake"]), "Released fake.\n");
    repo.until_queue(&task, "provisional");
    up.end();
    let output = repo.output(&["hold", "release", "fake"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no hold on fake"), "{output:?}");
}

#[test]
fn a_conversation_that_is_too_long_continues_in_a_new_session() {
    let mut script = turns(json!([[fails("prompt is too long: 210000 tokens > 200000 maximum")]]));
    script["turns_of_later_sessions"] = json!([[[{ "commit": "done" }, outcome("complete")]]]);
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Paint it green", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    up.end();
    assert_eq!(holds(&repo), [] as [Value; 0]);
    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 2, "{sessions:#?}");
    let prompts = prompts(sessions.last().unwrap());
    assert!(prompts[0].contains("Where you are"), "a new session gets the whole context: {}", prompts[0]);
    assert_eq!(repo.attempts(&task)[0]["attempt"]["agent_session"]["is_full"], true);
}

#[test]
fn a_session_that_its_provider_refuses_is_replaced_by_a_new_one() {
    let broken = "API Error: 400 messages.4: `tool_use` ids were found without `tool_result` blocks";
    let mut script = turns(json!([[{ "commit": "a part" }, fails(broken)]]));
    script["turns_of_later_sessions"] = json!([[[{ "commit": "done" }, outcome("complete")]]]);
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Paint it green", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(holds(&repo), [] as [Value; 0]);
    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 2, "{sessions:#?}");
    let prompt = &prompts(sessions.last().unwrap())[0];
    assert!(prompt.contains("Paint it green") && prompt.contains("Where you are"), "{prompt}");
    assert_eq!(last_commits(&repo, &task), 2, "what the first session made is kept");
}

fn last_commits(repo: &TestRepo, task: &str) -> u64 {
    repo.attempts(task).last().unwrap()["closing"]["end"]["verified"]["commits"].as_u64().unwrap()
}

/// Says what it is told in a file, and fails; works once that is gone.
const LIMITED: &str = r#"said="{HOME}/said"
if test -e "$said"; then sh "$said"; exit 1; fi
work"#;

#[test]
fn a_command_that_meets_a_limit_is_held_and_no_task_is_blamed() {
    for (said, why, is_passing) in [
        ("echo 'HTTP 429 Too Many Requests: try again in 300s' >&2", "rate_limit", true),
        ("echo 'I start.'; echo 'API Error: 429 rate limit, try again in 300s'", "rate_limit", true),
        ("echo 'Invalid API key. Please run /login' >&2", "authentication", false),
        (
            r#"echo '{"type":"result","status":"ERROR","reason":"503 service unavailable, retry-after: 300"}'"#,
            "overload",
            true,
        ),
    ] {
        let repo = TestRepo::with_agent("", "max_agents = 1\n");
        repo.set_agent(&LIMITED.replace("{HOME}", repo.home.to_str().unwrap()));
        std::fs::write(repo.home.join("said"), said).unwrap();
        let tasks: Vec<String> = (1..=4).map(|n| repo.add(&format!("Work {n}"), &[])).collect();
        let up = repo.up();
        let hold = until_held(&repo);
        assert_eq!(hold["why"], why, "{said}: {hold:#}");
        assert_eq!(hold["until"].is_null(), !is_passing, "{said}: {hold:#}");
        std::fs::remove_file(repo.home.join("said")).unwrap();
        repo.stdout(&["hold", "release", "mine"]);
        for task in &tasks {
            repo.until_queue(task, "provisional");
        }
        up.end();
        let begun: usize = tasks.iter().map(|task| repo.attempts(task).len()).sum();
        assert!(begun == 4 + 1, "{said}: {begun} attempts for four tasks");
        for task in &tasks {
            let notes = repo.show(task)["notes"].clone();
            assert!(!notes.to_string().contains("no_commits"), "{notes:#}");
        }
    }
}

#[test]
fn a_command_that_fails_for_another_reason_fails_its_task() {
    let repo = TestRepo::with_agent(
        "echo 'The rate limit of the parser is wrong.'; echo one; echo two; echo three; exit 1",
        "",
    );
    let task = repo.add("Mend the rate limit", &[]);
    let up = repo.up();
    repo.until_queue(&task, "failed");
    up.end();
    assert_eq!(holds(&repo), [] as [Value; 0]);
}
