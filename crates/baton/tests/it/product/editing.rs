//! `baton task edit`: by flags and in an editor, and nothing a person wrote is lost.

use std::process::{Command, Stdio};

use crate::engine::shop::{Shop, read};

/// Where an editor finds the text of a task, and a terminal to open it in.
struct Desk {
    shop: Shop,
    task: String,
}

impl Desk {
    fn new() -> Self {
        let mut shop = Shop::diligent("");
        let editor = shop.home.join("editor.sh");
        shop.variables.push(("EDITOR".to_owned(), format!("sh {}", editor.display())));
        shop.variables.push(("VISUAL".to_owned(), String::new()));
        let task = shop.add("Fix the login", &[]);
        Self { shop, task }
    }

    /// Edits with an editor that does this with the file `$1`.
    fn edit(&self, does: &str) -> (Option<i32>, String) {
        std::fs::write(self.shop.home.join("editor.sh"), does).unwrap();
        let edit = format!("{} task edit {}", env!("CARGO_BIN_EXE_baton"), self.task);
        let mut command = Command::new("script");
        command
            .args(["-qec", &edit, "/dev/null"])
            .current_dir(&self.shop.folder)
            .envs(self.shop.variables.clone());
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn kept(&self) -> std::path::PathBuf {
        self.shop.state().join(format!("edits/{}.md", self.task))
    }
}

#[test]
fn flags_change_what_they_name_and_nothing_else() {
    let desk = Desk::new();
    let (shop, task) = (&desk.shop, desk.task.as_str());
    let told =
        shop.says(&["task", "edit", task, "--priority", "P0", "--instruction", "It fails on Mondays."]);
    assert_eq!(told, format!("Changed description and priority of {task}.\n"));
    let shown = shop.show(task);
    assert_eq!((shown["priority"].as_str(), shown["title"].as_str()), (Some("P0"), Some("Fix the login")));
    assert_eq!(shown["description"], "It fails on Mondays.");
    assert!(shop.says(&["task", "edit", task, "--priority", "P0"]).contains("is unchanged"));
    let first = shop.add("Understand the login", &[]);
    shop.says(&["task", "edit", task, "--after", &first]);
    assert_eq!(shop.show(task)["waiting_on"], serde_json::json!([first]));
    let circle = shop.output(&["task", "edit", &first, "--after", task]);
    assert!(!circle.status.success(), "they would wait for one another");
    assert_eq!(shop.output(&["task", "edit", task, "--title", " "]).status.code(), Some(2));
    // Nobody can type here, so no editor is opened, and nothing is left lying about.
    let output = shop.output(&["task", "edit", task]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("use flags"));
    assert!(!desk.kept().exists());
}

#[test]
fn an_editor_shows_the_task_and_what_was_written_is_taken_or_kept() {
    let desk = Desk::new();
    let (code, said) =
        desk.edit("grep -q 'title: Fix the login' \"$1\" && printf 'titel: Fix it\\n\\nNow.\\n' > \"$1\"");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(&format!("{}:1: unknown field \"titel\"", desk.kept().display())), "{said}");
    let (code, said) = desk.edit("sed -i 's/titel/title/' \"$1\"");
    assert_eq!(code, Some(0), "{said}");
    let shown = desk.shop.show(&desk.task);
    assert_eq!((shown["title"].as_str(), shown["description"].as_str()), (Some("Fix it"), Some("Now.")));
    assert!(!desk.kept().exists(), "nothing is kept of what was taken");
    assert!(desk.edit("true").1.contains("is unchanged"));
}

#[test]
fn two_who_edit_at_once_lose_nothing() {
    let desk = Desk::new();
    let baton = env!("CARGO_BIN_EXE_baton");
    // While this editor is open, somebody else is faster.
    let other = format!("{baton} task edit {} --description 'Theirs.'", desk.task);
    let (code, said) = desk.edit(&format!("{other} >/dev/null && printf 'Mine.\\n' >> \"$1\""));
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("was changed by somebody else meanwhile"), "{said}");
    assert_eq!(desk.shop.show(&desk.task)["description"], "Theirs.");
    assert!(read(desk.kept()).ends_with("Mine.\n"), "the edit is kept");
    assert!(
        read(desk.kept().with_extension("theirs.md")).ends_with("Theirs.\n"),
        "and so is theirs, to look at"
    );
    // Another part of it is another matter: both changes stand.
    std::fs::remove_file(desk.kept()).unwrap();
    let other = format!("{baton} task edit {} --priority P0", desk.task);
    let (code, said) = desk.edit(&format!("{other} >/dev/null && printf 'And mine.\\n' >> \"$1\""));
    assert_eq!(code, Some(0), "{said}");
    let shown = desk.shop.show(&desk.task);
    assert_eq!(
        (shown["priority"].as_str(), shown["description"].as_str()),
        (Some("P0"), Some("Theirs.\nAnd mine."))
    );
}

#[test]
fn what_has_been_worked_on_cannot_be_told_to_wait() {
    let shop = Shop::diligent("");
    let task = shop.add("Fix the login", &[]);
    shop.work_until(&[(&task, "provisional")]);
    let other = shop.add("Understand the login", &[]);
    let output = shop.output(&["task", "edit", &task, "--after", &other]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("has been worked on") && said.contains("add it again with --after"), "{said}");
    shop.says(&["task", "edit", &task, "--priority", "P0"]);
    assert_eq!(shop.show(&task)["priority"], "P0", "its words may still change");
}
