use std::fs;

use crate::reports::survey::*;
use crate::settings::Settings;
use crate::user_tasks::{Site, TASKFILE, UserTaskSettings, UserTasks};

fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn names(files: &[(&str, &str)]) -> Vec<String> {
    Survey::scan(repository(files).path())
        .suggestions
        .iter()
        .map(|each| format!("{}: {}", each.name, each.command))
        .collect()
}

#[test]
fn each_kind_of_repository_offers_what_it_has() {
    assert_eq!(names(&[("README.md", "")]), Vec::<String>::new());
    assert_eq!(
        names(&[("go.mod", "module x")]),
        ["test: go test {{.CLI_ARGS}} ./...", "build: go build ./...", "lint: go vet ./..."]
    );
    assert_eq!(
        names(&[
            (
                "package.json",
                r#"{"scripts":{"test":"jest","pretest":"x","build:web":"vite","bad name":"y"}}"#
            ),
            ("yarn.lock", "")
        ]),
        ["build-web: yarn run build:web {{.CLI_ARGS}}", "test: yarn run test {{.CLI_ARGS}}"]
    );
    assert_eq!(
        names(&[("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]"), ("uv.lock", "")]),
        ["test: uv run pytest {{.CLI_ARGS}}", "lint: uv run ruff check", "format: uv run ruff format"]
    );
    let makefile = "CC := gcc\n.PHONY: all\n## Make it all\nall: x.o\nx.o: x.c\n\tcc x.c\ntest: all ## Try it\n%.o: %.c\nall: again\nurl = http://x\n";
    assert_eq!(names(&[("Makefile", makefile)]), ["all: make all", "test: make test"]);
}

#[test]
fn a_second_tool_with_the_same_name_says_whose_it_is() {
    let both = names(&[("Cargo.toml", "[workspace]"), ("Makefile", "test:\n\ttrue\n")]);
    assert_eq!(both[0], "test: cargo test --workspace {{.CLI_ARGS}}");
    assert_eq!(both[4], "make-test: make test");
}

#[test]
fn what_is_written_is_read_back_by_the_parts_that_use_it() {
    let scripts = r#"{"scripts":{"test":"echo 'it''s' \"{{.X}}\" # odd","lint":"x"}}"#;
    for files in
        [&[("package.json", scripts)][..], &[("README.md", "")][..], &[("Cargo.toml", "[package]")][..]]
    {
        for agents in [vec![], vec!["claude"], vec!["claude", "goose"]] {
            let folder = repository(files);
            let set_up = InitFiles { survey: Survey::scan(folder.path()), agents };
            fs::create_dir(folder.path().join(".agent")).unwrap();
            fs::write(folder.path().join(TASKFILE), set_up.taskfile()).unwrap();
            let path = folder.path().join(".agent/baton.toml");
            fs::write(&path, set_up.settings()).unwrap();
            Settings::load(&path).unwrap();
            let tasks = UserTasks::new(&folder.path().join(".agent/state"), UserTaskSettings::default());
            let listed = tasks.list(&Site::of_person(folder.path())).unwrap();
            assert_eq!(listed.tasks.len(), set_up.survey.suggestions.len().max(1));
        }
    }
}
