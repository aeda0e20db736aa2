//! Two agents that do the same at the same moment.

use crate::engine::test_repo::TestRepo;

#[test]
fn i15_the_same_commit_of_two_tasks_is_the_work_of_both() {
    let repo = TestRepo::with_agent("", "[checks]\nrules = [\"true\"]");
    let program = r#"touch "{HOME}/begun-$BATON_TASK_ID"
until test "$(ls "{HOME}" | grep -c begun-)" = 2; do sleep 0.05; done
echo same > same.txt; git add -A
GIT_AUTHOR_DATE=2026-01-02T03:04:05Z GIT_COMMITTER_DATE=2026-01-02T03:04:05Z git commit -q -m Same"#;
    repo.set_agent(&program.replace("{HOME}", repo.home.to_str().unwrap()));
    let (one, other) = (repo.add("Do it", &[]), repo.add("Do it as well", &[]));
    repo.work_until(&[(&one, "provisional"), (&other, "provisional")]);
    let heads = [&one, &other].map(|task| repo.git(&["rev-parse", &format!("baton/{task}")]));
    assert_eq!(heads[0], heads[1]);
    for task in [&one, &other] {
        let view = repo.show(task);
        assert_eq!((&view["verified"]["commits"], repo.attempts(task).len()), (&1.into(), 1), "{view:#}");
        repo.stdout(&["accept", task]);
        assert_eq!(repo.queue(task), "done");
    }
}
