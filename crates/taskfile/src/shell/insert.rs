//! Puts data into a command: as a reference to a variable, quoted for the place where it stands.
//!
//! Nothing of the data becomes part of the command's text, except for spaces between words. If the place of a
//! reference is misjudged, the command sees the wrong text, but the shell does not run it. What a command would run of
//! a variable's value is refused before, by [`super::evaluation`].

use super::data::{DataKind, has_data, is_plain, read};
use super::place::{CommandPlace, PlaceTracker};

/// A command without data, and the variables that hold it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PreparedCommand {
    pub text: String,
    pub variables: Vec<(String, String)>,
}

/// Why data cannot stand where a command has it.
const IN_HERE_DOCUMENT: &str = "arguments with special characters cannot be used in a here-document with a quoted delimiter: remove the quotes from the delimiter";

/// Replaces the data in a command by references to variables with this prefix. `None` if there is no data.
pub(super) fn insert_data(command: &str, prefix: &str) -> Option<Result<PreparedCommand, String>> {
    if !has_data(command) {
        return None;
    }
    let chars: Vec<char> = command.chars().collect();
    let insertion = DataInsertion {
        chars: &chars,
        at: 0,
        out: String::with_capacity(command.len()),
        places: PlaceTracker::default(),
        variables: Vec::new(),
        prefix,
    };
    Some(insertion.run())
}

struct DataInsertion<'i> {
    chars: &'i [char],
    at: usize,
    out: String,
    places: PlaceTracker,
    variables: Vec<(String, String)>,
    prefix: &'i str,
}

impl DataInsertion<'_> {
    fn run(mut self) -> Result<PreparedCommand, String> {
        while let Some(c) = self.chars.get(self.at).copied() {
            if read(c).is_some() {
                self.insert()?;
                continue;
            }
            // A backslash before data would escape the quote of the reference.
            let is_before_data = self.chars.get(self.at + 1).is_some_and(|next| read(*next).is_some());
            if c == '\\' && is_before_data {
                self.at += 1;
                continue;
            }
            let taken = self.places.step(&self.chars[self.at..]);
            self.out.extend(&self.chars[self.at..self.at + taken]);
            self.at += taken;
        }
        Ok(PreparedCommand { text: self.out, variables: self.variables })
    }

    fn insert(&mut self) -> Result<(), String> {
        match self.places.place() {
            CommandPlace::Unquoted { is_assignment } => {
                self.insert_words(is_assignment);
                Ok(())
            }
            CommandPlace::DoubleQuoted => {
                let text = self.take_text();
                let reference = self.reference(text);
                self.out.push_str(&reference);
                Ok(())
            }
            CommandPlace::SingleQuoted { reopen } => {
                let text = self.take_text();
                let reference = self.reference(text);
                self.out.extend(["'\"", &reference, "\"", reopen]);
                Ok(())
            }
            CommandPlace::Comment => {
                self.take_text();
                Ok(())
            }
            CommandPlace::Literal => {
                let text = self.take_text();
                if text.contains(|c| !is_plain(c) && c != ' ') {
                    return Err(IN_HERE_DOCUMENT.to_owned());
                }
                self.out.push_str(&text);
                Ok(())
            }
        }
    }

    /// The data up to the next special character of the command itself.
    fn take_text(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.chars.get(self.at).copied() {
            match read(c) {
                Some((_, c)) => text.push(c),
                None if is_plain(c) => text.push(c),
                None => break,
            }
            self.at += 1;
        }
        text
    }

    /// Data outside of quotes: each word as one word, all in one for the value of an assignment.
    fn insert_words(&mut self, is_assignment: bool) {
        let mut word = DataWord::default();
        while let Some(c) = self.chars.get(self.at).copied() {
            let (kind, c) = match read(c) {
                Some(data) => data,
                None if is_plain(c) => (DataKind::Word, c),
                None => break,
            };
            let separates = match kind {
                DataKind::Quoted => c == ' ',
                DataKind::Computed => c.is_whitespace(),
                DataKind::Word => false,
            };
            if separates && !is_assignment {
                self.push_word(&mut word);
                self.out.push(' ');
                self.places.end_word();
                self.at += 1;
                continue;
            }
            word.is_begun = true;
            if kind == DataKind::Quoted && matches!(c, '\'' | '"' | '$') {
                word.is_quoted = true;
                self.take_quoted(&mut word.text);
            } else {
                word.text.push(c);
                self.at += 1;
            }
        }
        self.push_word(&mut word);
    }

    fn push_word(&mut self, word: &mut DataWord) {
        let DataWord { text, is_begun, is_quoted } = std::mem::take(word);
        if !is_begun {
            return;
        }
        self.places.in_word();
        if text.chars().all(is_plain) {
            // In quotes a keyword is a word like any other.
            let quote = if is_quoted { "'" } else { "" };
            self.out.extend([quote, &text, quote]);
            return;
        }
        let reference = self.reference(text);
        self.out.extend(["\"", &reference, "\""]);
    }

    /// The contents of `'…'`, `"…"` or `$'…'`.
    fn take_quoted(&mut self, word: &mut String) {
        let next = |at: usize| {
            let c = self.chars.get(at).copied()?;
            read(c).map(|(_, c)| c).or(Some(c))
        };
        let (mut at, quote, escapes) = match (next(self.at), next(self.at + 1)) {
            (Some('$'), Some('\'')) => (self.at + 2, '\'', Escapes::Ansi),
            (Some('"'), _) => (self.at + 1, '"', Escapes::Double),
            (Some('\''), _) => (self.at + 1, '\'', Escapes::None),
            (other, _) => {
                word.extend(other);
                self.at += 1;
                return;
            }
        };
        while let Some(c) = next(at) {
            at += 1;
            match (c, escapes) {
                (c, _) if c == quote => break,
                ('\\', Escapes::Double) => {
                    word.extend(next(at));
                    at += 1;
                }
                ('\\', Escapes::Ansi) => at += unescape(&next, at, word),
                (c, _) => word.push(c),
            }
        }
        self.at = at;
    }

    /// A reference to a variable with this value.
    fn reference(&mut self, text: String) -> String {
        let known = self.variables.iter().position(|(_, value)| *value == text);
        let index = known.unwrap_or_else(|| {
            self.variables.push((format!("{}{}", self.prefix, self.variables.len()), text));
            self.variables.len() - 1
        });
        format!("${{{}}}", self.variables[index].0)
    }
}

/// A word outside of quotes, as far as it was read.
#[derive(Default)]
struct DataWord {
    text: String,
    is_begun: bool,
    is_quoted: bool,
}

#[derive(Clone, Copy)]
enum Escapes {
    None,
    Double,
    Ansi,
}

/// Resolves the escape after a backslash as in `$'…'`; returns how many characters it took.
fn unescape(next: &dyn Fn(usize) -> Option<char>, at: usize, word: &mut String) -> usize {
    let digits = match next(at) {
        Some('x') => 2,
        Some('u') => 4,
        Some('U') => 8,
        Some(c) => {
            word.push(match c {
                'a' => '\x07',
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\x0b',
                other => other,
            });
            return 1;
        }
        None => return 0,
    };
    let code: String = (at + 1..=at + digits).map_while(next).filter(char::is_ascii_hexdigit).collect();
    word.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
    1 + code.len()
}

#[cfg(test)]
mod tests {
    use super::super::data::{conceal, conceal_words};
    use super::*;

    /// The command with `{}` for the value of `CLI_ARGS`, and the values of the variables.
    fn insert(command: &str, words: &[&str]) -> (String, Vec<String>) {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let command = command.replace("{}", &conceal_words(&words));
        let prepared = insert_data(&command, "V").unwrap().unwrap();
        (prepared.text, prepared.variables.into_iter().map(|(_, value)| value).collect())
    }

    #[test]
    fn data_is_quoted_for_its_place() {
        for (command, words, text, values) in [
            ("go test {}", &["-v", "-race"][..], "go test -v -race", &[][..]),
            ("echo {}", &["a b", "c"], "echo \"${V0}\" c", &["a b"]),
            ("echo {}", &["it's", "$(id)"], "echo \"${V0}\" \"${V1}\"", &["it's", "$(id)"]),
            ("echo {}", &["a\nb", ""], "echo \"${V0}\" ''", &["a\nb"]),
            ("echo {}", &["if", "X=1"], "echo 'if' \"${V0}\"", &["X=1"]),
            ("echo \"args: {}\"", &["a", "$(id)"], "echo \"args: a${V0}\"", &[" '$(id)'"]),
            ("echo '{}'", &["a", ";id;"], "echo 'a'\"${V0}\"''", &[" ';id;'"]),
            ("echo $'{}'", &["a", "b"], "echo $'a'\"${V0}\"$''", &[" b"]),
            ("V={} env", &["-v", "id"], "V=-v\"${V0}\" env", &[" id"]),
            ("export V+={}", &["a b", "id"], "export V+=\"${V0}\"", &["a b id"]),
            ("make --x={}", &["a b", "id"], "make --x=\"${V0}\" id", &["a b"]),
            ("x=$(echo {})", &["a b", "id"], "x=$(echo \"${V0}\" id)", &["a b"]),
            ("echo \"$(echo '{}')\"", &["a", "b"], "echo \"$(echo 'a'\"${V0}\"'')\"", &[" b"]),
            ("echo `echo {}`", &["a b"], "echo `echo \"${V0}\"`", &["a b"]),
            ("cat <<E\n{}\nE\necho {}", &["a b"], "cat <<E\n${V0}\nE\necho \"${V1}\"", &["'a b'", "a b"]),
            ("cat <<-'E'\n\t{}\n\tE\necho {}", &["a", "b"], "cat <<-'E'\n\ta b\n\tE\necho a b", &[]),
            ("echo x # {}\necho {}", &["a b"], "echo x # \necho \"${V0}\"", &["a b"]),
            ("echo $(( {} + 1 ))", &["1", "2"], "echo $(( 1${V0} + 1 ))", &[" 2"]),
            ("echo ${X:-{}}", &["a b"], "echo ${X:-\"${V0}\"}", &["a b"]),
            ("echo \\{}", &["a b"], "echo \"${V0}\"", &["a b"]),
            (">&{}", &["x", "id"], ">&x\"${V0}\"", &[" id"]),
            ("> {} cat", &["x", "id"], "> x\"${V0}\" cat", &[" id"]),
            ("2>>f.{} cat {}", &["x", "id"], "2>>f.x\"${V0}\" cat x id", &[" id"]),
            ("cat <<<{} 2>&1 | sort {}", &["x", "id"], "cat <<<x\"${V0}\" 2>&1 | sort x id", &[" id"]),
            ("a < <(b {}) c {}", &["x", "y z"], "a < <(b x \"${V0}\") c x \"${V0}\"", &["y z"]),
        ] {
            let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
            assert_eq!(insert(command, words), (text.to_owned(), values), "{command} {words:?}");
        }
    }

    #[test]
    fn data_is_refused_where_nothing_is_expanded() {
        let command = format!("cat <<'E'\n{}\nE", conceal("$(id)", DataKind::Word));
        assert!(insert_data(&command, "V").unwrap().is_err());
    }

    #[test]
    fn computed_data_is_split_into_words() {
        let command = format!("for x in {}; do echo $x; done", conceal("a;b\nc d", DataKind::Computed));
        let prepared = insert_data(&command, "V").unwrap().unwrap();
        assert_eq!(prepared.text, "for x in a\"${V0}\" c d; do echo $x; done");
    }
}
