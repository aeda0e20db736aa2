//! `baton task edit` by flags and in an editor loses nothing that a person wrote.

use std::process::{Command, Stdio};

use crate::engine::test_repo::{TestRepo, read};

/// A task, and an editor that the test scripts.
struct EditFixture {
    repo: TestRepo,
    task: String,
}

impl EditFixture {
    fn new() -> Self {
        let mut repo = TestRepo::with_working_agent("");
        let editor = repo.home.join("editor.sh");
        repo.variables.push(("EDITOR".to_owned(), format!("sh {}", editor.display())));
        repo.variables.push(("VISUAL".to_owned(), String::new()));
        let task = repo.add("Fix the login", &[]);
        Self { repo, task }
    }

    /// Edits the task; the editor is this shell script, with the file as `$1`.
    fn edit(&self, does: &str) -> (Option<i32>, String) {
        std::fs::write(self.repo.home.join("editor.sh"), does).unwrap();
        let edit = format!("{} task edit {}", env!("CARGO_BIN_EXE_baton"), self.task);
        let mut command = Command::new("script");
        command
            .args(["-qec", &edit, "/dev/null"])
            .current_dir(&self.repo.folder)
            .envs(self.repo.variables.clone());
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn kept(&self) -> std::path::PathBuf {
        self.repo.state().join(format!("edits/{}.md", self.task))
    }
}

#[test]
fn flags_change_what_they_name_and_nothing_else() {
    let fixture = EditFixture::new();
    let (repo, task) = (&fixture.repo, fixture.task.as_str());
    let printed =
        repo.stdout(&["task", "edit", task, "--priority", "P0", "--instruction", "It fails on Mondays."]);
    assert_eq!(printed, format!("Changed description and priority of {task}.\n"));
    let shown = repo.show(task);
    assert_eq!((shown["priority"].as_str(), shown["title"].as_str()), (Some("P0"), Some("Fix the login")));
    assert_eq!(shown["description"], "It fails on Mondays.");
    assert!(repo.stdout(&["task", "edit", task, "--priority", "P0"]).contains("is unchanged"));
    let first = repo.add("Understand the login", &[]);
    repo.stdout(&["task", "edit", task, "--after", &first]);
    assert_eq!(repo.show(task)["waiting_on"], serde_json::json!([first]));
    let circle = repo.output(&["task", "edit", &first, "--after", task]);
    assert!(!circle.status.success(), "a dependency cycle is refused");
    assert_eq!(repo.output(&["task", "edit", task, "--title", " "]).status.code(), Some(2));
    // Without a terminal no editor is opened and no file is left.
    let output = repo.output(&["task", "edit", task]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("use flags"));
    assert!(!fixture.kept().exists());
}

#[test]
fn a_task_from_an_editor_is_saved_or_kept() {
    let fixture = EditFixture::new();
    let (code, printed) =
        fixture.edit("grep -q 'title: Fix the login' \"$1\" && printf 'titel: Fix it\\n\\nNow.\\n' > \"$1\"");
    assert_eq!(code, Some(2), "{printed}");
    assert!(
        printed.contains(&format!("{}:1: unknown field \"titel\"", fixture.kept().display())),
        "{printed}"
    );
    let (code, printed) = fixture.edit("sed -i 's/titel/title/' \"$1\"");
    assert_eq!(code, Some(0), "{printed}");
    let shown = fixture.repo.show(&fixture.task);
    assert_eq!((shown["title"].as_str(), shown["description"].as_str()), (Some("Fix it"), Some("Now.")));
    assert!(!fixture.kept().exists(), "nothing is kept of a saved edit");
    assert!(fixture.edit("true").1.contains("is unchanged"));
}

#[test]
fn concurrent_edits_lose_nothing() {
    let fixture = EditFixture::new();
    let baton = env!("CARGO_BIN_EXE_baton");
    // While this editor is open, another edit is saved.
    let other = format!("{baton} task edit {} --description 'Theirs.'", fixture.task);
    let (code, printed) = fixture.edit(&format!("{other} >/dev/null && printf 'Mine.\\n' >> \"$1\""));
    assert_eq!(code, Some(4), "{printed}");
    assert!(printed.contains("somebody else changed the text of"), "{printed}");
    assert_eq!(fixture.repo.show(&fixture.task)["description"], "Theirs.");
    assert!(read(fixture.kept()).ends_with("Mine.\n"), "the edit is kept");
    assert!(read(fixture.kept().with_extension("theirs.md")).ends_with("Theirs.\n"), "so is the other one");
    // Edits of different fields do not conflict.
    std::fs::remove_file(fixture.kept()).unwrap();
    let other = format!("{baton} task edit {} --priority P0", fixture.task);
    let (code, printed) = fixture.edit(&format!("{other} >/dev/null && printf 'And mine.\\n' >> \"$1\""));
    assert_eq!(code, Some(0), "{printed}");
    let shown = fixture.repo.show(&fixture.task);
    assert_eq!(
        (shown["priority"].as_str(), shown["description"].as_str()),
        (Some("P0"), Some("Theirs.\nAnd mine."))
    );
}

#[test]
fn a_task_with_attempts_gets_no_new_dependencies() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Fix the login", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let other = repo.add("Understand the login", &[]);
    let output = repo.output(&["task", "edit", &task, "--after", &other]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{printed}");
    assert!(
        printed.contains("has been worked on") && printed.contains("baton task add TITLE --after OTHER"),
        "{printed}"
    );
    repo.stdout(&["task", "edit", &task, "--priority", "P0"]);
    assert_eq!(repo.show(&task)["priority"], "P0", "its text may still change");
}
