//! Guesses the type of task a message asks for, from its words.
//!
//! The guess errs towards `IMPLEMENTATION`: a change request mistaken for a question would end with words and no
//! work. So the types whose output is the deliverable are chosen only if nothing asks for a change. The sender may
//! always set the type.

use crate::base::task_type::TaskType;

/// Verbs that ask for a change to files, as people start requests with them.
#[rustfmt::skip]
const CHANGES: [&str; 44] = [
    "add", "apply", "build", "change", "clean", "complete", "convert", "correct", "create", "delete",
    "deploy", "disable", "drop", "edit", "enable", "extend", "extract", "finish", "fix", "implement",
    "improve", "install", "introduce", "make", "merge", "migrate", "modify", "move", "optimise",
    "optimize", "port", "refactor", "remove", "rename", "replace", "resolve", "rewrite", "set", "simplify",
    "split", "support", "update", "upgrade", "use",
];

/// How questions start.
#[rustfmt::skip]
const ASKING: [&str; 25] = [
    "are", "can", "could", "describe", "did", "do", "does", "explain", "find", "has", "have", "how", "is",
    "list", "print", "show", "tell", "was", "what", "what's", "when", "where", "which", "who", "why",
];

/// How requests for a report start.
const REPORTING: [&str; 8] =
    ["analyse", "analyze", "compare", "report", "research", "summarise", "summarize", "survey"];

/// Work that can destroy something beyond a worktree. Phrases with hardly any other meaning.
#[rustfmt::skip]
const DANGEROUS: [&str; 22] = [
    "rm -rf", "rm -fr", "drop table", "drop the table", "drop database", "drop the database",
    "drop schema", "truncate table", "force push", "force-push", "push --force", "push -f", "reset --hard",
    "delete production", "delete the production", "wipe the disk", "wipe the database", "mkfs", "dd if=",
    "terraform destroy", "kubectl delete", "delete all data",
];

/// Files and services that decide how everything else is built, checked or shipped.
#[rustfmt::skip]
const CONFIGURATION: [&str; 16] = [
    ".github/", ".gitlab-ci", "github action", "gitlab ci", "ci pipeline", "ci config", "ci workflow",
    "ci job", "jenkinsfile", "dockerfile", "docker-compose", "docker compose", "azure-pipelines",
    "circleci", "travis.yml", "release workflow",
];

/// Phrases of review feedback.
#[rustfmt::skip]
const REVIEWED: [&str; 10] = [
    "review comment", "review feedback", "review finding", "review note", "reviewer", "pr comment",
    "pr feedback", "pull request comment", "pull request feedback", "code review asked",
];

/// Changes to wording, not to behaviour.
#[rustfmt::skip]
const LIGHT: [&str; 8] = [
    "spelling", "misspel", "wording", "whitespace", "indentation", "grammar", "reword",
    "punctuation",
];

impl TaskType {
    /// The type a message asks for, as far as its words show it.
    pub fn detect(text: &str) -> Self {
        let text = text.to_lowercase();
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        let words: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-'))
            .filter(|word| !word.is_empty())
            .collect();
        let asks_for_change = words.iter().any(|word| CHANGES.contains(word));
        // "Please" and "now" are not the request.
        let first = words.iter().find(|word| !["please", "now", "so", "and", "hi", "hello"].contains(word));
        let begins_with = |verbs: &[&str]| first.is_some_and(|word| verbs.contains(word));
        let is_question = text.trim_end().ends_with('?') || begins_with(&ASKING);
        let is_light = has(&LIGHT) || words.iter().any(|word| ["typo", "typos"].contains(word));
        // Asking about something dangerous does nothing yet.
        if has(&DANGEROUS) && (asks_for_change || !is_question) {
            Self::DangerousOp
        } else if has(&REVIEWED) && !is_question {
            Self::ReviewResponse
        } else if (has(&CONFIGURATION) || words.contains(&"ci")) && asks_for_change {
            Self::ConfigCiChange
        } else if is_light && words.len() <= LIGHT_WORDS_MAX {
            Self::LightEdit
        } else if asks_for_change {
            Self::Implementation
        } else if begins_with(&REPORTING)
            || text.contains("write a report")
            || text.contains("write a summary")
        {
            Self::Report
        } else if is_question {
            Self::ReadInfo
        } else {
            Self::Implementation
        }
    }
}

/// A longer request that mentions a typo asks for more than that.
const LIGHT_WORDS_MAX: usize = 25;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_and_their_types() {
        #[rustfmt::skip]
        let table = [
            ("What does the parser do with an empty file?", TaskType::ReadInfo),
            ("Explain the retry loop", TaskType::ReadInfo),
            ("please list the open endpoints", TaskType::ReadInfo),
            ("Why did somebody force push?", TaskType::ReadInfo),
            ("Summarize the last week of commits", TaskType::Report),
            ("Write a report on test coverage", TaskType::Report),
            ("Compare the two caches", TaskType::Report),
            ("Fix the typo in the README", TaskType::LightEdit),
            ("reword the error", TaskType::LightEdit),
            ("Add the city to the address", TaskType::Implementation),
            ("Make the CI faster", TaskType::ConfigCiChange),
            ("Change the typography", TaskType::Implementation),
            ("Swipe the card to delete it", TaskType::Implementation),
            ("Fix the login", TaskType::Implementation),
            ("Can you fix the login?", TaskType::Implementation),
            ("What about adding a test? Then implement it.", TaskType::Implementation),
            ("Summarize the design and update the docs", TaskType::Implementation),
            ("The login fails on Mondays", TaskType::Implementation),
            ("ログインを直してください", TaskType::Implementation),
            ("Address the review comments on the parser", TaskType::ReviewResponse),
            ("Add a step to the CI pipeline", TaskType::ConfigCiChange),
            ("update .github/workflows/test.yml", TaskType::ConfigCiChange),
            ("Force push the cleaned branch", TaskType::DangerousOp),
            ("run terraform destroy on staging", TaskType::DangerousOp),
            ("Can you drop the database and create it again?", TaskType::DangerousOp),
            ("", TaskType::Implementation),
        ];
        for (text, expected) in table {
            assert_eq!(TaskType::detect(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_a_request_for_change_is_never_a_question(text in any::<String>()) {
            let _ = TaskType::detect(&text);
            let asked = TaskType::detect(&format!("{text} implement it"));
            prop_assert!(!matches!(asked, TaskType::ReadInfo | TaskType::Report), "{asked}");
        }
    }
}
