//! The files that `baton init` writes, with comments.

use std::fmt::Write;

use crate::reports::survey::Survey;

#[derive(Debug, Clone)]
pub struct InitFiles {
    pub survey: Survey,
    /// The installed agents, in order of preference.
    pub agents: Vec<&'static str>,
}

/// Names of commands to use as checks, if the repository has them.
const CHECKS: [&str; 2] = ["test", "lint"];

impl InitFiles {
    pub fn checks(&self) -> Vec<&'static str> {
        CHECKS.into_iter().filter(|name| self.survey.has(name)).collect()
    }

    /// `.agent/baton.toml`. Sets what was found; the rest is commented out.
    pub fn settings(&self) -> String {
        let mut text = String::from(
            "# Settings of Baton for this repository. Every key has a default; `baton config` shows all values\n\
             # and where they come from.\n\n",
        );
        text.push_str("# The agent that does the work. `baton doctor` shows which are installed and work.\n");
        match self.agents.split_first() {
            Some((first, others)) => {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "default_agent = \"{first}\"");
                if !others.is_empty() {
                    let _ = writeln!(text, "# also installed: {}", others.join(", "));
                }
            }
            None => text.push_str(
                "# None was found. Install one (claude, codex, gemini, opencode, goose, …) and name it here,\n\
                 # or define your own below.\n# default_agent = \"claude\"\n",
            ),
        }
        text.push_str(
            "\n# Any program can be an agent: it reads its prompt from standard input and works in its current directory.\n\
             # [agents.mine]\n# kind = \"command\"\n# command = [\"my-agent\", \"--some-flag\"]\n# max_turns = 50\n\
             \n# How many agents may run at once.\n# max_agents = 4\n\n",
        );
        text.push_str("# Commands of .agent/Taskfile.yml to run on finished work; if one fails, the task is sent back.\n");
        let checks = self.checks();
        if checks.is_empty() {
            text.push_str("# checks = [\"test\", \"lint\"]\n");
        } else {
            let _ = writeln!(text, "checks = [\"{}\"]", checks.join("\", \""));
        }
        text.push_str(
            "\n# Untracked files that agents need in their worktrees.\n# [worktree]\n# copy = [\".env\"]\n\
             \n# How you are notified: a program that gets the notice as JSON, or a URL.\n\
             # [notify]\n# command = [\"./scripts/notify\"]\n# webhook = \"http://localhost:9000/baton\"\n",
        );
        text
    }

    /// `.agent/Taskfile.yml`.
    pub fn taskfile(&self) -> String {
        let mut text = String::from(
            "# Commands of this repository that people and agents can run by name: `baton tasks` lists them,\n\
             # `baton do NAME -- ARGS` runs one, and agents get them as tools. They run with your permissions.\n\
             # The format is Taskfile, version 3.\nversion: '3'\n\ntasks:\n",
        );
        if self.survey.suggestions.is_empty() {
            text.push_str(
                "  hello:\n    desc: Say hello (an example; put your own commands here)\n    cmds:\n      - echo 'hello {{.CLI_ARGS}}'\n",
            );
        }
        let mut from = "";
        for suggestion in &self.survey.suggestions {
            if suggestion.from != from {
                from = suggestion.from;
                let _ = writeln!(text, "  # from {from}");
            }
            let _ = writeln!(
                text,
                "  {}:\n    desc: {}\n    cmds:\n      - {}",
                suggestion.name,
                quote(&suggestion.description),
                quote(&suggestion.command)
            );
        }
        text
    }
}

/// Quotes a YAML scalar on one line.
fn quote(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("'{}'", line.replace('\'', "''"))
}
