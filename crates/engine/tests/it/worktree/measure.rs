use std::fs;
use std::path::Path;

use baton_core::task::finding::WorkFinding;
use baton_engine::git::AsideReason;

use crate::repo::{TestRepo, ready, spec, task_branch, write};

const TASK: &str = "refs/heads/baton/TASK-00000001";

#[tokio::test]
async fn i15_commits_and_changes_are_counted_from_the_base() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "a", "1\n2\n3\n");
    repo.git(&checkout.folder, &["mv", "README", "READ ME"]);
    let head = repo.commit(&checkout.folder, "a", "1\n3\n");
    write(&checkout.folder.join("new"), "x");
    write(&checkout.folder.join("a"), "changed\n");
    let measured = room.measure(&checkout).await.unwrap();
    assert_eq!((measured.commits, measured.files_changed), (2, 2));
    assert_eq!((measured.insertions, measured.deletions, measured.uncommitted), (2, 0, 2));
    assert_eq!((measured.base, measured.head), (checkout.base, head));
}

#[tokio::test]
async fn ignored_files_are_no_uncommitted_work() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, ".gitignore", "*.log\n");
    write(&checkout.folder.join("x.log"), "x");
    assert_eq!(room.measure(&checkout).await.unwrap().uncommitted, 0);
    assert!(!room.settle(&checkout).await.unwrap().uncommitted_changes);
}

#[tokio::test]
async fn log_stat_and_diff_are_told_and_bounded() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "a", "text\n");
    repo.commit(&checkout.folder, "wide", "line of some length\n".repeat(300_000).as_str());
    repo.commit(&repo.main, "elsewhere", "x");
    room.bring(&checkout).await.unwrap();
    let (base, head) = (&checkout.base, &repo.head(&checkout.folder));
    let opened = room.repository();
    let log = opened.log_oneline(base, head).await.unwrap();
    assert_eq!(log.text.lines().count(), 2);
    assert!(log.text.contains("Write a") && !log.is_cut);
    let trunk = repo.head(&repo.main);
    let stat = opened.diff_stat(&trunk, head).await.unwrap();
    assert!(stat.text.contains("2 files changed") && !stat.text.contains("elsewhere"), "{}", stat.text);
    let diff = opened.diff(base, head).await.unwrap();
    assert!(diff.is_cut && diff.text.len() == 4 << 20);
    assert!(diff.text.contains("+text"));
}

#[tokio::test]
async fn what_was_left_uncommitted_is_committed_by_baton_and_says_so() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "a", "a");
    write(&checkout.folder.join("README"), "changed\n");
    write(&checkout.folder.join("deep/er/new file"), "x");
    write(&checkout.folder.join("-dash"), "x");
    fs::remove_file(checkout.folder.join("a")).unwrap();
    let settled = room.settle(&checkout).await.unwrap();
    assert!(settled.uncommitted_changes && settled.aside.is_empty());
    // The agent's one commit; Baton's own is not counted, but what it holds is.
    assert_eq!((settled.measured.commits, settled.measured.files_changed), (1, 3));
    assert_eq!(repo.tip(TASK).as_ref(), Some(&settled.measured.head));
    let subject = repo.git(&checkout.folder, &["log", "-1", "--format=%s"]);
    assert_eq!(subject, "Uncommitted changes of ATT-0000000000000001");
    assert_eq!(repo.git(&checkout.folder, &["status", "--porcelain"]), "");
    // After a crash the same is found again.
    assert_eq!(room.settle(&checkout).await.unwrap(), settled);
}

#[tokio::test]
async fn a_stale_index_lock_or_a_damaged_index_does_not_stop_settling() {
    let (repo, room, checkout) = ready().await;
    let git_dir = checkout.folder.join(".git");
    write(&checkout.folder.join("one"), "x");
    fs::write(git_dir.join("index.lock"), "").unwrap();
    assert!(room.settle(&checkout).await.unwrap().uncommitted_changes);
    write(&checkout.folder.join("two"), "x");
    fs::remove_file(checkout.folder.join("README")).unwrap();
    fs::write(git_dir.join("index"), "rubbish").unwrap();
    let settled = room.settle(&checkout).await.unwrap();
    let files = repo.git(&repo.main, &["ls-tree", "-r", "--name-only", settled.measured.head.as_str()]);
    assert_eq!(files, "one\ntwo");
}

#[tokio::test]
async fn a_repository_made_inside_is_committed_as_files() {
    let (repo, room, checkout) = ready().await;
    let inner = checkout.folder.join("app");
    fs::create_dir(&inner).unwrap();
    repo.git(&inner, &["init", "--quiet"]);
    write(&inner.join("node_modules/x"), "x");
    repo.commit(&inner, ".gitignore", "node_modules\n");
    write(&inner.join("main.js"), "x");
    fs::create_dir(inner.join("second")).unwrap();
    repo.git(&inner.join("second"), &["init", "--quiet"]);
    write(&inner.join("second/deep.js"), "x");
    let settled = room.settle(&checkout).await.unwrap();
    let files = repo.git(&repo.main, &["ls-tree", "-r", settled.measured.head.as_str()]);
    assert!(!files.contains("160000"), "{files}");
    for file in ["app/.gitignore", "app/main.js", "app/second/deep.js"] {
        assert!(files.contains(file), "{files}");
    }
    assert!(!files.contains("node_modules"), "{files}");
}

#[tokio::test]
async fn commits_on_another_branch_or_none_count_and_the_tasks_branch_follows() {
    for step in [&["switch", "--quiet", "-c", "mine"][..], &["switch", "--quiet", "--detach"]] {
        let (repo, room, checkout) = ready().await;
        repo.git(&checkout.folder, step);
        let head = repo.commit(&checkout.folder, "a", "a");
        let settled = room.settle(&checkout).await.unwrap();
        assert_eq!((settled.measured.commits, &settled.measured.head), (1, &head));
        assert_eq!(repo.tip(TASK), Some(head));
        assert_eq!(repo.git(&checkout.folder, &["branch", "--show-current"]), task_branch(1).as_str());
    }
}

#[tokio::test]
async fn an_agent_that_walked_away_is_taken_at_its_branch() {
    let (repo, room, checkout) = ready().await;
    let done = repo.commit(&checkout.folder, "a", "a");
    repo.git(&checkout.folder, &["switch", "--quiet", "--detach", "main"]);
    write(&checkout.folder.join("late"), "x");
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, &settled.measured.head), (1, &done));
    assert_eq!(repo.tip(TASK), Some(done));
    // What it left over there would undo the branch; it is kept beside it.
    let [aside] = settled.aside.as_slice() else { panic!("{:?}", settled.aside) };
    assert_eq!(aside.reason, AsideReason::Leftovers);
    assert_eq!(repo.tip(&aside.kept_at).as_ref(), Some(&aside.commit));
    assert_eq!(repo.git(&repo.main, &["show", &format!("{}:late", aside.commit)]), "x");
}

#[tokio::test]
async fn a_branch_and_a_head_that_grew_apart_keep_both() {
    let (repo, room, checkout) = ready().await;
    let on_branch = repo.commit(&checkout.folder, "a", "a");
    repo.git(&checkout.folder, &["switch", "--quiet", "-c", "mine", "main"]);
    let head = repo.commit(&checkout.folder, "b", "b");
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, settled.measured.head), (1, head.clone()));
    assert_eq!(repo.tip(TASK), Some(head));
    let [aside] = settled.aside.as_slice() else { panic!("{:?}", settled.aside) };
    assert_eq!((aside.reason, &aside.commit), (AsideReason::OldTip, &on_branch));
    assert_eq!(repo.tip("refs/baton/vault/ATT-0000000000000001.tip"), Some(on_branch));
}

#[tokio::test]
async fn a_reset_counts_nothing_and_the_vault_still_has_the_commits() {
    let (repo, room, checkout) = ready().await;
    let lost = repo.commit(&checkout.folder, "a", "a");
    repo.git(&checkout.folder, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, settled.measured.head), (0, checkout.base));
    room.retire(checkout.attempt).await.unwrap();
    repo.git(&repo.main, &["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&repo.main, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(repo.git(&repo.main, &["show", &format!("{lost}:a")]), "a");
}

#[tokio::test]
async fn a_rebase_counts_only_the_agents_own_commits() {
    let (repo, room, checkout) = ready().await;
    repo.commit(&checkout.folder, "a", "a");
    for number in 0..3 {
        repo.commit(&repo.main, &format!("main-{number}"), "x");
    }
    let onto = repo.head(&repo.main);
    repo.git(&checkout.folder, &["rebase", "--quiet", onto.as_str()]);
    assert_eq!(room.settle(&checkout).await.unwrap().measured.commits, 1);
}

#[tokio::test]
async fn others_commits_are_not_counted() {
    let (repo, room, checkout) = ready().await;
    let other = room.create(&spec(2, 2)).await.unwrap();
    let others = repo.commit(&other.folder, "b", "b");
    room.bring(&other).await.unwrap();
    let trunk = repo.commit(&repo.main, "meanwhile", "x");
    // Reset to where the project has got to: nothing of it is this attempt's.
    repo.git(&checkout.folder, &["reset", "--quiet", "--hard", trunk.as_str()]);
    assert_eq!(room.measure(&checkout).await.unwrap().commits, 0);
    // Merged with another task's branch: the merge is its own, what came in is not.
    repo.git(&checkout.folder, &["merge", "--quiet", "--no-ff", "-m", "Merge", others.as_str()]);
    assert_eq!(room.measure(&checkout).await.unwrap().commits, 1);
}

#[tokio::test]
async fn the_same_commit_of_two_tasks_counts_for_both_and_one_that_was_there_before_does_not() {
    let (repo, room, checkout) = ready().await;
    let other = room.create(&spec(2, 2)).await.unwrap();
    let same = |at: &Path| {
        write(&at.join("same"), "x");
        repo.git(at, &["add", "-A"]);
        let date = "2026-01-02T03:04:05+00:00";
        repo.git(at, &["commit", "--quiet", "--date", date, "-m", "Same"]);
        // The committer's date as well.
        repo.git(at, &["rebase", "--quiet", "--force-rebase", "--committer-date-is-author-date", "HEAD~1"]);
        repo.head(at)
    };
    let (mine, theirs) = (same(&checkout.folder), same(&other.folder));
    assert_eq!(mine, theirs);
    for each in [&checkout, &other, &checkout] {
        assert_eq!(room.settle(each).await.unwrap().measured.commits, 1);
    }
    let late = room.create(&spec(3, 3)).await.unwrap();
    repo.git(&late.folder, &["reset", "--quiet", "--hard", mine.as_str()]);
    assert_eq!(room.settle(&late).await.unwrap().measured.commits, 0);
}

#[tokio::test]
async fn a_replacement_object_does_not_change_the_count() {
    let (repo, room, checkout) = ready().await;
    let first = repo.commit(&checkout.folder, "a", "a");
    repo.commit(&checkout.folder, "b", "b");
    repo.git(&checkout.folder, &["replace", "--graft", "HEAD", checkout.base.as_str()]);
    assert_eq!(room.measure(&checkout).await.unwrap().commits, 2);
    assert_ne!(first, checkout.base);
}

#[tokio::test]
async fn a_deleted_branch_comes_back_where_the_agent_stands() {
    let (repo, room, checkout) = ready().await;
    let head = repo.commit(&checkout.folder, "a", "a");
    repo.git(&checkout.folder, &["switch", "--quiet", "--detach"]);
    repo.git(&checkout.folder, &["branch", "--quiet", "-D", task_branch(1).as_str()]);
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, settled.measured.head), (1, head.clone()));
    assert_eq!(repo.tip(TASK), Some(head));
}

#[tokio::test]
async fn a_branch_deleted_under_the_agents_feet_comes_back_where_it_stood() {
    let (repo, room, checkout) = ready().await;
    let head = repo.commit(&checkout.folder, "a", "a");
    repo.git(&checkout.folder, &["update-ref", "-d", TASK]);
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, settled.measured.head), (1, head));
    assert!(!settled.uncommitted_changes);
}

#[tokio::test]
async fn a_branch_without_history_counts_and_the_old_tip_is_kept() {
    let (repo, room, checkout) = ready().await;
    let done = repo.commit(&checkout.folder, "a", "a");
    repo.git(&checkout.folder, &["switch", "--quiet", "--orphan", "fresh"]);
    let unborn = room.settle(&checkout).await.unwrap();
    assert_eq!(unborn.measured.head, done);
    repo.commit(&checkout.folder, "b", "b");
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!(settled.measured.commits, 1);
    assert_eq!(settled.aside.first().map(|aside| aside.commit.clone()), Some(done));
}

#[tokio::test]
async fn a_worktree_the_agent_deleted_is_measured_at_its_branch() {
    let (repo, room, checkout) = ready().await;
    let head = repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    fs::remove_dir_all(&checkout.folder).unwrap();
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, &settled.measured.head), (1, &head));
    assert_eq!(settled.findings, [WorkFinding::FolderGone]);
}

#[tokio::test]
async fn a_worktree_whose_git_link_was_deleted_never_reaches_the_humans_checkout() {
    let repo = TestRepo::new();
    write(&repo.main.join(".agent/state/.gitignore"), "*\n");
    let inside = repo.main.join(".agent/state");
    let room = baton_engine::git::Worktrees::new(repo.open().await, &inside).unwrap();
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    fs::remove_dir_all(checkout.folder.join(".git")).unwrap();
    write(&checkout.folder.join("work"), "x");
    write(&repo.main.join("human"), "mine");
    let settled = room.settle(&checkout).await.unwrap();
    assert!(settled.uncommitted_changes);
    let files = repo.git(&repo.main, &["ls-tree", "-r", "--name-only", settled.measured.head.as_str()]);
    assert_eq!(files, "README\nwork");
    assert_eq!(repo.head(&repo.main), checkout.base);
    assert_eq!(repo.git(&repo.main, &["status", "--porcelain"]), "?? human");
    room.retire(checkout.attempt).await.unwrap();
    assert!(repo.main.join("human").exists());
}
