//! Guesses the type of task a message asks for, from its words.
//!
//! The guess errs towards `IMPLEMENTATION`: a change request mistaken for a question would end with words and no
//! work. So the types whose output is the deliverable are chosen only if nothing asks for a change. The sender may
//! always set the type.

mod courtesy;
mod operations;
mod prohibition;
#[cfg(test)]
mod tests;
mod words;

use crate::base::task_type::TaskType;
use courtesy::is_courtesy;
use operations::{is_destructive, operates};
use prohibition::without_prohibition;
use words::{
    ARTICLES, ASKING, ASKING_ANYWHERE, CHANGES, CHANGES_ANYWHERE, CHANGES_BEGIN, CONFIGURATION, GIVEN,
    LEADING, LIGHT, NOUNS, REASONS, REPORTING, REPORTING_ANYWHERE, REVIEWED, SHOWN_AT, TELLING,
};

impl TaskType {
    /// The type a message asks for, as far as its words show it.
    pub fn detect(text: &str) -> Self {
        let text = text.to_lowercase().replace('’', "'");
        let words = words_of(&text);
        if is_courtesy(&text, &words) {
            return Self::ReadInfo;
        }
        if let Some(rest) = without_prohibition(&text)
            && let Some(answer) = answer_without_change(&rest)
        {
            return answer;
        }
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        let asks_for_change = asks_for_change(&text, &words) || shows_to_users(&text, &words);
        let begins_with = |verbs: &[&str]| first_of(&words).is_some_and(|word| verbs.contains(&word));
        let is_question =
            text.trim_end().ends_with(['?', '？']) || begins_with(ASKING) || has(ASKING_ANYWHERE);
        let is_light = has(LIGHT) || words.iter().any(|word| ["typo", "typos"].contains(word));
        // Asking for a reason or a way asks for no change, whatever it is about. "What about adding a test?" proposes one.
        let is_proposal = words.get(1).is_some_and(|word| *word == "about");
        if (begins_with(REASONS) && text.trim_end().ends_with(['?', '？']) && !is_proposal) || tells(&words)
        {
            return Self::ReadInfo;
        }
        let is_report = is_report(&text, &words);
        // Asking about something dangerous does nothing yet.
        let is_dangerous = is_destructive(&text, &words) && (asks_for_change || !is_question);
        if is_dangerous || operates(&text, &words) {
            Self::DangerousOp
        } else if has(REVIEWED) && !is_question {
            Self::ReviewResponse
        } else if (has(CONFIGURATION) || words.contains(&"ci")) && asks_for_change {
            Self::ConfigCiChange
        } else if is_light && words.len() <= LIGHT_WORDS_MAX {
            Self::LightEdit
        } else if asks_for_change && !(is_report && asks_only_for_report(&words)) {
            Self::Implementation
        } else if is_report {
            Self::Report
        } else if is_question {
            Self::ReadInfo
        } else {
            Self::Implementation
        }
    }
}

fn words_of(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-'))
        .map(|word| word.trim_matches(['\'', '-']))
        .filter(|word| !word.is_empty())
        .collect()
}

/// The first word of the request: "please" and "now" are not, and "explique-moi" and "peux-tu" begin with their verb.
fn first_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    let is_request = |word: &&str| !LEADING.contains(word);
    words.iter().copied().find(is_request).map(|word| word.split('-').next().unwrap_or(word))
}

fn asks_for_change(text: &str, words: &[&str]) -> bool {
    changes(words).next().is_some() || CHANGES_ANYWHERE.iter().any(|phrase| text.contains(phrase))
}

fn is_report(text: &str, words: &[&str]) -> bool {
    first_of(words).is_some_and(|word| REPORTING.contains(&word))
        || REPORTING_ANYWHERE.iter().any(|phrase| text.contains(phrase))
}

/// The type of a message that forbids changes, by the rest of it; none if that asks for a change all the same.
fn answer_without_change(rest: &str) -> Option<TaskType> {
    let words = words_of(rest);
    if is_report(rest, &words) && asks_only_for_report(&words) {
        return Some(TaskType::Report);
    }
    // "Tell me how to fix it": the change is what is told of.
    let is_telling = first_of(&words).is_some_and(|word| TELLING.contains(&word) || REASONS.contains(&word));
    (is_telling || !asks_for_change(rest, &words)).then_some(TaskType::ReadInfo)
}

fn begins_change(word: &str) -> bool {
    CHANGES_BEGIN.iter().any(|start| word.starts_with(start))
}

/// "What changed": English words that begin like a verb of another language.
fn tells_of_change(word: &str) -> bool {
    word.is_ascii() && (word.ends_with("ed") || word == "changes")
}

/// "Tell me which version we use."
fn tells(words: &[&str]) -> bool {
    let words = &words[words.iter().position(|word| !LEADING.contains(word)).unwrap_or(0)..];
    match words {
        ["tell" | "show", "me" | "us", word, ..] => ASKED.contains(word),
        ["give" | "send", "me" | "us", what, ..] => {
            let rest = &words[2..];
            GIVEN.contains(what)
                || rest.get(1).is_some_and(|noun| ARTICLES.contains(what) && GIVEN.contains(noun))
        }
        _ => false,
    }
}

/// Words after which something is told.
const ASKED: &[&str] = &["which", "what", "how", "why", "where", "whether", "if", "who", "when"];

/// "Show an error when the port is taken": the program is to do so, not the agent.
fn shows_to_users(text: &str, words: &[&str]) -> bool {
    let words = &words[words.iter().position(|word| !LEADING.contains(word)).unwrap_or(0)..];
    let ["show" | "list" | "print" | "display", what, rest @ ..] = words else { return false };
    let is_for_reader = ["me", "us"].contains(what) || ASKED.contains(what);
    !is_for_reader
        && !text.trim_end().ends_with(['?', '？'])
        && rest.iter().any(|word| SHOWN_AT.contains(word))
}

/// The words that ask for a change. "The build" and "a fix" are nouns.
fn changes<'a>(words: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let is_change = |word: &str| CHANGES.contains(&word) || (begins_change(word) && !tells_of_change(word));
    let is_noun = |index: usize, word: &str| {
        let before = index.checked_sub(1).map(|before| words[before]);
        NOUNS.contains(&word) && before.is_some_and(|before| ARTICLES.contains(&before))
    };
    words
        .iter()
        .enumerate()
        .filter(move |(index, word)| is_change(word) && !is_noun(*index, word))
        .map(|(_, word)| *word)
}

/// "Write" is the only change: what is written is the report.
fn asks_only_for_report(words: &[&str]) -> bool {
    changes(words).all(|word| matches!(word, "write" | "schreibe" | "écris" | "escribe"))
}

/// A longer request that mentions a typo asks for more than that.
const LIGHT_WORDS_MAX: usize = 25;
