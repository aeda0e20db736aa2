//! Parses go-task's flags: long and short, anywhere before `--`.

use crate::ast::{OutputStyle, Var, Vars};
use crate::listing::ListOrder;

/// A parsed command line.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct TaskFlags {
    pub version: bool,
    pub help: bool,
    pub init: bool,
    pub list: bool,
    pub list_all: bool,
    pub json: bool,
    pub nested: bool,
    pub no_status: bool,
    pub status: bool,
    pub summary: bool,
    pub dry: bool,
    pub force: bool,
    pub silent: bool,
    pub verbose: bool,
    pub yes: bool,
    pub parallel: bool,
    pub failfast: bool,
    pub exit_code: bool,
    pub global: bool,
    pub watch: bool,
    pub offline: bool,
    pub disable_fuzzy: bool,
    pub experiments: bool,
    pub dir: Option<String>,
    pub taskfile: Option<String>,
    pub temp_dir: Option<String>,
    pub completion: Option<String>,
    pub sort: String,
    pub output: OutputStyle,
    pub tasks: Vec<String>,
    pub globals: Vars,
    pub cli_args: Vec<String>,
}

/// Flags without a value, by long and short name.
#[rustfmt::skip]
const SWITCHES: &[(&str, char)] = &[
    ("version", '\0'), ("help", 'h'), ("init", 'i'), ("list", 'l'), ("list-all", 'a'), ("json", 'j'),
    ("nested", '\0'), ("no-status", '\0'), ("status", '\0'), ("summary", '\0'), ("dry", 'n'),
    ("force", 'f'), ("silent", 's'), ("verbose", 'v'), ("yes", 'y'), ("parallel", 'p'),
    ("failfast", 'F'), ("exit-code", 'x'), ("global", 'g'), ("watch", 'w'), ("offline", '\0'),
    ("disable-fuzzy", '\0'), ("experiments", '\0'), ("color", 'c'), ("insecure", '\0'),
    ("interactive", '\0'), ("download", '\0'), ("clear-cache", '\0'), ("output-group-error-only", '\0'),
];

/// Flags with a value.
#[rustfmt::skip]
const VALUES: &[(&str, char)] = &[
    ("dir", 'd'), ("taskfile", 't'), ("output", 'o'), ("output-group-begin", '\0'),
    ("output-group-end", '\0'), ("sort", '\0'), ("concurrency", 'C'), ("interval", 'I'),
    ("completion", '\0'), ("temp-dir", '\0'), ("timeout", '\0'), ("expiry", '\0'), ("cacert", '\0'),
    ("cert", '\0'), ("cert-key", '\0'), ("trusted-hosts", '\0'), ("remote-cache-dir", '\0'),
];

impl TaskFlags {
    /// Parses the arguments; the error is pflag's message.
    pub(super) fn parse(words: &[String]) -> Result<TaskFlags, String> {
        let mut flags = TaskFlags::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                flags.cli_args = words.cloned().collect();
                break;
            }
            if let Some(long) = word.strip_prefix("--") {
                flags.take_long(long, &mut words)?;
            } else if word.len() > 1 && word.starts_with('-') {
                flags.take_short(&word[1..], &mut words)?;
            } else if let Some((name, value)) = word.split_once('=') {
                flags.globals.insert(name.to_owned(), Var::from_value(value));
            } else {
                flags.tasks.push(word.clone());
            }
        }
        Ok(flags)
    }

    fn take_long<'w>(
        &mut self,
        flag: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<(), String> {
        let (name, given) = flag.split_once('=').map_or((flag, None), |(n, v)| (n, Some(v)));
        if let Some((_, short)) = SWITCHES.iter().find(|(n, _)| *n == name) {
            let on = match given {
                None | Some("true" | "1" | "t" | "T" | "TRUE" | "True") => true,
                Some("false" | "0" | "f" | "F" | "FALSE" | "False") => false,
                Some(other) => return Err(bad_bool(name, *short, other)),
            };
            self.switch(name, on);
            return Ok(());
        }
        if !VALUES.iter().any(|(n, _)| *n == name) {
            return Err(format!("unknown flag: --{name}"));
        }
        let value = given
            .map(str::to_owned)
            .or_else(|| words.next().cloned())
            .ok_or_else(|| format!("flag needs an argument: --{name}"))?;
        self.value(name, value);
        Ok(())
    }

    /// Short flags may be combined; one with a value takes the rest of the argument, or the next one.
    fn take_short<'w>(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<(), String> {
        for (at, letter) in letters.char_indices() {
            if let Some((name, _)) = SWITCHES.iter().find(|(_, s)| *s == letter) {
                let rest = &letters[at + letter.len_utf8()..];
                if let Some(value) = rest.strip_prefix('=') {
                    return self.take_long(&format!("{name}={value}"), words);
                }
                self.switch(name, true);
                continue;
            }
            let Some((name, _)) = VALUES.iter().find(|(_, s)| *s == letter) else {
                return Err(format!("unknown shorthand flag: '{letter}' in -{letters}"));
            };
            let rest = &letters[at + letter.len_utf8()..];
            let rest = rest.strip_prefix('=').unwrap_or(rest);
            let value = if rest.is_empty() { words.next().cloned() } else { Some(rest.to_owned()) };
            let value = value.ok_or_else(|| format!("flag needs an argument: '{letter}' in -{letters}"))?;
            self.value(name, value);
            return Ok(());
        }
        Ok(())
    }

    fn switch(&mut self, name: &str, on: bool) {
        let flag = match name {
            "version" => &mut self.version,
            "help" => &mut self.help,
            "init" => &mut self.init,
            "list" => &mut self.list,
            "list-all" => &mut self.list_all,
            "json" => &mut self.json,
            "nested" => &mut self.nested,
            "no-status" => &mut self.no_status,
            "status" => &mut self.status,
            "summary" => &mut self.summary,
            "dry" => &mut self.dry,
            "force" => &mut self.force,
            "silent" => &mut self.silent,
            "verbose" => &mut self.verbose,
            "yes" => &mut self.yes,
            "parallel" => &mut self.parallel,
            "failfast" => &mut self.failfast,
            "exit-code" => &mut self.exit_code,
            "global" => &mut self.global,
            "watch" => &mut self.watch,
            "offline" => &mut self.offline,
            "disable-fuzzy" => &mut self.disable_fuzzy,
            "experiments" => &mut self.experiments,
            "output-group-error-only" => &mut self.output.group_error_only,
            // Accepted without effect: colours and remote Taskfiles are not supported.
            _ => return,
        };
        *flag = on;
    }

    fn value(&mut self, name: &str, value: String) {
        match name {
            "dir" => self.dir = Some(value).filter(|v| !v.is_empty()),
            "taskfile" => self.taskfile = Some(value).filter(|v| !v.is_empty()),
            "temp-dir" => self.temp_dir = Some(value),
            "completion" => self.completion = Some(value),
            "sort" => self.sort = value,
            "output" => self.output.name = value,
            "output-group-begin" => self.output.group_begin = value,
            "output-group-end" => self.output.group_end = value,
            _ => {}
        }
    }

    /// Rejects contradictory flags with go-task's messages.
    pub(super) fn validate(&self) -> Result<(), &'static str> {
        let group = self.output.name == "group";
        let rules = [
            (self.global && self.dir.is_some(), "task: You can't set both --global and --dir"),
            (
                !group && !self.output.group_begin.is_empty(),
                "task: You can't set --output-group-begin without --output=group",
            ),
            (
                !group && !self.output.group_end.is_empty(),
                "task: You can't set --output-group-end without --output=group",
            ),
            (
                !group && self.output.group_error_only,
                "task: You can't set --output-group-error-only without --output=group",
            ),
            (self.list && self.list_all, "task: cannot use --list and --list-all at the same time"),
            (self.json && !self.lists(), "task: --json only applies to --list or --list-all"),
            (
                self.no_status && !self.json,
                "task: --no-status only applies to --json with --list or --list-all",
            ),
            (self.nested && !self.json, "task: --nested only applies to --json with --list or --list-all"),
        ];
        rules.iter().find(|(broken, _)| *broken).map_or(Ok(()), |(_, words)| Err(words))
    }

    pub(super) fn lists(&self) -> bool {
        self.list || self.list_all
    }

    pub(super) fn order(&self) -> ListOrder {
        match self.sort.as_str() {
            "none" => ListOrder::AsWritten,
            "alphanumeric" => ListOrder::ByName,
            _ => ListOrder::RootFirst,
        }
    }
}

fn bad_bool(name: &str, short: char, value: &str) -> String {
    let shown = if short == '\0' { format!("--{name}") } else { format!("-{short}, --{name}") };
    format!(
        "invalid argument \"{value}\" for \"{shown}\" flag: strconv.ParseBool: parsing \"{value}\": invalid syntax"
    )
}
