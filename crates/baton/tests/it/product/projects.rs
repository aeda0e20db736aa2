//! Projects from creation to report, and plans from a goal.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::engine::test_repo::TestRepo;

#[test]
fn a_project_is_created_completed_and_reported() {
    let repo = TestRepo::with_working_agent("");
    let made = repo.json(&["project", "create", "Share links", "--feature"]);
    let id = made["project_id"].as_str().unwrap().to_owned();
    let branch = made["feature_branch"].as_str().unwrap().to_owned();
    assert_eq!(branch, format!("feature/{}", id.trim_start_matches("PROJ-")));
    let refused = repo.output(&["project", "complete", &id]);
    assert_eq!(refused.status.code(), Some(4), "it has no tasks yet");

    let up = repo.up();
    let posted = repo.json(&["import", "beads", issue(&repo), "--project", &id]);
    let task = posted["tasks"][0]["task_id"].as_str().unwrap().to_owned();
    repo.until_queue(&task, "provisional");
    let refused = repo.output(&["project", "complete", &id]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("is not complete: 1 of 1 tasks are open"), "{error}");
    repo.stdout(&["accept", &task]);
    up.end();

    let shown = repo.stdout(&["project", "show", &id]);
    for expected in ["1 of 1", "1 done", "1 attempt, 1 commit ", "All tasks are done"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let completed = repo.stdout(&["project", "complete", &id]);
    assert!(completed.contains(&format!("git merge {branch}")), "{completed}");
    assert_eq!(repo.stdout(&["project", "complete", &id]), completed, "completing it twice changes nothing");
    assert!(repo.stdout(&["project", "list"]).contains("complete"));

    let report = repo.folder.join("report.html");
    repo.stdout(&["export", "--format", "html", "--project", &id, "-o", report.to_str().unwrap()]);
    let page = fs::read_to_string(&report).unwrap();
    for expected in ["Share links", "Build it", "✓ done", "mia"] {
        assert!(page.contains(expected), "{expected}");
    }
    for foreign in ["<script", "http://", "https://", "<link"] {
        assert!(!page.contains(foreign), "the page needs nothing else: {foreign}");
    }
}

#[test]
fn a_completed_project_is_open_again_when_it_gets_work() {
    let repo = TestRepo::with_working_agent("");
    let id = repo.json(&["project", "create", "Share links"])["project_id"].as_str().unwrap().to_owned();
    let add = |title: &str| {
        let added = repo.json(&["task", "add", title, "--project", &id]);
        added["task_id"].as_str().unwrap().to_owned()
    };
    let is_complete = || {
        let projects = repo.json(&["project", "list"]);
        projects["projects"][0]["completed_at"].is_string()
    };
    let first = add("By mail");
    repo.stdout(&["task", "cancel", &first]);
    repo.stdout(&["project", "complete", &id]);
    assert!(is_complete());

    let second = add("By hand");
    assert!(!is_complete(), "it has an open task");
    assert!(!repo.stdout(&["project", "show", &id]).contains("Completed"));
    let refused = repo.output(&["project", "complete", &id]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("is not complete: 1 of 2 tasks are open"), "{error}");
    repo.stdout(&["task", "cancel", &second]);
    repo.stdout(&["project", "complete", &id]);
    assert!(is_complete());

    repo.stdout(&["task", "retry", &first]);
    assert!(!is_complete(), "a person took its task up again");
    let events = repo.stdout(&["export", "--events"]);
    assert_eq!(events.matches("project_reopened").count(), 2, "{events}");
}

#[test]
fn work_is_merged_into_a_branch_that_is_not_checked_out() {
    let repo = TestRepo::with_working_agent("");
    repo.git(&["branch", "release"]);
    let branch = |words: &[&str]| {
        let made = repo.json(&[&["project", "create"], words].concat());
        (made["branch"].as_str().unwrap().to_owned(), made["feature_branch"].is_string())
    };
    assert_eq!(branch(&["Here"]), ("baton/next".to_owned(), false));
    assert_eq!(branch(&["Here, by name", "--base", "main"]), ("baton/next".to_owned(), false));
    let (beside, is_feature) = branch(&["For the release", "--base", "release"]);
    assert!(is_feature && beside.starts_with("feature/"), "{beside}");
    assert!(repo.stdout(&["project", "create", "Told"]).contains("Its work is merged into baton/next."));
}

fn issue(repo: &TestRepo) -> &'static str {
    fs::write(repo.folder.join("issues.jsonl"), r#"{"id":"a-1","title":"Build it"}"#).unwrap();
    "issues.jsonl"
}

#[test]
fn a_goal_becomes_a_plan_that_waits_for_approval() {
    let repo = TestRepo::with_working_agent("");
    let mut child = repo
        .baton(&["--json", "plan", "-", "--hold"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"# Share links\n\nBy mail, and by hand.\n").unwrap();
    let made: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let id = made["breakdown"]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(made["breakdown"]["title"], "Share links");
    assert_eq!(made["breakdown"]["queue"], "breakdown");
    assert!(made["breakdown"]["description"].as_str().unwrap().contains("by hand"));
    let plan = repo.home.join("plan.yml");
    fs::write(&plan, "items:\n  - title: By mail\n  - title: By hand\n    depends_on: [1]\n").unwrap();
    repo.stdout(&["breakdown", "edit", &id, plan.to_str().unwrap()]);
    repo.stdout(&["breakdown", "approve", &id]);
    let ready = repo.json(&["task", "ready"]);
    assert_eq!(ready["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(ready["tasks"][0]["title"], "By mail");

    let blank = repo.home.join("blank.md");
    fs::write(&blank, "#\n\n").unwrap();
    let refused = repo.output(&["plan", blank.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(repo.output(&["plan", "nowhere.md"]).status.code(), Some(2));
}
