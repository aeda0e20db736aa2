//! What is pruned, and what never is.

use std::time::{Duration, SystemTime};

use baton_core::base::git_name::BranchName;
use baton_core::base::id::AttemptId;
use baton_core::transition::command::Command;
use baton_engine::git::Checkout;
use baton_engine::services::pruner::{PruneReport, Pruner};
use tempfile::TempDir;

use crate::fixture::mia;
use crate::works::Works;

const DAY: Duration = Duration::from_hours(24);
const NOTHING_IS_KEPT: &str =
    "[retention]\nworktrees_days = 0\nworktrees_mb = 0\nlogs_days = 0\nlogs_mb = 0\nevents_days = 0";

#[tokio::test]
async fn unmerged_and_running_work_is_never_removed_and_finished_work_only_after_keeping() {
    let works = Works::new("", NOTHING_IS_KEPT).await;
    let [done, unmerged, running] = [
        works.add("done", |_| {}).await,
        works.add("unmerged", |_| {}).await,
        works.add("running", |_| {}).await,
    ];
    let (done_attempt, done_checkout) = works.begin(done).await;
    let (unmerged_attempt, unmerged_checkout) = works.begin(unmerged).await;
    let (running_attempt, running_checkout) = works.begin(running).await;
    works.settle(done, done_attempt).await;
    works.settle(unmerged, unmerged_attempt).await;
    works.tasks().apply(done, Command::Accept { force: false }, mia()).await.unwrap();
    for attempt in [done_attempt, unmerged_attempt, running_attempt] {
        let folder = works.engine.workspace.place.attempt_folder(attempt);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("agent.log"), "output\n").unwrap();
    }

    let swept =
        Pruner::new(works.engine.workspace.clone()).run_once(SystemTime::now() + 400 * DAY).await.unwrap();

    assert_eq!(swept.worktrees, [done_attempt]);
    assert!(
        !done_checkout.folder.exists()
            && unmerged_checkout.folder.exists()
            && running_checkout.folder.exists()
    );
    assert!(!swept.logs.contains(&running_attempt) && swept.logs.len() == 2, "{:?}", swept.logs);
    let back = works.home.join("back");
    works.engine.workspace.projects.restore(done_attempt, &back).await.unwrap();
    assert_eq!(std::fs::read_to_string(back.join("written")).unwrap(), done_attempt.to_string());
    let worktrees = works.engine.workspace.projects.worktrees_of(unmerged).await.unwrap();
    assert!(
        worktrees.repository().tip(&BranchName::for_task(done)).await.unwrap().is_some(),
        "branches stay"
    );
    assert!(swept.events > 0 && works.tasks().store.task_events(done, 0, 10).await.unwrap().is_empty());
    assert!(!works.tasks().store.task_events(unmerged, 0, 10).await.unwrap().is_empty());
    let report = swept.to_string();
    assert!(report.starts_with("Removed by [retention]: the logs of 2 attempts"), "{report}");
    assert!(report.contains("1 finished worktree ") && report.contains("old event"), "{report}");
}

#[tokio::test]
async fn what_cannot_be_kept_stays_and_is_told() {
    let works = Works::new("", NOTHING_IS_KEPT).await;
    let task = works.add("large", |_| {}).await;
    let (attempt, checkout) = works.begin(task).await;
    std::fs::write(checkout.folder.join(".gitignore"), "*.db\n").unwrap();
    let large = std::fs::File::create(checkout.folder.join("x.db")).unwrap();
    large.set_len(baton_engine::git::IGNORED_BYTES_MAX + 1).unwrap();
    works.settle(task, attempt).await;
    works.tasks().apply(task, Command::Accept { force: false }, mia()).await.unwrap();
    let swept = Pruner::new(works.engine.workspace.clone()).run_once(SystemTime::now() + DAY).await.unwrap();
    assert!(swept.worktrees.is_empty() && checkout.folder.exists());
    assert!(swept.to_string().contains(&format!("A worktree stays: {attempt}")), "{swept}");
}

struct Due {
    works: Works,
    attempt: AttemptId,
    checkout: Checkout,
    notes: TempDir,
}

impl Due {
    async fn prune(&self) -> PruneReport {
        let later = SystemTime::now() + DAY;
        Pruner::new(self.works.engine.workspace.clone()).run_once(later).await.unwrap()
    }

    fn seen(&self, name: &str) -> String {
        std::fs::read_to_string(self.notes.path().join(name)).unwrap()
    }
}

/// A worktree that is due, in a repository whose hook and clean-up write what they see and fail until they may not.
async fn due_with_a_hook_and_a_clean_up(may: &[&str]) -> Due {
    let notes = tempfile::tempdir().unwrap();
    let seen = notes.path().display();
    let settings = format!(
        "fence = \"off\"\n{NOTHING_IS_KEPT}\n[worktree]\ncleanup = \"drop\"\n[hooks]\nrun_as = \"person\"\n\
         before_remove = [\"sh\", \"-c\", \"cat written >> {seen}/hook; test -e {seen}/hook-may\"]"
    );
    let works = Works::new("", &settings).await;
    let agent = works.engine.workspace.place.root.join(".agent");
    std::fs::create_dir_all(&agent).unwrap();
    let command = format!("cat written >> {seen}/cleanup; test -e {seen}/cleanup-may");
    let taskfile = format!("version: '3'\ntasks:\n  drop: {{cmds: ['{command}'], silent: true}}\n");
    std::fs::write(agent.join("Taskfile.yml"), taskfile).unwrap();
    for name in may {
        std::fs::write(notes.path().join(format!("{name}-may")), "").unwrap();
    }
    let task = works.add("done", |_| {}).await;
    let (attempt, checkout) = works.begin(task).await;
    works.settle(task, attempt).await;
    works.tasks().apply(task, Command::Accept { force: false }, mia()).await.unwrap();
    Due { works, attempt, checkout, notes }
}

#[tokio::test]
async fn the_hook_and_the_clean_up_run_before_a_worktree_is_pruned() {
    let due = due_with_a_hook_and_a_clean_up(&["hook", "cleanup"]).await;
    let swept = due.prune().await;
    assert_eq!((swept.worktrees.as_slice(), due.checkout.folder.exists()), (&[due.attempt][..], false));
    for name in ["hook", "cleanup"] {
        assert_eq!(due.seen(name), due.attempt.to_string(), "{name} ran once, in the worktree");
    }
}

#[tokio::test]
async fn a_worktree_is_not_pruned_while_its_hook_or_its_clean_up_fails() {
    for (may, may_not) in [("cleanup", "hook"), ("hook", "cleanup")] {
        let due = due_with_a_hook_and_a_clean_up(&[may]).await;
        let swept = due.prune().await;
        assert!(swept.worktrees.is_empty() && due.checkout.folder.exists(), "{swept}");
        assert_eq!(due.seen(may_not), due.attempt.to_string());
        assert!(swept.to_string().contains(&format!("A worktree stays: {}", due.attempt)), "{swept}");
        std::fs::write(due.notes.path().join(format!("{may_not}-may")), "").unwrap();
        assert_eq!(due.prune().await.worktrees, [due.attempt], "it is tried again");
    }
}

#[tokio::test]
async fn nothing_to_prune_is_nothing_to_say() {
    let works = Works::new("", "").await;
    let task = works.add("fresh", |_| {}).await;
    let (attempt, checkout) = works.begin(task).await;
    works.settle(task, attempt).await;
    works.tasks().apply(task, Command::Accept { force: false }, mia()).await.unwrap();
    let swept = Pruner::new(works.engine.workspace.clone()).run_once(SystemTime::now()).await.unwrap();
    assert!(swept.is_empty() && swept.to_string().is_empty() && checkout.folder.exists());
}
