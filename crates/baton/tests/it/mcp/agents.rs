//! The tools of an attempt's agent, through the real binary and with its token.

use serde_json::Value;

use super::McpRepo;
use crate::wait;

/// An agent in Python that speaks MCP to `baton mcp`. `tool(name, arguments)` calls a tool.
pub(super) const MCP_CLIENT: &str = r#"
import json, os, subprocess, sys
prompt = sys.stdin.read()
mcp = subprocess.Popen([os.environ["BATON_BIN"], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
number = 0
def send(message):
    mcp.stdin.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n"); mcp.stdin.flush()
def ask(method, params):
    global number
    number += 1
    send({"id": number, "method": method, "params": params})
    while True:
        answer = json.loads(mcp.stdout.readline())
        if answer.get("id") == number:
            return answer["result"]
def tool(name, arguments):
    return ask("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]
ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}})
send({"method": "notifications/initialized"})
"#;

/// Writes the settings: the agent, and these.
pub(super) fn set_up(repo: &McpRepo, settings: &str) {
    let agent = repo.folder.join("agent.py");
    let command = format!("command = [\"python3\", \"{}\"]", agent.display());
    let mine = format!("default_agent = \"mine\"\n[agents.mine]\nkind = \"command\"\n{command}\n{settings}");
    repo.write(".agent/baton.toml", &mine);
}

/// A repository whose agent runs this script, and one task for it.
struct AgentFixture {
    repo: McpRepo,
    task: String,
}

impl AgentFixture {
    fn new(agent: &str, settings: &str) -> Self {
        let repo = McpRepo::new("");
        repo.write("agent.py", &format!("{MCP_CLIENT}{agent}"));
        repo.write(
            ".agent/Taskfile.yml",
            "version: '3'\ntasks:\n  where: {desc: Where., cmds: ['pwd; echo \"[$BATON_TOKEN]\"'], silent: true}\n",
        );
        set_up(&repo, settings);
        let added = repo.json(&["task", "add", "Tell me", "--type", "READ_INFO"]);
        let task = added["task_id"].as_str().unwrap().to_owned();
        Self { repo, task }
    }

    fn show(&self) -> Value {
        self.repo.json(&["task", "show", &self.task])
    }

    fn wait(&self, what: &str, is_so: &dyn Fn() -> bool) {
        wait::until(super::PATIENCE, is_so, || format!("{what}: {}", self.show()));
    }

    /// Waits for the only pending question.
    fn question(&self) -> Value {
        let questions = || self.repo.json(&["questions"])["questions"].as_array().unwrap().clone();
        self.wait("the question", &|| !questions().is_empty());
        let all = questions();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    fn answer(&self, question: &Value, text: &str) {
        self.repo.json(&["answer", question["id"].as_str().unwrap(), text]);
    }

    /// The JSON that the agent printed, once its task is done.
    fn printed_json(&self) -> Value {
        self.wait("the end", &|| self.show()["queue"] == "done");
        let output = self.show()["output"].as_str().unwrap().to_owned();
        // The agent's output comes first; notes about the attempt follow.
        let mut documents = serde_json::Deserializer::from_str(&output).into_iter();
        documents.next().unwrap().unwrap()
    }
}

#[test]
fn an_attempts_agent_asks_runs_user_tasks_in_its_worktree_and_reports_by_tool() {
    let fixture = AgentFixture::new(
        r#"
names = [tool["name"] for tool in ask("tools/list", {})["tools"]]
answer = tool("ask_user", {"question": "Which port?"})
where = tool("run_user_task", {"task_name": "where"})
wrong = tool("report_outcome", {"outcome": "splendid"})
reported = tool("report_outcome", {"outcome": "complete", "description": "Done."})
print(json.dumps({"names": names, "answer": answer, "where": where, "wrong": wrong, "reported": reported}))
"#,
        "",
    );
    let (_up, _) = fixture.repo.up();
    fixture.answer(&fixture.question(), "8080");
    let printed = fixture.printed_json();
    assert_eq!(printed["answer"], "8080");
    assert!(printed["where"].as_str().unwrap().contains(".agent/state/"), "{printed}");
    // User tasks do not get the attempt's token.
    assert!(printed["where"].as_str().unwrap().contains("\n[]\n"), "{printed}");
    assert!(printed["wrong"].as_str().unwrap().contains("Valid outcomes: "), "{printed}");
    assert_eq!(printed["reported"], "Recorded. End your turn now.");
    let names: Vec<&str> =
        printed["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(names.contains(&"ask_human") && !names.contains(&"submit_breakdown"), "{names:?}");
    assert_eq!(fixture.show()["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn i21_a_user_task_that_an_agent_runs_is_in_the_agents_fence() {
    let fixture = AgentFixture::new(
        r#"
look = tool("run_user_task", {"task_name": "look", "args": "'a b' ü"})
once = [tool("run_user_task", {"task_name": "once"}) for _ in range(2)]
print(json.dumps({"look": look, "once": once}))
"#,
        "",
    );
    let repo = &fixture.repo;
    let root = repo.folder.display();
    repo.write("secret", "of the person");
    repo.write(
        ".agent/Taskfile.yml",
        &format!(
            r#"version: '3'
tasks:
  look:
    desc: Look around
    cmds: ['pwd; printf "<%s>" {{{{.CLI_ARGS}}}}; echo x > {root}/written || true; cat {root}/secret || exit 7']
    silent: true
  once: {{desc: Once, sources: [go], cmds: ['echo ran'], silent: true}}
"#
        ),
    );
    let (_up, _) = repo.up_with(&[("BATON_FENCE", "strict")]);
    let printed = fixture.printed_json();
    let look = printed["look"].as_str().unwrap();
    assert!(look.starts_with("Task 'look' failed. Output:\n"), "{look}");
    assert!(look.contains("/worktrees/") && look.contains("\n<a b><ü>\nError Output:\n"), "{look}");
    assert!(look.contains("No such file") && !look.contains("of the person"), "{look}");
    assert!(look.ends_with("\nExit Code: 7\nError: task: Failed to run task 'look'"), "{look}");
    assert!(!repo.folder.join("written").exists(), "it wrote outside of the fence");
    // What a task remembers between runs is kept.
    let once: Vec<&str> =
        printed["once"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(once[0].contains("Output:\nran\n"), "{once:?}");
    assert!(once[1].contains("Output:\n\n"), "it is up to date: {once:?}");
}

#[test]
fn an_unanswered_question_ends_the_agent_and_the_answer_resumes_it() {
    // At its end it repeats the question, as models do, and fails; neither has an effect.
    let fixture = AgentFixture::new(
        r#"
answer = tool("ask_human", {"question": "Which port?", "options": ["80", "8080"], "kind": "confirmation"})
if "end your turn now" in answer:
    print(json.dumps({"baton": "ask", "question": "Which port?"}))
    sys.exit(1)
print(json.dumps({"answer": answer, "resumed": os.environ.get("BATON_RESUME"), "has_answer": "8080" in prompt}))
"#,
        "[asking]\npatience = 1\n",
    );
    let (up, _) = fixture.repo.up();
    let question = fixture.question();
    fixture.wait("its turn to end", &|| fixture.show()["status"] == "AWAITING_RESPONSE");
    assert_eq!(fixture.question()["id"], question["id"], "asked once");
    drop(up);
    // The resumed agent asks again; this time the patience suffices to answer.
    set_up(&fixture.repo, "");
    let (_up, _) = fixture.repo.up();
    fixture.answer(&question, "8080");
    fixture.wait("the agent to be back", &|| fixture.show()["attempts"].as_array().unwrap().len() == 2);
    fixture.answer(&fixture.question(), "8080");
    let printed = fixture.printed_json();
    assert_eq!((&printed["resumed"], &printed["has_answer"]), (&"1".into(), &true.into()), "{printed}");
}

#[test]
fn the_same_question_asked_again_by_the_resumed_agent_returns_the_stored_answer() {
    let fixture = AgentFixture::new(
        r#"
answer = tool("ask_user", {"question": "Which port?"})
if "end your turn now" not in answer:
    print(json.dumps({"answer": answer, "resumed": os.environ.get("BATON_RESUME")}))
"#,
        "[asking]\npatience = 1\n",
    );
    let (_up, _) = fixture.repo.up();
    let question = fixture.question();
    fixture.wait("its turn to end", &|| fixture.show()["status"] == "AWAITING_RESPONSE");
    fixture.answer(&question, "8080");
    let printed = fixture.printed_json();
    assert_eq!((&printed["answer"], &printed["resumed"]), (&"8080".into(), &"1".into()), "{printed}");
    assert_eq!(fixture.show()["attempts"].as_array().unwrap().len(), 2);
}

#[test]
fn with_trust_prompt_an_agents_run_becomes_a_question_in_the_inbox() {
    let fixture = AgentFixture::new(
        r#"
where = tool("run_user_task", {"task_name": "where"})
again = tool("run_user_task", {"task_name": "where"})
print(json.dumps({"where": where, "again": again}))
"#,
        "[user_tasks]\ntrust = \"prompt\"\n",
    );
    let (_up, _) = fixture.repo.up();
    let question = fixture.question();
    assert!(question.to_string().contains("fingerprint"), "{question}");
    fixture.answer(&question, "YES");
    let printed = fixture.printed_json();
    for run in ["where", "again"] {
        assert!(printed[run].as_str().unwrap().starts_with("Task 'where' completed"), "{printed}");
    }
}

#[test]
fn an_agent_may_change_and_cancel_only_tasks_it_added() {
    let fixture = AgentFixture::new(
        r#"
mine = json.loads(tool("add_task", {"title": "Found on the way", "priority": "P3"}))["task_id"]
others = [task["task_id"] for task in json.loads(tool("list_tasks", {"title": "of a person"}))["tasks"]][0]
print(json.dumps({
    "better": tool("update_task", {"id": mine, "title": "Found and named"}),
    "back": tool("set_task_status", {"id": mine, "status": "CANCELLED"}),
    "others": tool("update_task", {"id": others, "title": "Mine now"}),
    "cancelled": tool("set_task_status", {"id": others, "status": "CANCELLED"}),
    "own": tool("set_task_status", {"id": os.environ["BATON_TASK_ID"], "status": "CANCELLED"}),
}))
"#,
        "max = 1\n",
    );
    let other = fixture.repo.json(&["task", "add", "A task of a person", "--after", &fixture.task]);
    let (_up, _) = fixture.repo.up();
    let printed = fixture.printed_json();
    assert!(printed["better"].as_str().unwrap().contains("Found and named"), "{printed}");
    assert!(printed["back"].as_str().unwrap().contains("\"CANCELLED\""), "{printed}");
    for refused in ["others", "cancelled"] {
        assert!(printed[refused].as_str().unwrap().contains("was not added by an agent"), "{printed}");
    }
    assert!(printed["own"].as_str().unwrap().contains("your own task"), "{printed}");
    let other = fixture.repo.json(&["task", "show", other["task_id"].as_str().unwrap()]);
    assert_eq!(other["title"], "A task of a person");
}

#[test]
fn a_run_without_a_task_is_told_that_there_is_none() {
    let repo = McpRepo::new("");
    let agent = r#"
print(tool("get_next_task", {}))
tool("report_outcome", {"outcome": "no-tasks", "description": tool("get_next_task", {})})
"#;
    repo.write("agent.py", &format!("{MCP_CLIENT}{agent}"));
    set_up(&repo, "");
    let run = repo.json(&["recipe", "start", "implement-and-review"]);
    let (_up, _) = repo.up();
    let task = run["task_id"].as_str().unwrap();
    let shown = || repo.json(&["task", "show", task]);
    wait::until(super::PATIENCE, || shown()["run"]["has_exited"] == true, || shown().to_string());
    assert_eq!(shown()["run"]["last_outcome"]["words"], "No tasks available.");
}

#[test]
fn an_agent_of_the_loop_cannot_create_a_task_before_the_user_said_yes() {
    let repo = McpRepo::new("");
    repo.write("agent.py", &format!("{MCP_CLIENT}print(tool(\"add_task\", {{\"title\": \"Sneaky\"}}))\n"));
    set_up(&repo, "");
    let (_up, address) = repo.up();
    let body = serde_json::json!({ "recipe_id": "plan-execute-review", "from": "review" });
    let started = crate::server::client::post(&address, "/api/sessions/mine/recipe", &body);
    assert_eq!(started.status, 201, "{started:?}");
    let questions = || repo.json(&["questions"])["questions"].as_array().unwrap().clone();
    wait::until(super::PATIENCE, || !questions().is_empty(), || repo.json(&["task", "list"]).to_string());
    let gate = questions()[0]["text"].as_str().unwrap().to_owned();
    assert!(gate.contains("only after the user has said YES"), "{gate}");
    let tasks = repo.json(&["task", "list"]);
    assert!(!tasks.to_string().contains("Sneaky\","), "{tasks}");
}
