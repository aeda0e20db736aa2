//! Messages that forbid changes: "Don't change anything, just tell me why it fails."
//!
//! Only what forbids every change counts. "Don't change the API" says what must stay as it is beside a change.

use super::words::{REASONS, TELLING};

/// What English forbids with "don't", "do not" and "never", and to what.
const ENGLISH_VERBS: &[&str] = &["change", "modify", "edit", "touch", "alter", "fix", "write", "commit"];
const EVERYTHING: &[&str] = &[
    "anything",
    "any code",
    "any file",
    "any files",
    "the code",
    "the files",
    "code",
    "files",
    "it",
    "this",
    "that",
];

/// Whole phrases, in any language with spaces.
#[rustfmt::skip]
const PHRASES: &[&str] = &[
    "change nothing", "modify nothing", "edit nothing", "touch nothing", "fix nothing", "make no changes", "no changes please",
    "no code changes", "without changing code", "without code changes", "without making changes", "without making any changes",
    "without modifying code", "without editing code", "without touching code", "without touching the code",
    "do not deploy", "don't deploy", "do not push", "don't push", "do not commit", "don't commit", "do not merge", "don't merge",
    "do not run it", "don't run it", "do not delete anything", "don't delete anything", "without changing anything", "without changing the code", "without changing any code",
    "without modifying anything", "without editing anything", "without touching anything", "without any changes", "hands off the code",
    "ändere nichts", "ändern sie nichts", "nichts ändern", "verändere nichts", "nichts verändern", "fass nichts an", "fasse nichts an",
    "keine änderungen", "ohne etwas zu ändern", "ohne änderungen", "ändere den code nicht", "behebe nichts", "noch nichts ändern",
    "ne change rien", "ne changez rien", "ne modifie rien", "ne modifiez rien", "ne touche à rien", "ne touchez à rien",
    "ne corrige rien", "ne rien changer", "ne rien modifier", "sans rien changer", "sans rien modifier", "sans rien toucher",
    "no cambies nada", "no cambie nada", "no modifiques nada", "no modifique nada", "no toques nada", "sin cambiar nada",
    "sin modificar nada", "sin tocar nada",
    "non cambiare nulla", "non cambiare niente", "non modificare nulla", "non modificare niente", "non toccare nulla",
    "senza cambiare nulla", "senza modificare nulla",
    "não mude nada", "não altere nada", "não modifique nada", "sem mudar nada", "sem alterar nada",
    "verander niets", "wijzig niets", "pas niets aan", "zonder iets te veranderen",
    "ничего не меняй", "ничего не меняйте", "не меняй ничего", "не меняйте ничего", "не изменяй ничего", "ничего не изменяй",
    "ничего не трогай", "nic nie zmieniaj", "niczego nie zmieniaj",
];

/// Phrases of languages without spaces, wherever they stand.
#[rustfmt::skip]
const ANYWHERE: &[&str] = &[
    "変更しないで", "変更せずに", "変更せず", "変更なしで", "変更は不要", "修正しないで", "修正せずに", "直さないで", "触らないで", "いじらないで",
    "不要修改任何代码", "不要更改任何代码", "不要修改代码", "不要更改代码", "不要修改", "不要更改", "不要改动", "别改", "不修改", "不做任何修改", "不做任何更改",
    "변경하지 말고", "변경하지 마", "수정하지 말고", "수정하지 마", "바꾸지 말고", "고치지 말고",
];

/// The message without what forbids changes; none if nothing does.
pub(super) fn without_prohibition(text: &str) -> Option<String> {
    let english = ["don't", "do not", "never"].iter().flat_map(|not| {
        ENGLISH_VERBS
            .iter()
            .flat_map(move |verb| EVERYTHING.iter().map(move |what| format!("{not} {verb} {what}")))
    });
    let spaced = english.chain(PHRASES.iter().map(|phrase| (*phrase).to_owned()));
    let mut rest = text.to_owned();
    for phrase in spaced {
        let mut from = 0;
        while let Some(at) = rest.get(from..).and_then(|after| after.find(&phrase)).map(|at| from + at) {
            let end = at + phrase.len();
            if stands_alone(&rest[..at], &rest[end..]) {
                rest.replace_range(at..end, " ");
            }
            from = at + 1;
            while !rest.is_char_boundary(from) {
                from += 1;
            }
        }
    }
    for phrase in ANYWHERE {
        rest = rest.replace(phrase, " ");
    }
    (rest != text).then_some(rest)
}

/// Words after which the sentence goes on about something else.
const GOING_ON: &[&str] =
    &["and", "just", "only", "yet", "please", "now", "here", "und", "nur", "mais", "et", "y", "pero", "solo"];

/// Whether nothing is said of what exactly must not change: "the code style", "anything in the tests", "anything else".
fn stands_alone(before: &str, after: &str) -> bool {
    if before.chars().next_back().is_some_and(char::is_alphanumeric) {
        return false;
    }
    let next = after.chars().next();
    let word: String = after.trim_start().chars().take_while(|c| c.is_alphanumeric()).collect();
    match next {
        Some(c) if c.is_alphanumeric() => false,
        // "Nothing but the port" is a change; "nothing but tell me why" is none.
        Some(c) if c.is_whitespace() && word == "but" => {
            let rest = after.trim_start()[word.len()..].trim_start();
            let next: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            GOING_ON.contains(&next.as_str())
                || TELLING.contains(&next.as_str())
                || REASONS.contains(&next.as_str())
        }
        Some(c) if c.is_whitespace() && c != '\n' => word.is_empty() || GOING_ON.contains(&word.as_str()),
        Some(_) | None => true,
    }
}
