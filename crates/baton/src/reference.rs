//! Generates the pages of `docs/reference` about the command line and the error codes, and checks the help of every
//! command. Updated by `scripts/reference`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory, Parser};

use crate::cli::Cli;
use crate::error::commands::commands;
use crate::explain::catalogue::{CodeFamily, families};
use crate::kept_page::holds;

fn program() -> Command {
    let mut program = Cli::command();
    program.build();
    program
}

/// A command and everything below it, depth first, with the words that lead there.
fn walk<'a>(command: &'a Command, path: &str, visit: &mut impl FnMut(&str, &'a Command)) {
    visit(path, command);
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        walk(below, &format!("{path} {}", below.get_name()), visit);
    }
}

fn help(command: &Command) -> String {
    let is_root = command.get_name() == "baton";
    let quiet = command.clone().disable_help_flag(true).mut_args(|argument| {
        let is_told_once = !is_root && argument.is_global_set();
        argument.hide_env_values(true).hide(is_told_once)
    });
    let text = quiet.clone().render_long_help().to_string();
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn cli_page() -> String {
    let mut text = String::from(
        "# The command line\n\n\
         <!-- Written by `scripts/reference` from crates/baton/src/cli. Do not edit. -->\n\n\
         Options that every command takes are listed once, under `baton`. `baton COMMAND --help` prints the same text; `baton man \
         --into DIR`\nwrites manual pages, `baton completions SHELL --install` installs shell completions.\n\n\
         Data goes to standard output, messages to standard error. With `--json`, standard output is one JSON document, or one \
         object per\nline for streams. Ids may be shortened to a unique prefix. For exit codes see [Error codes](errors.md#exit-codes).\n",
    );
    walk(&program(), "baton", &mut |path, command| {
        if !command.is_hide_set() {
            let _ = write!(text, "\n## `{path}`\n\n```text\n{}\n```\n", help(command));
        }
    });
    text
}

fn errors_page() -> String {
    let mut text = String::from(
        "# Error codes\n\n\
         <!-- Written by `scripts/reference` from the tables beside each error type. Do not edit. -->\n\n\
         The last line of an error names its code (`More: baton explain wrong_state`); over HTTP it is in `error`, with the exact \
         case in\n`reason`. `baton explain CODE` prints these texts, `baton explain` lists all codes.\n",
    );
    for CodeFamily { title, rows } in families() {
        let _ = write!(text, "\n## {title}\n");
        for row in rows {
            let _ = write!(
                text,
                "\n### `{}`\n\n{}\n\n- **Why:** {}\n- **Next:** {}\n",
                row.code,
                row.means,
                escaped(row.cause),
                escaped(row.next)
            );
            let commands: Vec<String> =
                commands(row.code).iter().map(|command| format!("`{command}`")).collect();
            if !commands.is_empty() {
                let _ = writeln!(text, "- **Run:** {}", commands.join(", "));
            }
        }
    }
    text
}

/// What Markdown would take for a tag.
fn escaped(text: &str) -> String {
    text.replace('<', "\\<")
}

#[test]
fn reference_of_the_command_line_is_what_the_code_says() {
    holds("reference/cli.md", &cli_page());
}

#[test]
fn reference_of_error_codes_is_what_the_code_says() {
    holds("reference/errors.md", &errors_page());
}

#[test]
fn help_of_every_command_has_examples_that_parse() {
    walk(&program(), "baton", &mut |path, command| {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let Some((_, examples)) = after.split_once("Examples") else {
            panic!("{path} --help has no Examples")
        };
        for line in examples.lines().skip(1).take_while(|line| line.starts_with("  ")) {
            let Some(words) = words_of_example(line) else { continue };
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("an example of {path} does not parse: {line}\n{error}");
            }
        }
    });
}

#[test]
fn help_of_every_command_describes_each_argument() {
    walk(&program(), "baton", &mut |path, command| {
        assert!(command.get_about().is_some(), "{path} has no description");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{path}: {} is not explained", argument.get_id());
        }
    });
}

/// The first command or flag of a quoted call that Baton does not have.
pub(crate) fn missing(program: &Command, line: &str) -> Option<String> {
    let mut at = program;
    for word in line.split_whitespace().take_while(|word| !["|", ">", "#", "&&", "--"].contains(word)) {
        let word = word.trim_end_matches([';', ',']);
        if let Some(flag) = word.strip_prefix("--") {
            let flag = flag.split(['=', '|']).next().unwrap_or(flag);
            let mut flags = at.get_arguments().chain(program.get_arguments());
            let is_there =
                ["help", "version"].contains(&flag) || flags.any(|known| known.get_long() == Some(flag));
            if !is_there {
                return Some(format!("--{flag}"));
            }
        } else if at.has_subcommands() {
            // `list|show` names two subcommands.
            let mut found = word.split('|').map(|name| (name, at.find_subcommand(name)));
            if let Some((name, _)) = found.clone().find(|(_, found)| found.is_none()) {
                return Some(name.to_owned());
            }
            at = found.next().and_then(|(_, found)| found).unwrap_or(at);
        }
    }
    None
}

/// The calls of Baton on a page: in backticks, and at the start of lines of code.
fn calls(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let shown = line.trim_start().trim_start_matches("$ ");
        if is_code || line.starts_with("    ") {
            found.extend(shown.strip_prefix("baton ").map(str::to_owned));
        } else {
            found.extend(
                line.split('`')
                    .skip(1)
                    .step_by(2)
                    .filter_map(|code| code.strip_prefix("baton "))
                    .map(str::to_owned),
            );
        }
    }
    let is_call = |call: &String| call.starts_with(|first: char| first.is_ascii_lowercase() || first == '-');
    found.into_iter().filter(is_call).collect()
}

#[test]
fn docs_name_only_commands_and_flags_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("docs")];
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    let (program, mut wrong, mut count) = (program(), Vec::new(), 0);
    for page in pages {
        for call in calls(&std::fs::read_to_string(&page).unwrap()) {
            count += 1;
            if let Some(what) = missing(&program, &call) {
                wrong.push(format!("{}: baton {call}: unknown {what}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "no calls were found");
}

/// The words of the call of Baton in an example, split as a shell would; none if there is no call.
fn words_of_example(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    // Two spaces start a remark.
    let line = line.split_once("  ").map_or(line, |(before, _)| before);
    let start = if line.starts_with("baton ") {
        0
    } else {
        line.find(" baton ").or_else(|| line.find("(baton "))? + 1
    };
    let mut words = Vec::new();
    let (mut word, mut quote, mut is_open) = (String::new(), None, false);
    for c in line[start..].chars() {
        match (c, quote) {
            ('|' | '<' | '>' | ')', None) => break,
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => (quote, is_open) = (Some(c), true),
            (' ', None) => {
                if is_open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            (c, _) => word.push(c),
        }
    }
    if is_open || !word.is_empty() {
        words.push(word);
    }
    Some(words)
}
