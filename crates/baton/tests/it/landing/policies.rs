//! Who accepts work, and what it has to show: per task, by commands that verify it, by a review, by protected files.

use std::path::Path;

use serde_json::{Value, json};

use super::{adding_agent, events, own_history};
use crate::engine::test_repo::{SHELL_FUNCTIONS, TestRepo};

/// Does what the title says: "Add NAME" writes a file of that name.
const ADD: &str = r#"printf '%s\n' "$prompt" > "$(dirname "$0")/prompt-$BATON_TASK_ID"
name=$(printf '%s\n' "$prompt" | sed -n 's/^# Add \(.*\)$/\1/p'); mkdir -p "$(dirname "$name")"; echo "$BATON_ATTEMPT_NUMBER" > "$name"
git add -A; git commit -q -m "Add $name"; echo "Done.""#;

fn add(repo: &TestRepo, title: &str, more: &[&str]) -> String {
    let added = repo.json(&[&["task", "add", title], more].concat());
    added["task_id"].as_str().unwrap().to_owned()
}

fn event(repo: &TestRepo, task: &str, kind: &str) -> Value {
    let found = events(repo, task).into_iter().rev().find(|event| event["event"] == kind);
    found.unwrap_or_else(|| panic!("{task} has no {kind}: {:#}", repo.show(task)))
}

#[test]
fn commands_that_verify_a_task_fail_before_it_and_pass_with_it() {
    let repo = TestRepo::with_agent(ADD, "");
    let task = add(&repo, "Add a.txt", &["--verify", "test -e a.txt", "--accept-when", "green"]);
    repo.work_until(&[(&task, "done")]);
    let landed = event(&repo, &task, "task_landed");
    let verified = &landed["verified"][0];
    assert_eq!(verified["command"], "test -e a.txt");
    assert_ne!(verified["before"], 0, "red on the base: {landed:#}");
    assert_eq!(verified["after"], 0, "green on the candidate: {landed:#}");
    assert_eq!(verified["base"], repo.git(&["rev-parse", "main"]));
    assert_eq!(repo.show(&task)["landing"]["verified"][0], *verified);
    assert_eq!(landed["commit"], repo.git(&["rev-parse", "baton/next"]));
    assert_eq!(landed["evidence"]["base"], verified["base"], "{landed:#}");
    assert!(repo.prompt(&task).contains("test -e a.txt"), "the agent knows how it is verified");
    assert_eq!(event(&repo, &task, "task_landing")["by"]["kind"], "policy");
}

#[test]
fn a_command_that_passes_without_the_work_proves_nothing_and_a_person_decides() {
    let repo = TestRepo::with_agent(ADD, "");
    let task = add(&repo, "Add a.txt", &["--verify", "true", "--accept-when", "green"]);
    let up = repo.up();
    repo.until("it came back", || {
        events(&repo, &task).iter().any(|event| event["event"] == "task_sent_back")
    });
    repo.until_queue(&task, "provisional");
    let reason = event(&repo, &task, "task_sent_back")["reason"].take();
    assert_eq!(reason["why"], "proves_nothing", "{reason:#}");
    assert!(own_history(&repo).is_empty());
    let listed = repo.stdout(&["task", "list"]);
    let row = listed.lines().find(|line| line.contains(&task)).unwrap();
    assert!(row.contains("review"), "a person has to decide: {listed}");
    let left = repo.show(&task)["left_to_person"].clone();
    assert!(left.as_str().unwrap().contains("passes without the work too"), "{left}");
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.queue(&task), "done");
    assert!(repo.show(&task).get("left_to_person").is_none());
    up.end();
    assert_eq!(own_history(&repo).len(), 1);
}

#[test]
fn a_task_with_its_own_policy_differs_from_the_others() {
    let repo = adding_agent("true", "exit 1");
    let other = add(&repo, "Add b.txt", &[]);
    let own = add(&repo, "Add a.txt", &["--accept-when", "green"]);
    repo.work_until(&[(&other, "provisional"), (&own, "done")]);
    assert_eq!(repo.queue(&other), "provisional");
    let refused = repo.output(&["task", "add", "x", "--accept-when", "always"]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("person, green or reviewed"), "{text}");
}

#[test]
fn a_change_of_a_protected_file_waits_for_a_person() {
    let repo = TestRepo::with_agent(
        ADD,
        "protect = [\"tests/**\", \"*.lock\"]\naccept_when = \"green\"\nchecks = { rules = [\"true\"] }",
    );
    let plain = add(&repo, "Add a.txt", &[]);
    let deep = add(&repo, "Add tests/one/two.txt", &[]);
    let root = add(&repo, "Add b.lock", &[]);
    // What the work is judged by is protected without being named.
    let own = add(&repo, "Add .agent/notes.md", &[]);
    let up = repo.up();
    for (task, queue) in
        [(&plain, "done"), (&deep, "provisional"), (&root, "provisional"), (&own, "provisional")]
    {
        repo.until_queue(task, queue);
    }
    let reasons = repo.show(&deep)["needs_review"].to_string();
    assert!(reasons.contains("protected files: tests/one/two.txt"), "{reasons}");
    assert!(repo.stdout(&["accept", "--all"]).contains("left out: it changes protected files: b.lock"));
    assert!(!repo.output(&["accept", &deep]).status.success(), "not by accident");
    repo.stdout(&["accept", &deep, "--force"]);
    assert_eq!(repo.queue(&deep), "done");
    assert_eq!(
        event(&repo, &deep, "task_landed")["commit"],
        repo.git(&["rev-parse", "baton/next"]),
        "it was checked"
    );
    let despite = event(&repo, &deep, "task_landing")["despite"].to_string();
    assert!(
        despite.contains("protected files: tests/one/two.txt"),
        "what was overridden is recorded: {despite}"
    );
    up.end();
}

/// Two agents: one that does the work, one that reviews it as its script says.
fn with_reviewer(review: &str, verify_agent: &str) -> TestRepo {
    with_agents(review, &format!("default_agent = \"mine\"\n[roles.verify]\nagent = \"{verify_agent}\"\n"))
}

fn with_agents(review: &str, choice: &str) -> TestRepo {
    let (first, roles) = choice.split_once('\n').unwrap();
    TestRepo::of(|home: &Path| {
        for (name, program) in [("agent", ADD), ("reviewer", review)] {
            let text = format!("set -eu\nprompt=$(cat)\n{SHELL_FUNCTIONS}\n{program}\n");
            std::fs::write(home.join(format!("{name}.sh")), text).unwrap();
        }
        let home = home.display();
        format!(
            "{first}\naccept_when = \"reviewed\"\nchecks = {{ rules = [\"true\"] }}\n{roles}\
             [agents.mine]\nkind = \"command\"\ncommand = [\"sh\", \"{home}/agent.sh\"]\n\
             [agents.other]\nkind = \"command\"\ncommand = [\"sh\", \"{home}/reviewer.sh\"]\n"
        )
    })
}

#[test]
fn reviewed_work_lands_when_another_agent_agrees_and_goes_back_when_it_does_not() {
    let repo = with_reviewer(
        r#"home=$(dirname "$0"); printf '%s\n' "$prompt" >> "$home/reviews"
if [ -e "$home/reviewed" ]; then echo "It is fine now."; echo AGREE; else touch "$home/reviewed"; echo "DISAGREE: the file is empty of meaning"; fi"#,
        "other",
    );
    let task = add(&repo, "Add a.txt", &["--description", "It must say something."]);
    repo.work_until(&[(&task, "done")]);
    let rejected = event(&repo, &task, "task_rejected");
    assert!(rejected["reason"].as_str().unwrap().contains("the file is empty of meaning"), "{rejected:#}");
    assert_eq!(rejected["by"]["kind"], "policy");
    let landing = event(&repo, &task, "task_landing");
    assert_eq!(landing["by"]["name"], "accept_when = reviewed", "{landing:#}");
    let seen = std::fs::read_to_string(repo.home.join("reviews")).unwrap();
    assert!(seen.contains("It must say something.") && seen.contains("+++ b/a.txt"), "{seen}");
    assert!(!seen.contains("Done."), "nothing of what the author said: {seen}");
    assert_eq!(repo.attempts(&task).len(), 2);
}

#[test]
fn the_default_agent_reviews_what_another_did_without_a_role_for_it() {
    let repo = with_agents("echo AGREE", "default_agent = \"other\"\n");
    let task = add(&repo, "Add a.txt", &["--agent", "mine"]);
    repo.work_until(&[(&task, "done")]);
    assert_eq!(event(&repo, &task, "task_landing")["by"]["name"], "accept_when = reviewed");
}

#[test]
fn nobody_reviews_their_own_work_and_unclear_words_are_left_to_a_person() {
    let own = with_reviewer("echo AGREE", "mine");
    let task = add(&own, "Add a.txt", &[]);
    let up = own.up();
    own.until("it says why it waits", || {
        own.show(&task)["problem"]["error"].as_str().is_some_and(|error| error.contains("waits for a review"))
    });
    let standing = own.json(&["questions"])["standstills"][0].clone();
    assert_eq!(
        (&standing["reason"], &standing["task_id"]),
        (&json!("review_stuck"), &json!(task)),
        "{standing:#}"
    );
    assert!(standing["commands"].to_string().contains(&format!("baton accept {task}")), "{standing:#}");
    let shown = own.stdout(&["task", "show", &task]);
    assert!(shown.contains("baton questions") && !shown.contains("by itself"), "{shown}");
    up.end();
    assert_eq!(own.queue(&task), "provisional");

    let unclear = with_reviewer("echo 'I am not sure.'", "other");
    let task = add(&unclear, "Add a.txt", &[]);
    let up = unclear.up();
    unclear.until("it says why it waits", || {
        let error = unclear.show(&task)["problem"]["error"].clone();
        error.as_str().is_some_and(|error| error.contains("without AGREE or DISAGREE"))
    });
    assert_eq!(unclear.json(&["questions"])["standstills"][0]["reason"], "review_stuck");
    unclear.stdout(&["accept", &task]);
    assert_eq!(unclear.json(&["questions"])["standstills"], json!([]));
    up.end();
    assert_eq!(unclear.queue(&task), "done");
}

#[test]
fn changes_that_a_reviewer_would_not_see_whole_are_left_to_a_person() {
    let repo = with_reviewer("echo AGREE", "other");
    repo.set_agent("seq 60000 > numbers; git add -A; git commit -q -m Numbers; echo Done.");
    let task = add(&repo, "Add numbers", &[]);
    let up = repo.up();
    repo.until("it says why it waits", || {
        let error = repo.show(&task)["problem"]["error"].clone();
        error.as_str().is_some_and(|error| error.contains("too long for another agent"))
    });
    up.end();
    assert_eq!(repo.queue(&task), "provisional");
}

#[test]
fn a_dry_run_merges_for_real_and_changes_nothing() {
    let repo = TestRepo::with_agent(
        r#"echo "$BATON_TASK_ID" > same.txt; git add -A; git commit -q -m Same; echo Done."#,
        "",
    );
    let (one, two) = (repo.add("One", &[]), repo.add("Two", &[]));
    repo.work_until(&[(&one, "provisional"), (&two, "provisional")]);
    let tip = repo.git(&["rev-parse", "baton/next"]);
    let preview = repo.json(&["accept", &one, &two, "--dry-run"]);
    assert_eq!(preview["preview"][0]["would_be"], "accepted", "{preview:#}");
    assert_eq!(preview["preview"][1]["would_be"], "sent back", "{preview:#}");
    assert_eq!(preview["preview"][1]["conflicts"][0], "same.txt", "{preview:#}");
    let printed = repo.stdout(&["accept", &one, &two, "--dry-run"]);
    assert!(printed.contains("merges into baton/next without conflicts"), "{printed}");
    assert!(printed.contains("conflicts with the tasks before it in same.txt"), "{printed}");
    assert_eq!(repo.git(&["rev-parse", "baton/next"]), tip);
    assert_eq!(repo.queue(&one), "provisional");
    repo.stdout(&["accept", &one]);
    let printed = repo.stdout(&["accept", &two, "--dry-run"]);
    assert!(printed.contains("conflicts with baton/next in same.txt"), "{printed}");
}

#[test]
fn checks_run_what_agents_wrote_in_a_fence() {
    let fenced = |mode: &str| {
        let mut repo = TestRepo::of(|home: &Path| {
            std::fs::write(home.join("secret"), "mine").unwrap();
            let text = format!("set -eu\nprompt=$(cat)\n{SHELL_FUNCTIONS}\nwork; echo Done.\n");
            std::fs::write(home.join("agent.sh"), text).unwrap();
            let home = home.display();
            format!(
                "default_agent = \"mine\"\naccept_when = \"green\"\n\
                 [checks]\nsecret = [\"sh\", \"-c\", \"! test -e {home}/secret\"]\n\
                 [agents.mine]\nkind = \"command\"\ncommand = [\"sh\", \"{home}/agent.sh\"]\n"
            )
        });
        repo.variables.push(("BATON_FENCE".to_owned(), mode.to_owned()));
        repo
    };
    let repo = fenced("strict");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "done")]);
    assert_eq!(own_history(&repo).len(), 1, "at the end of the attempt and on the branch");

    let open = fenced("off");
    let task = open.add("Work", &[]);
    let up = open.up();
    open.until("the check sees the secret", || open.show(&task)["verified"]["checks"][0]["exit_code"] == 1);
    up.end();
}

#[test]
fn one_of_several_projects_in_a_repository_has_its_own_policy() {
    let repo = TestRepo::with_agent(ADD, "checks = { rules = [\"true\"] }");
    let project = |name: &str| {
        let made = repo.json(&["project", "create", name]);
        made["project_id"].as_str().unwrap().to_owned()
    };
    let (green, other) = (project("Green"), project("Other"));
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{settings}\n[projects.{green}]\naccept_when = \"green\"\n")).unwrap();
    let tasks = [
        add(&repo, "Add a.txt", &["--project", &green]),
        add(&repo, "Add b.txt", &["--project", &other]),
        add(&repo, "Add c.txt", &["--project", &green, "--accept-when", "person"]),
    ];
    repo.work_until(&[(&tasks[0], "done"), (&tasks[1], "provisional"), (&tasks[2], "provisional")]);
    assert_eq!(repo.queue(&tasks[1]), "provisional");
}
