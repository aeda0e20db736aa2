//! Baton dies at every moment between two calls of git, once, and starts again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use baton_engine::git::{GitError, MergeSpec, Worktrees};

use crate::repo::{TestRepo, attempt, branch, spec, task_branch, write};

/// Whether the call that Baton does not survive still does its work.
#[derive(Debug, Clone, Copy)]
enum Death {
    Before,
    After,
}

/// A git after whose call of this number its caller is as good as dead: everything later fails too.
fn deadly_git(repo: &TestRepo, call: u32, death: Death) -> PathBuf {
    let path = repo.root.join("deadly-git");
    let last = match death {
        Death::Before => "",
        // One that converses would wait for its next line, as Baton for its answer.
        Death::After => "case \"$*\" in *--batch*) ;; *) git \"$@\" >/dev/null;; esac;",
    };
    let count = repo.root.join("count");
    let script = format!(
        "#!/bin/sh\nread n < '{count}'; n=$((n + 1)); echo $n > '{count}'\n\
         if [ $n -lt {call} ]; then exec git \"$@\"; fi\n\
         if [ $n -eq {call} ]; then {last} exit 99; fi\nexit 99\n",
        count = count.display(),
    );
    write(&count, "0\n");
    write(&path, script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What the agent does in its worktree, whether or not it did it before.
fn work(repo: &TestRepo) {
    let folder = repo.folder(1);
    if !folder.join("committed").exists() {
        repo.commit(&folder, "committed", "c");
        write(&folder.join("left"), "l");
        write(&folder.join("README"), "changed");
    }
}

async fn life(repo: &TestRepo, room: &Worktrees) -> Result<u32, GitError> {
    let checkout = room.create(&spec(1, 1)).await?;
    work(repo);
    let settled = room.settle(&checkout).await?;
    assert!(settled.uncommitted_changes);
    write(&checkout.folder.join("late"), "not settled");
    room.retire(attempt(1)).await?;
    Ok(settled.measured.commits)
}

async fn merge(room: &Worktrees) -> Result<(), GitError> {
    let spec = MergeSpec {
        branch: task_branch(1),
        head: None,
        into: branch("feature/x"),
        message: "Merge".to_owned(),
    };
    room.merge(&spec).await.map(drop)
}

/// Whether the life ended before its death.
async fn dies_and_lives_again(call: u32, death: Death) -> bool {
    let repo = TestRepo::new();
    repo.git(&repo.main, &["branch", "feature/x"]);
    let real = repo.room().await;
    let program = deadly_git(&repo, call, death);
    let first = match repo.try_room_with(&program).await {
        Ok(room) => match life(&repo, &room).await {
            Ok(_) => merge(&room).await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    let survived = first.is_ok();
    let case = format!("call {call}, {death:?}, {first:?}");
    // The engine does again what it had not yet written down. A removal is only asked for after settling.
    if repo.tip("refs/baton/vault/ATT-0000000000000001").is_none() {
        assert_eq!(life(&repo, &real).await.unwrap(), 1, "{case}");
    } else {
        real.retire(attempt(1)).await.unwrap();
    }
    merge(&real).await.unwrap();
    assert!(!repo.folder(1).exists(), "{case}");
    let back = repo.root.join("back");
    real.restore(attempt(1), &back).await.unwrap();
    for (file, text) in [("committed", "c"), ("left", "l"), ("README", "changed"), ("late", "not settled")] {
        assert_eq!(fs::read_to_string(back.join(file)).unwrap(), text, "{case}");
    }
    let merged = repo.git(&repo.main, &["ls-tree", "--name-only", "feature/x"]);
    // A second settling also commits what came after the first.
    let merged: Vec<&str> = merged.lines().filter(|name| *name != "late").collect();
    assert_eq!(merged, ["README", "committed", "left"], "{case}");
    assert_eq!(repo.git(&repo.main, &["worktree", "list"]).lines().count(), 1, "{case}");
    assert_eq!(fs::read_dir(repo.state.join("trash")).unwrap().count(), 0, "{case}");
    assert_eq!(repo.fsck(), "", "{case}");
    survived
}

async fn every_death(death: Death) {
    let mut call = 1;
    while !dies_and_lives_again(call, death).await {
        call += 1;
    }
    assert!(call > 20, "the whole life takes more calls than {call}");
}

#[tokio::test]
async fn i17_a_death_before_any_step_loses_nothing() {
    every_death(Death::Before).await;
}

#[tokio::test]
async fn i17_a_death_after_any_step_loses_nothing() {
    every_death(Death::After).await;
}
