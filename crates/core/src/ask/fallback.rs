//! The questions Baton asks when an agent stops without asking anything that can be answered (I1).
//!
//! Each begins with the words the specification gives for it, and goes on with what Baton knows: nothing is claimed
//! that was not measured.

use crate::ask::choice::{YesNo, is_one_of};
use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::text::NonBlank;
use crate::base::words::pluralize;

/// Why Baton has to supply a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fallback {
    Default,
    /// Work on code stopped for lack of information.
    Implementation,
    Timeout,
    /// The turns are used up.
    TurnLimit,
    /// A program started by the agent waited for keyboard input.
    Interactive,
    Dangerous,
    /// It says it is done, and nothing has changed.
    NothingChanged,
}

/// The answer that takes an agent's text for the result.
pub const ENOUGH: &str = "ENOUGH";
/// The same in other words.
#[rustfmt::skip]
const ENOUGH_WORDS: [&str; 20] = [
    "it is enough", "it's enough", "that is enough", "that's enough", "this is enough", "enough, thanks", "enough thanks", "yes, enough",
    "yes, it is", "yes it is", "yes, it is enough", "good enough", "das reicht", "es reicht", "reicht", "ça suffit", "c'est suffisant",
    "es suficiente", "十分です", "足够了",
];

/// Whether an answer in one's own words takes the result as it is.
pub(crate) fn is_enough(answer: &str) -> bool {
    YesNo::read(answer) == Ok(YesNo::Yes) || is_one_of(answer, &ENOUGH_WORDS)
}

/// The answer that sends it back to change code.
const CHANGE_CODE: &str = "CHANGE CODE";

impl Fallback {
    pub const ALL: [Self; 7] = [
        Self::Default,
        Self::Implementation,
        Self::Timeout,
        Self::TurnLimit,
        Self::Interactive,
        Self::Dangerous,
        Self::NothingChanged,
    ];

    /// The question, where nothing is known about the work so far.
    pub fn question(self) -> QuestionDraft {
        self.question_after(None)
    }

    /// The question after an attempt with this many commits.
    pub fn question_after(self, commits: Option<u32>) -> QuestionDraft {
        let (words, situation, answers) = self.texts();
        let so_far = match commits {
            None => String::new(),
            Some(0) => " It has committed nothing.".to_owned(),
            Some(1) => " Its commit is kept.".to_owned(),
            Some(commits) => format!(" Its {} are kept.", pluralize(u64::from(commits), "commit")),
        };
        let kind = match self {
            Self::Dangerous => QuestionKind::Danger,
            Self::NothingChanged => QuestionKind::Completion,
            Self::Default | Self::Implementation | Self::Timeout | Self::TurnLimit | Self::Interactive => {
                QuestionKind::Clarification
            }
        };
        let text = NonBlank::led_by(words, &format!("\n{situation}{so_far} {answers}"));
        let draft = QuestionDraft::new(kind, text);
        match self {
            Self::Implementation => draft.holding_on_no(),
            Self::NothingChanged => draft.with_options(&[ENOUGH, CHANGE_CODE]).holding_on_no(),
            Self::Default | Self::Timeout | Self::TurnLimit | Self::Interactive | Self::Dangerous => {
                draft.with_options(&["YES", "NO"]).holding_on_no()
            }
        }
    }

    /// The question, the situation, and what the answers do.
    const fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Default => (
                "YES/NO: このタスクはコード変更を許可しますか？\n(Do you permit code changes for this task?)",
                "The agent stopped without saying what it needs.",
                "YES sends it back with permission to change code, and `YES: …` also with what it should know; NO holds the \
                 task until you release it.",
            ),
            Self::Implementation => (
                "このタスクを実行するために、以下の情報を教えてください:\n1. 変更対象のファイル\n2. 期待する動作",
                "(Please say which files to change, and what should happen then.) The agent stopped without saying what it \
                 needs.",
                "What you write is given to it, and it goes on where it stopped; NO holds the task until you release it.",
            ),
            Self::Timeout => (
                "タスクがタイムアウトしました。続行しますか？ (YES/NO)",
                "(The task ran out of time.)",
                "YES continues where it stopped; NO holds the task until you release it.",
            ),
            Self::TurnLimit => (
                "タスクがターン数の上限に達しました。続行しますか？ (YES/NO)",
                "(The task used up its turns.)",
                "YES continues where it stopped; NO holds the task until you release it.",
            ),
            Self::Interactive => (
                "対話的な確認が必要です。続行を許可しますか？ (YES/NO)",
                "(Something the agent started waits for a person's input, and the agent stopped there.)",
                "YES sends it back to confirm it, and `YES: …` also with what it should do; NO holds the task until you \
                 release it.",
            ),
            Self::Dangerous => (
                "This task may destroy something. May it go ahead? (YES/NO)",
                "The agent has stopped. Baton does not know what it has done outside its worktree.",
                "YES lets it go on; NO holds the task until you release it. Only a person can answer this.",
            ),
            Self::NothingChanged => (
                "Is this answer enough, or should it change code?",
                "The agent has ended, and nothing in its worktree has changed.",
                "ENOUGH ends the task with the result as it is; CHANGE CODE sends it back to change code; NO holds the task \
                 until you release it. You may also write what it should do.",
            ),
        }
    }
}

/// The question whether a dangerous operation may run once more, after it ended like this.
pub fn dangerous_again(what_happened: &str) -> QuestionDraft {
    let text = format!(
        "\nIts agent would have to run again: {what_happened}. Baton does not know what it has done outside its worktree. YES \
         lets it run again; NO holds the task until you release it. Only a person can answer this."
    );
    let lead = "This task may destroy something. May it go ahead? (YES/NO)";
    QuestionDraft::new(QuestionKind::Danger, NonBlank::led_by(lead, &text))
        .with_options(&["YES", "NO"])
        .holding_on_no()
}

/// The question about a dangerous operation that Baton stopped itself.
pub fn dangerous_stopped(limit: &str, commits: u32) -> QuestionDraft {
    let supplied = Fallback::Dangerous.question_after(Some(commits));
    let text = supplied.text.as_str().replacen(
        "The agent has stopped.",
        &format!("Baton stopped its agent, which {limit}."),
        1,
    );
    QuestionDraft { text: NonBlank::or(&text, supplied.text.clone()), ..supplied }
}

/// The question after the last attempt of several that left neither words nor work.
pub fn nothing_at_all(tries: u32) -> QuestionDraft {
    let text = format!(
        "\nIts agent ended {} and left neither a change nor a word. YES lets it try again, and `YES: …` also with what it should do \
         differently; NO holds the task until you release it.",
        pluralize(u64::from(tries), "time")
    );
    QuestionDraft::whether_to_go_on(NonBlank::led_by("Should it be tried again? (YES/NO)", &text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::detection::asks;

    #[test]
    fn every_fallback_is_itself_a_question() {
        for fallback in Fallback::ALL {
            assert!(asks(fallback.question().text.as_str()), "{fallback:?}");
        }
    }

    #[test]
    fn the_specified_words_come_first() {
        let words = [
            (
                Fallback::Default,
                "YES/NO: このタスクはコード変更を許可しますか？\n(Do you permit code changes for this task?)",
            ),
            (
                Fallback::Implementation,
                "このタスクを実行するために、以下の情報を教えてください:\n1. 変更対象のファイル\n2. 期待する動作",
            ),
            (Fallback::Timeout, "タスクがタイムアウトしました。続行しますか？ (YES/NO)"),
            (Fallback::Interactive, "対話的な確認が必要です。続行を許可しますか？ (YES/NO)"),
        ];
        for (fallback, words) in words {
            assert!(fallback.question().text.as_str().starts_with(words), "{fallback:?}");
        }
    }

    #[test]
    fn only_what_was_measured_is_claimed() {
        let text = |commits| Fallback::Implementation.question_after(commits).text.to_string();
        assert!(!text(None).contains("commit"));
        assert!(text(Some(0)).contains("It has committed nothing."));
        assert!(text(Some(2)).contains("Its 2 commits are kept."));
        assert!(!Fallback::Dangerous.question().text.as_str().contains("before"));
        assert!(!Fallback::TurnLimit.question().text.as_str().contains("time"));
    }
}
