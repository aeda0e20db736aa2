//! Agents in the settings: known names, mistakes, and the settings that reach the agent.

use serde_json::json;

use super::fake::{self, outcome, sessions, turns};
use crate::engine::test_repo::TestRepo;

/// The error of `baton up` for invalid settings.
fn complaint(settings: &str) -> String {
    let repo = TestRepo::of(|_| settings.to_owned());
    let output = repo.output(&["up", "--listen", "127.0.0.1:0"]);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap().replace(repo.folder.to_str().unwrap(), "FOLDER")
}

#[test]
fn a_mistake_in_the_settings_gets_a_suggestion() {
    insta::assert_snapshot!(complaint("default_agent = \"gose\"\n"), @r#"
    error: FOLDER/.agent/baton.toml: default_agent names the agent "gose", which is neither in [agents] nor a known agent; did you mean "goose"?

    Hint: fix .agent/baton.toml, or learn the agent from a registry: baton agents update FILE
    More: baton explain unknown_agent
    "#);
    insta::assert_snapshot!(complaint("default_agent = \"x\"\n[agents.x]\nkind = \"acpp\"\ncommand = [\"x\"]\n"), @r#"
    error: FOLDER/.agent/baton.toml: TOML parse error at line 3, column 8
      |
    3 | kind = "acpp"
      |        ^^^^^^
    "acpp" is not a kind of agent (acp, claude, codex, command, scripted); did you mean "acp"?

    Hint: fix .agent/baton.toml and try again
    More: baton explain settings_malformed
    "#);
    insta::assert_snapshot!(complaint("default_agent = \"x\"\n[agents.x]\ncommand = [\"x\"]\n"), @r#"
    error: FOLDER/.agent/baton.toml: TOML parse error at line 2, column 2
      |
    2 | [agents.x]
      |  ^^^^^^
    [agents.x] needs a kind

    Hint: fix .agent/baton.toml and try again
    More: baton explain settings_malformed
    "#);
    insta::assert_snapshot!(complaint("default_agent = \"goose\"\n[agents.goose]\nidle_timeot = 3\n"), @r#"
    error: FOLDER/.agent/baton.toml: [agents.goose] has no setting "idle_timeot"; did you mean "idle_timeout"?

    Hint: fix .agent/baton.toml and try again
    More: baton explain unknown_setting
    "#);
    insta::assert_snapshot!(
        complaint("default_agent = \"goose\"\n[roles.review]\npermissions = { alow = [\"git \"] }\n"),
        @r#"
    error: FOLDER/.agent/baton.toml: TOML parse error at line 3, column 15
      |
    3 | permissions = { alow = ["git "] }
      |               ^^^^^^^^^^^^^^^^^^^
    permissions has no setting "alow"; did you mean "allow"?

    Hint: fix .agent/baton.toml and try again
    More: baton explain settings_malformed
    "#
    );
}

#[test]
fn the_name_of_a_known_agent_is_enough() {
    let repo = TestRepo::of(|home| {
        // A program of that name on PATH.
        std::fs::create_dir(home.join("bin")).unwrap();
        std::os::unix::fs::symlink(fake::program("fake-acp-agent"), home.join("bin/fake")).unwrap();
        let script = home.join("acp.json");
        let steps = turns(json!([[{ "commit": "by the known agent" }, outcome("complete")]]));
        std::fs::write(&script, steps.to_string()).unwrap();
        let launcher =
            format!("#!/bin/sh\n[ \"$1\" = acp ] && exec \"$(dirname \"$0\")/fake\" {}\n", script.display());
        std::fs::write(home.join("bin/goose"), launcher).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(home.join("bin/goose"), mode).unwrap();
        "default_agent = \"goose\"\n".to_owned()
    });
    let mut repo = repo;
    let path = format!("{}:{}", repo.home.join("bin").display(), std::env::var("PATH").unwrap());
    repo.variables.push(("PATH".to_owned(), path));
    let task = repo.add("Something", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(repo.attempts(&task)[0]["attempt"]["agent"], "goose");
}

#[test]
fn a_session_is_opened_with_the_tools_the_model_and_the_worktree() {
    let mut script = turns(json!([[{ "commit": "done" }, outcome("complete")]]));
    script["models"] = json!(true);
    let repo = fake::repo(&script, "model = \"large\"\nmax_turns = 7", "");
    let task = repo.add("Something", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let session = &sessions(&repo)[0];
    let opened = &session[0]["opened"];
    assert!(opened["cwd"].as_str().unwrap().contains("/worktrees/"), "{opened}");
    let server = &opened["mcpServers"][0];
    assert_eq!((server["name"].as_str(), server["args"][0].as_str()), (Some("baton"), Some("mcp")));
    assert_eq!(session[1]["set"]["value"], "large");
    let attempt = &repo.attempts(&task)[0];
    assert_eq!(attempt["closing"]["end"]["verified"]["turns_max"], 7);
    assert_eq!(attempt["attempt"]["agent_session"]["agent"], "fake");
}
