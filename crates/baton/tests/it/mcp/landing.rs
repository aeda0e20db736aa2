//! What the tools say about accepted work: to the person who accepted it, and to the agent whose work was sent back.

use serde_json::{Value, json};

use super::agents::{MCP_CLIENT, set_up};
use super::{McpRepo, PATIENCE, call};
use crate::gate::Gate;
use crate::wait;

/// Adds the file that the title names. Sent back, it asks about its own task.
const AGENT: &str = r##"
if "was accepted" in prompt:
    with open("{FOLDER}/answer.new", "w") as file:
        file.write(tool("get_task", {"id": os.environ["BATON_TASK_ID"]}))
    os.rename("{FOLDER}/answer.new", "{FOLDER}/answer.json")
    sys.exit(1)
name = [line for line in prompt.splitlines() if line.startswith("# Add ")][0][6:]
open(name, "w").write("x")
git = ["git", "-c", "user.name=agent", "-c", "user.email=agent@localhost"]
subprocess.run(git + ["add", name], check=True)
subprocess.run(git + ["commit", "-q", "-m", "Add it"], check=True)
"##;

fn add(repo: &McpRepo, title: &str) -> String {
    repo.json(&["task", "add", title])["task_id"].as_str().unwrap().to_owned()
}

fn until(repo: &McpRepo, what: &str, is_so: &dyn Fn() -> bool) {
    wait::until(PATIENCE, is_so, || format!("{what}: {:#}", repo.json(&["task", "list"])));
}

async fn landing(client: &super::Client, task: &str) -> Value {
    let (text, is_error) = call(client, "get_task", json!({ "id": task })).await;
    assert!(!is_error, "{text}");
    serde_json::from_str::<Value>(&text).unwrap()["landing"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn get_task_says_where_accepted_work_stands() {
    let repo = McpRepo::new("");
    let gate = repo.folder.join("gate");
    repo.write(
        "agent.py",
        &format!("{MCP_CLIENT}{}", AGENT.replace("{FOLDER}", repo.folder.to_str().unwrap())),
    );
    let check = format!(
        "echo looking; flock --shared {} true; if test -e a.txt && test -e b.txt; then exit 3; fi",
        gate.display()
    );
    set_up(&repo, &format!("[checks]\nrules = [\"sh\", \"-c\", '''{check}''']\n"));
    let (one, other) = (add(&repo, "Add a.txt"), add(&repo, "Add b.txt"));
    let (_up, _) = repo.up();
    for task in [&one, &other] {
        until(&repo, "finished", &|| repo.json(&["task", "show", task])["queue"] == "provisional");
    }
    let (client, _, _child) = repo.client().await;
    assert_eq!(landing(&client, &one).await, Value::Null);
    let gate = Gate::closed(gate);
    repo.json(&["accept", &one, "--no-wait"]);
    until(&repo, "checked", &|| repo.json(&["landing"])["lanes"][0]["run"].is_number());
    repo.json(&["accept", &other, "--no-wait"]);

    let first = landing(&client, &one).await;
    assert_eq!((&first["state"], &first["task_ids"]), (&json!("checking"), &json!([one])), "{first:#}");
    let text = first["message"].as_str().unwrap();
    assert!(text.starts_with("the checks run on baton/next together with it, since 2"), "{text}");
    let second = landing(&client, &other).await;
    assert_eq!((&second["state"], &second["behind"]), (&json!("waiting"), &json!(one)), "{second:#}");
    assert_eq!(second["message"], format!("behind {one} to land on baton/next"));

    // The agent whose work was sent back reads why from its own tools.
    gate.open();
    let answer = repo.folder.join("answer.json");
    until(&repo, "the agent asks", &|| answer.exists());
    let asked: Value = serde_json::from_str(&std::fs::read_to_string(&answer).unwrap()).unwrap();
    assert_eq!((&asked["task_id"], &asked["landing"]["state"]), (&json!(other), &json!("sent_back")));
    let why = format!("sent back because check fails on baton/next together with {one}: rules");
    assert_eq!(asked["landing"]["message"], why, "{asked:#}");
    let landed = landing(&client, &one).await;
    assert_eq!(landed["state"], "landed", "{landed:#}");
    assert_eq!(landed["evidence"]["checks"][0]["name"], "rules", "{landed:#}");
}
