//! The same cases for every real agent, end to end.

use std::path::Path;

use serde_json::{Value, json};

use super::agents::{
    CLAUDE, CLAUDE_NATIVE, CODEX, CODEX_NATIVE, COPILOT, FAST_AGENT, GEMINI, GOOSE, KIMI, OPENCODE,
    OPENHANDS, PI, QWEN, VIBE,
};
use super::table::recorded;
use super::{AgentStage, Real, StageOptions};
use crate::engine::test_repo::{TestRepo, processes};

const COMMIT: &str = "echo hello > hello.txt && git add hello.txt && git commit -q -m 'by the agent'";
const IMPATIENT: &str = "[asking]\npatience = 1\n";

fn report() -> Value {
    json!({ "mcp": { "tool": "report_outcome", "arguments": { "outcome": "complete", "description": "as scripted" } } })
}

fn ask() -> Value {
    json!({ "mcp": { "tool": "ask_user", "arguments": { "question": "Blue or green?" } } })
}

/// The task and its log, for the message of a failed test.
fn describe(stage: &AgentStage, task: &str) -> String {
    let log = String::from_utf8_lossy(&stage.repo.output(&["task", "log", task]).stdout).into_owned();
    format!("{:#}\n{log}", stage.repo.show(task))
}

fn last_end(repo: &TestRepo, task: &str) -> Value {
    let mut ended = repo.attempts(task).into_iter().filter(|attempt| !attempt["closing"].is_null());
    ended.next_back().map(|attempt| attempt["closing"]["end"].clone()).unwrap_or_default()
}

fn until_ended(stage: &AgentStage, task: &str) -> Value {
    stage.repo.until(&format!("{task} ended once"), || !last_end(&stage.repo, task).is_null());
    last_end(&stage.repo, task)
}

/// In a linked worktree, as all of Baton's are.
fn commits_and_tools(real: &Real) {
    let steps = |_: &Path| json!([{ "shell": COMMIT }, report(), { "text": "All is done." }]);
    let Some(stage) = real.stage(steps, &StageOptions::default()) else { return };
    let task = stage.repo.add("Say hello", &[]);
    stage.repo.work_until(&[(&task, "provisional")]);
    let end = last_end(&stage.repo, &task);
    assert_eq!(end["verified"]["commits"], 1, "{}", describe(&stage, &task));
    assert_eq!(end["verified"]["uncommitted_changes"], false, "{}", describe(&stage, &task));
    assert!(end["verified"]["turns"].as_u64().unwrap() >= 2, "{end}");
    let log = stage.repo.git(&["log", "--format=%s", "-1", &format!("baton/{task}")]);
    assert_eq!(log, "by the agent");
    assert!(stage.repo.attempts(&task)[0]["attempt"]["agent_session"]["id"].is_string());
    let offered = stage.model.turns()[0]["tools"].to_string();
    assert!(offered.contains("report_outcome"), "{offered}");
    assert_eq!(processes(&stage.repo.last_attempt(&task)), [] as [&str; 0]);
}

fn turn_limit(real: &Real) {
    let steps = |_: &Path| {
        let steps: Vec<Value> = (0..30).map(|number| json!({ "shell": format!("echo {number}") })).collect();
        json!(steps)
    };
    let Some(stage) = real.stage(steps, &StageOptions { agent: "max_turns = 3", ..StageOptions::default() })
    else {
        return;
    };
    let task = stage.repo.add("Count", &[]);
    let up = stage.repo.up();
    let end = until_ended(&stage, &task);
    up.end();
    assert_eq!(end["reported"]["result"], "TURN_LIMIT", "{}", describe(&stage, &task));
    assert_eq!(end["verified"]["turns"], 3);
}

fn denied(real: &Real) {
    let steps =
        |_: &Path| json!([{ "shell": "touch denied.txt" }, { "text": "I could not." }, { "text": "No." }]);
    let options = StageOptions { asks: true, agent: "permissions = \"deny\"", ..StageOptions::default() };
    let Some(stage) = real.stage(steps, &options) else { return };
    let task = stage.repo.add("Touch it", &[]);
    let up = stage.repo.up();
    let end = until_ended(&stage, &task);
    up.end();
    assert_eq!(end["reported"]["result"], "BLOCKED", "{}", describe(&stage, &task));
    assert_eq!(end["verified"]["uncommitted_changes"], false);
}

fn asked_and_resumed(real: &Real) {
    asked(real, |stage, up| {
        answer(&stage.repo, "Green, please");
        up
    });
}

fn killed_and_resumed(real: &Real) {
    asked(real, |stage, up| {
        up.kill();
        answer(&stage.repo, "Green, please");
        stage.repo.up()
    });
}

fn asked(
    real: &Real,
    between: impl FnOnce(
        &AgentStage,
        crate::engine::test_repo::BatonProcess,
    ) -> crate::engine::test_repo::BatonProcess,
) {
    let steps =
        |_: &Path| json!([ask(), { "text": "I wait." }, { "shell": COMMIT }, report(), { "text": "Done." }]);
    let Some(stage) = real.stage(steps, &StageOptions { settings: IMPATIENT, ..StageOptions::default() })
    else {
        return;
    };
    let task = stage.repo.add("Paint it", &[]);
    let up = stage.repo.up();
    stage.repo.until("it waits", || stage.repo.status(&task) == "AWAITING_RESPONSE");
    let first = stage.repo.last_attempt(&task);
    assert_eq!(processes(&first), [] as [&str; 0], "no process waits for the answer");
    let up = between(&stage, up);
    stage.repo.until_queue(&task, "provisional");
    up.end();
    let attempts = stage.repo.attempts(&task);
    assert_eq!(attempts.len(), 2, "{}", describe(&stage, &task));
    let session = |attempt: &Value| attempt["attempt"]["agent_session"]["id"].clone();
    assert_eq!(session(&attempts[0]), session(&attempts[1]), "{}", describe(&stage, &task));
    let last = stage.model.turns().pop().unwrap()["body"].to_string();
    assert!(last.contains("Paint it") && last.contains("Green, please"), "the history is not whole: {last}");
}

fn answer(repo: &TestRepo, text: &str) {
    let id = repo.json(&["questions"])["questions"][0]["id"].as_str().unwrap().to_owned();
    repo.stdout(&["answer", &id, text]);
}

/// Baton's tools cannot be reached: the work counts all the same, and the person reads why there was no report.
fn cut_off(real: &Real) {
    let steps = |_: &Path| json!([{ "shell": COMMIT }, { "text": "All is done." }]);
    let Some(stage) = real.stage(steps, &StageOptions { is_cut_off: true, ..StageOptions::default() }) else {
        return;
    };
    let task = stage.repo.add("Say hello", &[]);
    let up = stage.repo.up();
    let end = until_ended(&stage, &task);
    up.end();
    let said = end["reported"]["output"].as_str().unwrap_or_default();
    assert!(said.contains("never looked at Baton's tools"), "{}", describe(&stage, &task));
    assert_eq!(end["verified"]["commits"], 1, "{}", describe(&stage, &task));
    stage.repo.until_queue(&task, "provisional");
}

/// How a hold ends.
#[derive(PartialEq)]
enum Lifted {
    /// After the time that the provider named.
    ByItself,
    /// The agent does not pass its provider's message on, so the hold lasts longer than a test.
    ByHand,
}

/// The agent is held, its tasks wait, and they continue after the hold.
fn held(real: &Real, status: u16, why: &str, lifted: &Lifted) {
    let steps = |scratch: &Path| {
        let fixed = scratch.join("fixed");
        // Agents first retry by themselves, after the time in the headers, and then report the message.
        let headers = [["retry-after-ms", "10"], ["retry-after", "1"]];
        let message = "please try again in 4 seconds";
        json!([{ "status": { "status": status, "until": fixed, "headers": headers, "message": message } },
            { "shell": COMMIT }, report(), { "text": "Done." }])
    };
    let Some(stage) = real.stage(steps, &StageOptions::default()) else { return };
    let task = stage.repo.add("Say hello", &[]);
    let up = stage.repo.up();
    stage.repo.until("a hold", || stage.repo.json(&["hold", "list"])["holds"][0]["why"] == why);
    let end = until_ended(&stage, &task);
    assert_eq!(end["reported"]["cause"], "systemic", "{}", describe(&stage, &task));
    std::fs::write(stage.repo.home.join("fixed"), "").unwrap();
    if *lifted == Lifted::ByHand {
        stage.repo.stdout(&["hold", "release", "real"]);
    }
    stage.repo.until_queue(&task, "provisional");
    up.end();
    assert_eq!(last_end(&stage.repo, &task)["verified"]["commits"], 1, "{}", describe(&stage, &task));
}

/// By a tool of Baton's, which the project's own Taskfile offers.
fn user_tasks(real: &Real) {
    let run = json!({ "mcp": { "tool": "run_user_task", "arguments": { "task_name": "greet" } } });
    let steps = |_: &Path| json!([run, { "shell": "git add -A && git commit -q -m greeted" }, report(), { "text": "Done." }]);
    let Some(stage) = real.stage(steps, &StageOptions::default()) else { return };
    let taskfile = stage.repo.folder.join(".agent/Taskfile.yml");
    std::fs::write(
        taskfile,
        "version: '3'\ntasks:\n  greet:\n    desc: Write a greeting\n    cmds: [echo hello > greeting.txt]\n",
    )
    .unwrap();
    stage.repo.git(&["add", "-f", ".agent/Taskfile.yml"]);
    stage.repo.git(&["commit", "-q", "-m", "user tasks"]);
    let task = stage.repo.add("Greet", &[]);
    stage.repo.work_until(&[(&task, "provisional")]);
    let diff = stage.repo.stdout(&["task", "diff", &task]);
    assert!(diff.contains("greeting.txt"), "{diff}\n{}", describe(&stage, &task));
}

fn cancelled(real: &Real) {
    let steps = |_: &Path| json!([{ "shell": "sleep 1000 & sleep 1000" }, { "text": "Done." }]);
    let Some(stage) = real.stage(steps, &StageOptions::default()) else { return };
    let task = stage.repo.add("Wait", &[]);
    let up = stage.repo.up();
    let mut attempt = String::new();
    stage.repo.until("its tool runs", || {
        attempt =
            stage.repo.attempts(&task).last().map_or_else(String::new, |_| stage.repo.last_attempt(&task));
        !attempt.is_empty() && processes(&attempt).iter().any(|line| line.contains("sleep"))
    });
    stage.repo.stdout(&["task", "cancel", &task]);
    stage.repo.until("the whole tree is gone", || processes(&attempt).is_empty());
    up.end();
    assert_eq!(stage.repo.status(&task), "CANCELLED");
}

/// What the agent reports is what its model counted: 100 tokens in and 20 out for each request.
fn tokens(real: &Real) {
    let steps = |_: &Path| json!([{ "shell": COMMIT }, report(), { "text": "All is done." }]);
    let Some(stage) = real.stage(steps, &StageOptions::default()) else { return };
    let task = stage.repo.add("Say hello", &[]);
    stage.repo.work_until(&[(&task, "provisional")]);
    let verified = &last_end(&stage.repo, &task)["verified"];
    let requests = stage.model.turns().len() as u64;
    assert_eq!(
        (verified["input_tokens"].as_u64(), verified["output_tokens"].as_u64()),
        (Some(requests * 100), Some(requests * 20)),
        "{requests} requests"
    );
}

/// The work of an agent that does not show its tools to its model, or gets none, is judged by what it left.
fn commits_alone(real: &Real) {
    let steps =
        |_: &Path| json!([{ "shell": COMMIT }, { "text": "All is done.\n{\"outcome\": \"complete\"}" }]);
    let Some(stage) = real.stage(steps, &StageOptions::default()) else { return };
    let task = stage.repo.add("Say hello", &[]);
    stage.repo.work_until(&[(&task, "provisional")]);
    let end = last_end(&stage.repo, &task);
    assert_eq!(end["verified"]["commits"], 1, "{}", describe(&stage, &task));
}

macro_rules! cases {
    ($agent:ident as $name:ident: $($case:ident),+) => {
        mod $name {
            use super::*;
            $(cases!(@case $agent $case);)+
        }
    };
    (@case $agent:ident overloaded) => {
        #[test]
        fn a_model_that_answers_500_holds_the_account() {
            recorded(&$agent, "500", |real| held(real, 500, "overload", &Lifted::ByItself));
        }
    };
    (@case $agent:ident limited) => {
        #[test]
        fn a_model_that_answers_429_holds_the_account() {
            recorded(&$agent, "429", |real| held(real, 429, "rate_limit", &Lifted::ByItself));
        }
    };
    (@case $agent:ident limited_in_silence) => {
        #[test]
        fn a_model_that_answers_429_holds_the_account() {
            recorded(&$agent, "429", |real| held(real, 429, "rate_limit", &Lifted::ByHand));
        }
    };
    (@case $agent:ident $case:ident) => {
        #[test]
        fn $case() {
            recorded(&$agent, stringify!($case), super::$case);
        }
    };
}

cases!(GOOSE as goose: commits_and_tools, turn_limit, denied, asked_and_resumed, killed_and_resumed, cut_off, overloaded, limited, user_tasks, cancelled);
cases!(OPENCODE as opencode: commits_and_tools, turn_limit, denied, asked_and_resumed, killed_and_resumed, cut_off, overloaded, limited, user_tasks, cancelled);
cases!(CLAUDE as claude: commits_and_tools, turn_limit, denied, asked_and_resumed, killed_and_resumed, cut_off, overloaded, limited, user_tasks, cancelled, tokens);
cases!(CODEX as codex: commits_and_tools, turn_limit, asked_and_resumed, killed_and_resumed, cut_off, overloaded, limited_in_silence, user_tasks, cancelled, tokens);
// Their tools are on the command line, not in the stream, so the stream cannot be changed to cut them off.
cases!(CLAUDE_NATIVE as claude_native: commits_and_tools, turn_limit, denied, asked_and_resumed, killed_and_resumed, overloaded, limited, user_tasks, cancelled, tokens);
cases!(CODEX_NATIVE as codex_native: commits_and_tools, turn_limit, asked_and_resumed, killed_and_resumed, overloaded, limited_in_silence, user_tasks, cancelled, tokens);
cases!(QWEN as qwen: commits_and_tools, turn_limit, denied, asked_and_resumed, killed_and_resumed, overloaded, user_tasks, cancelled);
cases!(KIMI as kimi: commits_and_tools, turn_limit, asked_and_resumed, killed_and_resumed, overloaded, limited, user_tasks, cancelled);
cases!(GEMINI as gemini: commits_and_tools, turn_limit, denied, asked_and_resumed, user_tasks, cancelled);
cases!(COPILOT as copilot: commits_alone, turn_limit, cancelled);
cases!(VIBE as vibe: commits_alone, turn_limit, cancelled);
cases!(OPENHANDS as openhands: commits_alone);
cases!(FAST_AGENT as fast_agent: commits_alone);
cases!(PI as pi: commits_alone, turn_limit, cancelled);
