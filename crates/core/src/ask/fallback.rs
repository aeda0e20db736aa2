//! The questions Baton asks when an agent stops without asking anything that can be answered (I1).

use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::text::NonBlank;

/// Why Baton has to supply a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fallback {
    Default,
    /// Work on code stopped for lack of information.
    Implementation,
    Timeout,
    /// A program started by the agent waited for keyboard input.
    Interactive,
    Dangerous,
}

impl Fallback {
    pub const ALL: [Self; 5] =
        [Self::Default, Self::Implementation, Self::Timeout, Self::Interactive, Self::Dangerous];

    pub fn question(self) -> QuestionDraft {
        let yes_no = ["YES", "NO"];
        match self {
            Self::Default => QuestionDraft::new(
                QuestionKind::Clarification,
                NonBlank::fixed(
                    "YES/NO: Do you permit code changes for this task?\n\
                     The agent stopped without saying what it needs. YES sends it back with permission to change \
                     code; NO sends it back to finish without changing any. You may also write what it should know.",
                ),
            )
            .with_options(&yes_no),
            Self::Implementation => QuestionDraft::new(
                QuestionKind::Clarification,
                NonBlank::fixed(
                    "What does the agent need to know to go on with this task?\n\
                     1. Which files should change?\n\
                     2. What should happen once they have?\n\
                     It stopped before it had changed anything, for lack of information. What you write is given to it, \
                     and it goes on where it stopped.",
                ),
            ),
            Self::Timeout => QuestionDraft::new(
                QuestionKind::Clarification,
                NonBlank::fixed(
                    "The task ran out of time. Should it go on? (YES/NO)\n\
                     YES continues where it stopped; NO tells the agent to wrap up with what there is.",
                ),
            )
            .with_options(&yes_no),
            Self::Interactive => QuestionDraft::new(
                QuestionKind::Clarification,
                NonBlank::fixed(
                    "A program the agent started wants a person's confirmation. May the agent confirm it? (YES/NO)\n\
                     The agent stopped there. YES sends it back to confirm it; NO sends it back to find a way without. You \
                     may also write what it should answer.",
                ),
            )
            .with_options(&yes_no),
            Self::Dangerous => QuestionDraft::new(
                QuestionKind::Danger,
                NonBlank::fixed(
                    "This task may destroy something and has stopped before doing so. May it go ahead? (YES/NO)\n\
                     YES lets it do so; NO sends it back to end without. Only a person can answer this.",
                ),
            )
            .with_options(&yes_no),
        }
    }
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
}
