//! Runs the `console` blocks of a page: lines after `$ ` are commands, and the lines below are their output.
//!
//! Ids, times, ports and the home folder on the page stand for those of this run: an id of the page is bound to the first
//! id it is compared with, and replaced by it in later commands. A line `...` stands for any lines, and `...` at the end
//! of a line for the rest of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::wait;

/// The longest a command may take to print the expected output on a busy machine.
const PATIENCE: Duration = Duration::from_mins(4);
/// The home folder on the page.
const HOME: &str = "/home/you";
const IDS: [(&str, usize); 4] = [("TASK-", 8), ("PROJ-", 8), ("Q-", 8), ("ATT-", 16)];

/// One command of a page and its expected output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConsoleCommand {
    pub(crate) line: usize,
    pub(crate) command: String,
    pub(crate) expected: Vec<String>,
}

/// The commands of all `console` blocks, in order.
pub(crate) fn parse_commands(page: &str) -> Vec<ConsoleCommand> {
    let mut found: Vec<ConsoleCommand> = Vec::new();
    let mut is_inside = false;
    for (line, text) in (1..).zip(page.lines()) {
        if text.starts_with("```") {
            is_inside = !is_inside && text == "```console";
        } else if is_inside {
            match text.strip_prefix("$ ") {
                Some(command) => {
                    found.push(ConsoleCommand { line, command: command.to_owned(), expected: Vec::new() });
                }
                None => found
                    .last_mut()
                    .unwrap_or_else(|| panic!("line {line} comes before any command"))
                    .expected
                    .push(text.to_owned()),
            }
        }
    }
    found
}

/// A shell: home, current folder and programs.
pub(crate) struct Console {
    home: PathBuf,
    folder: PathBuf,
    path: PathBuf,
    bound: BTreeMap<String, String>,
    background: Vec<Child>,
}

impl Console {
    pub(crate) fn new(home: &Path, path: &Path) -> Self {
        Self {
            home: home.to_owned(),
            folder: home.to_owned(),
            path: path.to_owned(),
            bound: BTreeMap::new(),
            background: Vec::new(),
        }
    }

    pub(crate) fn play(&mut self, page: &Path) {
        let text = std::fs::read_to_string(page).unwrap();
        let parse_commands = parse_commands(&text);
        assert!(!parse_commands.is_empty(), "{} has no console blocks", page.display());
        for step in parse_commands {
            self.run_step(&step)
                .unwrap_or_else(|why| panic!("{}:{}: $ {}\n{why}", page.display(), step.line, step.command));
        }
    }

    fn run_step(&mut self, step: &ConsoleCommand) -> Result<(), String> {
        let command = self.substitute_ids(&step.command);
        if let Some(folder) = command.strip_prefix("cd ") {
            self.folder = self.folder.join(folder).canonicalize().map_err(|error| error.to_string())?;
            return Ok(());
        }
        if let Some(command) = command.strip_suffix(" &") {
            return self.start(command, step);
        }
        // Commands that show a state are repeated until it is the expected one.
        let shows_state = ["baton task show", "baton task list", "baton questions"]
            .iter()
            .any(|look| command.starts_with(look));
        let patience = if shows_state { PATIENCE } else { Duration::ZERO };
        wait::retry(patience, || {
            let output = self.shell(&command).output().map_err(|error| error.to_string())?;
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            if output.status.success() {
                self.compare(&step.expected, &printed)
            } else {
                Err(format!("it failed: {printed}"))
            }
        })
    }

    /// Starts a command in the background and waits for its first output.
    fn start(&mut self, command: &str, step: &ConsoleCommand) -> Result<(), String> {
        let log = self.home.join(format!("background-{}", self.background.len()));
        let file = File::create(&log).map_err(|error| error.to_string())?;
        let spawned =
            self.shell(&format!("exec {command}")).stdout(file).spawn().map_err(|error| error.to_string())?;
        self.background.push(spawned);
        wait::retry(PATIENCE, || {
            let printed = std::fs::read_to_string(&log).map_err(|error| error.to_string())?;
            self.compare(&step.expected, &printed)
        })
    }

    /// With both streams combined, as in a terminal.
    fn shell(&self, command: &str) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(format!("exec 2>&1; {command}")).current_dir(&self.folder).stdin(Stdio::null());
        shell.env_clear().env("HOME", &self.home).env("PATH", &self.path).env("USER", "you");
        // Without this machine's git configuration, and on a free port.
        shell.env("GIT_CONFIG_NOSYSTEM", "1").env("BATON_LISTEN", "127.0.0.1:0").env("LANG", "C.UTF-8");
        shell
    }

    /// The command with the ids of this run.
    fn substitute_ids(&self, command: &str) -> String {
        let mut command = command.to_owned();
        for (id, real) in &self.bound {
            command = command.replace(id, real);
        }
        command
    }

    fn compare(&mut self, wanted: &[String], printed: &str) -> Result<(), String> {
        let printed: Vec<String> =
            printed.trim_end().lines().map(|line| self.mask_home(line.trim_end())).collect();
        let wanted: Vec<&str> = wanted.iter().map(|line| line.trim_end()).collect();
        let mut bound = self.bound.clone();
        if matches(&wanted, &printed, &mut bound) {
            self.bound = bound;
            return Ok(());
        }
        Err(format!(
            "prints\n\n{}\n\ninstead of what the page shows:\n\n{}",
            printed.join("\n"),
            wanted.join("\n")
        ))
    }

    /// The line with the home folder of the page.
    fn mask_home(&self, line: &str) -> String {
        line.replace(&self.home.display().to_string(), HOME)
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        for child in &mut self.background {
            // Fails if it has already ended.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

/// Whether the lines match those of the page. Binds the ids of the page.
fn matches(wanted: &[&str], printed: &[String], bound: &mut BTreeMap<String, String>) -> bool {
    match (wanted.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), _) => (0..=printed.len()).any(|skipped| {
            let mut tried = bound.clone();
            let compare = matches(rest, &printed[skipped..], &mut tried);
            if compare {
                *bound = tried;
            }
            compare
        }),
        (Some((line, rest)), Some((first, others))) => {
            same(line, first, bound) && matches(rest, others, bound)
        }
        _ => false,
    }
}

/// A line that ends in ` ...` matches any line that starts with it.
fn same(wanted: &str, printed: &str, bound: &mut BTreeMap<String, String>) -> bool {
    let (wanted, is_open) = wanted.strip_suffix(" ...").map_or((wanted, false), |begins| (begins, true));
    let (wanted, printed) = (pieces(wanted), pieces(printed));
    let is_one = |(wanted, printed): (&Piece, &Piece)| match (wanted, printed) {
        (Piece::Id(wanted), Piece::Id(printed)) => {
            *bound.entry(wanted.clone()).or_insert_with(|| printed.clone()) == *printed
        }
        // One commit in a thousand has a short name without digits, which looks like a word.
        (Piece::Varying, Piece::Text(word)) => is_commit(word),
        (wanted, printed) => wanted == printed,
    };
    let is_long_enough = wanted.len() == printed.len() || (is_open && wanted.len() < printed.len());
    is_long_enough && wanted.iter().zip(&printed).all(is_one)
}

/// A part of a line: fixed text, or something that differs between runs.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Id(String),
    /// A time, a port, a duration, the short name of a commit.
    Varying,
}

/// Compared word by word, because columns may be wider or narrower.
fn pieces(line: &str) -> Vec<Piece> {
    line.split_whitespace().flat_map(split_word).collect()
}

fn split_word(word: &str) -> Vec<Piece> {
    for (prefix, digits) in IDS {
        if let Some((before, rest)) = word.split_once(prefix) {
            let count = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            if count == digits {
                let (id, after) = rest.split_at(count);
                return vec![
                    Piece::Text(before.to_owned()),
                    Piece::Id(format!("{prefix}{id}")),
                    Piece::Text(after.to_owned()),
                ];
            }
        }
    }
    let is_time = word.len() >= 20
        && word.as_bytes()[4] == b'-'
        && word.contains('T')
        && word.trim_end_matches(['.', ',']).ends_with('Z');
    let number = word.trim_end_matches(['.', ',']);
    let is_decimal = number.contains('.') && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_time || is_decimal || (is_commit(word) && word.bytes().any(|byte| byte.is_ascii_digit())) {
        return vec![Piece::Varying];
    }
    match word.split_once("127.0.0.1:") {
        Some((before, port)) => {
            let after = port.trim_start_matches(|c: char| c.is_ascii_digit());
            vec![Piece::Text(before.to_owned()), Piece::Varying, Piece::Text(after.to_owned())]
        }
        None => vec![Piece::Text(word.to_owned())],
    }
}

/// Whether this may be the name of a commit.
fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[test]
fn a_page_is_compared_with_the_output_and_its_ids_are_bound() {
    let compare = |wanted: &[&str], printed: &[&str]| {
        let printed: Vec<String> = printed.iter().map(|&line| line.to_owned()).collect();
        matches(wanted, &printed, &mut BTreeMap::new())
    };
    assert!(compare(
        &["TASK-00000001 is here", "...", "the end"],
        &["TASK-abcdef12 is here", "x", "y", "the end"]
    ));
    assert!(compare(
        &["at http://127.0.0.1:5678", "took 1.5 s."],
        &["at http://127.0.0.1:40001", "took 0.3 s."]
    ));
    assert!(
        !compare(&["TASK-00000001", "TASK-00000001"], &["TASK-abcdef12", "TASK-abcdef13"]),
        "one id is one task"
    );
    assert!(
        compare(&["greeted as ..."], &["greeted as fake 1"])
            && !compare(&["greeted as ..."], &["greeted by fake"])
    );
    assert!(compare(&["at 3f2c1d9"], &["at beadfed"]) && !compare(&["at 3f2c1d9"], &["at nowhere"]));
    assert!(!compare(&["a"], &["a", "b"]));
    assert!(!compare(&["a", "...", "c"], &["a", "b"]));
    let page = "text\n```console\n$ one\nprinted\n$ two\n```\n```toml\n$ no\n```\n";
    let found: Vec<(String, Vec<String>)> =
        parse_commands(page).into_iter().map(|step| (step.command, step.expected)).collect();
    assert_eq!(found, [("one".to_owned(), vec!["printed".to_owned()]), ("two".to_owned(), vec![])]);
}
