//! The settings `[worktree]`: copied files and submodules.

use super::test_repo::TestRepo;

#[test]
fn copied_files_and_submodules_are_present_and_not_committed() {
    let settings = "[worktree]\ncopy = [\".env\", \"not/there\"]\nsubmodules = true";
    let mut repo = TestRepo::with_agent("cat .env part/inside > seen.txt; work", settings);
    let config = repo.home.join("gitconfig");
    std::fs::write(&config, "[protocol \"file\"]\n\tallow = always\n").unwrap();
    repo.variables.push(("GIT_CONFIG_GLOBAL".to_owned(), config.display().to_string()));
    let part = repo.home.join("part");
    std::fs::create_dir(&part).unwrap();
    std::fs::write(part.join("inside"), "from the submodule\n").unwrap();
    let part = part.display().to_string();
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "Part"]] {
        repo.git(&[&["-C", &part], arguments].concat());
    }
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &part, "part"]);
    repo.git(&["commit", "-q", "-m", "Add a part"]);
    std::fs::write(repo.folder.join(".env"), "SECRET=1\n").unwrap();
    std::fs::write(repo.folder.join(".git/info/exclude"), ".env\n").unwrap();
    let task = repo.add("Look around", &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.git(&["show", "baton/next:seen.txt"]), "SECRET=1\nfrom the submodule");
    assert!(!repo.try_git(&["show", "baton/next:.env"]).0, "a copied file is not committed");
}

#[test]
fn a_repository_without_a_commit_is_asked_about_once_and_goes_on_with_one() {
    let repo = TestRepo::with_working_agent("");
    std::fs::remove_dir_all(repo.folder.join(".git")).unwrap();
    repo.git(&["init", "-q", "-b", "main"]);
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until("a question", || repo.status(&task) == "AWAITING_RESPONSE");
    let asked = repo.show(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.contains("has no commits yet") && asked.contains("commit --allow-empty"), "{asked}");
    assert_eq!(repo.attempts(&task).len(), 1, "another try would meet it too");
    repo.git(&["add", "README.md"]);
    repo.git(&["commit", "-q", "-m", "Begin"]);
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    up.end();
}
