//! Hooks: commands of people around attempts, landing, questions and worktrees.

use std::fmt::Write;

use serde_json::Value;

use super::test_repo::{TestRepo, read};

/// Each hook appends what it is told to a file.
fn hooks(repo_home: &std::path::Path, names: &[&str]) -> String {
    let log = repo_home.join("hooks").display().to_string();
    let mut text = "[hooks]\nrun_as = \"person\"\n".to_owned();
    for name in names {
        // At once: two hooks may run at the same time.
        writeln!(text, "{name} = [\"sh\", \"-c\", '''printf \"%s\\n\" \"$(cat)\" >> {log}''']").unwrap();
    }
    text
}

fn with_hooks(agent: &str, settings: impl FnOnce(&std::path::Path) -> String) -> TestRepo {
    let repo = TestRepo::with_agent(agent, "");
    let path = repo.folder.join(".agent/baton.toml");
    let text = format!("{}\n{}", read(&path), settings(&repo.home));
    std::fs::write(&path, text).unwrap();
    repo
}

fn calls(repo: &TestRepo) -> Vec<Value> {
    let text = std::fs::read_to_string(repo.home.join("hooks")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(repo: &TestRepo, task: &str) -> Vec<String> {
    let about = |call: &&Value| call["task_id"] == task;
    calls(repo).iter().filter(about).map(|call| call["hook"].as_str().unwrap().to_owned()).collect()
}

const ALL: [&str; 6] =
    ["before_attempt", "after_attempt", "before_landing", "after_landing", "on_question", "before_remove"];

/// Asks once, and works when it has the answer.
const ASKS: &str = r#"turns 1
if [ -z "${BATON_RESUME:-}" ]; then echo '{"baton":"ask","question":"Which port?"}'; else work; fi"#;

#[test]
fn every_hook_runs_at_its_time_and_knows_its_task() {
    let repo = with_hooks(ASKS, |home| hooks(home, &ALL));
    let task = repo.add("Listen", &[]);
    let up = repo.up();
    let seen = |wanted: &[&str]| {
        let found = names(&repo, &task);
        let of = |names: &[&str], name: &str| names.iter().filter(|other| **other == name).count();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        wanted.iter().all(|name| of(&found, name) >= of(wanted, name))
    };
    let attempt = ["before_attempt", "after_attempt"];
    // What comes after a step runs beside the next step: each is awaited before the next one is caused.
    repo.until("the question", || seen(&[&attempt[..], &["on_question"]].concat()));
    repo.stdout(&["task", "reply", &task, "8080"]);
    repo.until_queue(&task, "provisional");
    let worked = [attempt, attempt].concat();
    repo.until("the second attempt", || seen(&worked));
    repo.stdout(&["accept", &task]);
    repo.until("the worktree is removed", || seen(&["after_landing", "before_remove"]));
    up.end();
    let mut found = names(&repo, &task);
    found.retain(|name| name != "on_question");
    let last = found.split_off(found.len().min(worked.len() + 1));
    assert_eq!(found, [&worked[..], &["before_landing"]].concat());
    assert_eq!(std::collections::BTreeSet::from_iter(&last).len(), 2, "{last:?}");
    assert_eq!(last.len(), 2, "{last:?}");
    let all = calls(&repo);
    let call = |name: &str| all.iter().find(|call| call["hook"] == name).unwrap();
    assert_eq!(call("on_question")["question"], "Which port?");
    assert_eq!(call("before_attempt")["title"], "Listen");
    let attempt = call("before_attempt")["attempt_id"].as_str().unwrap();
    assert!(call("before_attempt")["folder"].as_str().unwrap().contains(attempt));
    assert_eq!(call("after_landing")["into"], "baton/next");
    assert_eq!(all.iter().filter(|call| call["hook"] == "on_question").count(), 1);
}

#[test]
fn a_hook_that_fails_before_something_stops_it_with_its_output() {
    let fails = |repo: &TestRepo, name: &str, does: bool| {
        let marker = repo.home.join(format!("fails-{name}"));
        if does { std::fs::write(marker, "").unwrap() } else { std::fs::remove_file(marker).unwrap() }
    };
    let repo = with_hooks("turns 1; work", |home| {
        let home = home.display();
        let mut text = "[hooks]\nrun_as = \"person\"\n".to_owned();
        for name in ["before_attempt", "before_landing"] {
            let script = format!("if [ -e {home}/fails-{name} ]; then echo no {name} today; exit 3; fi");
            writeln!(text, "{name} = [\"sh\", \"-c\", \"{script}\"]").unwrap();
        }
        text
    });
    fails(&repo, "before_attempt", true);
    let task = repo.add("Listen", &[]);
    let up = repo.up();
    repo.until("a question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("no before_attempt today") && asked.contains("hook before_attempt"), "{asked}");
    assert_eq!(repo.show(&task)["verified"]["turns"], 0, "no agent was started");
    fails(&repo, "before_attempt", false);
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");

    fails(&repo, "before_landing", true);
    let refused = repo.output(&["accept", &task]);
    let error =
        String::from_utf8_lossy(&refused.stderr).into_owned() + &String::from_utf8_lossy(&refused.stdout);
    assert!(!refused.status.success() && error.contains("no before_landing today"), "{error}");
    assert_eq!(repo.queue(&task), "provisional");
    fails(&repo, "before_landing", false);
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.queue(&task), "done");
    up.end();
}

#[test]
fn i21_hooks_run_in_the_fence_unless_a_person_says_otherwise() {
    let mut repo = with_hooks("turns 1; work", |home| {
        let outside = home.join("outside").display().to_string();
        format!(
            "[hooks]\nbefore_attempt = [\"sh\", \"-c\", \"echo x > inside; echo x > {outside} || true\"]\n"
        )
    });
    repo.variables.push(("BATON_FENCE".to_owned(), "strict".to_owned()));
    let task = repo.add("Look", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    up.end();
    assert!(!repo.home.join("outside").exists(), "it wrote outside of the fence");
    let files = repo.git(&["show", "--name-only", "--format=", &format!("baton/{task}")]);
    assert!(files.contains("inside"), "{files}");
}

#[test]
fn i21_a_hook_with_the_persons_rights_is_the_persons_program() {
    let repo =
        with_hooks("turns 1; echo 'echo agent >> \"$(dirname \"$0\")/../ran\"' > hook.sh; work", |_| {
            "[hooks]\nrun_as = \"person\"\nafter_attempt = [\"./hook.sh\"]\n".to_owned()
        });
    let hook = repo.folder.join("hook.sh");
    let ran = repo.home.join("ran");
    std::fs::write(&hook, format!("#!/bin/sh\necho person >> {}\n", ran.display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, mode).unwrap();
    repo.git(&["add", "hook.sh"]);
    repo.git(&["-c", "user.name=mia", "-c", "user.email=mia@example.org", "commit", "-q", "-m", "A hook"]);
    let task = repo.add("Rewrite the hook", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    repo.until("the hook", || ran.exists());
    up.end();
    assert_eq!(read(&ran), "person\n");
    let changed = repo.git(&["show", &format!("baton/{task}:hook.sh")]);
    assert!(changed.contains("agent"), "the agent did rewrite it: {changed}");
}

#[test]
fn a_hook_that_takes_too_long_has_failed() {
    let repo = with_hooks("turns 1; work", |_| {
        "[hooks]\nrun_as = \"person\"\nseconds = 1\nbefore_attempt = [\"tail\", \"-f\", \"/dev/null\"]\n"
            .to_owned()
    });
    let task = repo.add("Listen", &[]);
    let up = repo.up();
    repo.until("a question", || repo.status(&task) == "AWAITING_RESPONSE");
    up.end();
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("did not end within 1 s"), "{asked}");
}

/// A hook that runs after the attempts of "Slow" until the test lets it go, and sees whether its folder still stands.
fn slow_hook(home: &std::path::Path) -> String {
    let home = home.display();
    format!(
        "[hooks]\nrun_as = \"person\"\nseconds = 3600\nafter_attempt = [\"sh\", \"-c\", '''\n\
         case \"$(cat)\" in *Slow*) ;; *) exit;; esac\n[ ! -e {home}/go ] || exit 0\npwd > {home}/where\n\
         until [ -e {home}/go ]; do sleep 0.05; done\n[ ! -e .git ] || echo stands >> {home}/order''']\n"
    )
}

#[test]
fn a_worktree_stands_until_the_last_hook_in_it_has_ended() {
    let repo = with_hooks("turns 1; work", slow_hook);
    let slow = repo.add("Slow", &[]);
    let up = repo.up();
    repo.until("the hook runs", || repo.home.join("where").exists());
    repo.until_queue(&slow, "provisional");
    let folder = std::path::PathBuf::from(read(repo.home.join("where")).trim());
    repo.stdout(&["accept", &slow]);
    repo.until_queue(&slow, "done");
    // What is to be removed is looked at in order, so the first one's turn has come by the time the second is gone.
    let quick = repo.add("Quick", &[]);
    repo.until_queue(&quick, "provisional");
    let other = folder.parent().unwrap().join(repo.last_attempt(&quick));
    assert!(other.exists(), "{}", other.display());
    repo.stdout(&["accept", &quick]);
    repo.until("the other worktree is removed", || !other.exists());
    assert!(folder.exists(), "it was removed under its hook");
    std::fs::write(repo.home.join("go"), "").unwrap();
    repo.until("it is removed, too", || !folder.exists());
    up.end();
    assert_eq!(read(repo.home.join("order")), "stands\n");
}

#[test]
fn the_next_attempt_waits_for_the_hook_of_the_last_one_in_its_folder() {
    let repo = with_hooks("", slow_hook);
    let home = repo.home.display();
    repo.set_agent(&format!(
        "turns 1\nif [ -z \"${{BATON_RESUME:-}}\" ]; then echo '{{\"baton\":\"ask\",\"question\":\"Which port?\"}}'; exit; fi\n\
         echo agent >> {home}/order; work"
    ));
    let task = repo.add("Slow", &[]);
    let up = repo.up();
    repo.until("the hook runs", || repo.home.join("where").exists());
    repo.stdout(&["task", "reply", &task, "8080"]);
    repo.until("the next attempt", || repo.attempts(&task).len() == 2);
    std::fs::write(repo.home.join("go"), "").unwrap();
    repo.until_queue(&task, "provisional");
    up.end();
    assert_eq!(read(repo.home.join("order")), "stands\nagent\n");
}

#[test]
fn a_removal_that_takes_long_delays_neither_questions_nor_the_end() {
    let repo = with_hooks(ASKS, |home| {
        let (asked, home) = (hooks(home, &["on_question"]), home.display());
        format!(
            "{asked}seconds = 3600\nbefore_remove = [\"sh\", \"-c\", '''touch {home}/removing; \
             until [ -e {home}/go ]; do sleep 0.05; done''']\n"
        )
    });
    let first = repo.add("First", &[]);
    let up = repo.up();
    repo.until("a question", || repo.status(&first) == "AWAITING_RESPONSE");
    repo.stdout(&["task", "cancel", &first]);
    repo.until("its worktree is about to be removed", || repo.home.join("removing").exists());
    let second = repo.add("Second", &[]);
    repo.until("the hook of its question", || names(&repo, &second) == ["on_question"]);
    // Ends at once, and what is left is done after the next start.
    up.end();
    let attempt = repo.last_attempt(&first);
    let folder = repo.state().join("worktrees").join(attempt);
    assert!(folder.exists());
    std::fs::write(repo.home.join("go"), "").unwrap();
    let up = repo.up();
    repo.until("it is removed", || !folder.exists());
    up.end();
}

#[test]
fn a_hook_that_keeps_a_policy_from_accepting_is_among_what_waits_for_a_person() {
    let repo = with_hooks("turns 1; work", |home| {
        let home = home.display();
        format!(
            "[checks]\nfine = [\"true\"]\n[hooks]\nrun_as = \"person\"\n\
             before_landing = [\"sh\", \"-c\", '''[ -e {home}/go ] || {{ echo no release today; exit 3; }}''']\n"
        )
    });
    let path = repo.folder.join(".agent/baton.toml");
    std::fs::write(&path, format!("accept_when = \"green\"\n{}", read(&path))).unwrap();
    let task = repo.add("Listen", &[]);
    let up = repo.up();
    let standing = || repo.json(&["questions"])["standstills"].as_array().unwrap().clone();
    repo.until("it is said", || standing().iter().any(|one| one["reason"] == "not_accepted"));
    let found = standing();
    assert_eq!(found[0]["task_id"], task.as_str());
    assert!(found[0]["message"].as_str().unwrap().contains("no release today"), "{found:#?}");
    assert!(repo.stdout(&["questions"]).contains("no release today"));
    std::fs::write(repo.home.join("go"), "").unwrap();
    repo.until_queue(&task, "done");
    assert!(standing().is_empty());
    up.end();
}
