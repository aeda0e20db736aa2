//! Reads a person's answer as one of the offered options.
//!
//! Case, white space, trailing punctuation and abbreviation are accepted. It never guesses: an answer that fits two
//! options, or none, is an error that lists them, and the question stays open.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::stop_words::agrees_to_later;
use crate::base::explanation::Explanation;
use crate::explained;

/// An answer that is not one of the offered options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableAnswer {
    #[error("\"{given}\" is not one of the offered answers; answer with one of: {}", options.join(", "))]
    NoneOfThem { given: String, options: Vec<String> },
    #[error("\"{given}\" matches more than one of the offered answers; answer with one of: {}", options.join(", "))]
    Ambiguous { given: String, options: Vec<String> },
    #[error(
        "\"{given}\" may be meant as a stop or as an instruction; answer STOP, or begin with what should be done"
    )]
    MayStop { given: String },
    #[error("\"{given}\" may mean later, or under a condition; answer YES when it may go on now, or NO")]
    MayPutOff { given: String },
}

explained! { UnreadableAnswer {
    Self::NoneOfThem { .. } => Explanation {
        code: "none_of_them",
        means: "The answer is not one of the offered words.",
        cause: "A question with choices needs one of them. Case, spaces and punctuation do not matter, and an unambiguous \
                abbreviation is enough.",
        next: "Answer with one of the words shown.",
    },
    Self::Ambiguous { .. } => Explanation {
        code: "ambiguous_answer",
        means: "The answer matches more than one of the offered words.",
        cause: "It abbreviates several of them, and Baton does not guess.",
        next: "Write more of the word you mean.",
    },
    Self::MayStop { .. } => Explanation {
        code: "may_be_a_stop",
        means: "The answer begins with a no and may be meant as a stop, so nothing was started.",
        cause: "\"No, wait for me\" stops, and \"No, wait for the lock\" instructs; Baton does not guess.",
        next: "Answer STOP to stop. To give an instruction, begin with what should be done, not with a no.",
    },
    Self::MayPutOff { .. } => Explanation {
        code: "may_put_off",
        means: "The answer agrees, but perhaps not now, so nothing was started.",
        cause: "A yes that names a time or a condition, such as \"yes, but later\", is not taken for a yes.",
        next: "Answer YES when it may go on now. YES: and more tells the agent what it should know, without a time or a condition.",
    },
} }

impl UnreadableAnswer {
    /// For an answer that is none of these.
    pub fn none_of(text: &str, options: &[&str]) -> Self {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        Self::NoneOfThem { given: quoted(text), options }
    }

    /// The start of the answer.
    pub fn given(&self) -> &str {
        match self {
            Self::NoneOfThem { given, .. }
            | Self::Ambiguous { given, .. }
            | Self::MayStop { given }
            | Self::MayPutOff { given } => given,
        }
    }

    /// The answers it could have been, as they are listed.
    pub fn choices(&self) -> String {
        match self {
            Self::NoneOfThem { options, .. } | Self::Ambiguous { options, .. } => options.join(", "),
            Self::MayStop { .. } => "STOP, or what should be done, without a no before it".to_owned(),
            Self::MayPutOff { .. } => "YES when it may go on now, or NO".to_owned(),
        }
    }

    /// For an answer of which nobody can tell whether it stops.
    pub fn may_stop(text: &str) -> Self {
        let given = quoted(text);
        if agrees_to_later(text) { Self::MayPutOff { given } } else { Self::MayStop { given } }
    }
}

/// Longest part of an unreadable answer that is quoted back.
const QUOTED_MAX: usize = 80;

/// The index of the option that `text` means.
pub fn pick(text: &str, options: &[&str]) -> Result<usize, UnreadableAnswer> {
    if let Some(whole) = pick_whole(text, options)? {
        return Ok(whole);
    }
    let start = bare(text);
    let begins = |option: &str| may_abbreviate(&start) && bare(option).starts_with(&start);
    only_one(text, options, begins)?.ok_or_else(|| UnreadableAnswer::none_of(text, options))
}

/// The option that `text` names in full, if any. For questions that also accept free text, where an abbreviation
/// would be a guess.
pub fn pick_whole(text: &str, options: &[&str]) -> Result<Option<usize>, UnreadableAnswer> {
    let (exact, lower, bared) = (text.trim(), lower(text), bare(text));
    // The most literal match decides, so that `C` is not taken for `C.` or `c`.
    for is_it in [
        &(|option: &str| option.trim() == exact) as &dyn Fn(&str) -> bool,
        &|option: &str| crate::ask::choice::lower(option) == lower,
        &|option: &str| !bared.is_empty() && bare(option) == bared,
    ] {
        if let Some(found) = only_one(text, options, is_it)? {
            return Ok(Some(found));
        }
    }
    for (option, words) in [("yes", YES_WORDS.as_slice()), ("no", NO_WORDS.as_slice())] {
        if words.contains(&bared.as_str()) {
            return only_one(text, options, |offered| bare(offered) == option);
        }
    }
    Ok(None)
}

/// Splits `NO: make it smaller` into the word and the remark behind it. Without a remark, the whole text is the word.
pub fn split_remark(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let ends = [text.find([':', '\n', '–', '—']), text.find(" - ")];
    let Some(end) = ends.into_iter().flatten().min() else { return (text, None) };
    let word = text[..end].trim();
    let remark = text[end..].trim_start_matches([':', '-', '–', '—', ' ', '\n', '\r', '\t']).trim();
    if word.is_empty() || remark.is_empty() { (text, None) } else { (word, Some(remark)) }
}

/// Whether `text` is one of these words, whatever its case and punctuation.
pub fn is_one_of(text: &str, words: &[&str]) -> bool {
    let bared = bare(text);
    words.iter().any(|word| bare(word) == bared)
}

/// What people say instead of YES.
#[rustfmt::skip]
const YES_WORDS: [&str; 33] = [
    "yes please", "yes, please", "yep", "yeah", "yup", "sure", "of course", "ok", "okay", "okey", "k", "go", "go ahead", "go on",
    "do it", "please do", "alright", "fine", "ja", "ja bitte", "ja, bitte", "klar", "oui", "d'accord", "sí", "si", "claro", "sim",
    "да", "はい", "是", "好", "네",
];

/// What people say instead of NO.
#[rustfmt::skip]
const NO_WORDS: [&str; 16] = [
    "nope", "nah", "no thanks", "no, thanks", "no thank you", "no, thank you", "please don't", "don't", "do not", "nein",
    "nein danke", "non", "não", "нет", "いいえ", "아니요",
];

fn only_one(
    text: &str,
    options: &[&str],
    is_it: impl Fn(&str) -> bool,
) -> Result<Option<usize>, UnreadableAnswer> {
    let mut found = options.iter().enumerate().filter(|(_, option)| is_it(option)).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (None, _) => Ok(None),
        (Some(index), None) => Ok(Some(index)),
        (Some(_), Some(_)) => Err(UnreadableAnswer::Ambiguous {
            given: quoted(text),
            options: options.iter().map(|&option| option.to_owned()).collect(),
        }),
    }
}

/// Leading letters abbreviate a word; a leading digit does not abbreviate a number. And a full "no" means no, not the
/// option "Node".
fn may_abbreviate(start: &str) -> bool {
    !start.is_empty()
        && start.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '-')
        && start != "yes"
        && start != "no"
}

fn lower(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Strips the quotes, brackets and punctuation people put around a word. Signs that can change the meaning (`-1`,
/// `C#`, `!x`) stay.
fn bare(text: &str) -> String {
    let around = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '“' | '”' | '‘' | '’' | '*')
    };
    let closing = |c: char| around(c) || matches!(c, '.' | ',' | '!' | '?' | ';' | ':' | '…' | '。');
    lower(text.trim_start_matches(around).trim_end_matches(closing))
}

fn quoted(text: &str) -> String {
    text.trim().chars().take(QUOTED_MAX).collect()
}

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal $(| $other:literal)*),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The words as offered, in the order of [`Self::ALL`].
            pub const OPTIONS: &'static [&'static str] = &[$($word),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            pub fn read(text: &str) -> Result<Self, UnreadableAnswer> {
                let others: &[(&str, Self)] = &[$($(($other, Self::$variant),)*)+];
                match others.iter().find(|(word, _)| bare(word) == bare(text)) {
                    Some((_, meant)) => Ok(*meant),
                    None => pick(text, Self::OPTIONS).map(|index| Self::ALL[index]),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

choice!(
    /// The answer to a gate.
    YesNo { Yes = "YES", No = "NO" }
);
choice!(
    /// Whether to execute a subtask.
    YesNoHelp {
        Yes = "YES",
        No = "NO",
        /// Explain the subtask, then ask again.
        Help = "HELP",
    }
);
choice!(
    /// Whether a subtask is done.
    YesNoFailed { Yes = "YES" | "DONE", No = "NO", Failed = "FAILED" }
);
choice!(
    /// Whether to add the discovered tasks.
    YesNoEdit {
        Yes = "YES",
        No = "NO",
        /// Replace the list with the human's version, then ask again.
        Edit = "EDIT",
    }
);
choice!(
    /// What to do with a task that was already broken down once and still fails.
    SplitRetryCancel { Split = "SPLIT", Retry = "RETRY", Cancel = "CANCEL" | "CANCEL IT" | "CANCEL THE TASK" }
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn people_write_yes_in_many_ways() {
        for yes in ["YES", "yes", " Yes ", "y", "ye", "YES.", "yes!", "\"yes\"", "[YES]", "**yes**", "Y,"] {
            assert_eq!(YesNo::read(yes), Ok(YesNo::Yes), "{yes:?}");
        }
        for yes in [
            "yes please",
            "Yes, please!",
            "ok",
            "OK.",
            "ja",
            "Ja, bitte",
            "oui",
            "sí",
            "はい",
            "はい。",
            "go ahead",
        ] {
            assert_eq!(YesNo::read(yes), Ok(YesNo::Yes), "{yes:?}");
            assert_eq!(YesNoHelp::read(yes), Ok(YesNoHelp::Yes), "{yes:?}");
        }
        for no in ["NO", "n", "no.", "`NO`", "nein", "Non", "no thanks", "いいえ", "nope"] {
            assert_eq!(YesNo::read(no), Ok(YesNo::No), "{no:?}");
        }
        assert_eq!(YesNoHelp::read("h"), Ok(YesNoHelp::Help));
        assert_eq!(YesNoFailed::read("fail"), Ok(YesNoFailed::Failed));
        assert_eq!(YesNoFailed::read("DONE"), Ok(YesNoFailed::Yes));
        assert!(YesNo::read("DONE").is_err());
        assert_eq!(YesNoEdit::read("edit…"), Ok(YesNoEdit::Edit));
        assert_eq!(SplitRetryCancel::read("re"), Ok(SplitRetryCancel::Retry));
    }

    #[test]
    fn a_remark_follows_the_word() {
        for (text, word, remark) in [
            ("NO: make it smaller", "NO", Some("make it smaller")),
            ("no — too large: by far", "no", Some("too large: by far")),
            ("NO - not yet", "NO", Some("not yet")),
            ("REDO\nUse tabs.", "REDO", Some("Use tabs.")),
            ("NO:", "NO:", None),
            (": x", ": x", None),
            ("re-do it", "re-do it", None),
            ("YES", "YES", None),
        ] {
            assert_eq!(split_remark(text), (word, remark), "{text:?}");
        }
        assert!(is_one_of(" Break loop! ", &["BREAK LOOP"]) && !is_one_of("loop", &["BREAK LOOP"]));
    }

    #[test]
    fn an_answer_must_be_one_of_the_options() {
        for not in [
            "",
            " ",
            "...",
            "maybe",
            "yes and no",
            "yes, but later",
            "yesterday",
            "not",
            "1",
            "ok but not now",
        ] {
            let error = YesNo::read(not).unwrap_err();
            assert!(error.to_string().ends_with("answer with one of: YES, NO"), "{error}");
        }
    }

    #[test]
    fn nothing_is_guessed() {
        let ambiguous =
            |text, options: &[&str]| matches!(pick(text, options), Err(UnreadableAnswer::Ambiguous { .. }));
        assert!(ambiguous("s", &["SPLIT", "SKIP"]));
        assert!(ambiguous("a.", &["a", "A"]));
        assert!(ambiguous("c!", &["C", "c?"]));
        let none =
            |text, options: &[&str]| matches!(pick(text, options), Err(UnreadableAnswer::NoneOfThem { .. }));
        assert!(none("1", &["10", "5"]));
        assert!(none("-1", &["+1", "0"]));
        assert!(none("no", &["Node", "Deno"]));
        assert!(none("a", &["!a", "b"]));
    }

    #[test]
    fn an_exact_word_wins_over_a_longer_one() {
        assert_eq!(pick("no", &["no-issues", "no"]), Ok(1));
        assert_eq!(pick("c", &["C++", "C", "C#"]), Ok(1));
        assert_eq!(pick("A", &["a", "A"]), Ok(1));
        assert_eq!(pick("use  sqlite", &["Use SQLite", "Use Postgres"]), Ok(0));
        assert_eq!(pick("n", &["Node", "Deno"]), Ok(0));
    }

    #[test]
    fn free_text_questions_need_the_whole_option() {
        assert_eq!(pick_whole("sqlite.", &["SQLite", "Postgres"]), Ok(Some(0)));
        assert_eq!(pick_whole("s", &["SQLite", "Postgres"]), Ok(None));
    }

    #[test]
    fn every_choice_reads_its_own_words() {
        macro_rules! reads_itself {
            ($($choice:ident),+) => {$(
                for &value in $choice::ALL {
                    assert_eq!($choice::read(value.as_str()), Ok(value));
                    let json = serde_json::to_string(&value).unwrap();
                    assert_eq!(json, format!("\"{}\"", value.as_str().to_lowercase()));
                    assert_eq!(serde_json::from_str::<$choice>(&json).unwrap(), value);
                }
            )+};
        }
        reads_itself!(YesNo, YesNoHelp, YesNoFailed, YesNoEdit, SplitRetryCancel);
    }

    proptest! {
        #[test]
        fn no_text_panics_the_reader_and_what_it_reads_is_there(
            text: String,
            options in prop::collection::vec(any::<String>(), 0..5),
        ) {
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            if let Ok(index) = pick(&text, &options) {
                prop_assert!(index < options.len());
            }
        }
    }
}
