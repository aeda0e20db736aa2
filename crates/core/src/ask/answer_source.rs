//! Where an answer comes from: queued answers, then the unattended policy, then the human, then expiry.
//!
//! Decides what to do with a pending question now, and changes nothing: the ask cycle applies the answer, and refuses
//! one that this order could not have produced.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::choice::{self, UnreadableAnswer, YesNo, split_remark};
use crate::ask::fallback::{ENOUGH, is_enough};
use crate::ask::question::{Question, QuestionKind};
use crate::ask::stop_words::{
    agrees, agrees_to_later, declines, is_unclear, puts_off_choice, refuses, remark_to_yes, stops,
    wants_nothing,
};
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;

/// After this many automatic answers in a row, automation stops and waits for the human, so that no loop talks to
/// itself forever.
pub const AUTOMATIC_IN_A_ROW_MAX: u32 = 5;

/// Who answered. Recorded with every answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AnsweredBy {
    /// An answer the human queued before the question was asked.
    Queued,
    /// The unattended policy, by name.
    Policy {
        name: String,
    },
    Human {
        name: String,
    },
    /// Nobody answered in time, so the question's default applies.
    Expiry,
}

impl fmt::Display for AnsweredBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queued => f.write_str("a queued answer"),
            Self::Policy { name } => write!(f, "policy {name}"),
            Self::Human { name } => f.write_str(name),
            Self::Expiry => f.write_str("the default, because nobody answered in time"),
        }
    }
}

impl AnsweredBy {
    pub fn human(name: impl Into<String>) -> Self {
        Self::Human { name: name.into() }
    }

    pub const fn is_automatic(&self) -> bool {
        match self {
            Self::Queued | Self::Policy { .. } | Self::Expiry => true,
            Self::Human { .. } => false,
        }
    }
}

/// What answers while the human is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnattendedPolicy {
    /// Use the question's default; a question without one waits for the human.
    DefaultAnswer,
    /// Fail the work that asks, rather than decide for the human.
    FailClosed,
    /// Notify a human immediately.
    Escalate,
}

impl UnattendedPolicy {
    pub const ALL: [Self; 3] = [Self::DefaultAnswer, Self::FailClosed, Self::Escalate];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DefaultAnswer => "default_answer",
            Self::FailClosed => "fail_closed",
            Self::Escalate => "escalate",
        }
    }
}

impl fmt::Display for UnattendedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why the work that asked fails instead of getting an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailReason {
    #[error(
        "nobody is available and the policy is to fail closed; answer in person, or choose another policy"
    )]
    Policy,
    #[error("the question expired without an answer and has no default; ask again with a later expiry")]
    ExpiredWithoutDefault,
}

/// What to do with a pending question now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum AnswerDecision {
    Answer {
        text: NonBlank,
        #[serde(flatten)]
        by: AnsweredBy,
        /// The queued answer that was used and must be removed from the queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_index: Option<usize>,
    },
    /// Check again at `until`, if set.
    WaitForHuman {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    FailClosed {
        reason: FailReason,
    },
    /// Notify a human. The question stays pending, and expiry no longer answers it.
    Escalate,
}

/// The first source with an answer decides.
pub fn decide(
    question: &Question,
    queued: &[NonBlank],
    policy: Option<UnattendedPolicy>,
    automatic_in_a_row: u32,
    now: Timestamp,
) -> AnswerDecision {
    if question.kind().is_human_only() || automatic_in_a_row >= AUTOMATIC_IN_A_ROW_MAX {
        return AnswerDecision::WaitForHuman { until: None };
    }
    if let Some((index, text)) = first_fitting(question, queued) {
        return AnswerDecision::Answer { text, by: AnsweredBy::Queued, queue_index: Some(index) };
    }
    let default = question.draft.default.as_ref().and_then(|text| match_option(question, text).ok());
    match (policy, &default) {
        (Some(policy @ UnattendedPolicy::DefaultAnswer), Some(text)) => {
            let by = AnsweredBy::Policy { name: policy.as_str().to_owned() };
            return AnswerDecision::Answer { text: text.clone(), by, queue_index: None };
        }
        (Some(UnattendedPolicy::FailClosed), _) => {
            return AnswerDecision::FailClosed { reason: FailReason::Policy };
        }
        (Some(UnattendedPolicy::Escalate), _) => return AnswerDecision::Escalate,
        // No policy applies: wait for the human.
        (Some(UnattendedPolicy::DefaultAnswer), None) | (None, _) => {}
    }
    let until = question.draft.expires_at;
    if until.is_none_or(|expires_at| now < expires_at) {
        return AnswerDecision::WaitForHuman { until };
    }
    match default {
        Some(text) => AnswerDecision::Answer { text, by: AnsweredBy::Expiry, queue_index: None },
        None => AnswerDecision::FailClosed { reason: FailReason::ExpiredWithoutDefault },
    }
}

fn first_fitting(question: &Question, queued: &[NonBlank]) -> Option<(usize, NonBlank)> {
    queued
        .iter()
        .enumerate()
        .find_map(|(index, text)| match_option(question, text).ok().map(|answer| (index, answer)))
}

/// The option the answer names; any text if the question offers no options.
pub fn match_option(question: &Question, answer: &NonBlank) -> Result<NonBlank, UnreadableAnswer> {
    let options = &question.draft.options;
    if options.is_empty() {
        return Ok(answer.clone());
    }
    let words: Vec<&str> = options.iter().map(NonBlank::as_str).collect();
    choice::pick(answer.as_str(), &words).map(|index| options[index].clone())
}

/// How a person's answer is read. A clarification accepts any text, even one that is not among its suggestions, and so does
/// the question whether an answer is enough; every other question with options accepts only those. A question of Baton's own
/// whether to go on takes nothing that may be meant as a "no" for a "yes" (I22).
pub fn match_human_answer(question: &Question, answer: &NonBlank) -> Result<NonBlank, UnreadableAnswer> {
    match question.kind() {
        QuestionKind::Clarification if question.draft.no_holds => read_own_question(question, answer),
        _ if question.takes_one_word() => match_option(question, answer),
        // I22: whatever was offered, a person may stop.
        QuestionKind::Confirmation | QuestionKind::Permission | QuestionKind::Danger
            if stops(answer.as_str()) && match_option(question, answer).is_err() =>
        {
            Ok(answer.clone())
        }
        QuestionKind::Escalation
            if puts_off_choice(answer.as_str()) && match_option(question, answer).is_err() =>
        {
            Ok(answer.clone())
        }
        // I22: nor is "yes, but later" a yes, where one was offered or something dangerous waits for it.
        _ if agrees_to_later(answer.as_str())
            && match_option(question, answer).is_err()
            && offers_yes(question) =>
        {
            Err(UnreadableAnswer::may_stop(answer.as_str()))
        }
        QuestionKind::Danger if question.draft.options.is_empty() && agrees_to_later(answer.as_str()) => {
            Err(UnreadableAnswer::may_stop(answer.as_str()))
        }
        QuestionKind::Clarification | QuestionKind::Completion => {
            let options = &question.draft.options;
            let words: Vec<&str> = options.iter().map(NonBlank::as_str).collect();
            let named = choice::pick_whole(answer.as_str(), &words).ok().flatten();
            // "Yes, that is enough" is no wish for code, and must start nobody.
            let enough = options.iter().position(|option| option.as_str() == ENOUGH);
            let named = named.or(enough.filter(|_| is_enough(answer.as_str())));
            Ok(named.map_or_else(|| answer.clone(), |index| options[index].clone()))
        }
        QuestionKind::Confirmation
        | QuestionKind::Gate
        | QuestionKind::Permission
        | QuestionKind::Danger
        | QuestionKind::Escalation => match_option(question, answer),
    }
}

fn offers_yes(question: &Question) -> bool {
    question.draft.options.iter().any(|option| agrees(option.as_str()))
}

/// The answers to a question of Baton's own, as they are listed after an answer that is none of them.
const YES_OR_NO: [&str; 3] = ["YES", "YES: what the agent should know", "NO"];
const WORDS_OR_NO: [&str; 3] = ["what the agent should know", "YES: the same, if it begins with a no", "NO"];

/// The answer to a question of Baton's own whether to go on. No list of the words that refuse can be complete, so where YES and NO
/// are offered, it is one of these; where words are wanted, they do not begin with a refusal.
fn read_own_question(question: &Question, answer: &NonBlank) -> Result<NonBlank, UnreadableAnswer> {
    let said = answer.as_str();
    let refused = |options: &[&str]| UnreadableAnswer::none_of(said, options);
    if stops(said) || declines(said) || remark_to_yes(said).is_some() {
        return Ok(answer.clone());
    }
    if agrees_to_later(said) {
        return Err(UnreadableAnswer::may_stop(said));
    }
    if question.draft.options.is_empty() {
        if is_unclear(said) {
            return Err(UnreadableAnswer::may_stop(said));
        }
        let is_instruction = !refuses(said) && !wants_nothing(said);
        let is_no = YesNo::read(split_remark(said).0) == Ok(YesNo::No);
        return if is_instruction || is_no { Ok(answer.clone()) } else { Err(refused(&WORDS_OR_NO)) };
    }
    match_option(question, answer)
        .or_else(|_| if refuses(said) { Ok(answer.clone()) } else { Err(refused(&YES_OR_NO)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::question::QuestionDraft;
    use crate::base::id::QuestionId;

    const NOW: Timestamp = Timestamp::from_ms(1_000_000);
    const LATER: Timestamp = Timestamp::from_ms(1_000_001);

    fn word(text: &'static str) -> NonBlank {
        NonBlank::fixed(text)
    }

    fn question(
        kind: QuestionKind,
        default: Option<&'static str>,
        expires_at: Option<Timestamp>,
    ) -> Question {
        let mut draft = QuestionDraft::new(kind, word("Go on?")).with_options(&["YES", "NO"]);
        draft.default = default.map(word);
        draft.expires_at = expires_at;
        draft.with_id(QuestionId::from_bits(1))
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Text {
        None,
        Fits,
        Unfit,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Expires {
        Never,
        Later,
        Now,
    }

    /// The table: who answers, or what happens instead.
    #[derive(Debug, PartialEq, Eq)]
    enum Row {
        Queued,
        Policy,
        Expiry,
        Human,
        FailPolicy,
        FailExpired,
        Escalate,
    }

    fn expected(
        kind: QuestionKind,
        automatic_in_a_row: u32,
        queued: Text,
        policy: Option<UnattendedPolicy>,
        default: Text,
        expires: Expires,
    ) -> Row {
        let may_automate = match kind {
            QuestionKind::Danger | QuestionKind::Escalation | QuestionKind::Completion => false,
            QuestionKind::Clarification
            | QuestionKind::Confirmation
            | QuestionKind::Gate
            | QuestionKind::Permission => automatic_in_a_row < 5,
        };
        match (may_automate, queued, policy, default, expires) {
            (true, Text::Fits, _, _, _) => Row::Queued,
            (true, _, Some(UnattendedPolicy::FailClosed), _, _) => Row::FailPolicy,
            (true, _, Some(UnattendedPolicy::Escalate), _, _) => Row::Escalate,
            (true, _, Some(UnattendedPolicy::DefaultAnswer), Text::Fits, _) => Row::Policy,
            (false, _, _, _, _) | (true, _, _, _, Expires::Never | Expires::Later) => Row::Human,
            (true, _, None, Text::Fits, Expires::Now) => Row::Expiry,
            (true, _, _, Text::None | Text::Unfit, Expires::Now) => Row::FailExpired,
        }
    }

    fn row(decision: &AnswerDecision) -> Row {
        match decision {
            AnswerDecision::Answer { by: AnsweredBy::Queued, .. } => Row::Queued,
            AnswerDecision::Answer { by: AnsweredBy::Policy { .. }, .. } => Row::Policy,
            AnswerDecision::Answer { by: AnsweredBy::Expiry, .. } => Row::Expiry,
            AnswerDecision::Answer { by: AnsweredBy::Human { .. }, .. } => panic!("{decision:?}"),
            AnswerDecision::WaitForHuman { .. } => Row::Human,
            AnswerDecision::FailClosed { reason: FailReason::Policy } => Row::FailPolicy,
            AnswerDecision::FailClosed { reason: FailReason::ExpiredWithoutDefault } => Row::FailExpired,
            AnswerDecision::Escalate => Row::Escalate,
        }
    }

    #[test]
    fn every_combination_of_kind_policy_queue_default_and_expiry() {
        let texts = [Text::None, Text::Fits, Text::Unfit];
        let policies = || UnattendedPolicy::ALL.into_iter().map(Some).chain([None]);
        let mut seen = 0;
        for kind in QuestionKind::ALL {
            for policy in policies() {
                for automatic in [0, 4, 5, 6] {
                    for queued in texts {
                        for default in texts {
                            for expires in [Expires::Never, Expires::Later, Expires::Now] {
                                check(kind, policy, automatic, queued, default, expires);
                                seen += 1;
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(seen, 7 * 4 * 4 * 3 * 3 * 3);
    }

    fn check(
        kind: QuestionKind,
        policy: Option<UnattendedPolicy>,
        automatic: u32,
        queued: Text,
        default: Text,
        expires: Expires,
    ) {
        let text = |which, fits| match which {
            Text::None => None,
            Text::Fits => Some(fits),
            Text::Unfit => Some("perhaps"),
        };
        let expires_at = match expires {
            Expires::Never => None,
            Expires::Later => Some(LATER),
            Expires::Now => Some(NOW),
        };
        let asked = question(kind, text(default, "no."), expires_at);
        let queue: Vec<NonBlank> = text(queued, "y").map(word).into_iter().collect();
        let decision = decide(&asked, &queue, policy, automatic, NOW);
        let case =
            format!("{kind:?} {policy:?} {automatic} {queued:?} {default:?} {expires:?}: {decision:?}");
        assert_eq!(row(&decision), expected(kind, automatic, queued, policy, default, expires), "{case}");
        match &decision {
            AnswerDecision::Answer { by: AnsweredBy::Queued, text, queue_index } => {
                assert_eq!((text.as_str(), *queue_index), ("YES", Some(0)), "{case}");
            }
            AnswerDecision::Answer { text, queue_index, .. } => {
                assert_eq!((text.as_str(), *queue_index), ("NO", None), "{case}");
            }
            AnswerDecision::WaitForHuman { until } => {
                let timed = !kind.is_human_only() && automatic < AUTOMATIC_IN_A_ROW_MAX;
                assert_eq!(*until, if timed { expires_at } else { None }, "{case}");
            }
            AnswerDecision::FailClosed { .. } | AnswerDecision::Escalate => {}
        }
        let json = serde_json::to_string(&decision).unwrap();
        assert_eq!(serde_json::from_str::<AnswerDecision>(&json).unwrap(), decision, "{json}");
    }

    #[test]
    fn the_first_queued_answer_that_fits_is_used_and_named() {
        let queue = [word("use sqlite"), word("no"), word("yes")];
        let asked = question(QuestionKind::Confirmation, None, None);
        let decision = decide(&asked, &queue, None, 0, NOW);
        assert_eq!(
            decision,
            AnswerDecision::Answer { text: word("NO"), by: AnsweredBy::Queued, queue_index: Some(1) }
        );
        let open =
            QuestionDraft::new(QuestionKind::Clarification, word("Which?")).with_id(QuestionId::from_bits(2));
        let decision = decide(&open, &queue, None, 0, NOW);
        assert_eq!(
            decision,
            AnswerDecision::Answer { text: word("use sqlite"), by: AnsweredBy::Queued, queue_index: Some(0) }
        );
    }

    #[test]
    fn a_person_may_answer_only_what_lacks_information_in_their_own_words() {
        for kind in QuestionKind::ALL {
            let free = match_human_answer(&question(kind, None, None), &word("neither, ask Ada"));
            match kind {
                QuestionKind::Clarification | QuestionKind::Completion => {
                    assert_eq!(free, Ok(word("neither, ask Ada")));
                }
                QuestionKind::Confirmation
                | QuestionKind::Gate
                | QuestionKind::Permission
                | QuestionKind::Danger
                | QuestionKind::Escalation => assert!(free.is_err(), "{kind:?}"),
            }
            assert_eq!(match_human_answer(&question(kind, None, None), &word("yes.")), Ok(word("YES")));
        }
    }
}
