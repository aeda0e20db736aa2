use std::fs;

use crate::repo::{TestRepo, attempt, branch, spec, task_branch, write};

fn names(repo: &TestRepo) -> Vec<String> {
    let entries = fs::read_dir(repo.state.join("worktrees")).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_spare_becomes_the_worktree_of_the_next_attempt() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    assert_eq!(room.stock(&branch("main"), 1).await.unwrap(), 1);
    assert_eq!(room.stock(&branch("main"), 1).await.unwrap(), 0, "there is one");
    let spare = repo.state.join("worktrees").join(&names(&repo)[0]);
    let file = fs::metadata(spare.join("README")).unwrap();

    let checkout = room.create(&spec(1, 1)).await.unwrap();
    assert_eq!(names(&repo), [attempt(1).to_string()]);
    assert_eq!(checkout.folder, repo.folder(1));
    // The very same file: nothing was written again.
    assert_eq!(
        fs::metadata(checkout.folder.join("README")).unwrap().modified().unwrap(),
        file.modified().unwrap()
    );
    assert_eq!(repo.git(&checkout.folder, &["symbolic-ref", "--short", "HEAD"]), task_branch(1).to_string());
    assert_eq!(repo.git(&checkout.folder, &["status", "--porcelain"]), "");
    assert_eq!(room.list().await.unwrap()[0].attempt, Some(attempt(1)));

    repo.commit(&checkout.folder, "work", "x");
    assert_eq!(room.settle(&checkout).await.unwrap().measured.commits, 1);
    room.retire(attempt(1)).await.unwrap();
    assert!(names(&repo).is_empty());
    assert_eq!(repo.fsck(), "");
}

#[tokio::test]
async fn a_spare_that_is_behind_is_brought_up_to_date() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    repo.commit(&repo.main, "gone-soon", "x");
    room.stock(&branch("main"), 1).await.unwrap();
    fs::remove_file(repo.main.join("gone-soon")).unwrap();
    let tip = repo.commit(&repo.main, "new", "new\n");
    let checkout = room.create(&spec(1, 1)).await.unwrap();
    assert_eq!(checkout.base, tip);
    assert!(checkout.folder.join("new").exists() && !checkout.folder.join("gone-soon").exists());
    assert_eq!(repo.git(&checkout.folder, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn what_a_crash_left_of_a_spare_is_cleared_and_made_anew() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    room.stock(&branch("main"), 3).await.unwrap();
    let spares: Vec<_> = names(&repo).iter().map(|name| repo.state.join("worktrees").join(name)).collect();
    // One lost its folder, one was moved and no more, one was never finished.
    fs::remove_dir_all(&spares[0]).unwrap();
    fs::rename(&spares[1], repo.folder(1)).unwrap();
    let record = repo.state.join("checkouts").join(spares[2].file_name().unwrap());
    fs::remove_file(record.join("spare")).unwrap();

    let checkout = room.create(&spec(1, 1)).await.unwrap();
    assert_eq!(repo.git(&checkout.folder, &["status", "--porcelain"]), "");
    assert_eq!(room.stock(&branch("main"), 1).await.unwrap(), 1);
    assert_eq!(names(&repo).len(), 2);
    assert_eq!(fs::read_dir(repo.state.join("checkouts")).unwrap().count(), 2);
    write(&checkout.folder.join("work"), "x");
    room.retire(attempt(1)).await.unwrap();
    room.restore(attempt(1), &repo.root.join("back")).await.unwrap();
    assert!(repo.root.join("back/work").exists());
}

#[tokio::test]
async fn spares_of_two_repositories_in_one_state_folder_do_not_touch_each_other() {
    let (one, other) = (TestRepo::new(), TestRepo::new());
    let room = one.room().await;
    let beside = baton_engine::git::Worktrees::new(other.open().await, &one.state).unwrap();
    room.stock(&branch("main"), 1).await.unwrap();
    beside.stock(&branch("main"), 1).await.unwrap();
    room.stock(&branch("main"), 2).await.unwrap();
    assert_eq!(names(&one).len(), 3);
    let checkout = beside.create(&spec(1, 1)).await.unwrap();
    assert_eq!(other.git(&checkout.folder, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_resumed_clone_from_a_spare_sees_where_its_target_leads_now() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    room.stock(&branch("main"), 1).await.unwrap();
    room.create(&spec(1, 1)).await.unwrap();
    let later = repo.commit(&repo.main, "later", "later");
    let mut next = spec(2, 1);
    next.resumes = Some(attempt(1));
    let resumed = room.create(&next).await.unwrap();
    assert_eq!(repo.git(&resumed.folder, &["rev-parse", "main"]), later.as_str());
}

#[tokio::test]
async fn spares_that_are_too_many_are_deleted() {
    let repo = TestRepo::new();
    let room = repo.room().await;
    assert_eq!(room.stock(&branch("main"), 3).await.unwrap(), 3);
    for left in [1, 0] {
        assert_eq!(room.stock(&branch("main"), left).await.unwrap(), 0);
        assert_eq!(room.spares_standing(), left);
        assert_eq!(fs::read_dir(repo.state.join("checkouts")).unwrap().count(), left);
    }
}
