//! The groups in which `baton --help` lists the commands.

use std::fmt::Write;

use clap::Command;

/// Every command that is not hidden is in one of them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["demo", "init", "up", "doctor", "explain"]),
    ("Give work", &["chat", "task", "plan", "recipe", "loop", "routine", "project", "import"]),
    ("See what happens", &["status", "watch", "questions", "landing", "cost", "open"]),
    (
        "Decide and steer",
        &[
            "answer",
            "review",
            "accept",
            "reject",
            "recycle",
            "breakdown",
            "say",
            "take",
            "give",
            "stop",
            "hold",
        ],
    ),
    ("User tasks", &["tasks", "do"]),
    (
        "Set up and look after",
        &[
            "config",
            "trust",
            "agents",
            "accounts",
            "worker",
            "workers",
            "store",
            "token",
            "mcp",
            "export",
            "backup",
            "restore",
            "completions",
            "man",
        ],
    ),
];

/// The program with its commands in groups.
pub(crate) fn with_groups(program: Command) -> Command {
    let groups = render(&program);
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

fn render(program: &Command) -> String {
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (heading, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let command = program.find_subcommand(name);
            let about = command.and_then(Command::get_about).map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<width$}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let program = Cli::command();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(grouped.len(), grouped.iter().collect::<BTreeSet<_>>().len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), shown);
    }

    #[test]
    fn the_help_lists_the_groups_and_the_options() {
        let help = with_groups(Cli::command()).render_help().to_string();
        for part in ["Decide and steer:", "  say  ", "Options:", "--json", "Examples:"] {
            assert!(help.contains(part), "{part} is not in:\n{help}");
        }
        assert!(!help.contains('{'), "{help}");
    }
}
