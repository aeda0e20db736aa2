//! Refuses data that a command would evaluate: a shell runs `$(…)` inside of `name[…]` wherever it takes a value for a
//! number or a name, and `eval`, `trap` and a few others run any text.
//!
//! What is judged is the whole command, since data moves through variables and functions. When in doubt a command
//! counts as one that evaluates; only data that could run something is refused for it.

use std::ffi::OsString;

use super::command_words::{CommandWord, command_words};
use super::data::{has_data, is_plain, read, reveal};
use super::words::SHELL_WORDS;

/// Shell builtins and keywords that take their arguments as they are, `eval` and `trap` as far as their text names
/// the commands. Every other one may evaluate them.
#[rustfmt::skip]
const TAKES_TEXT: &[&str] = &[
    "!", ":", "break", "builtin", "case", "cd", "command", "continue", "do", "done", "elif", "else", "esac", "eval",
    "exec", "exit", "export", "false", "fi", "for", "function", "if", "in", "kill", "pwd", "return", "set", "shift", "then",
    "time", "times", "trap", "true", "type", "umask", "until", "while", "{", "}",
];
/// Those that take text unless they have the option `-v`, which names a variable.
const TAKES_TEXT_WITHOUT_V: &[&str] = &["[", "printf", "test"];
/// Those that run text as a command.
#[rustfmt::skip]
const RUNS_TEXT: &[&str] = &[
    "alias", "bind", "compgen", "complete", "enable", "eval", "fc", "hash", "history", "mapfile", "readarray", "trap",
];
/// Those that run the file they name, which may be what another command prints.
const RUNS_FILE: &[&str] = &[".", "source"];
/// Variables of which the shell takes every value for an expression.
const NUMBERS: &[&str] = &["LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM"];
/// Of these only an option (`-C`) runs text; what they read is not run.
const RUNS_TEXT_OF_OPTION: &[&str] = &["mapfile", "readarray"];
/// How much of an argument an error shows.
const SHOWN_CHARS: usize = 60;

/// Refuses data in a command, or in the variables it gets, that the shell would run.
pub(super) fn check_evaluation(command: &str, variables: &[(String, OsString)]) -> Result<(), String> {
    let values: Vec<(&str, &str)> = variables
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().filter(|value| has_data(value))?)))
        .collect();
    if values.is_empty() && !has_data(command) {
        return Ok(());
    }
    let chars: Vec<char> = command.chars().collect();
    let words = command_words(&chars);
    let data = Data::collect(std::iter::once(command).chain(values.iter().map(|(_, value)| *value)));
    if let Some(construct) = find_run_text(&chars, &words, &values) {
        let argument = data.first(|_| true);
        return Err(format!(
            "the argument {argument} cannot be used in a command with `{construct}`, which runs text: \
             only letters, digits and any of `_-./:,+@%` can"
        ));
    }
    let has_subscript = find_subscript(&chars).is_some();
    if !data.can_run(has_subscript) {
        return Ok(());
    }
    let Some(construct) = find_evaluation(&chars, &words, &reveal(command)) else { return Ok(()) };
    let argument = data.first(|c| if has_subscript { matches!(c, '$' | '`') } else { c == '[' });
    Err(format!(
        "the argument {argument} cannot be used in a command with `{construct}`: a shell runs what is inside of \
         `[…]` there; let a program take the argument, in a command of its own"
    ))
}

/// The special characters of the data, and the texts that they are in.
struct Data {
    special: String,
    texts: Vec<String>,
}

impl Data {
    fn collect<'t>(sources: impl Iterator<Item = &'t str>) -> Data {
        let mut data = Data { special: String::new(), texts: Vec::new() };
        for source in sources {
            let is_part = |c: char| read(c).is_some() || is_plain(c);
            for text in source.split(|c| !is_part(c)).filter(|text| has_data(text)) {
                data.special.extend(text.chars().filter_map(|c| read(c).map(|(_, c)| c)));
                data.texts.push(reveal(text).trim().to_owned());
            }
        }
        data
    }

    /// Whether a shell that evaluates it would run a part of it. The parts may come from several arguments.
    fn can_run(&self, has_subscript: bool) -> bool {
        let has = |c: char| self.special.contains(c);
        (has_subscript || has('[')) && (has('`') || (has('$') && (has('(') || has('{'))))
    }

    /// The first text with such a character, for an error.
    fn first(&self, is_meant: impl Fn(char) -> bool) -> String {
        let text = self.texts.iter().find(|text| text.contains(&is_meant)).or(self.texts.first());
        let text = text.map_or("", String::as_str);
        let shown: String = text.chars().take(SHOWN_CHARS).collect();
        let rest = if shown.len() < text.len() { "…" } else { "" };
        format!("`{shown}{rest}`")
    }
}

/// What in a command makes the shell evaluate the value of a variable.
fn find_evaluation(chars: &[char], words: &[CommandWord], revealed: &str) -> Option<String> {
    let takes_text = |word: &str| {
        TAKES_TEXT.contains(&word)
            || !SHELL_WORDS.contains(&word)
            || (TAKES_TEXT_WITHOUT_V.contains(&word) && !revealed.contains("-v"))
    };
    if let Some(word) = words.iter().find(|word| !takes_text(&word.text)) {
        return Some(word.text.clone());
    }
    if let Some(at) = find_subscript(chars) {
        return Some(
            format!("{}[…]", if at == 0 { ' ' } else { reveal_char(chars[at - 1]) }).trim().to_owned(),
        );
    }
    if let Some(name) = find_number(revealed) {
        return Some(format!("{name}="));
    }
    (0..chars.len()).find_map(|at| match &chars[at..] {
        ['(', '(', ..] => Some("((…))".to_owned()),
        ['$', '[', ..] => Some("$[…]".to_owned()),
        ['$', '{', inner @ ..] if is_evaluated_parameter(inner) => Some("${…}".to_owned()),
        _ => None,
    })
}

/// A variable that takes numbers, where the command may set it.
fn find_number(command: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    NUMBERS.iter().copied().find(|name| {
        command.match_indices(name).any(|(at, _)| {
            let (before, after) = (&command[..at], &command[at + name.len()..]);
            !before.ends_with(|c: char| c == '$' || is_part(c)) && !after.starts_with(is_part)
        })
    })
}

/// `${!name}` and `${name:offset}` evaluate what a variable has; subscripts are found by [`find_subscript`].
fn is_evaluated_parameter(inner: &[char]) -> bool {
    let name =
        inner.iter().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '*' | '#')).count();
    match &inner[name..] {
        ['!', ..] => true,
        [':', operator, ..] => !matches!(operator, '-' | '=' | '?' | '+'),
        _ => false,
    }
}

/// The bracket of a subscript in the command itself: `name[…]` or `[$…]`, but not `name[@]`.
fn find_subscript(chars: &[char]) -> Option<usize> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || read(c).is_some();
    (0..chars.len()).find(|at| match &chars[*at..] {
        ['[', '@' | '*', ']', ..] => false,
        ['[', next, ..] => (*at > 0 && is_name(chars[*at - 1])) || *next == '$' || read(*next).is_some(),
        _ => false,
    })
}

/// A builtin that runs text which comes from data or from a variable, in whatever quotes but single ones.
fn find_run_text(chars: &[char], words: &[CommandWord], values: &[(&str, &str)]) -> Option<String> {
    let has_data_in_command = chars.iter().any(|c| read(*c).is_some());
    let mentions = |text: &str| values.iter().any(|(name, _)| text.contains(name));
    let runs = words.iter().filter(|word| RUNS_TEXT.contains(&word.text.as_str())).find(|word| {
        let is_option = RUNS_TEXT_OF_OPTION.contains(&word.text.as_str());
        let arguments = arguments(&chars[word.end..], is_option);
        if is_option && !reveal(&arguments.text).contains('C') {
            return false;
        }
        has_data(&arguments.text)
            || mentions(&arguments.text)
            || (arguments.is_expanded && has_data_in_command)
    });
    if let Some(word) = runs {
        return Some(word.text.clone());
    }
    let has_any = has_data_in_command || !values.is_empty();
    let runs_file = words.iter().filter(|word| RUNS_FILE.contains(&word.text.as_str())).find(|word| {
        let named = arguments(&chars[word.end..], false);
        has_data(&named.text)
            || mentions(&named.text)
            || (has_any && (named.is_expanded || named.text.contains("/dev/") || named.text.contains("<(")))
    });
    if let Some(word) = runs_file {
        return Some(word.text.clone());
    }
    let text: String = chars.iter().collect();
    let is_prompt = text.contains("PS4=") || values.iter().any(|(name, _)| *name == "PS4");
    let construct = if is_prompt { "PS4" } else { "@P" };
    let runs = is_prompt || text.contains("@P}");
    (runs && (has_data_in_command || mentions(&text) || is_prompt)).then(|| construct.to_owned())
}

struct Arguments {
    text: String,
    /// The shell puts the value of something into them first.
    is_expanded: bool,
}

/// The arguments of a command up to its end, or up to a redirection.
fn arguments(rest: &[char], ends_at_redirection: bool) -> Arguments {
    let mut arguments = Arguments { text: String::new(), is_expanded: false };
    let mut quote = None;
    let mut chars = rest.iter().copied();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (';' | '&' | '|' | '\n' | ')', None) => break,
            ('<' | '>', None) if ends_at_redirection => break,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('$' | '`', None | Some('"')) => arguments.is_expanded = true,
            ('\\', None | Some('"')) => arguments.text.extend(chars.next()),
            _ => {}
        }
        arguments.text.push(c);
    }
    arguments
}

fn reveal_char(c: char) -> char {
    read(c).map_or(c, |(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::super::data::{DataKind, conceal};
    use super::*;

    fn check(command: &str, argument: &str) -> Result<(), String> {
        check_evaluation(&command.replace("{}", &conceal(argument, DataKind::Word)), &[])
    }

    #[test]
    fn ordinary_text_goes_through() {
        let pattern = "^Test(A|B)[0-9]$";
        for (command, argument) in [
            ("git add . && git commit -m {}", "Fix `a[0]` and $(b)"),
            ("git commit -m \"[wip] {}\"", "Fix `a`"),
            ("go test -v -run {}", pattern),
            ("args=({}); go test \"${args[@]}\"", pattern),
            ("if [ -n \"{}\" ]; then echo {}; fi", pattern),
            ("if [[ -n \"{}\" ]]; then git commit -m {}; fi", "Costs $5 (or `a`)"),
            ("[[ {} == *x* ]]", "a[0]"),
            ("X={} make \"${X:-a}\" ${X%/*} ${#X}", pattern),
            ("trap 'rm -f \"$x\"' EXIT; go test -run {}", pattern),
            ("for x in {}; do echo \"$x\"; done > f 2>&1", pattern),
            ("mapfile -t a < <(git diff {}); echo \"${a[@]}\"", "a b"),
            ("export X={}; cd sub; printf '%s' {}", "a[$(id)]"),
            ("echo $(( {} ))", "a[1]"),
            ("echo $RANDOM {}", pattern),
            ("bash run.sh {}", "a b"),
            ("bash -c 'echo \"$1\"' x {}", "a b"),
            (". ./lib.sh; f {}", "a b"),
        ] {
            assert_eq!(check(command, argument), Ok(()), "{command} {argument}");
        }
    }

    #[test]
    fn an_argument_that_a_command_would_run_is_refused() {
        for command in [
            "n={}; [[ $n -eq 1 ]]",
            "n={}; echo $((n))",
            "((n = {}))",
            "echo $[ {} ]",
            "declare -i n={}",
            "f() { local n={}; }; f",
            "let v={}",
            "A=1 2>/dev/null command let v={}",
            "test -v {}",
            "if ! [ -v {} ]; then a; fi",
            "printf -v {} x",
            "read {} <<<x",
            "wait -p {}",
            "unset {}",
            "mapfile {} <<<x",
            "set -- {}; echo ${@:$1:1}",
            "n={}; echo ${!n}",
            "n={}; a[$n]=1",
            "n={}; a=([$n]=1)",
            "getopts a {}",
            ". lib.sh; f {}",
            "n={}; echo \"$(let n)\"",
            "n={}; trap 'let n' EXIT",
            "n={}; eval 'echo; let n'",
            "true && {\nlet n={}\n}",
            "RANDOM={}",
            "n={}; SECONDS=$n",
            "n={}; : ${RANDOM:=$n}",
            "for RANDOM in {}; do :; done",
        ] {
            let error = check(command, "a[$(id)]").expect_err(command);
            assert!(
                error.starts_with("the argument `a[$(id)]` cannot be used in a command with `"),
                "{error}"
            );
            assert!(check(command, "a[`id`]").is_err(), "{command}");
        }
        let error = check("n={}; [[ $n -eq 1 ]]", "a[$(id)]").unwrap_err();
        assert!(error.contains("with `[[`: a shell runs what is inside of `[…]` there"), "{error}");
    }

    #[test]
    fn a_subscript_of_the_command_needs_no_bracket_in_the_argument() {
        for command in ["echo $(( m[{}] ))", "declare \"m[{}]=1\"", "[[ -v m[{}] ]]", "n=\"m[{}]\"; let n"] {
            assert!(check(command, "$(id)").is_err(), "{command}");
        }
    }

    #[test]
    fn what_runs_text_takes_plain_words_only() {
        for command in [
            "trap {} EXIT",
            "trap '{}' EXIT",
            "eval \"echo {}\"",
            "x={}; eval \"$x\"",
            "f() { eval \"$1\"; }; f {}",
            "x={}; trap \"echo $x\" EXIT",
            "mapfile {} <<<x",
            "mapfile -C {} <<<x",
            "PS4={}; set -x; echo",
            "x={}; echo ${x@P}",
            "compgen -W {}",
            "source <(echo {})",
            ". <(echo {})",
            "n={}; source <(echo \"$n\")",
            "echo {} | source /dev/stdin",
        ] {
            let argument = if command.starts_with("mapfile {}") { "-C touch x" } else { "touch x" };
            let error = check(command, argument).expect_err(command);
            assert!(error.contains("which runs text"), "{error}");
        }
        assert_eq!(check("trap {} EXIT", "cleanup"), Ok(()));
    }

    #[test]
    fn variables_of_the_environment_are_data_too() {
        let value = |text: &str| [("X".to_owned(), OsString::from(conceal(text, DataKind::Word)))];
        assert!(check_evaluation("echo $((X))", &value("a[$(id)]")).is_err());
        assert!(check_evaluation("eval \"$X\"", &value("touch x")).is_err());
        assert_eq!(check_evaluation("eval \"$Y\"; echo \"$X\"", &value("touch x")), Ok(()));
        assert_eq!(check_evaluation("echo \"$X\"", &value("a[$(id)]")), Ok(()));
    }
}
