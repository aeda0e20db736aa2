//! The files that the project's Taskfile includes judge work as the Taskfile does: an agent's changes of them need a person.

use super::own_history;
use crate::engine::test_repo::TestRepo;

const TASKFILE: &str = "version: '3'
includes:
  ci: {taskfile: ../ci, flatten: true}
  extra: {taskfile: ../local/extra.yml, flatten: true, optional: true}
";
const CI: &str = "version: '3'\nincludes: {deep: {taskfile: ./deep/more.yml, flatten: true}}\n";
const MORE: &str = "version: '3'\ntasks:\n  rules: {cmds: ['! test -e bad.txt']}\n";

/// The check is a user task of a file that one outside `.agent` includes, which the Taskfile includes.
fn including(settings: &str) -> TestRepo {
    let repo = TestRepo::with_agent("", &format!("{settings}\nchecks = [\"rules\"]"));
    std::fs::create_dir_all(repo.folder.join("ci/deep")).unwrap();
    for (file, text) in
        [(".agent/Taskfile.yml", TASKFILE), ("ci/Taskfile.yml", CI), ("ci/deep/more.yml", MORE)]
    {
        std::fs::write(repo.folder.join(file), text).unwrap();
    }
    repo.git(&["add", "-A", "-f", ".agent/Taskfile.yml", "ci"]);
    repo.git(&["commit", "-q", "-m", "Define it"]);
    repo
}

#[test]
fn an_included_file_that_an_agent_changes_needs_a_person_under_every_policy() {
    let changes = [
        ("ci/deep/more.yml", "sed -i 's/.! test -e bad.txt./true/' ci/deep/more.yml"),
        (
            "ci/Taskfile.yml",
            "printf \"version: '3'\\ntasks: {rules: {cmds: ['true']}}\\n\" > ci/Taskfile.yml",
        ),
        ("ci/deep/more.yml", "git rm -q ci/deep/more.yml"),
        // What is not there yet is included as soon as it is.
        ("local/extra.yml", "mkdir local; printf \"version: '3'\\ntasks: {}\\n\" > local/extra.yml"),
        ("ci", "mv ci other; ln -s other ci"),
    ];
    for (file, change) in changes {
        let repo = including("accept_when = \"green\"");
        repo.set_agent(&format!("{change}; git add -A; git commit -q -m Change; echo Done."));
        let task = repo.add("Do it", &[]);
        repo.work_until(&[(&task, "provisional")]);
        let reasons = repo.show(&task)["needs_review"].to_string();
        assert!(reasons.contains("protected files") && reasons.contains(file), "{change}: {reasons}");
        assert!(own_history(&repo).is_empty());
    }
}

#[test]
fn a_file_beside_the_included_ones_lands_by_itself() {
    let repo = including("accept_when = \"green\"");
    repo.set_agent("echo x > ci/notes.txt; echo x > ci/deep/more.txt; git add -A; git commit -q -m Change");
    let task = repo.add("Do it", &[]);
    repo.work_until(&[(&task, "done")]);
    assert_eq!(own_history(&repo).len(), 1);
}
