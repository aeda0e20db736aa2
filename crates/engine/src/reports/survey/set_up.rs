//! The two files `baton init` writes, made of what was found. Both explain themselves to whoever opens them.

use std::fmt::Write;

use crate::reports::survey::Survey;

/// What the settings are made of.
#[derive(Debug, Clone)]
pub struct SetUp {
    pub survey: Survey,
    /// Agents that are installed, the likeliest first.
    pub agents: Vec<&'static str>,
}

/// Names of commands that show whether work is good, where the repository has them.
const CHECKS: [&str; 2] = ["test", "lint"];

impl SetUp {
    pub fn checks(&self) -> Vec<&'static str> {
        CHECKS.into_iter().filter(|name| self.survey.has(name)).collect()
    }

    /// `.agent/baton.toml`. What was found is set; what was not is shown, commented out.
    pub fn settings(&self) -> String {
        let mut text = String::from(
            "# How Baton works on this repository. Every key has a default; `baton config` shows them all,\n\
             # and where each value comes from.\n\n",
        );
        text.push_str("# Which agent does the work. `baton doctor` tells which are installed and answer.\n");
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
                 # or write down any program of your own below.\n# default_agent = \"claude\"\n",
            ),
        }
        text.push_str(
            "\n# Any program can be an agent: it finds its prompt on standard input and works where it is started.\n\
             # [agents.mine]\n# kind = \"command\"\n# command = [\"my-agent\", \"--some-flag\"]\n# max_turns = 50\n\
             \n# How many agents work at once.\n# max_agents = 4\n\n",
        );
        text.push_str("# Commands of .agent/Taskfile.yml that are run over finished work; a failing one sends it back.\n");
        let checks = self.checks();
        if checks.is_empty() {
            text.push_str("# checks = [\"test\", \"lint\"]\n");
        } else {
            let _ = writeln!(text, "checks = [\"{}\"]", checks.join("\", \""));
        }
        text.push_str(
            "\n# What git does not carry and an agent needs in its worktree.\n# [worktree]\n# copy = [\".env\"]\n\
             \n# How you are told when you are not looking: a program that gets the notice as JSON, or an address.\n\
             # [notify]\n# command = [\"notify-send\", \"Baton\"]\n# webhook = \"http://localhost:9000/baton\"\n",
        );
        // A table header ends the top level, so the plain keys must all stand before any.
        text
    }

    /// `.agent/Taskfile.yml`.
    pub fn taskfile(&self) -> String {
        let mut text = String::from(
            "# Commands of this repository that people and agents may run by name: `baton tasks` lists them,\n\
             # `baton do NAME -- ARGS` runs one, agents have them as tools. They run with your rights.\n\
             # The format is that of Taskfile (version 3).\nversion: '3'\n\ntasks:\n",
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
                quoted(&suggestion.description),
                quoted(&suggestion.command)
            );
        }
        text
    }
}

/// A YAML text on one line, whatever is in it. Templates in a description would be carried out.
fn quoted(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("'{}'", line.replace('\'', "''"))
}
