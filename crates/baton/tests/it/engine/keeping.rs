//! I17: every byte an agent wrote can be brought back, whatever became of its task.

use std::path::Path;

use super::shop::{Shop, processes};

/// Writes untracked files in every place and of every kind, keeps copies outside, then does `then`.
fn writer(then: &str) -> Shop {
    let shop = Shop::with_agent("", "lease_seconds = 2");
    let copies = shop.home.join("copies").display().to_string();
    shop.agent_does(&format!(
        "if ! test -e blob.scratch; then
            mkdir -p 'deep er/ünter' {copies}
            for file in blob.scratch 'deep er/ünter/blob.scratch'; do head -c 70000 /dev/urandom > \"$file\"; done
            : > empty.scratch; printf 'no end' > ends.scratch; chmod 755 ends.scratch
            cp -a . {copies}/half; rm -f {copies}/half/.git; mv {copies}/half {copies}/$BATON_ATTEMPT_ID
        fi
        {then}"
    ));
    // Ignored, so that it is nothing the task's branch would take along.
    std::fs::write(shop.folder.join(".git/info/exclude"), "*.scratch\n").unwrap();
    shop
}

/// What `writer` wrote is in what is brought back of `attempt`.
fn assert_all_there(shop: &Shop, writer: &str, attempt: &str) {
    let restored = shop.restore(attempt);
    let copies = shop.home.join("copies").join(writer);
    for file in ["blob.scratch", "deep er/ünter/blob.scratch", "empty.scratch", "ends.scratch", "README.md"]
    {
        let (now, then) = (bytes(&restored.join(file)), bytes(&copies.join(file)));
        assert!(now == then, "{file} of {attempt}: {} bytes, not {}", now.len(), then.len());
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The attempt that has written everything.
fn until_written(shop: &Shop, task: &str) -> String {
    let copies = shop.home.join("copies");
    shop.until("the agent has written", || {
        shop.attempts(task).last().is_some() && copies.join(shop.last_attempt(task)).exists()
    });
    shop.last_attempt(task)
}

fn until_retired(shop: &Shop, attempt: &str) {
    let folder = shop.state().join("worktrees").join(attempt);
    shop.until("the worktree is gone", || !folder.exists());
}

#[test]
fn i17_after_a_cancel() {
    let shop = writer("hang");
    let task = shop.add("Write", &[]);
    let up = shop.up();
    let attempt = until_written(&shop, &task);
    shop.says(&["task", "cancel", &task]);
    until_retired(&shop, &attempt);
    up.end();
    assert_eq!(processes(&attempt), Vec::<String>::new());
    assert_all_there(&shop, &attempt, &attempt);
}

#[test]
fn i17_after_a_rejection() {
    let shop = writer("case \"$prompt\" in *'was rejected'*) hang ;; esac; work");
    let task = shop.add("Write", &[]);
    let up = shop.up();
    shop.until_queue(&task, "provisional");
    let attempt = shop.last_attempt(&task);
    shop.says(&["reject", &task, "--reason", "Not like this."]);
    until_retired(&shop, &attempt);
    up.end();
    assert_all_there(&shop, &attempt, &attempt);
}

#[test]
fn i17_after_a_recycling() {
    let shop = writer("turns 50; hang");
    let task = shop.add("Write", &[]);
    let up = shop.up();
    shop.until_queue(&task, "recycled");
    let attempt = shop.last_attempt(&task);
    until_retired(&shop, &attempt);
    up.end();
    assert_all_there(&shop, &attempt, &attempt);
}

#[test]
fn i17_after_kill_9_of_baton_while_the_agent_writes() {
    let shop = writer("test -e go.scratch || { touch go.scratch; hang; }; work");
    let task = shop.add("Write", &[]);
    let up = shop.up();
    let first = until_written(&shop, &task);
    let folder = shop.state().join("worktrees").join(&first);
    shop.until("the agent waits", || folder.join("go.scratch").exists());
    up.kill();
    let up = shop.up();
    shop.until_queue(&task, "provisional");
    assert_eq!(processes(&first), Vec::<String>::new(), "the orphan was ended");
    assert_eq!(shop.attempts(&task).len(), 2);
    let attempt = shop.last_attempt(&task);
    shop.says(&["accept", &task]);
    // The folder is still named after the first attempt, whose work the second went on with.
    shop.until("the worktree is gone", || !folder.exists());
    up.end();
    assert_all_there(&shop, &first, &attempt);
}
