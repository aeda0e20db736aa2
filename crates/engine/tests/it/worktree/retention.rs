use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, SystemTime};

use baton_engine::git::IGNORED_BYTES_MAX;

use crate::repo::{TestRepo, attempt, spec, write};

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn worktrees_and_vaults_are_listed_with_age_and_size() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    let start = SystemTime::now() - Duration::from_secs(2);
    for number in 1..=2 {
        let checkout = room.create(&spec(number.into(), number)).await.unwrap();
        write(&checkout.folder.join("work"), [7; 5000]);
    }
    room.vault(attempt(2)).await.unwrap();
    let listed = room.list().await.unwrap();
    let owners: BTreeSet<_> = listed.iter().map(|standing| standing.attempt).collect();
    assert_eq!(owners, BTreeSet::from([Some(attempt(1)), Some(attempt(2))]));
    for standing in &listed {
        assert!(standing.bytes >= 5000 && standing.active_at >= start, "{standing:?}");
        assert_eq!(standing.is_vaulted, standing.attempt == Some(attempt(2)));
    }
    let vaults = room.vaults().await.unwrap();
    let [vault] = vaults.as_slice() else { panic!("{vaults:?}") };
    assert_eq!(vault.attempt, attempt(2));
    assert!(vault.kept_at >= start && vault.bytes > 0);
}

#[tokio::test]
async fn only_finished_and_idle_worktrees_are_removed_and_only_after_keeping() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    for number in 1..=3 {
        let checkout = room.create(&spec(number.into(), number)).await.unwrap();
        write(&checkout.folder.join("unmerged"), "x");
    }
    let finished = BTreeSet::from([attempt(1), attempt(3), attempt(9)]);
    let now = SystemTime::now();
    let early = room.prune(&finished, HOUR, now).await.unwrap();
    assert!(early.removed.is_empty());
    // What cannot be kept is not removed either, and does not stop the rest.
    write(&repo.folder(3).join(".gitignore"), "*.db\n");
    fs::File::create(repo.folder(3).join("x.db")).unwrap().set_len(IGNORED_BYTES_MAX + 1).unwrap();
    let late = room.prune(&finished, HOUR, now + 2 * HOUR).await.unwrap();
    assert_eq!(late.removed, [attempt(1)]);
    assert_eq!(late.kept.iter().map(|kept| kept.attempt).collect::<Vec<_>>(), [attempt(3)]);
    assert!(!repo.folder(1).exists() && repo.folder(2).exists() && repo.folder(3).exists());
    room.restore(attempt(1), &repo.root.join("back")).await.unwrap();
    assert_eq!(fs::read(repo.root.join("back/unmerged")).unwrap(), b"x");
}

#[tokio::test]
async fn records_of_finished_attempts_without_a_worktree_go() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    room.create(&spec(1, 1)).await.unwrap();
    let mut resumed = spec(2, 1);
    resumed.resumes = Some(attempt(1));
    room.create(&resumed).await.unwrap();
    room.create(&spec(3, 3)).await.unwrap();
    room.retire(attempt(3)).await.unwrap();
    let all = BTreeSet::from([1, 2].map(attempt));
    assert_eq!(room.recorded().await.unwrap(), all);
    // Of an attempt that may be resumed, the base is needed.
    room.forget(&BTreeSet::from([attempt(1)])).await.unwrap();
    assert_eq!(room.recorded().await.unwrap(), all);
    room.forget(&all).await.unwrap();
    let records = repo.git(&repo.main, &["for-each-ref", "--format=%(refname)", "refs/baton/*/ATT-*"]);
    // The folder is still named after the first.
    let kept = ["base/ATT-0000000000000001", "base/ATT-0000000000000002", "vault/ATT-0000000000000003"];
    assert_eq!(records, kept.map(|name| format!("refs/baton/{name}")).join("\n"));
    room.retire(attempt(2)).await.unwrap();
    room.forget(&all).await.unwrap();
    let records =
        repo.git(&repo.main, &["for-each-ref", "--format=%(refname:strip=2)", "refs/baton/*/ATT-*"]);
    assert_eq!(records, "vault/ATT-0000000000000002\nvault/ATT-0000000000000003");
}

#[tokio::test]
async fn what_a_crash_left_in_the_trash_goes_after_a_day() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    write(&repo.state.join("trash/ATT-0000000000000001/x"), "x");
    write(&repo.state.join("tmp/.tmpabc/index"), "x");
    let now = SystemTime::now();
    room.prune(&BTreeSet::new(), HOUR, now + HOUR).await.unwrap();
    assert!(repo.state.join("trash/ATT-0000000000000001").exists());
    room.prune(&BTreeSet::new(), HOUR, now + 25 * HOUR).await.unwrap();
    for home in ["trash", "tmp"] {
        assert_eq!(fs::read_dir(repo.state.join(home)).unwrap().count(), 0, "{home}");
    }
}
