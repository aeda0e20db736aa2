use std::fs;
use std::path::PathBuf;

use baton_core::base::git_name::CommitId;
use baton_engine::git::{Checkout, GitError, MergeSpec, Merged, Worktrees};

use crate::repo::{TestRepo, branch, spec, task_branch, write};

fn into_feature() -> MergeSpec {
    let message = "Merge TASK-00000001".to_owned();
    MergeSpec { branch: task_branch(1), head: None, into: branch("feature/x"), message }
}

/// A task's worktree, and a project's branch beside the human's `main`.
async fn project() -> (TestRepo, Worktrees, Checkout) {
    let repo = TestRepo::new();
    repo.git(&repo.main, &["branch", "feature/x"]);
    let room = repo.room().await;
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    (repo, room, checkout)
}

/// A commit on the project's branch that no checkout shows.
fn commit_on_feature(repo: &TestRepo, file: &str, text: &str) -> CommitId {
    let folder = repo.root.join("elsewhere");
    repo.git(&repo.main, &["worktree", "add", "--quiet", folder.to_str().unwrap(), "feature/x"]);
    let commit = repo.commit(&folder, file, text);
    repo.git(&repo.main, &["worktree", "remove", folder.to_str().unwrap()]);
    commit
}

#[tokio::test]
async fn a_branch_ahead_is_merged_by_moving_the_target() {
    let (repo, room, checkout) = project().await;
    let from = checkout.base.clone();
    let tip = repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    assert_eq!(room.merge(&into_feature()).await.unwrap(), Merged::FastForward { from, tip: tip.clone() });
    assert_eq!(repo.tip("refs/heads/feature/x"), Some(tip.clone()));
    assert_eq!(room.merge(&into_feature()).await.unwrap(), Merged::Already { tip });
}

#[tokio::test]
async fn branches_that_grew_apart_are_joined_by_a_commit_and_no_checkout_changes() {
    let (repo, room, checkout) = project().await;
    let theirs = repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    let ours = commit_on_feature(&repo, "b", "b");
    write(&repo.main.join("README"), "dirty");
    let merged = room.merge(&into_feature()).await.unwrap();
    let Merged::MergeCommit { from, tip } = merged else { panic!("{merged:?}") };
    assert_eq!(from, ours);
    let parents = repo.git(&repo.main, &["show", "-s", "--format=%P %s", tip.as_str()]);
    assert_eq!(parents, format!("{ours} {theirs} Merge TASK-00000001"));
    assert_eq!(repo.git(&repo.main, &["ls-tree", "--name-only", tip.as_str()]), "README\na\nb");
    assert_eq!(repo.git(&repo.main, &["status", "--porcelain"]), " M README");
    assert!(matches!(room.merge(&into_feature()).await.unwrap(), Merged::Already { .. }));
}

#[tokio::test]
async fn a_conflict_names_its_files_and_changes_nothing() {
    let (repo, room, checkout) = project().await;
    write(&checkout.folder.join("größe\nx"), "ours");
    let theirs = repo.commit(&checkout.folder, "README", "ours\n");
    room.bring(&checkout).await.unwrap();
    let folder = repo.root.join("elsewhere");
    repo.git(&repo.main, &["worktree", "add", "--quiet", folder.to_str().unwrap(), "feature/x"]);
    write(&folder.join("größe\nx"), "theirs");
    let ours = repo.commit(&folder, "README", "theirs\n");
    repo.git(&repo.main, &["worktree", "remove", folder.to_str().unwrap()]);
    let merged = room.merge(&into_feature()).await.unwrap();
    assert_eq!(merged, Merged::Conflict { files: ["README", "größe\nx"].map(PathBuf::from).to_vec() });
    assert_eq!(repo.tip("refs/heads/feature/x"), Some(ours));
    assert_eq!(repo.tip("refs/heads/baton/TASK-00000001"), Some(theirs));
}

#[tokio::test]
async fn a_target_the_human_has_checked_out_is_not_touched() {
    let (repo, room, checkout) = project().await;
    repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    let main = repo.head(&repo.main);
    let error = room.merge(&MergeSpec { into: branch("main"), ..into_feature() }).await.unwrap_err();
    assert!(matches!(&error, GitError::CheckedOut { at, .. } if *at == repo.main), "{error}");
    assert!(error.hint().contains("switch --detach"), "{}", error.hint());
    assert_eq!(repo.head(&repo.main), main);
    repo.git(&repo.main, &["switch", "--quiet", "--detach"]);
    room.merge(&MergeSpec { into: branch("main"), ..into_feature() }).await.unwrap();
}

#[tokio::test]
async fn an_agent_that_checks_out_the_target_in_its_clone_is_in_nobodys_way() {
    let (repo, room, checkout) = project().await;
    let tip = repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    let other = room.create(&spec(2, 2)).await.unwrap();
    repo.git(&other.folder, &["switch", "--quiet", "feature/x"]);
    write(&other.folder.join("work"), "x");
    room.merge(&into_feature()).await.unwrap();
    assert_eq!(repo.tip("refs/heads/feature/x"), Some(tip));
    assert_eq!(repo.git(&other.folder, &["status", "--porcelain"]), "?? work");
}

#[tokio::test]
async fn missing_and_unrelated_branches_are_named() {
    let (repo, room, checkout) = project().await;
    let error = room.merge(&MergeSpec { into: branch("gone"), ..into_feature() }).await.unwrap_err();
    assert!(matches!(&error, GitError::NoBranch { branch } if branch.as_str() == "gone"), "{error}");
    repo.git(&checkout.folder, &["switch", "--quiet", "--orphan", "fresh"]);
    repo.commit(&checkout.folder, "b", "b");
    room.settle(&checkout).await.unwrap();
    let error = room.merge(&into_feature()).await.unwrap_err();
    assert!(matches!(error, GitError::Unrelated { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_merges_at_once_all_arrive() {
    let repo = TestRepo::new();
    repo.git(&repo.main, &["branch", "feature/x"]);
    let room = repo.room().await;
    for number in 1..=8_u32 {
        let checkout = room.create(&spec(number.into(), number)).await.unwrap();
        repo.commit(&checkout.folder, &format!("file-{number}"), "x");
        room.bring(&checkout).await.unwrap();
    }
    let mut merging = tokio::task::JoinSet::new();
    for number in 1..=8 {
        let room = room.clone();
        let spec = MergeSpec { branch: task_branch(number), ..into_feature() };
        merging.spawn(async move { room.merge(&spec).await.unwrap() });
    }
    merging.join_all().await;
    assert_eq!(repo.git(&repo.main, &["ls-tree", "--name-only", "feature/x"]).lines().count(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_human_who_commits_to_the_target_meanwhile_loses_nothing() {
    let (repo, room, checkout) = project().await;
    repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    let tip = commit_on_feature(&repo, "b", "b");
    // A git that lets the human in between the merge and the move, once.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *update-ref*) if [ ! -e '{flag}' ]; then touch '{flag}'; \
         git --git-dir='{dir}' update-ref refs/heads/feature/x \
         $(git --git-dir='{dir}' commit-tree -p {tip} -m Human {tip}^{{tree}}); fi;; esac\nexec git \"$@\"\n",
        flag = repo.root.join("once").display(),
        dir = repo.main.join(".git").display(),
    );
    let program = repo.root.join("racing-git");
    write(&program, script);
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let racing = repo.room_with(&program).await;
    let merged = racing.merge(&into_feature()).await.unwrap();
    let Merged::MergeCommit { from, tip: joined } = merged else { panic!("{merged:?}") };
    assert_ne!(from, tip);
    let log = repo.git(&repo.main, &["log", "--format=%s", joined.as_str()]);
    assert!(log.contains("Human") && log.contains("Write a") && log.contains("Write b"), "{log}");
    drop(room);
}

#[tokio::test]
async fn only_the_verified_commit_is_merged() {
    let (repo, room, checkout) = project().await;
    let verified = repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    let spec = MergeSpec { head: Some(verified.clone()), ..into_feature() };
    let tip = repo.commit(&checkout.folder, "evil", "x");
    room.bring(&checkout).await.unwrap();
    let moved = room.merge(&spec).await.unwrap();
    assert_eq!(moved, Merged::Moved { verified: verified.clone(), tip });
    assert_eq!(repo.tip("refs/heads/feature/x"), Some(checkout.base));
    repo.git(&repo.main, &["update-ref", "refs/heads/baton/TASK-00000001", verified.as_str()]);
    room.merge(&spec).await.unwrap();
    assert_eq!(repo.tip("refs/heads/feature/x"), Some(verified));
    assert!(matches!(room.merge(&spec).await.unwrap(), Merged::Already { .. }));
}
