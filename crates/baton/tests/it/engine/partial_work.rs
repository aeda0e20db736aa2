//! Nothing is lost on the way from a task that was too large to smaller ones.

use std::path::Path;

use serde_json::json;

use super::test_repo::{TestRepo, read};

/// Commits one file per attempt at "Big"; plans as the file `plan` says; parts list what they find and commit it.
const AGENT: &str = r##"home=$(dirname "$0")
printf %s "$prompt" > "$home/prompt-$BATON_TASK_ID"
printf %s "$prompt" > "$home/prompt-$BATON_TASK_ID-$BATON_ATTEMPT_NUMBER"
case "$prompt" in
*"# Re-Breakdown"*) git status -sb > "$home/status"; ls >> "$home/status"; cat "$home/plan-$BATON_ATTEMPT_NUMBER" ;;
*"# Big"*) turns 3; echo "$BATON_ATTEMPT_NUMBER" > "partial-$BATON_ATTEMPT_NUMBER.txt"; git add -A; git commit -qm "partial" ;;
*) ls > "$home/files-$BATON_TASK_ID"; turns 2; work ;;
esac"##;

/// The agent leaves notes for the test outside of its worktree; the test says when a breakdown is planned.
const UNFENCED: &str = "fence = \"off\"\nrecycle = { plan = \"person\" }";

const PLAN: &str = r#"{"baton":"plan","items":[{"title":"Rest one"},{"title":"Rest two"}]}"#;

#[test]
fn work_of_a_failed_attempt_counts_when_the_next_finds_nothing_left_to_do() {
    let repo = TestRepo::with_agent(
        r#"if [ "$BATON_ATTEMPT_NUMBER" = 1 ]; then work; exit 1; fi; echo "Everything is there.""#,
        "",
    );
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until_queue(&task, "failed");
    repo.json(&["task", "retry", &task]);
    repo.until_queue(&task, "provisional");
    assert_eq!(repo.show(&task)["verified"]["commits"], 1);
    repo.stdout(&["accept", &task]);
    up.end();
    assert_eq!(repo.git(&["show", &format!("baton/next:{task}.txt")]), "attempt 1");
}

fn set_plan(repo: &TestRepo, attempt: u32, plan: &str) {
    std::fs::write(repo.home.join(format!("plan-{attempt}")), format!("{plan}\n")).unwrap();
}

/// A project with a task that was rejected three times, each time with a reason, and the breakdown of it.
fn rejected_three_times(repo: &TestRepo) -> (String, String) {
    let project =
        repo.json(&["project", "create", "Share links", "--description", "Links keep panels.", "--feature"]);
    let project = project["project_id"].as_str().unwrap().to_owned();
    let add = |title: &str| {
        let added = repo.json(&["task", "add", title, "--project", &project, "--description", "All of it."]);
        added["task_id"].as_str().unwrap().to_owned()
    };
    let big = add("Big");
    let later = repo.json(&["task", "add", "Later", "--project", &project, "--after", &big]);
    assert!(later["task_id"].is_string());
    let up = repo.up();
    for reason in ["WHY-1", "WHY-2", "WHY-3"] {
        repo.until_queue(&big, "provisional");
        repo.stdout(&["reject", &big, "--reason", reason]);
    }
    repo.until_queue(&big, "recycled");
    up.end();
    let breakdown =
        repo.json(&["breakdown", "list"])["breakdowns"][0]["task_id"].as_str().unwrap().to_owned();
    (big, breakdown)
}

fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is missing from:\n{text}");
    }
}

#[test]
fn the_parts_of_a_recycled_task_start_from_its_commits_and_bring_them_to_the_branch() {
    let repo = TestRepo::with_agent(AGENT, UNFENCED);
    set_plan(&repo, 1, PLAN);
    let (big, breakdown) = rejected_three_times(&repo);
    let up = repo.up();
    repo.output(&["breakdown", "run", &breakdown]);
    repo.until_queue(&breakdown, "provisional");
    let status = read(repo.home.join("status"));
    has_all(&status, &[&format!("## baton/{big}"), "partial-1.txt", "partial-2.txt", "partial-3.txt"]);
    let parts = repo.json(&["breakdown", "approve", &breakdown])["subtasks"].take();
    let parts: Vec<String> =
        parts.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    for part in &parts {
        repo.until_queue(part, "provisional");
        let found = read(repo.home.join(format!("files-{part}")));
        has_all(&found, &["partial-1.txt", "partial-2.txt", "partial-3.txt"]);
        assert_eq!(repo.show(part)["verified"]["commits"], 1, "only its own commits count");
    }
    for part in &parts {
        repo.stdout(&["accept", part]);
    }
    up.end();
    let branch = repo.git(&["branch", "--list", "feature/*", "--format=%(refname:short)"]);
    let files = repo.git(&["ls-tree", "--name-only", &branch]);
    has_all(&files, &["partial-1.txt", "partial-2.txt", "partial-3.txt"]);
    for part in &parts {
        has_all(&files, &[&format!("{part}.txt")]);
    }
}

#[test]
fn the_planner_is_told_everything_there_is_to_know() {
    let repo = TestRepo::with_agent(AGENT, UNFENCED);
    set_plan(&repo, 1, PLAN);
    let (big, breakdown) = rejected_three_times(&repo);
    let up = repo.up();
    repo.output(&["breakdown", "run", &breakdown]);
    repo.until_queue(&breakdown, "provisional");
    up.end();
    has_all(
        &repo.prompt(&breakdown),
        &[
            "Links keep panels.",
            "Later (planned)",
            &format!("Your worktree already stands on `baton/{big}`."),
            "It has 3 commits by now",
            "- 3 commits",
            "3 attempts",
            "WHY-1",
            "WHY-2",
            "WHY-3",
            "the new tasks start from them",
        ],
    );
    assert_eq!(repo.show(&breakdown)["verified"]["turns_max"], 20);
}

#[test]
fn an_unusable_or_rejected_plan_is_explained_to_the_next_planner() {
    let repo = TestRepo::with_agent(AGENT, UNFENCED);
    set_plan(
        &repo,
        1,
        r#"{"baton":"plan","items":[{"title":"A","depends_on":[2]},{"title":"B","depends_on":[1]}]}"#,
    );
    set_plan(&repo, 2, PLAN);
    set_plan(&repo, 3, PLAN);
    let (_, breakdown) = rejected_three_times(&repo);
    let up = repo.up();
    repo.output(&["breakdown", "run", &breakdown]);
    repo.until_queue(&breakdown, "provisional");
    let prompt_of = |attempt: u32| read(repo.home.join(format!("prompt-{breakdown}-{attempt}")));
    has_all(&prompt_of(2), &["What was wrong with earlier plans", "the plan could not be used", "1"]);
    repo.stdout(&["breakdown", "reject", &breakdown, "--reason", "PLAN-WHY"]);
    repo.output(&["breakdown", "run", &breakdown]);
    repo.until("a third plan", || {
        repo.attempts(&breakdown).len() == 3 && repo.queue(&breakdown) == "provisional"
    });
    up.end();
    has_all(&prompt_of(3), &["rejected by a person: PLAN-WHY"]);
}

#[test]
fn one_attempt_never_exceeds_its_turns_and_a_burned_out_one_is_not_run_again() {
    let repo = TestRepo::with_agent(
        r##"echo run >> "$(dirname "$0")/runs-$BATON_TASK_ID"
case "$prompt" in
*"# Burned"*) turns 49; echo '{"baton":"outcome","outcome":"complete"}' ;;
*) turns 39; echo '{"baton":"outcome","outcome":"complete"}' ;;
esac"##,
        "recycle = \"manual\"\nfence = \"off\"",
    );
    let [burned, reminded] = ["Burned", "Reminded"].map(|title| repo.add(title, &[]));
    let up = repo.up();
    repo.until_queue(&burned, "provisional");
    repo.until("an attempt with a reminder", || repo.show(&reminded)["verified"]["turns"].is_number());
    up.end();
    let runs = |task: &str| read(Path::new(&repo.home).join(format!("runs-{task}"))).lines().count();
    let show = repo.show(&burned);
    assert_eq!((&show["verified"]["turns"], &show["verified"]["turns_max"]), (&json!(49), &json!(50)));
    assert_eq!((runs(&burned), show["state"]["mark"]["mark"].as_str()), (1, Some("burned_out")));
    let first = repo.attempts(&reminded)[0]["closing"]["end"]["verified"].clone();
    assert!(first["turns"].as_u64().unwrap() <= 50, "{first}");
    assert_eq!(first["turns_max"], 50);
}

#[test]
fn a_rejected_plan_is_planned_again_by_itself_where_planning_starts_by_itself() {
    let repo = TestRepo::with_agent(AGENT, "fence = \"off\"");
    set_plan(&repo, 1, PLAN);
    set_plan(&repo, 2, PLAN);
    let (_, breakdown) = rejected_three_times(&repo);
    let up = repo.up();
    repo.until_queue(&breakdown, "provisional");
    let printed = repo.stdout(&["breakdown", "reject", &breakdown, "--reason", "PLAN-WHY"]);
    assert!(printed.contains("starts by itself"), "{printed}");
    repo.until("a second plan", || {
        repo.attempts(&breakdown).len() == 2 && repo.queue(&breakdown) == "provisional"
    });
    up.end();
    let prompt = read(repo.home.join(format!("prompt-{breakdown}-2")));
    has_all(&prompt, &["rejected by a person: PLAN-WHY", "The plan that was rejected last:", "1. Rest one"]);
}

#[test]
fn a_part_that_did_nothing_is_not_credited_with_the_merge_it_started_from() {
    let agent = AGENT.replace("*\"# Big\"*)", "*\"# Rest of nothing\"*) turns 50 ;;\n*\"# Big\"*)");
    let repo = TestRepo::with_agent(&agent, UNFENCED);
    set_plan(&repo, 1, r#"{"baton":"plan","items":[{"title":"Rest of nothing"}]}"#);
    let (_, breakdown) = rejected_three_times(&repo);
    // The branch has moved since, so the part starts from a merge.
    let branch = repo.git(&["branch", "--list", "feature/*", "--format=%(refname:short)"]);
    let tree = format!("{branch}^{{tree}}");
    let moved = repo.git(&["commit-tree", "-p", &branch, "-m", "Moved", &tree]);
    repo.git(&["update-ref", &format!("refs/heads/{branch}"), &moved]);
    let up = repo.up();
    repo.output(&["breakdown", "run", &breakdown]);
    repo.until_queue(&breakdown, "provisional");
    let part = repo.json(&["breakdown", "approve", &breakdown])["subtasks"][0].as_str().unwrap().to_owned();
    repo.until("an attempt of the part has ended", || repo.show(&part)["verified"].is_object());
    up.end();
    let ended = repo.attempts(&part)[0]["closing"]["end"]["verified"].clone();
    assert_eq!((&ended["commits"], &ended["turns"]), (&json!(0), &json!(50)), "{ended:#}");
}
