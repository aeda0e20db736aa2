//! Answers that begin with a yes. A yes lets work start only where it is unconditional (I22): "yes, but later" does not.

use crate::ask::choice::{YesNo, split_remark};
use crate::ask::stop_words::lists::{AGREEMENTS, BRIDGES, CONDITIONS, LATER};
use crate::ask::stop_words::{
    DOUBTED_WORDS_MAX, SEPARATORS, after, declines, has_word, lowered, plain_words, stops,
};

/// What a person adds to a YES: "YES: use tabs", "Ja, aber nur die Tests". `None` if that may put the work off.
pub fn remark_to_yes(answer: &str) -> Option<&str> {
    let answer = answer.trim();
    let (word, remark) = split_remark(answer);
    let comma = answer.find([',', '、', '，']);
    let behind_comma = |at: usize| (&answer[..at], answer[at..].trim_start_matches([',', '、', '，', ' ']));
    let (_, rest) = [remark.map(|remark| (word, remark)), comma.map(behind_comma)]
        .into_iter()
        .flatten()
        .find(|(word, _)| YesNo::read(word) == Ok(YesNo::Yes))?;
    (!rest.is_empty() && !puts_off(rest)).then_some(rest)
}

/// Whether an answer in one's own words agrees, to whatever it adds.
pub fn agrees(answer: &str) -> bool {
    YesNo::read(split_remark(answer).0) == Ok(YesNo::Yes) || after(&AGREEMENTS, &lowered(answer)).is_some()
}

/// Whether an answer agrees to something, but perhaps not now: "yes, but later", "ok, once Eva has seen it".
pub fn agrees_to_later(answer: &str) -> bool {
    let answer = lowered(answer);
    let rest = remark_behind_yes(&answer).or_else(|| after(&AGREEMENTS, &answer));
    rest.is_some_and(|rest| puts_off(rest.trim_start_matches(SEPARATORS)))
}

fn remark_behind_yes(answer: &str) -> Option<&str> {
    let (word, remark) = split_remark(answer);
    remark.filter(|_| YesNo::read(word) == Ok(YesNo::Yes))
}

/// Whether what stands behind a yes stops, or names a time or a condition. Whoever writes more than a few words with one of those
/// somewhere among them gives an instruction.
fn puts_off(rest: &str) -> bool {
    let mut rest = lowered(rest);
    while let Some(next) = after(&BRIDGES, &rest).map(|next| next.trim_start_matches(SEPARATORS).to_owned()) {
        rest = next;
    }
    let words = plain_words(&rest);
    let is_short = words.split_whitespace().count() <= DOUBTED_WORDS_MAX;
    let names = |all: &[&str]| all.iter().any(|word| has_word(&words, word));
    stops(&rest)
        || declines(&rest)
        || after(&CONDITIONS, &rest).is_some()
        || (is_short && (names(&CONDITIONS) || names(&LATER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_may_say_more_unless_that_puts_it_off() {
        for (answer, remark) in [
            ("YES: use tabs", Some("use tabs")),
            ("Yes, but only the tests", Some("but only the tests")),
            ("ja: nichts an den Tests", Some("nichts an den Tests")),
            ("YES: don't touch the tests", Some("don't touch the tests")),
            ("YES", None),
            ("YES: not now", None),
            ("ok, later", None),
            ("はい、後で", None),
            ("use tabs", None),
            ("NO: use tabs", None),
        ] {
            assert_eq!(remark_to_yes(answer), remark, "{answer}");
        }
    }

    #[test]
    fn a_yes_with_a_time_or_a_condition_is_none() {
        for later in [
            "yes, but later",
            "yes but later",
            "Yes, but not now",
            "yes, tomorrow",
            "YES: after the release",
            "yes, if Eva agrees",
            "Yes, but only once Eva has looked at all of the numbers again",
            "ok, when I am back",
            "ok but wait for me",
            "sure, as soon as the branch is green",
            "yes - but not before Monday",
            "Ja, aber später",
            "ja, sobald Eva da ist",
            "Ja, erst morgen",
            "oui, mais plus tard",
            "oui, quand Eva sera là",
            "sí, pero mañana",
            "да, но позже",
            "はい、でも後で",
            "はい、レビューが終わったら",
            "好，等一下",
        ] {
            assert!(agrees_to_later(later) && agrees(later), "{later}");
            assert_eq!(remark_to_yes(later), None, "{later}");
        }
        for now in [
            "yes",
            "YES: use tabs",
            "Yes, but only the tests",
            "ok, use port 80",
            "ja: nichts an den Tests",
            "yes, keep the old names and the tests of the parser as they are if nobody calls them",
            "later",
            "if Eva agrees",
            "yesterday's file, later",
            "okra, later",
        ] {
            assert!(!agrees_to_later(now), "{now}");
        }
    }
}
