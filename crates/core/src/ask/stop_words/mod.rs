//! Answers that refuse or stop, in a person's own words (I22).

mod agreement;
mod lists;

pub use agreement::{agrees, agrees_to_later, remark_to_yes};

use crate::ask::choice::{YesNo, is_one_of, split_remark};
use crate::ask::stop_words::lists::{CLEAR_STOPS, COURTESIES, DOUBTS, NEGATIONS, NOTHING, REFUSALS, STOPS};

/// The longest "no" that is doubted.
const DOUBTED_WORDS_MAX: usize = 8;

/// What separates a "no" from what follows it.
const SEPARATORS: [char; 14] = [' ', ',', '.', ';', ':', '!', '-', '–', '—', '\n', '、', '。', '，', '！'];

/// Whether an answer in one's own words refuses: it begins with one of the words that do.
pub fn refuses(answer: &str) -> bool {
    if matches!(YesNo::read(split_remark(answer).0), Ok(YesNo::No)) {
        return true;
    }
    stops(answer) || after_refusal(&lowered(answer)).is_some()
}

fn lowered(answer: &str) -> String {
    answer.trim().to_lowercase().replace('’', "'")
}

/// What follows the word with which an answer refuses.
fn after_refusal(answer: &str) -> Option<&str> {
    after(&REFUSALS, answer).or_else(|| after(&NEGATIONS, answer))
}

/// What follows the one of these words that an answer begins with.
fn after<'a>(words: &[&str], answer: &'a str) -> Option<&'a str> {
    words.iter().find_map(|word| {
        let rest = answer.strip_prefix(word)?;
        let is_spaced = word.chars().all(|c| c.is_ascii() || ('à'..='я').contains(&c));
        let goes_on = |next: char| is_spaced && (next.is_alphanumeric() || next == '\'');
        (!rest.starts_with(goes_on)).then_some(rest)
    })
}

/// Whether an answer in one's own words is a "no" and nothing else: "No, not yet", "Nein danke". "No, use the other one" is an
/// instruction.
pub fn declines(answer: &str) -> bool {
    let answer = lowered(answer);
    let Some(rest) = after_refusal(&answer) else { return false };
    let rest = rest.trim_start_matches(SEPARATORS).trim();
    rest.is_empty() || is_one_of(rest, &COURTESIES) || stops(rest) || declines(rest)
}

/// Whether an answer stops the work instead of saying how it should go on. "Stop: the plan has changed" and "No, not now" do;
/// "stop the server before the test" is an instruction.
pub fn stops(answer: &str) -> bool {
    if is_one_of(split_remark(answer).0, &STOPS) {
        return true;
    }
    let answer = lowered(answer);
    let goes_on_to_stop =
        |rest: &str| rest.starts_with(SEPARATORS) && stops(rest.trim_start_matches(SEPARATORS));
    CLEAR_STOPS.iter().any(|word| {
        answer.strip_prefix(word).is_some_and(|rest| rest.starts_with([',', ';', '.', '!', '、', '。', '，']))
    }) || after(&NEGATIONS, &answer).or_else(|| after(&NOTHING, &answer)).is_some_and(goes_on_to_stop)
}

/// Whether an answer wants nothing: "nothing", "nichts mehr".
pub fn wants_nothing(answer: &str) -> bool {
    is_one_of(answer, &NOTHING)
}

/// Whether nobody can tell if an answer stops or instructs: "NO because I want to stop", "yes, but later", "?".
pub fn is_unclear(answer: &str) -> bool {
    let answer = lowered(answer);
    let words = plain_words(&answer);
    // A longer text is a reason or an instruction.
    let says_no = after_refusal(&answer).is_some() && words.split_whitespace().count() <= DOUBTED_WORDS_MAX;
    !answer.chars().any(char::is_alphanumeric)
        || (says_no && DOUBTS.iter().any(|doubt| has_word(&words, doubt)))
        || agrees_to_later(&answer)
}

/// The words of a text, without punctuation, each between spaces.
fn plain_words(text: &str) -> String {
    let words: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether a word is among these. Scripts without spaces have it anywhere.
fn has_word(words: &str, word: &str) -> bool {
    if word.chars().any(|c| c < '\u{3000}') {
        words.contains(&format!(" {word} "))
    } else {
        words.contains(word)
    }
}

/// Whether an answer chooses nothing, and says so: "later", "NO", "no thanks".
pub fn puts_off_choice(answer: &str) -> bool {
    stops(answer) || declines(answer) || YesNo::read(split_remark(answer).0) == Ok(YesNo::No)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_by_how_it_begins() {
        for no in [
            "NO",
            "no.",
            "No, drop nothing",
            "NO: not today",
            "stop",
            "Not now",
            "Don’t",
            "cancel it",
            "n",
            "nein",
            "いいえ",
        ] {
            assert!(refuses(no), "{no}");
        }
        for other in
            ["YES", "nothing else, go on", "Now", "northwind only", "stopwatch", "yes, no backup needed"]
        {
            assert!(!refuses(other), "{other}");
        }
    }

    #[test]
    fn a_no_with_courtesies_is_a_no_and_one_with_an_instruction_is_not() {
        for no in [
            "No, not yet",
            "No gracias",
            "No lo hagas",
            "Nein, noch nicht",
            "Non merci",
            "Non, pas encore",
            "いいえ、まだです",
            "no, thanks.",
            "no",
            "No, please do not.",
            "Do not do it",
            "don't",
            "許可しません",
            "ダメです",
            "auf keinen Fall",
            "Lieber nicht",
            "ne le fais pas",
            "nej",
            "hayır",
            "Rather not",
            "I would rather not",
            "不可以",
            "👎",
        ] {
            assert!(declines(no) && refuses(no), "{no}");
        }
        for other in
            ["No, use Postgres instead", "no new files", "None", "nonsense", "yes", "noch eine Datei"]
        {
            assert!(!declines(other), "{other}");
        }
    }

    #[test]
    fn a_choice_is_put_off_by_a_stop_or_a_no() {
        for off in
            ["not now", "stop", "later", "NO", "no thanks", "Nein, noch nicht", "später", "NO: not today"]
        {
            assert!(puts_off_choice(off), "{off}");
        }
        for other in ["SPLIT", "retry", "maybe", "no new files", "split it in two"] {
            assert!(!puts_off_choice(other), "{other}");
        }
    }

    #[test]
    fn what_may_be_a_stop_is_unclear() {
        for unclear in [
            "NO because I want to stop",
            "NO: wait until Monday",
            "NO: do nothing before Monday",
            "Nein, warte auf Eva",
            "?",
            "🤔",
        ] {
            assert!(is_unclear(unclear) && !declines(unclear), "{unclear}");
        }
        for clear in ["No, use the other one", "NO: three parts", "src/main.rs", "wait for the lock", "42"] {
            assert!(!is_unclear(clear), "{clear}");
        }
    }

    #[test]
    fn a_stop_is_the_whole_answer() {
        for stop in [
            "stop",
            "STOP!",
            "later",
            "Not yet",
            "Not now.",
            "cancel",
            "\"stop\"",
            "stop: the plan has changed",
            "Stopp",
            "やめて。",
            "wait",
            "Später",
            "plus tard",
            "más tarde",
            "jetzt nicht",
            "後で",
            "나중에",
            "not yet, I must think",
            "noch nicht",
            "いまはやめて",
            "No, not now",
            "NO, later",
            "NO. Stop.",
            "NO; stop",
            "NO: not now",
            "no, stop here",
            "Nein, jetzt nicht",
            "Non, plus tard",
            "いいえ、後で",
            "No, no, stop",
            "No, I will do it myself",
            "nothing, stop",
            "hör auf",
            "Lass es!",
            "vergiss es",
            "give up",
            "tomorrow",
            "後でお願いします",
        ] {
            assert!(stops(stop), "{stop}");
        }
        for other in [
            "no",
            "NO",
            "stop the server first",
            "cancel the old subscription, then go on",
            "not now but after the release",
            "use the name Stop",
            "halting is fine",
            "wait for the lock, then write",
            "use later dates",
            "wait, use port 80",
            "don't stop",
            "never cancel it",
            "不取消",
            "No, wait, use port 80",
            "no later than Monday",
            "nothing",
            "",
        ] {
            assert!(!stops(other), "{other}");
        }
    }
}
