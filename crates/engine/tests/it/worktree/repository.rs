use std::fs;

use baton_engine::git::{BranchMade, GitError, Repository, Worktrees};

use crate::repo::{TestRepo, attempt, branch, spec, task_branch, write};

async fn refused(repo: &TestRepo, path: &std::path::Path) -> GitError {
    Repository::open(&repo.with_git().await, path).await.unwrap_err()
}

#[tokio::test]
async fn a_folder_that_is_no_repository_says_what_to_do() {
    let repo = TestRepo::empty();
    let plain = repo.root.join("plain");
    fs::create_dir(&plain).unwrap();
    let error = refused(&repo, &plain).await;
    assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
    assert!(error.hint().contains("git init"), "{}", error.hint());
    for path in [repo.root.join("missing"), repo.root.join("home/.gitconfig"), repo.main.join(".git")] {
        let error = refused(&repo, &path).await;
        assert!(matches!(error, GitError::NotARepository { .. }), "{}: {error}", path.display());
    }
}

#[tokio::test]
async fn a_repository_without_commits_says_what_to_do() {
    let repo = TestRepo::empty();
    let error = repo.open().await.default_branch().await.unwrap_err();
    assert!(matches!(error, GitError::NoCommits { .. }), "{error}");
    assert!(error.hint().contains("commit --allow-empty"), "{}", error.hint());
    let error = repo.room().await.create(&spec(1, 1)).await.unwrap_err();
    assert!(matches!(error, GitError::NoCommits { .. }), "{error}");
}

#[tokio::test]
async fn a_bare_repository_works() {
    let repo = TestRepo::new();
    let bare = repo.root.join("bare.git");
    repo.git(
        &repo.root,
        &["clone", "--quiet", "--bare", repo.main.to_str().unwrap(), bare.to_str().unwrap()],
    );
    let opened = Repository::open(&repo.with_git().await, &bare).await.unwrap();
    assert!(opened.is_bare());
    assert_eq!(opened.default_branch().await.unwrap(), branch("main"));
    let room = Worktrees::new(opened, &repo.state).unwrap();
    let mut spec = spec(1, 1);
    spec.setup.copy = vec![".env".into()];
    let checkout = room.create(&spec).await.unwrap();
    let head = repo.commit(&checkout.folder, "a", "a");
    let settled = room.settle(&checkout).await.unwrap();
    assert_eq!((settled.measured.commits, &settled.measured.head), (1, &head));
    // Its HEAD is the target, but it has no checked-out files.
    let merge = baton_engine::git::MergeSpec {
        branch: task_branch(1),
        head: None,
        into: branch("main"),
        message: "Merge".to_owned(),
    };
    room.merge(&merge).await.unwrap();
    assert_eq!(repo.git(&bare, &["rev-parse", "main"]), head.as_str());
    room.retire(attempt(1)).await.unwrap();
}

#[tokio::test]
async fn paths_with_spaces_unicode_line_ends_and_dashes_work() {
    for name in ["-rf", "a b", "größe 日本", "line\nend", "q\"uo'te", "$(touch x)", "tab\t\\"] {
        let repo = TestRepo::named(name);
        repo.commit(&repo.main, "README", "hello\n");
        let opened = repo.open().await;
        assert_eq!(opened.folder(), repo.main, "{name:?}");
        let room = Worktrees::new(opened, &repo.main.join(".agent/state")).unwrap();
        let checkout = room.create(&spec(1, 1)).await.unwrap();
        write(&checkout.folder.join(name), "new");
        let settled = room.settle(&checkout).await.unwrap();
        assert_eq!(settled.measured.files_changed, 1, "{name:?}");
        room.retire(checkout.attempt).await.unwrap();
        let back = repo.root.join("back");
        room.restore(checkout.attempt, &back).await.unwrap();
        assert_eq!(fs::read(back.join(name)).unwrap(), b"new", "{name:?}");
    }
}

#[tokio::test]
async fn inside_a_linked_worktree_the_same_repository_is_found() {
    let repo = TestRepo::new();
    let linked = repo.root.join("linked");
    repo.git(&repo.main, &["worktree", "add", "--quiet", "-b", "side", linked.to_str().unwrap()]);
    fs::create_dir(linked.join("sub")).unwrap();
    let opened = Repository::open(&repo.with_git().await, &linked.join("sub")).await.unwrap();
    assert_eq!(opened.folder(), linked);
    assert_eq!(opened.git_dir(), repo.main.join(".git"));
    assert_eq!(opened.default_branch().await.unwrap(), branch("side"));
    Worktrees::new(opened, &repo.state).unwrap().create(&spec(1, 1)).await.unwrap();
}

#[tokio::test]
async fn the_default_branch_is_the_humans_or_else_the_likeliest() {
    let repo = TestRepo::new();
    repo.git(&repo.main, &["branch", "master"]);
    repo.git(&repo.main, &["switch", "--quiet", "-c", "develop"]);
    let opened = repo.open().await;
    assert_eq!(opened.default_branch().await.unwrap(), branch("develop"));
    repo.git(&repo.main, &["switch", "--quiet", "-c", "baton/TASK-00000001"]);
    assert_eq!(opened.default_branch().await.unwrap(), branch("main"));
    repo.git(&repo.main, &["switch", "--quiet", "--detach"]);
    assert_eq!(opened.default_branch().await.unwrap(), branch("main"));
    repo.git(&repo.main, &["update-ref", "refs/remotes/origin/develop", "HEAD"]);
    repo.git(&repo.main, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop"]);
    assert_eq!(opened.default_branch().await.unwrap(), branch("develop"));
}

#[tokio::test]
async fn a_detached_head_among_many_branches_asks_for_one() {
    let repo = TestRepo::new();
    repo.git(&repo.main, &["branch", "-m", "one"]);
    repo.git(&repo.main, &["switch", "--quiet", "--detach"]);
    let opened = repo.open().await;
    assert_eq!(opened.default_branch().await.unwrap(), branch("one"));
    repo.git(&repo.main, &["branch", "two"]);
    let error = opened.default_branch().await.unwrap_err();
    assert!(matches!(error, GitError::NoBaseBranch { .. }), "{error}");
    assert_eq!(error.hint(), "name the base branch: one, two");
}

#[tokio::test]
async fn a_missing_base_branch_is_named() {
    let repo = TestRepo::new();
    let opened = repo.open().await;
    let error = opened.ensure_branch(&branch("feature/x"), &branch("trunk")).await.unwrap_err();
    assert!(matches!(&error, GitError::NoBranch { branch } if branch.as_str() == "trunk"), "{error}");
}

#[tokio::test]
async fn a_feature_branch_is_made_once_and_then_left_alone() {
    let repo = TestRepo::new();
    let opened = repo.open().await;
    let feature = branch("feature/dca27809");
    let start = repo.head(&repo.main);
    assert_eq!(
        opened.ensure_branch(&feature, &branch("main")).await.unwrap(),
        BranchMade::New(start.clone())
    );
    repo.commit(&repo.main, "more", "x");
    assert_eq!(opened.ensure_branch(&feature, &branch("main")).await.unwrap(), BranchMade::Found(start));
}

#[tokio::test]
async fn a_branch_in_the_way_is_named() {
    let repo = TestRepo::new();
    repo.git(&repo.main, &["branch", "feature"]);
    let opened = repo.open().await;
    let error = opened.ensure_branch(&branch("feature/x"), &branch("main")).await.unwrap_err();
    assert_eq!(error.to_string(), "the branch feature/x cannot be made: the branch feature is in its way");
    assert_eq!(error.hint(), "rename it: `git branch -m feature feature-old`");
}

#[tokio::test]
async fn the_truth_is_the_tasks_branch_only_when_it_has_commits_of_its_own() {
    let (repo, room, checkout) = crate::repo::ready().await;
    let (task, main) = (task_branch(1), branch("main"));
    let opened = room.repository();
    assert_eq!(opened.truth(&task_branch(9), &main).await.unwrap(), main);
    assert_eq!(opened.truth(&task, &main).await.unwrap(), main);
    repo.commit(&checkout.folder, "a", "a");
    room.bring(&checkout).await.unwrap();
    assert_eq!(opened.truth(&task, &main).await.unwrap(), task);
}

#[tokio::test]
async fn a_repository_of_another_owner_is_refused_with_gits_own_advice() {
    let repo = TestRepo::new();
    let strangers = [repo.main.clone(), repo.main.join(".git")];
    if strangers.iter().any(|path| std::os::unix::fs::chown(path, Some(65_534), None).is_err()) {
        // Only root can give a folder away.
        return;
    }
    let error = refused(&repo, &repo.main).await;
    assert!(error.to_string().contains("dubious ownership"), "{error}");
    assert!(error.hint().contains("safe.directory"), "{}", error.hint());
}
