//! I19: every command of the command line, from an agent without a fence that hides what it can of its environment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::engine::test_repo::{TestRepo, read};

/// Commands that decide or change something of the person's; `$T` is the agent's own task. Each is refused.
const DECIDES: [(&str, &str); 50] = [
    ("accept", "$T"),
    ("agents update", "registry.json"),
    ("answer", "Q-00000001 YES"),
    ("backup", "copy.db"),
    ("breakdown approve", "$T"),
    ("breakdown edit", "$T README.md"),
    ("breakdown reject", "$T --reason no"),
    ("breakdown run", "$T"),
    ("chat", "hello"),
    ("give", "$T"),
    ("hold release", "mine"),
    ("import", "github issues.json"),
    ("init", "--force"),
    ("loop", "Takeover"),
    ("plan", "README.md"),
    ("project complete", "PROJ-00000001"),
    ("project create", "Mine"),
    ("project limit", "PROJ-00000001 3"),
    ("recipe exit", ""),
    ("recipe say", "hello"),
    ("recipe start", "work --message hello"),
    ("recycle", "$T"),
    ("reject", "$T --reason no"),
    ("restore", "copy.db --replace"),
    ("review", "$T --accept"),
    ("routine add", "Mine --every 1h"),
    ("routine pause", "mine"),
    ("routine remove", "mine"),
    ("routine resume", "mine"),
    ("routine run", "mine"),
    ("say", "$T hello"),
    ("stop", "$T"),
    ("store init", ""),
    ("take", "$T --print"),
    ("task cancel", "$T"),
    ("task edit", "$T --title Mine"),
    ("task hold", "$T"),
    ("task release", "$T"),
    ("task reply", "$T YES"),
    ("task retry", "$T"),
    ("token create", "evil --role operator"),
    ("token list", ""),
    ("token revoke", "mia"),
    ("trust", ""),
    ("up", "--listen 127.0.0.1:0"),
    ("worker", "--store postgres://x@127.0.0.1:1/x --namespace x"),
    // The same, given in other ways.
    ("answer ", "--queue YES --session cli"),
    ("loop ", "--state-dir $LINK"),
    ("up ", "--state-dir $ELSEWHERE --listen 127.0.0.1:0"),
    ("tasks ", "--trust"),
];

/// Commands that read, or that concern nobody but whoever calls them; `task add` is recorded as the agent's.
const HARMLESS: [&str; 39] = [
    "accounts",
    "agents list",
    "breakdown list",
    "breakdown show",
    "completions",
    "config",
    "cost",
    "demo",
    "do",
    "doctor",
    "explain",
    "export",
    "hold list",
    "landing",
    "man",
    "mcp",
    "open",
    "project list",
    "project show",
    "questions",
    "recipe check",
    "recipe follow",
    "recipe list",
    "recipe runs",
    "recipe schema",
    "recipe show",
    "routine list",
    "status",
    "task add",
    "task diff",
    "task list",
    "task log",
    "task ready",
    "task restore",
    "task show",
    "tasks",
    "watch",
    "workers",
    "baton",
];

/// Calls every command and writes down what came of it.
fn agent() -> String {
    let mut script = r#"T=$BATON_TASK_ID; results=$BATON_ROOT/../results; LINK=$BATON_ROOT/../link; ELSEWHERE=$BATON_ROOT/../elsewhere
rm -f "$LINK"; ln -s "$BATON_STATE_DIR" "$LINK"
echo '[]' > issues.json; echo '{}' > registry.json
call() {
  name=$1; shift; code=0
  said=$(env -u BATON_TOKEN -u BATON_ATTEMPT_ID -u BATON_TASK_ID setsid -w timeout 60 "$BATON_BIN" "$@" 2>&1 < /dev/null) || code=$?
  printf '%s|%s|%s\n' "$name" "$code" "$(printf %s "$said" | tr '\n' ' ')" >> "$results"
}
"#
    .to_owned();
    for (command, arguments) in DECIDES {
        // Writing to a String cannot fail.
        let _ = writeln!(script, "call '{command}' {} {arguments}", command.trim());
    }
    script.push_str("\"$BATON_BIN\" task add Extra > /dev/null 2>&1 || true\nrm -f issues.json registry.json\nturns 1; work\n");
    script
}

/// What the agent was told, by command.
fn results(repo: &TestRepo) -> BTreeMap<String, (String, String)> {
    let lines = read(repo.home.join("results"));
    let line = |line: &str| {
        let mut parts = line.splitn(3, '|').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        (part(), (part(), part()))
    };
    lines.lines().map(line).collect()
}

fn check_refused(repo: &TestRepo, task: &str, how: &str) {
    let results = results(repo);
    for (command, _) in DECIDES {
        let (code, said) = &results[command];
        assert!(
            code != "0" && said.contains("only a person") || said.contains("an agent cannot trust"),
            "{how}: {command}: {code} {said}"
        );
    }
    let view = repo.show(task);
    assert_eq!(view["queue"], "provisional", "{how}: {view:#}");
    assert_eq!(view["attempts"].as_array().unwrap().len(), 1, "{how}: {view:#}");
}

#[test]
fn i19_no_command_decides_for_a_person_from_inside_an_attempt() {
    // The commands' own server: the agent is under `baton chat`.
    let repo = TestRepo::with_agent(&agent(), "");
    let settings = read(repo.folder.join(".agent/baton.toml"));
    repo.output(&["chat", "Work", "--type", "IMPLEMENTATION"]);
    let tasks = repo.json(&["task", "list"])["tasks"].clone();
    let task = tasks[0]["task_id"].as_str().unwrap().to_owned();
    check_refused(&repo, &task, "without a server");
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks:#}");
    assert_eq!(read(repo.folder.join(".agent/baton.toml")), settings);

    let repo = TestRepo::with_agent(&agent(), "max_agents = 1");
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    check_refused(&repo, &task, "with a server");
    // What it added is marked as its own.
    let all = repo.json(&["task", "list"])["tasks"].as_array().unwrap().clone();
    let extra = all.iter().find(|task| task["title"] == "Extra").unwrap();
    assert_eq!(extra["added_by"], repo.last_attempt(&task).as_str(), "{extra:#}");
    let shown = repo.stdout(&["task", "show", extra["task_id"].as_str().unwrap()]);
    assert!(shown.contains("Added by an agent"), "{shown}");
    assert_eq!(repo.show(&task)["added_by"], serde_json::Value::Null);
    up.end();
}

#[test]
fn i19_every_command_is_known_to_decide_or_not() {
    let repo = TestRepo::with_agent("true", "");
    let pages = repo.home.join("pages");
    repo.stdout(&["man", "--into", pages.to_str().unwrap()]);
    let names: BTreeSet<String> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().to_string_lossy().trim_end_matches(".1").to_owned())
        .collect();
    let is_group = |name: &String| names.iter().any(|other| other.starts_with(&format!("{name}-")));
    let known = |name: &str| DECIDES.iter().any(|(command, _)| *command == name) || HARMLESS.contains(&name);
    for name in names.iter().filter(|name| !is_group(name)) {
        let command = name.trim_start_matches("baton-").replacen('-', " ", 1);
        assert!(known(&command), "`baton {command}` is in neither table");
    }
}
