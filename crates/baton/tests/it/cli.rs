//! Commands of the binary: whole outputs, exit codes and streams.

use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn baton(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_baton")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A repository for one test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let init = Command::new("git").args(["init", "--quiet"]).current_dir(folder.path()).status();
        assert!(init.unwrap().success());
        Self(folder)
    }

    /// Exit code, standard output and standard error of a command, with task ids numbered.
    fn transcript(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8(output.stderr.clone()).unwrap();
        let mut printed = format!("exit {}\n{}", output.status.code().unwrap(), stdout(&output));
        if !error.is_empty() {
            printed = format!("{printed}--- stderr\n{error}");
        }
        for (number, id) in self.ids().into_iter().enumerate() {
            printed = printed.replace(&id, &format!("TASK-{number:08}"));
        }
        printed
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_baton"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("BATON_USER", "mia")
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.run(arguments).stdout).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        let tasks = self.json(&["task", "list", "--json"])["tasks"].take();
        tasks.as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn tasks_are_added_listed_shown_and_cancelled() {
    let folder = Folder::new();
    insta::assert_snapshot!(folder.transcript(&["task", "ready"]), @r"
    exit 0
    No tasks available. Add one: baton task add TITLE
    ");
    insta::assert_snapshot!(folder.transcript(&["task", "add", "Fix the login", "--priority", "P1"]), @r"
    exit 0
    Added TASK-00000000.
    ");
    let first = folder.ids().remove(0);
    insta::assert_snapshot!(folder.transcript(&["task", "add", "Write it down", "--after", &first[5..]]), @r"
    exit 0
    Added TASK-00000001.
    ");
    insta::assert_snapshot!(folder.transcript(&["task", "list"]), @r"
    exit 0
    ID             STATE   PRIO    TITLE
    TASK-00000000  Queued  P1      Fix the login
    TASK-00000001  Queued  P2      Write it down
    ");
    insta::assert_snapshot!(folder.transcript(&["task", "ready"]), @r"
    exit 0
    ID             STATE   PRIO    TITLE
    TASK-00000000  Queued  P1      Fix the login
    ");
    let second = folder.ids().remove(1);
    insta::assert_snapshot!(folder.transcript(&["task", "show", &second]), @r"
    exit 0
    TASK-00000001  Write it down
    Queued · IMPLEMENTATION · P2

    Waiting on TASK-00000000
    ");
    insta::assert_snapshot!(folder.transcript(&["task", "cancel", &first, "--reason", "not needed"]), @r"
    exit 0
    Cancelled TASK-00000000; its work is kept.
    ");
    insta::assert_snapshot!(folder.transcript(&["questions"]), @r"
    exit 0
    No pending questions.

    Stands still until you act:
    TASK-00000001 waits on TASK-00000000, which was cancelled
        Write it down
      → baton task edit TASK-00000001 --not-after TASK-00000000
      → baton task retry TASK-00000000
      → baton task cancel TASK-00000001
    ");
    insta::assert_snapshot!(folder.transcript(&["breakdown", "list"]), @r"
    exit 0
    No breakdowns.
    ");
}

#[test]
fn mistakes_get_an_error_and_a_hint() {
    let folder = Folder::new();
    folder.run(&["task", "add", "Fix the login"]);
    let id = folder.ids().remove(0);
    insta::assert_snapshot!(folder.transcript(&["task", "add", " "]), @r"
    exit 2
    --- stderr
    error: the title is blank

    Hint: write at least one visible character
    ");
    let unknown = folder.transcript(&["task", "add", "x", "--after", "TASK-ffffffff"]);
    assert!(unknown.contains("exit 2") && unknown.contains("there is no such task"), "{unknown}");
    insta::assert_snapshot!(folder.transcript(&["task", "show", "zzz"]), @r"
    exit 2
    --- stderr
    error: there is no task zzz

    Hint: list the tasks: baton task list
    More: baton explain not_found
    ");
    insta::assert_snapshot!(folder.transcript(&["task", "list", "--queue", "provisonal"]), @r#"
    exit 2
    --- stderr
    error: unknown queue "provisonal"

    Hint: did you mean provisional?
    "#);
    insta::assert_snapshot!(folder.transcript(&["task", "list", "--cursor", "x"]), @r#"
    exit 2
    --- stderr
    error: "x" is not a cursor; use the one the previous page gave, or none

    Hint: start at the beginning, without a cursor
    More: baton explain bad_cursor
    "#);
    insta::assert_snapshot!(folder.transcript(&["task", "retry", &id]), @r"
    exit 4
    --- stderr
    error: TASK-00000000 is queued: retry is not possible in this state

    Hint: see what it allows now: baton task show TASK-00000000, baton explain states
    More: baton explain wrong_state
    ");
    insta::assert_snapshot!(folder.transcript(&["task", "reply", &id, "yes"]), @r"
    exit 4
    --- stderr
    error: TASK-00000000 is not waiting for an answer

    Hint: see its state: baton task show TASK-00000000
    More: baton explain not_waiting
    ");
    insta::assert_snapshot!(folder.transcript(&["answer", "Q-00000001", "yes"]), @r"
    exit 2
    --- stderr
    error: there is no question Q-00000001

    Hint: see the open questions: baton questions
    More: baton explain not_found
    ");
    insta::assert_snapshot!(folder.transcript(&["answer", "1", "yes"]), @r#"
    exit 2
    --- stderr
    error: "1" is not a question id; one looks like Q-5eed1234

    Hint: list pending questions: baton questions
    "#);
    insta::assert_snapshot!(folder.transcript(&["breakdown", "run", &id]), @r"
    exit 4
    --- stderr
    error: TASK-00000000 is queued: release is not possible in this state

    Hint: see what it allows now: baton task show TASK-00000000, baton explain states
    More: baton explain wrong_state
    ");
}

#[test]
fn a_file_that_is_not_a_store_is_refused_and_left_unchanged() {
    let folder = Folder::new();
    let file = folder.0.path().join("state/here.db");
    std::fs::create_dir(folder.0.path().join("state")).unwrap();
    std::fs::write(&file, "these are my notes, not a database").unwrap();
    let output = folder.run(&["--state-dir", "state", "--namespace", "here", "task", "list"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Hint: "));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "these are my notes, not a database");
}

#[test]
fn explain_phases_draws_the_loop() {
    let output = baton(&["explain", "phases"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(stdout(&output), @r"
    A loop starts and ends at the hub. Each phase ends with one question, its gate.

    hub
      start plan       → plan
      start execute    → execute
      start review     → review

    plan: Ready to execute? [YES/NO]
      YES at the gate  → execute
      NO at the gate   → stays
      break off        → hub

    execute: Ready for review? [YES/NO]
      YES at the gate  → review
      NO at the gate   → stays
      break off        → hub

    review: Continue loop? [YES/NO]
      YES at the gate  → plan, iteration + 1
      NO at the gate   → hub
      break off        → hub
    ");
}

#[test]
fn explain_exits_lists_category_and_message() {
    let output = baton(&["explain", "exits"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(stdout(&output), @r#"
    A recipe exits with a reason; its category says how to interpret it.

    completed  task-committed                 Task implementation committed successfully
    completed  design-committed               Design document committed successfully
    completed  tasks-committed                Implementation tasks created and committed
    completed  no-changes-to-commit           No changes to commit
    completed  clarification-needed           Needs clarification before continuing
    completed  implementation-blocked         Implementation blocked - cannot proceed
    completed  no-design-document-found       Design document not found
    completed  no-tasks-available             No tasks available to implement
    completed  user-provided-other            Recipe exited by user choice
    guardrail  max-total-steps                Stopped: the run took too many steps
    guardrail  max-step-visits-exceeded:fix   Stopped: step "fix" was entered too many times
    error      orchestration-error            The agent did not report a usable outcome
    error      error                          The run ended with an error
    error      internal-error                 Baton ran into an internal error
    error      no-prompt                      The step has no prompt to send
    completed  one-of-your-own                Completed: one-of-your-own
    "#);
}

#[test]
fn explain_states_has_every_state_and_no_way_out_of_done() {
    let text = stdout(&baton(&["explain", "states"]));
    assert_eq!(text.matches("final state").count(), 1, "{text}");
    assert!(text.contains("\nDone\n  final state\n"), "{text}");
    assert!(text.contains("  claim            → Claimed\n"), "{text}");
}

#[test]
fn explain_gives_the_meaning_the_cause_and_the_next_step() {
    let output = baton(&["explain", "wrong_state"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(stdout(&output), @r"
    wrong_state (Tasks and plans)

    The task is in a state from which this is not possible.

    Why:   It changed before your command arrived (an agent finished, somebody else decided), or the
           command is for another state: only provisional work can be accepted, only a failed or
           cancelled task can be retried. Done is final.

    Next:  See its state, and what each state allows.

    Run:   baton task show TASK
           baton explain states
    ");
    // Codes of the API and of the rules may differ only in case; an exit code is a number.
    assert!(stdout(&baton(&["explain", "TOO_LARGE"])).starts_with("TOO_LARGE (API errors)"));
    assert!(stdout(&baton(&["explain", "too_large"])).starts_with("too_large (Tasks and plans)"));
    assert!(stdout(&baton(&["explain", "10"])).starts_with("exit-10 (Exit codes)"));
}

#[test]
fn explain_alone_lists_everything_and_json_has_the_same() {
    let all: Value = serde_json::from_slice(&baton(&["explain", "--json"]).stdout).unwrap();
    let listed = stdout(&baton(&["explain"]));
    let codes = all["codes"].as_array().unwrap();
    assert!(codes.len() > 120, "{}", codes.len());
    for code in codes {
        let name = code["code"].as_str().unwrap();
        assert!(listed.contains(&format!("\n  {name} ")), "{name} is not in the list");
    }
    for topic in all["topics"].as_array().unwrap() {
        let name = topic["topic"].as_str().unwrap();
        let topic_json: Value = serde_json::from_slice(&baton(&["explain", name, "--json"]).stdout).unwrap();
        assert!(!topic_json[name].as_array().unwrap().is_empty(), "{name}");
    }
    let one: Value = serde_json::from_slice(&baton(&["explain", "store_damaged", "--json"]).stdout).unwrap();
    assert_eq!(one["codes"][0]["family"], "Store");
}

#[test]
fn an_unknown_code_gets_suggestions() {
    let output = baton(&["explain", "wrong-stat"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r#"
    error: no explanation for "wrong-stat"

    Hint: did you mean wrong_state, wrong_shape, wrong_results, run_lost? List everything: baton explain
    "#);
}

#[test]
fn wrong_usage_is_exit_code_2_with_suggestions() {
    let output = baton(&["recipe", "shwo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("show"), "{printed}");
}

#[test]
fn the_scripted_agent_is_a_hidden_command() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("script.json");
    std::fs::write(&script, r#"{"otherwise": [{"turns": 1}, {"crash": {"exit": 7}}]}"#).unwrap();
    let output = baton(&["scripted-agent", script.to_str().unwrap()]);
    assert_eq!(stdout(&output), "{\"baton\":\"turn\"}\n");
    assert_eq!(output.status.code(), Some(7));

    assert!(!stdout(&baton(&["--help"])).contains("scripted"));
    let output = baton(&["scripted-agent", "no-such-file.json"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_error_is_json_for_who_asked_for_json() {
    let folder = Folder::new();
    let output = folder.run(&["--json", "task", "show", "TASK-00000000"]);
    assert_eq!(output.status.code(), Some(2));
    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(said["error"]["exit_code"], 2, "{said:#}");
    let message = said["error"]["message"].as_str().unwrap();
    let to_people = String::from_utf8(output.stderr).unwrap();
    assert!(!message.is_empty() && to_people.contains(message), "{message}: {to_people}");
    assert!(!said["error"]["hint"].as_str().unwrap().is_empty());
    assert_eq!(said["error"]["code"], "not_found", "{said:#}");
    // Words that are no command.
    let output = folder.run(&["--json", "task", "nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(said["error"]["code"], "usage", "{said:#}");
    assert!(said["error"]["message"].as_str().unwrap().contains("nonsense"), "{said:#}");
}

#[test]
fn a_description_comes_from_standard_input() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_baton"))
        .args(["--json", "task", "add", "Read it", "--description", "-"])
        .current_dir(folder.0.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"It fails\non Mondays.").unwrap();
    let added: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(added["description"], "It fails\non Mondays.");
}
