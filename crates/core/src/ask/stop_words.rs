//! Answers that refuse or stop, in a person's own words (I22).

use crate::ask::choice::{YesNo, is_one_of, split_remark};

/// Words that a refusal begins with.
#[rustfmt::skip]
const REFUSALS: [&str; 22] = [
    "no", "nope", "nah", "never", "stop", "cancel", "abort", "don't", "not now", "not yet", "do not", "nein", "bitte nicht", "noch nicht", "non",
    "não", "nee", "нет", "いいえ", "いや", "不", "아니",
];

/// What may follow a "no" that is meant as nothing but that.
#[rustfmt::skip]
const COURTESIES: [&str; 21] = [
    "thanks", "thank you", "thanks a lot", "please", "please don't", "don't", "do not", "don't do it", "not yet", "not yet please", "gracias",
    "lo hagas", "danke", "bitte nicht", "tu das nicht", "merci", "grazie", "obrigado", "まだです", "結構です", "谢谢",
];

/// Those that stop also with a reason behind a comma. "Wait, use port 80" is an instruction.
#[rustfmt::skip]
const CLEAR_STOPS: [&str; 27] = [
    "stop", "stop it", "cancel", "cancel it", "abort", "not now", "not yet", "not today", "later", "maybe later", "stopp", "abbrechen",
    "nicht jetzt", "jetzt nicht", "noch nicht", "später", "pas maintenant", "pas encore", "plus tard", "ahora no", "todavía no",
    "más tarde", "agora não", "やめて", "今はやめて", "後で", "あとで",
];

/// Answers that stop the work, whatever was asked. "No" is not among them: it answers many questions.
#[rustfmt::skip]
const STOPS: [&str; 113] = [
    "stop", "stop it", "stop this", "stop here", "stop now", "stop working", "stop the task", "please stop", "stop please",
    "stop, please", "cancel", "cancel it", "cancel this", "cancel the task", "please cancel", "abort", "abort it", "abort this",
    "halt", "quit", "not now", "not now, please", "not yet", "not today", "later", "maybe later", "later please", "hold off", "hold on",
    "hold", "hold it", "wait", "please wait", "wait a moment", "pause", "postpone", "postpone it", "another time",
    "some other time", "leave it", "never mind", "nevermind",
    "stopp", "abbrechen", "nicht jetzt", "jetzt nicht", "noch nicht", "heute nicht", "später", "warte", "warten", "bitte nicht", "bitte warten", "warte mal",
    "aufhören", "ein andermal",
    "arrête", "arrêter", "arrêtez", "annuler", "annule", "pas maintenant", "pas encore", "plus tard", "attends", "attendez", "attendre",
    "ahora no", "todavía no", "más tarde", "mas tarde", "luego", "espera", "espere", "cancelar",
    "agora não", "mais tarde", "depois", "non ora", "più tardi", "dopo", "aspetta", "nu niet", "wacht", "pozdniej", "później",
    "не сейчас", "позже", "потом", "подожди", "стоп",
    "やめて", "今はやめて", "いまはやめて", "中止", "ストップ", "停止", "取消", "不要", "後で", "あとで", "後ほど", "また今度", "待って", "待ってください",
    "稍后", "以后再说", "等一下", "现在不行", "나중에", "잠깐만", "중지", "취소",
];

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
    REFUSALS.iter().find_map(|word| {
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
    let rest = rest.trim_start_matches([' ', ',', '.', ';', '!', '、', '。', '，']);
    rest.trim().is_empty() || is_one_of(rest, &COURTESIES) || stops(rest)
}

/// Whether an answer stops the work instead of saying how it should go on. "Stop: the plan has changed" does; "stop the
/// server before the test" is an instruction.
pub fn stops(answer: &str) -> bool {
    if is_one_of(split_remark(answer).0, &STOPS) {
        return true;
    }
    let answer = lowered(answer);
    CLEAR_STOPS.iter().any(|word| {
        answer.strip_prefix(word).is_some_and(|rest| rest.starts_with([',', ';', '.', '!', '、', '。', '，']))
    })
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
            "",
        ] {
            assert!(!stops(other), "{other}");
        }
    }
}
