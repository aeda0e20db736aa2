//! A stall: an agent that does the same again and again and gets nowhere, seen by the tool calls it made.
//!
//! Only calls whose input is known are compared. A call that cannot be compared breaks a row, and so does one with another
//! result: whoever waits for something that moves is not stalled.

use std::collections::VecDeque;

use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::text::NonBlank;

/// The longest round of calls that is recognised: `a b c a b c …`.
const ROUND_LEN_MAX: usize = 3;
/// As much of a call or a result as a question shows.
const SHOWN_CHARS_MAX: usize = 400;

/// How often in a row is too often. `None` is never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallLimits {
    /// The same call, or the same round of calls, with the same result.
    pub repeated_calls: Option<u32>,
    /// The same call with the same error; of different calls it takes twice as many, which may have been made at once.
    pub repeated_errors: Option<u32>,
}

/// One tool call that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedCall {
    pub call: String,
    pub result: String,
    pub is_failed: bool,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stall {
    /// The round, in order, and how often it was made.
    Calls { round: Vec<ObservedCall>, times: u32 },
    /// The calls that failed alike, each once.
    Errors { calls: Vec<String>, error: String, times: u32 },
}

/// The latest tool calls of a running agent.
#[derive(Debug)]
pub struct StallWatch {
    limits: StallLimits,
    latest: VecDeque<ObservedCall>,
}

impl StallWatch {
    pub fn new(limits: StallLimits) -> Self {
        Self { limits, latest: VecDeque::new() }
    }

    /// The next call that ended; `None` for one that cannot be compared.
    pub fn note(&mut self, call: Option<ObservedCall>) -> Option<Stall> {
        let Some(call) = call else {
            self.latest.clear();
            return None;
        };
        self.latest.push_back(call);
        let most = |limit: Option<u32>, factor: usize| limit.map_or(0, |limit| limit as usize * factor);
        let kept = most(self.limits.repeated_calls, ROUND_LEN_MAX).max(most(self.limits.repeated_errors, 2));
        while self.latest.len() > kept {
            self.latest.pop_front();
        }
        self.errors().or_else(|| self.rounds())
    }

    fn errors(&self) -> Option<Stall> {
        let limit = self.limits.repeated_errors?;
        let last = self.latest.back().filter(|last| last.is_failed && !last.result.trim().is_empty())?;
        let alike = || self.latest.iter().rev().take_while(|one| one.is_failed && one.result == last.result);
        let same_call = alike().take_while(|one| one.call == last.call).count();
        let times = alike().count();
        if same_call < limit as usize && times < limit as usize * 2 {
            return None;
        }
        let mut calls: Vec<String> = Vec::new();
        for one in alike() {
            if !calls.contains(&one.call) {
                calls.insert(0, one.call.clone());
            }
        }
        Some(Stall::Errors { calls, error: last.result.clone(), times: count(times) })
    }

    fn rounds(&self) -> Option<Stall> {
        let times = self.limits.repeated_calls?;
        (1..=ROUND_LEN_MAX).find_map(|len| {
            let start = self.latest.len().checked_sub(len * times as usize)?;
            let made: Vec<&ObservedCall> = self.latest.iter().skip(start).collect();
            let is_same = made.iter().zip(made.iter().skip(len)).all(|(one, next)| one == next);
            is_same.then(|| Stall::Calls { round: made.into_iter().take(len).cloned().collect(), times })
        })
    }
}

impl Stall {
    /// A question for a person, with what was seen. I1: it is never blank.
    pub fn question(&self, task_title: &str) -> QuestionDraft {
        let text = format!(
            "The agent gets nowhere with \"{task_title}\": {}\n\nIt was stopped; what it did so far is kept. YES lets it go on \
             where it stopped, and so does anything you write for it; NO holds the task until you release it.",
            self.seen()
        );
        let fallback = NonBlank::fixed("The agent does the same again and again. May it go on?");
        QuestionDraft::new(QuestionKind::Clarification, NonBlank::or(&text, fallback)).holding_on_no()
    }

    fn seen(&self) -> String {
        match self {
            Self::Calls { round, times } => {
                let calls: Vec<String> = round.iter().map(|one| shown(&one.call)).collect();
                let result = round.last().map(|last| last.result.trim()).filter(|result| !result.is_empty());
                let result = result.map_or_else(
                    || "and printed nothing.".to_owned(),
                    |result| format!("with:\n{}", shown(result)),
                );
                format!(
                    "it made the same calls {times} times in a row:\n{}\n\nEach time they ended alike, {result}",
                    calls.join("\n")
                )
            }
            Self::Errors { calls, error, times } => {
                let calls: Vec<String> = calls.iter().map(|call| shown(call)).collect();
                format!(
                    "the same error came {times} times in a row:\n{}\n\nfrom:\n{}",
                    shown(error),
                    calls.join("\n")
                )
            }
        }
    }
}

/// On indented lines, the beginning of a long text.
fn shown(text: &str) -> String {
    let text = text.trim();
    let cut = text.char_indices().nth(SHOWN_CHARS_MAX).map(|(at, _)| at);
    let text = cut.map_or_else(|| text.to_owned(), |at| format!("{}…", &text[..at]));
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

fn count(times: usize) -> u32 {
    u32::try_from(times).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: StallLimits = StallLimits { repeated_calls: Some(4), repeated_errors: Some(3) };

    #[expect(clippy::unnecessary_wraps, reason = "an entry of a row in which a call may be missing")]
    fn used(call: &str, result: &str) -> Option<ObservedCall> {
        Some(ObservedCall { call: call.to_owned(), result: result.to_owned(), is_failed: false })
    }

    fn failed(call: &str, result: &str) -> Option<ObservedCall> {
        used(call, result).map(|one| ObservedCall { is_failed: true, ..one })
    }

    /// At which call it is seen, counted from one, and what.
    fn seen(calls: impl IntoIterator<Item = Option<ObservedCall>>) -> Option<(usize, Stall)> {
        let mut watch = StallWatch::new(LIMITS);
        calls.into_iter().enumerate().find_map(|(at, one)| Some((at + 1, watch.note(one)?)))
    }

    #[test]
    fn a_round_of_calls_is_seen_when_it_was_made_too_often() {
        let round = |names: &[&str]| names.iter().map(|name| used(name, "same").unwrap()).collect::<Vec<_>>();
        for names in [&["a"][..], &["a", "b"], &["a", "b", "c"]] {
            let calls = names.iter().cycle().map(|name| used(name, "same"));
            let stall = Stall::Calls { round: round(names), times: 4 };
            assert_eq!(seen(calls.take(40)), Some((names.len() * 4, stall)));
        }
        // Four different calls in turn are work, as far as can be said.
        assert_eq!(seen(["a", "b", "c", "d"].iter().cycle().map(|name| used(name, "same")).take(40)), None);
    }

    #[test]
    fn another_result_and_a_call_that_cannot_be_compared_break_the_row() {
        assert_eq!(seen((0..40).map(|n| used("poll", &format!("{n} of 40 done")))), None);
        let broken = (0..40).map(|n| if n % 4 == 3 { None } else { used("poll", "wait") });
        assert_eq!(seen(broken), None);
    }

    #[test]
    fn the_same_error_is_seen_sooner_from_the_same_call() {
        let same = (0..9).map(|_| failed("make", "no rule"));
        let stall = |calls: &[&str], times| Stall::Errors {
            calls: calls.iter().map(|&call| call.to_owned()).collect(),
            error: "no rule".to_owned(),
            times,
        };
        assert_eq!(seen(same), Some((3, stall(&["make"], 3))));
        // Calls that are made at once fail alike, once.
        assert_eq!(seen(["a", "b", "c", "d"].map(|name| failed(name, "no rule"))), None);
        let many = ["a", "b", "c", "d", "e", "f"].map(|name| failed(name, "no rule"));
        assert_eq!(seen(many), Some((6, stall(&["a", "b", "c", "d", "e", "f"], 6))));
        let between = [failed("make", "no rule"), used("edit", "ok")];
        assert_eq!(seen(between.into_iter().cycle().take(6)), None);
        assert_eq!(
            seen((0..3).map(|_| failed("make", " "))),
            None,
            "without words nothing is known to be the same"
        );
    }

    #[test]
    fn the_question_says_what_was_seen() {
        let (_, stall) = seen((0..9).map(|_| failed("cargo test", "error: linker `cc` not found"))).unwrap();
        insta::assert_snapshot!(stall.question("Build it").text, @r#"
        The agent gets nowhere with "Build it": the same error came 3 times in a row:
            error: linker `cc` not found

        from:
            cargo test

        It was stopped; what it did so far is kept. YES lets it go on where it stopped, and so does anything you write for it; NO holds the task until you release it.
        "#);
        let (_, stall) = seen((0..9).map(|_| used("ls", "a.txt"))).unwrap();
        let text = stall.question("Build it").text.to_string();
        assert!(
            text.contains("4 times in a row:\n    ls\n\nEach time they ended alike, with:\n    a.txt"),
            "{text}"
        );
        assert!(stall.question("Build it").no_holds);
    }

    proptest! {
        #[test]
        fn switched_off_nothing_is_seen(calls in proptest::collection::vec((0_u8..2, 0_u8..2, any::<bool>()), 0..60)) {
            let mut watch = StallWatch::new(StallLimits { repeated_calls: None, repeated_errors: None });
            for (call, result, is_failed) in calls {
                let one = ObservedCall { call: call.to_string(), result: result.to_string(), is_failed };
                prop_assert_eq!(watch.note(Some(one)), None);
            }
        }

        #[test]
        fn calls_that_are_all_different_are_never_a_round(count in 0_usize..60) {
            prop_assert_eq!(seen((0..count).map(|n| used(&n.to_string(), "same"))), None);
        }
    }
}
