//! Accepted work lands only on commits that passed the checks (I18).

mod ahead;
mod blame;
mod branch_rules;
mod early;
mod evidence;
mod gone;
mod green;
mod included;
mod killed;
mod lanes;
mod last_look;
mod let_go;
mod many;
mod marks;
mod person_branch;
mod person_commits;
mod policies;
mod protected;
mod put_on;
mod red;
mod rewritten;
mod said;
mod suspects;
mod twins;
mod watching;
mod withdrawn;
mod withdrawn_work;

use serde_json::Value;

use crate::engine::test_repo::TestRepo;

/// An agent that does what the title says: "Add NAME" writes a file of that name. Sent back, it does what `again` says.
pub(crate) fn adding_agent(check: &str, again: &str) -> TestRepo {
    let program = format!(
        r#"printf '%s\n' "$prompt" > "{{HOME}}/prompt-$BATON_TASK_ID"
case "$prompt" in
*"was accepted"*) {again} ;;
*) name=$(printf '%s\n' "$prompt" | sed -n 's/^# Add \(.*\)$/\1/p'); echo "$BATON_TASK_ID" > "$name"
   git add -A; git commit -q -m "Add $name" ;;
esac"#
    );
    let repo = TestRepo::with_agent(
        "",
        &format!("max_unaccepted = 1000\n[checks]\nrules = [\"sh\", \"-c\", '''{check}''']"),
    );
    repo.set_agent(&program.replace("{HOME}", repo.home.to_str().unwrap()));
    repo
}

/// A person commits a file on the branch that work lands on, without a checkout of it.
pub(crate) fn commit_on_branch(repo: &TestRepo, file: &str, text: &str) {
    let folder = repo.home.join("by-hand");
    let at = folder.to_str().unwrap();
    repo.git(&["worktree", "add", "-q", "--detach", at, "baton/next"]);
    std::fs::write(folder.join(file), text).unwrap();
    repo.git(&["-C", at, "add", "-A"]);
    repo.git(&["-C", at, "commit", "-q", "-m", "By hand"]);
    let commit = repo.git(&["-C", at, "rev-parse", "HEAD"]);
    repo.git(&["update-ref", "refs/heads/baton/next", &commit]);
    repo.git(&["worktree", "remove", "--force", at]);
}

/// Commits these settings on the person's branch and on the one that work lands on, which has nothing of its own yet.
pub(crate) fn set_settings(repo: &TestRepo, settings: &str) {
    std::fs::write(repo.folder.join(".agent/baton.toml"), settings).unwrap();
    repo.git(&["commit", "-q", "-m", "Set it", "--", ".agent"]);
    if repo.try_git(&["rev-parse", "--verify", "-q", "refs/heads/baton/next"]).0 {
        assert!(own_history(repo).is_empty(), "it has commits of its own");
        repo.git(&["update-ref", "refs/heads/baton/next", "main"]);
    }
}

/// A check that fails if two files are there that do not go together.
pub(crate) const NOT_BOTH: &str =
    "if test -e a.txt && test -e b.txt; then echo a.txt and b.txt must not both exist; exit 3; fi";

/// Every commit of the branch's own history after the first, oldest first.
pub(crate) fn own_history(repo: &TestRepo) -> Vec<String> {
    let log = repo.git(&["rev-list", "--first-parent", "--reverse", "main..baton/next"]);
    log.lines().map(str::to_owned).collect()
}

/// Runs the check on every commit of the branch's own history.
pub(crate) fn assert_green(repo: &TestRepo, check: &str) {
    let folder = repo.home.join("walk");
    let folder = folder.to_str().unwrap();
    repo.git(&["worktree", "add", "-q", "--detach", folder, "main"]);
    for commit in own_history(repo) {
        repo.git(&["-C", folder, "checkout", "-q", "--detach", &commit]);
        let ran = std::process::Command::new("sh").args(["-c", check]).current_dir(folder).output().unwrap();
        assert!(ran.status.success(), "{commit}: {}", String::from_utf8_lossy(&ran.stdout));
    }
    repo.git(&["worktree", "remove", "--force", folder]);
}

/// The events of a task, oldest first.
pub(crate) fn events(repo: &TestRepo, task: &str) -> Vec<Value> {
    let lines = repo.stdout(&["export", "--events"]);
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let body = |mut line: Value| if line["event"].is_object() { line["event"].take() } else { line };
    lines.map(body).filter(|event| event["event"].is_string() && event["task"] == task).collect()
}

/// Whether something of this kind has happened to the task.
pub(crate) fn has_event(repo: &TestRepo, task: &str, kind: &str) -> bool {
    events(repo, task).iter().any(|event| event["event"] == kind)
}
