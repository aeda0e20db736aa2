//! Runs the tutorial as written: with an empty home, only git and Baton on PATH, and a scripted agent in place of the
//! real one.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use super::console::Console;
use super::root;
use crate::agents::fake;

/// An empty home and a folder with the programs on PATH.
struct Newcomer {
    _scratch: TempDir,
    home: PathBuf,
    path: PathBuf,
}

impl Newcomer {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let (home, path) = (base.join("home"), base.join("bin"));
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(&path).unwrap();
        symlink(env!("CARGO_BIN_EXE_baton"), path.join("baton")).unwrap();
        symlink(git(), path.join("git")).unwrap();
        Self { _scratch: scratch, home, path }
    }

    /// Installs a scripted agent under the name of Claude Code's.
    fn with_claude(self) -> Self {
        let tool = |name: &str, arguments| json!({ "mcp": { "tool": name, "arguments": arguments } });
        let done =
            tool("report_outcome", json!({ "outcome": "complete", "description": "Written and committed." }));
        let script = json!({
            "mcp": true,
            "turns": [[
                { "file": { "path": "hello.txt", "text": "Hello!\n", "message": "Say hello" } },
                { "text": "hello.txt says hello." }, done
            ]],
            "turns_of_later_sessions": [
                [[
                    tool("ask_user", json!({ "question": "Should the French greeting be formal?", "options": ["formal", "casual"] })),
                    { "file": { "path": "bonjour.txt", "text": "Salut !\n", "message": "Say hello in French" } },
                    done
                ]],
                [[
                    { "file": { "path": "hallo.txt", "text": "Hallo!\n", "message": "Say hello in German" } },
                    { "text": "hallo.txt says hello in German." }, done
                ]],
            ],
        });
        let folder = self.home.parent().unwrap().join("agent");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("script.json"), script.to_string()).unwrap();
        // Beside the script: in a fence an agent sees its own program, but not the folder of this build.
        let binary = folder.join("fake-acp-agent");
        std::fs::copy(fake::program("fake-acp-agent"), &binary).unwrap();
        let program = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 1.0.0; exit; fi\nexec '{}' '{}'\n",
            binary.display(),
            folder.join("script.json").display()
        );
        let file = self.path.join("claude-agent-acp");
        std::fs::write(&file, program).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn play(&self, page: &str) {
        Console::new(&self.home, &self.path).play(&root().join("docs/tutorial").join(page));
    }
}

fn git() -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&folders).map(|folder| folder.join("git")).find(|file| file.is_file());
    found.expect("git is on the path").canonicalize().unwrap()
}

#[test]
fn the_tutorial_of_the_demo_does_what_it_says() {
    Newcomer::new().play("demo.md");
}

#[test]
fn the_tutorial_with_an_agent_does_what_it_says() {
    Newcomer::new().with_claude().play("first-task.md");
}

#[test]
fn every_page_of_the_tutorial_is_played() {
    let played = ["demo.md", "first-task.md"];
    for page in super::pages(&root().join("docs/tutorial")) {
        let name = page.file_name().and_then(std::ffi::OsStr::to_str).unwrap().to_owned();
        assert!(played.contains(&name.as_str()), "{name} is a page of the tutorial that no test plays");
    }
    assert!(Path::new(&root().join("docs/tutorial/demo.md")).is_file());
}
