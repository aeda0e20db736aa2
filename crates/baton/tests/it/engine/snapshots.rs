//! I17: every file an agent wrote can be restored, whatever became of its task.

use std::path::Path;

use super::test_repo::{TestRepo, processes};

/// Writes untracked files of every kind, copies them elsewhere, then does `then`.
fn writer(then: &str) -> TestRepo {
    let repo = TestRepo::with_agent("", "lease_seconds = 2");
    let copies = repo.home.join("copies").display().to_string();
    repo.set_agent(&format!(
        "if ! test -e blob.scratch; then
            mkdir -p 'deep er/ünter' {copies}
            for file in blob.scratch 'deep er/ünter/blob.scratch'; do head -c 70000 /dev/urandom > \"$file\"; done
            : > empty.scratch; printf 'no end' > ends.scratch; chmod 755 ends.scratch
            cp -a . {copies}/half; rm -rf {copies}/half/.git; mv {copies}/half {copies}/$BATON_ATTEMPT_ID
        fi
        {then}"
    ));
    // Ignored, so that they are not committed to the task's branch.
    std::fs::write(repo.folder.join(".git/info/exclude"), "*.scratch\n").unwrap();
    repo
}

/// The files that attempt `writer` wrote are in those restored from `attempt`.
fn assert_all_there(repo: &TestRepo, writer: &str, attempt: &str) {
    let restored = repo.restore(attempt);
    let copies = repo.home.join("copies").join(writer);
    for file in ["blob.scratch", "deep er/ünter/blob.scratch", "empty.scratch", "ends.scratch", "README.md"]
    {
        let (now, then) = (bytes(&restored.join(file)), bytes(&copies.join(file)));
        assert!(now == then, "{file} of {attempt}: {} bytes, not {}", now.len(), then.len());
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Waits for an attempt that has written all files.
fn until_written(repo: &TestRepo, task: &str) -> String {
    let copies = repo.home.join("copies");
    repo.until("the agent has written", || {
        repo.attempts(task).last().is_some() && copies.join(repo.last_attempt(task)).exists()
    });
    repo.last_attempt(task)
}

fn until_retired(repo: &TestRepo, attempt: &str) {
    let folder = repo.state().join("worktrees").join(attempt);
    repo.until("the worktree is gone", || !folder.exists());
}

#[test]
fn i17_files_survive_a_cancel() {
    let repo = writer("hang");
    let task = repo.add("Write", &[]);
    let up = repo.up();
    let attempt = until_written(&repo, &task);
    repo.stdout(&["task", "cancel", &task]);
    until_retired(&repo, &attempt);
    up.end();
    assert_eq!(processes(&attempt), Vec::<String>::new());
    assert_all_there(&repo, &attempt, &attempt);
}

#[test]
fn i17_files_survive_a_rejection() {
    let repo =
        writer("case \"$prompt\" in *'was rejected'*) echo more > more.txt; git add more.txt ;; esac; work");
    let task = repo.add("Write", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let first = repo.last_attempt(&task);
    repo.stdout(&["reject", &task, "--reason", "Not like this."]);
    // Its author goes on where it stopped, with everything it had there.
    repo.until("a second attempt", || repo.attempts(&task).len() == 2);
    repo.until_queue(&task, "provisional");
    let second = repo.last_attempt(&task);
    let resumed = repo.attempts(&task)[1]["attempt"]["resumes"].clone();
    assert_eq!(resumed, first.as_str());
    repo.stdout(&["accept", &task]);
    until_retired(&repo, &first);
    up.end();
    assert_all_there(&repo, &first, &second);
}

#[test]
fn i17_files_survive_recycling() {
    let repo = writer("turns 50; hang");
    let task = repo.add("Write", &[]);
    let up = repo.up();
    repo.until_queue(&task, "recycled");
    let attempt = repo.last_attempt(&task);
    until_retired(&repo, &attempt);
    up.end();
    assert_all_there(&repo, &attempt, &attempt);
}

#[test]
fn i17_files_survive_a_kill_of_baton_while_the_agent_writes() {
    let repo = writer("test -e go.scratch || { touch go.scratch; hang; }; work");
    let task = repo.add("Write", &[]);
    let up = repo.up();
    let first = until_written(&repo, &task);
    let folder = repo.state().join("worktrees").join(&first);
    repo.until("the agent waits", || folder.join("go.scratch").exists());
    up.kill();
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    assert_eq!(processes(&first), Vec::<String>::new(), "the orphan was ended");
    assert_eq!(repo.attempts(&task).len(), 2);
    let attempt = repo.last_attempt(&task);
    repo.stdout(&["accept", &task]);
    // The folder has the name of the first attempt, whose work the second one continued.
    repo.until("the worktree is gone", || !folder.exists());
    up.end();
    assert_all_there(&repo, &first, &attempt);
}
