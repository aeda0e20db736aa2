//! Answers that refuse or stop, in a person's own words (I22).

use crate::ask::choice::{YesNo, is_one_of, split_remark};

/// Words that a refusal begins with.
const REFUSALS: [&str; 8] = ["no", "never", "stop", "cancel", "abort", "don't", "not now", "do not"];

/// Answers that stop the work, whatever was asked. "No" is not among them: it answers many questions.
#[rustfmt::skip]
const STOPS: [&str; 48] = [
    "stop", "stop it", "stop this", "stop here", "stop now", "stop working", "stop the task", "please stop", "stop please",
    "stop, please", "cancel", "cancel it", "cancel this", "cancel the task", "please cancel", "abort", "abort it", "abort this",
    "halt", "quit", "not now", "not now, please", "not yet", "not today", "later", "hold off", "hold on", "leave it", "never mind",
    "nevermind",
    "stopp", "abbrechen", "nicht jetzt", "aufhören",
    "arrête", "arrêter", "arrêtez", "annuler", "pas maintenant",
    "ahora no", "cancelar",
    "やめて", "今はやめて", "中止", "ストップ", "停止", "取消", "不要",
];

/// Whether an answer in one's own words refuses: it begins with one of the words that do.
pub fn refuses(answer: &str) -> bool {
    if matches!(YesNo::read(split_remark(answer).0), Ok(YesNo::No)) {
        return true;
    }
    let answer = answer.trim().to_lowercase().replace('’', "'");
    REFUSALS.iter().any(|word| {
        let rest = answer.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '\''))
    })
}

/// Whether an answer stops the work instead of saying how it should go on. "Stop: the plan has changed" does; "stop the
/// server before the test" is an instruction.
pub fn stops(answer: &str) -> bool {
    is_one_of(split_remark(answer).0, &STOPS)
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
            "",
        ] {
            assert!(!stops(other), "{other}");
        }
    }
}
