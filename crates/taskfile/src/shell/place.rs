//! Tracks where in a command a character stands: outside of quotes, in quotes, in a here-document.

/// What a reference to a variable has to look like at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandPlace {
    /// `is_assignment`: in the value of `NAME=…`, or as the target of a redirection; data is one word there.
    Unquoted {
        is_assignment: bool,
    },
    /// In `"…"`, in a here-document or in `${…}` and `$((…))`.
    DoubleQuoted,
    /// In `'…'` or `$'…'`; `reopen` continues the quotes.
    SingleQuoted {
        reopen: &'static str,
    },
    Comment,
    /// In a here-document whose delimiter is quoted: nothing is expanded.
    Literal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaceLevel {
    /// A list of commands, and what ends it.
    Commands {
        end: Option<char>,
        word: WordState,
    },
    Double,
    Single,
    Ansi,
    /// `${…}`, inside of double quotes or not.
    Parameter {
        is_quoted: bool,
    },
    /// `$((…))`, with the number of open brackets.
    Arithmetic {
        open: usize,
    },
    Comment,
    HereDocument {
        is_literal: bool,
    },
}

/// How far the current word has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordState {
    Start,
    Name,
    Assignment,
    /// After `>` or another redirection, and in the word that it leads to: data is one word there, so that no further word of it
    /// becomes a command.
    Target,
    Other,
}

/// A here-document whose body starts after the current line.
#[derive(Debug, Clone)]
struct HereDocument {
    delimiter: Vec<char>,
    is_literal: bool,
    strips_tabs: bool,
}

#[derive(Debug)]
pub(super) struct PlaceTracker {
    levels: Vec<PlaceLevel>,
    pending: Vec<HereDocument>,
    /// The here-documents being read, the first one first.
    open: Vec<HereDocument>,
}

impl Default for PlaceTracker {
    fn default() -> Self {
        PlaceTracker { levels: vec![commands(None)], pending: Vec::new(), open: Vec::new() }
    }
}

fn commands(end: Option<char>) -> PlaceLevel {
    PlaceLevel::Commands { end, word: WordState::Start }
}

impl PlaceTracker {
    pub(super) fn place(&self) -> CommandPlace {
        match self.top() {
            PlaceLevel::Commands { word, .. } => {
                let is_assignment = matches!(word, WordState::Assignment | WordState::Target);
                CommandPlace::Unquoted { is_assignment }
            }
            PlaceLevel::Parameter { is_quoted: false } => CommandPlace::Unquoted { is_assignment: true },
            PlaceLevel::Parameter { is_quoted: true }
            | PlaceLevel::Arithmetic { .. }
            | PlaceLevel::Double
            | PlaceLevel::HereDocument { is_literal: false } => CommandPlace::DoubleQuoted,
            PlaceLevel::HereDocument { is_literal: true } => CommandPlace::Literal,
            PlaceLevel::Single => CommandPlace::SingleQuoted { reopen: "'" },
            PlaceLevel::Ansi => CommandPlace::SingleQuoted { reopen: "$'" },
            PlaceLevel::Comment => CommandPlace::Comment,
        }
    }

    /// A word was inserted here.
    pub(super) fn in_word(&mut self) {
        if let Some(PlaceLevel::Commands { word, .. }) = self.levels.last_mut()
            && !matches!(word, WordState::Assignment | WordState::Target)
        {
            *word = WordState::Other;
        }
    }

    /// A space was inserted here.
    pub(super) fn end_word(&mut self) {
        self.set_word(WordState::Start);
    }

    /// Goes on by one element of the command; returns how many characters it has.
    pub(super) fn step(&mut self, rest: &[char]) -> usize {
        let (Some(c), next) = (rest.first().copied(), rest.get(1).copied()) else { return 1 };
        match self.top() {
            PlaceLevel::Commands { end, word, .. } => self.step_commands(rest, c, end, word),
            PlaceLevel::Double => match c {
                '"' => self.close(1),
                _ => self.step_expansion(rest, c, next, true),
            },
            PlaceLevel::Single => {
                if c == '\'' {
                    self.close(1)
                } else {
                    1
                }
            }
            PlaceLevel::Ansi => match c {
                '\'' => self.close(1),
                '\\' => 2.min(rest.len()),
                _ => 1,
            },
            PlaceLevel::Parameter { is_quoted } => match c {
                '}' => self.close(1),
                '"' => self.open(PlaceLevel::Double, 1),
                '\'' if !is_quoted => self.open(PlaceLevel::Single, 1),
                _ => self.step_expansion(rest, c, next, is_quoted),
            },
            PlaceLevel::Arithmetic { open } => match c {
                '(' => self.replace(PlaceLevel::Arithmetic { open: open + 1 }),
                ')' if open > 0 => self.replace(PlaceLevel::Arithmetic { open: open - 1 }),
                ')' => self.close(2.min(rest.len())),
                _ => self.step_expansion(rest, c, next, true),
            },
            PlaceLevel::Comment => match c {
                '\n' => {
                    self.close(0);
                    self.newline(rest)
                }
                _ => 1,
            },
            PlaceLevel::HereDocument { is_literal } => match c {
                '\n' => self.here_document_line(rest),
                _ if is_literal => 1,
                _ => self.step_expansion(rest, c, next, true),
            },
        }
    }

    fn step_commands(&mut self, rest: &[char], c: char, end: Option<char>, word: WordState) -> usize {
        let next = rest.get(1).copied();
        match c {
            c if Some(c) == end => self.close(1),
            '\'' => self.open_in_word(PlaceLevel::Single, 1),
            '"' => self.open_in_word(PlaceLevel::Double, 1),
            '$' if next == Some('\'') => self.open_in_word(PlaceLevel::Ansi, 2),
            '#' if word == WordState::Start => self.open(PlaceLevel::Comment, 1),
            '\n' => self.newline(rest),
            '(' if next == Some('(') && word == WordState::Start => {
                self.open(PlaceLevel::Arithmetic { open: 0 }, 2)
            }
            '(' => {
                self.set_word(WordState::Other);
                self.open(commands(Some(')')), 1)
            }
            '<' if next == Some('<') && rest.get(2) == Some(&'<') => {
                self.set_word(WordState::Target);
                3
            }
            '<' if next == Some('<') => self.here_document(rest),
            '<' | '>' => {
                self.set_word(WordState::Target);
                // Between the sign and its target.
                let between = rest[1..].iter().take_while(|c| matches!(c, '&' | '|' | '>' | ' ' | '\t'));
                1 + between.count()
            }
            ' ' | '\t' | ';' | '&' | '|' | ')' => {
                self.set_word(WordState::Start);
                1
            }
            '\\' | '`' | '$' => {
                self.in_word();
                self.step_expansion(rest, c, next, false)
            }
            c => {
                self.set_word(word.after(c, next));
                1
            }
        }
    }

    /// What may be expanded inside and outside of quotes.
    fn step_expansion(&mut self, rest: &[char], c: char, next: Option<char>, is_quoted: bool) -> usize {
        match (c, next) {
            ('\\', _) => 2.min(rest.len()),
            ('`', _) => self.open(commands(Some('`')), 1),
            ('$', Some('(')) if rest.get(2) == Some(&'(') => self.open(PlaceLevel::Arithmetic { open: 0 }, 3),
            ('$', Some('(')) => self.open(commands(Some(')')), 2),
            ('$', Some('{')) => self.open(PlaceLevel::Parameter { is_quoted }, 2),
            _ => 1,
        }
    }

    /// `<<` and its delimiter.
    fn here_document(&mut self, rest: &[char]) -> usize {
        let mut at = 2;
        let strips_tabs = rest.get(at) == Some(&'-');
        at += usize::from(strips_tabs);
        at += rest[at.min(rest.len())..].iter().take_while(|c| matches!(c, ' ' | '\t')).count();
        let (mut delimiter, mut is_literal, mut quote) = (Vec::new(), false, None);
        while let Some(c) = rest.get(at).copied() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                ('\'' | '"', None) => (is_literal, quote) = (true, Some(c)),
                ('\\', None) => is_literal = true,
                (' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')', None) => break,
                _ => delimiter.push(c),
            }
            at += 1;
        }
        self.set_word(WordState::Start);
        self.pending.push(HereDocument { delimiter, is_literal, strips_tabs });
        at.min(rest.len())
    }

    /// The end of a line of commands, after which the bodies of here-documents stand.
    fn newline(&mut self, rest: &[char]) -> usize {
        self.set_word(WordState::Start);
        if self.pending.is_empty() {
            return 1;
        }
        self.open = std::mem::take(&mut self.pending);
        let is_literal = self.open.first().is_some_and(|document| document.is_literal);
        self.levels.push(PlaceLevel::HereDocument { is_literal });
        self.here_document_line(rest)
    }

    /// At a newline in front of a line of a here-document: its end, or one more line of it.
    fn here_document_line(&mut self, rest: &[char]) -> usize {
        let Some(document) = self.open.first() else { return self.close(1) };
        let line: Vec<char> = rest[1..].iter().copied().take_while(|c| *c != '\n').collect();
        let tabs = if document.strips_tabs { line.iter().take_while(|c| **c == '\t').count() } else { 0 };
        if line[tabs..] != document.delimiter {
            return 1;
        }
        self.open.remove(0);
        self.levels.pop();
        let taken = 1 + line.len();
        if let Some(next) = self.open.first() {
            self.levels.push(PlaceLevel::HereDocument { is_literal: next.is_literal });
            return taken;
        }
        taken
    }

    fn top(&self) -> PlaceLevel {
        self.levels.last().copied().unwrap_or_else(|| commands(None))
    }

    fn set_word(&mut self, state: WordState) {
        if let Some(PlaceLevel::Commands { word, .. }) = self.levels.last_mut() {
            *word = state;
        }
    }

    fn open(&mut self, level: PlaceLevel, taken: usize) -> usize {
        self.levels.push(level);
        taken
    }

    fn open_in_word(&mut self, level: PlaceLevel, taken: usize) -> usize {
        self.in_word();
        self.open(level, taken)
    }

    fn replace(&mut self, level: PlaceLevel) -> usize {
        self.levels.pop();
        self.open(level, 1)
    }

    /// Ends the current level; the outermost one stays.
    fn close(&mut self, taken: usize) -> usize {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
        taken
    }
}

impl WordState {
    fn after(self, c: char, next: Option<char>) -> WordState {
        let is_name = c.is_ascii_alphanumeric() || c == '_';
        match self {
            WordState::Start if is_name && !c.is_ascii_digit() => WordState::Name,
            WordState::Name if is_name => WordState::Name,
            WordState::Name if c == '=' => WordState::Assignment,
            WordState::Name if c == '+' && next == Some('=') => WordState::Name,
            WordState::Assignment => WordState::Assignment,
            WordState::Target => WordState::Target,
            _ => WordState::Other,
        }
    }
}
