//! Answers that refuse or stop, in a person's own words (I22).

use crate::ask::choice::{YesNo, is_one_of, split_remark};

/// Words that a refusal begins with.
const REFUSALS: [&str; 8] = ["no", "never", "stop", "cancel", "abort", "don't", "not now", "do not"];

/// Answers that stop the work, whatever was asked. "No" is not among them: it answers many questions.
#[rustfmt::skip]
const STOPS: [&str; 111] = [
    "stop", "stop it", "stop this", "stop here", "stop now", "stop working", "stop the task", "please stop", "stop please",
    "stop, please", "cancel", "cancel it", "cancel this", "cancel the task", "please cancel", "abort", "abort it", "abort this",
    "halt", "quit", "not now", "not now, please", "not yet", "not today", "later", "maybe later", "later please", "hold off", "hold on",
    "hold", "hold it", "wait", "please wait", "wait a moment", "pause", "postpone", "postpone it", "another time",
    "some other time", "leave it", "never mind", "nevermind",
    "stopp", "abbrechen", "nicht jetzt", "jetzt nicht", "noch nicht", "heute nicht", "später", "warte", "warten", "bitte warten", "warte mal",
    "aufhören", "ein andermal",
    "arrête", "arrêter", "arrêtez", "annuler", "annule", "pas maintenant", "pas encore", "plus tard", "attends", "attendez", "attendre",
    "ahora no", "todavía no", "más tarde", "mas tarde", "luego", "espera", "espere", "cancelar",
    "agora não", "mais tarde", "depois", "non ora", "più tardi", "dopo", "aspetta", "nu niet", "wacht", "pozdniej", "później",
    "не сейчас", "позже", "потом", "подожди", "стоп",
    "やめて", "今はやめて", "中止", "ストップ", "停止", "取消", "不要", "後で", "あとで", "後ほど", "また今度", "待って", "待ってください",
    "稍后", "以后再说", "等一下", "现在不行", "나중에", "잠깐만", "중지", "취소",
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
            "wait",
            "Später",
            "plus tard",
            "más tarde",
            "jetzt nicht",
            "後で",
            "나중에",
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
            "",
        ] {
            assert!(!stops(other), "{other}");
        }
    }
}
