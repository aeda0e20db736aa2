//! Plans written by a person, from a file, standard input or an editor, are never lost.

use std::io::Write;
use std::process::Stdio;

use super::test_repo::{TestRepo, read};

/// A repository with a recycled task, and its breakdown, which has no plan yet.
fn too_large() -> (TestRepo, String) {
    let repo = TestRepo::with_agent("turns 50", "recycle = { plan = \"person\" }");
    let task = repo.add("Too large", &[]);
    repo.work_until(&[(&task, "recycled")]);
    let breakdown =
        repo.json(&["breakdown", "list"])["breakdowns"][0]["task_id"].as_str().unwrap().to_owned();
    (repo, breakdown)
}

fn submit(repo: &TestRepo, breakdown: &str, text: &str) -> (Option<i32>, String) {
    let mut command = repo.baton(&["breakdown", "edit", breakdown, "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

#[test]
fn a_plan_is_read_as_yaml_or_json_from_a_file_or_standard_input() {
    let (repo, breakdown) = too_large();
    let (code, printed) =
        submit(&repo, &breakdown, "items:\n  - title: First\n  - title: Second\n    depends_on: [1]\n");
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("2. Second (after 1)"), "{printed}");
    let file = repo.home.join("plan.json");
    std::fs::write(&file, r#"{"items": [{"title": "Other"}]}"#).unwrap();
    assert!(repo.stdout(&["breakdown", "edit", &breakdown, file.to_str().unwrap()]).contains("1. Other"));
    assert!(
        !repo.state().join(format!("edits/{breakdown}.yml")).exists(),
        "nothing is kept of an accepted plan"
    );
}

#[test]
fn an_invalid_plan_is_kept_and_the_error_has_its_position() {
    let (repo, breakdown) = too_large();
    let kept = repo.state().join(format!("edits/{breakdown}.yml"));
    let text = "items:\n  - title: First\n    title: Twice\n";
    let (code, printed) = submit(&repo, &breakdown, text);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains(&format!("{}:3:5: duplicate key title", kept.display())), "{printed}");
    assert_eq!(read(&kept), text);
    let (code, printed) = submit(&repo, &breakdown, "items:\n  - title: First\n    depends_on: [7]\n");
    assert_eq!(code, Some(2), "{printed}");
    assert!(
        printed.contains("item 1, depends_on") && printed.contains(&*kept.display().to_string()),
        "{printed}"
    );
    assert!(read(&kept).contains("[7]"));
}

#[test]
fn a_plan_from_an_editor_is_submitted_or_kept() {
    let (mut repo, breakdown) = too_large();
    let editor = repo.home.join("editor.sh");
    repo.variables.push(("EDITOR".to_owned(), format!("sh {}", editor.display())));
    repo.variables.push(("VISUAL".to_owned(), String::new()));
    let edit = format!("{} breakdown edit {breakdown}", env!("CARGO_BIN_EXE_baton"));
    // `script` gives it a terminal.
    let in_terminal = || {
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &edit, "/dev/null"]).current_dir(&repo.folder).envs(repo.variables.clone());
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let kept = repo.state().join(format!("edits/{breakdown}.yml"));

    std::fs::write(&editor, "grep -q 'title: First part' \"$1\" && printf 'items: [' > \"$1\"").unwrap();
    let (code, printed) = in_terminal();
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains(&format!("{}:", kept.display())), "{printed}");
    assert_eq!(read(&kept), "items: [", "the edit is not lost");

    std::fs::write(&editor, "printf '%s' \"{title: Fixed}]\" >> \"$1\"").unwrap();
    let (code, printed) = in_terminal();
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("1. Fixed") && !kept.exists(), "{printed}");

    std::fs::write(&editor, "grep -q 'title: \"Fixed\"' \"$1\"").unwrap();
    assert_eq!(in_terminal().0, Some(0), "the existing plan is edited");

    let output = repo.output(&["breakdown", "edit", &breakdown]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && printed.contains("no terminal"), "{printed}");
}
