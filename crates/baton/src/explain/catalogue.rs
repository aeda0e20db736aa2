//! All codes, collected from the types that define and explain them.

use baton_core::ask::choice::UnreadableAnswer;
use baton_core::ask::queued_answer::QueueFull;
use baton_core::ask::refusal::{AnswerRefusal, AskRefusal};
use baton_core::base::explanation::Explanation;
use baton_core::base::text::BlankText;
use baton_core::graph::GraphError;
use baton_core::people::access_token::TokenRefusal;
use baton_core::phase::refusal::LoopRefusal;
use baton_core::phase::work::WorkRefusal;
use baton_core::recipe::RecipeErrorKind;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::RunRefusal;
use baton_core::transition::approval::ApprovalRefusal;
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::attempt::error::AttemptError;
use baton_engine::base::error::{FolderError, NotFound};
use baton_engine::base::run_fence::NoFence;
use baton_engine::cluster::error::LockError;
use baton_engine::git::GitError;
use baton_engine::import::ImportError;
use baton_engine::landing::error::LandingError;
use baton_engine::projects::error::ProjectError;
use baton_engine::projects::hooks::HookFailed;
use baton_engine::projects::leased_values::LeasedValueError;
use baton_engine::query::BadCursor;
use baton_engine::runs::error::RunError;
use baton_engine::runs::routines::RoutineError;
use baton_engine::settings::InvalidNamespace;
use baton_engine::settings::SettingsError;
use baton_engine::store_error::{Conflict, StoreError};
use baton_engine::tasks::error::TaskError;
use baton_engine::user_tasks::UserTaskError;
use baton_server::client::ClientError;
use baton_server::http::error::Code;
use serde::Serialize;

use crate::error::commands::commands;
use crate::explain::exit_codes;

/// Codes of one area.
#[derive(Debug)]
pub(crate) struct CodeFamily {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<&'static Explanation>,
}

/// A code and its family.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct CodeEntry {
    pub(crate) family: &'static str,
    #[serde(flatten)]
    pub(crate) explanation: &'static Explanation,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) commands: &'static [&'static str],
}

pub(crate) fn families() -> Vec<CodeFamily> {
    [
        family("Exit codes", &[&exit_codes::EXPLAINED]),
        family("API errors", &[Code::EXPLAINED]),
        family(
            "Tasks and plans",
            &[
                CommandRefusal::EXPLAINED,
                ApprovalRefusal::EXPLAINED,
                TaskError::EXPLAINED,
                &[NotFound::EXPLAINED, BlankText::EXPLAINED, BadCursor::EXPLAINED],
            ],
        ),
        family("Dependencies", &[GraphError::EXPLAINED, Conflict::EXPLAINED]),
        family(
            "Questions and answers",
            &[
                AskRefusal::EXPLAINED,
                AnswerRefusal::EXPLAINED,
                UnreadableAnswer::EXPLAINED,
                &[QueueFull::EXPLAINED],
            ],
        ),
        family(
            "Runs and the loop",
            &[RunError::EXPLAINED, RunRefusal::EXPLAINED, LoopRefusal::EXPLAINED, WorkRefusal::EXPLAINED],
        ),
        family("Exit reasons of runs", &[&ExitReason::EXPLAINED]),
        family("Recipe file errors", &[RecipeErrorKind::EXPLAINED]),
        family("Access tokens", &[TokenRefusal::EXPLAINED]),
        family("Store", &[StoreError::EXPLAINED]),
        family("Server", &[ClientError::EXPLAINED]),
        family("Git", &[GitError::EXPLAINED]),
        family(
            "Settings",
            &[SettingsError::EXPLAINED, &[InvalidNamespace::EXPLAINED, FolderError::EXPLAINED]],
        ),
        family(
            "Projects",
            &[
                ProjectError::EXPLAINED,
                LeasedValueError::EXPLAINED,
                &[HookFailed::EXPLAINED, NoFence::EXPLAINED],
            ],
        ),
        family("Routines", &[RoutineError::EXPLAINED]),
        family(
            "Attempts and landing",
            &[AttemptError::EXPLAINED, LandingError::EXPLAINED, LockError::EXPLAINED],
        ),
        family("User tasks", &[UserTaskError::EXPLAINED]),
        family("Import", &[ImportError::EXPLAINED]),
    ]
    .into()
}

/// A code that two types share is listed once.
fn family(title: &'static str, tables: &[&'static [Explanation]]) -> CodeFamily {
    let mut rows: Vec<&'static Explanation> = Vec::new();
    for row in tables.iter().copied().flatten() {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    CodeFamily { title, rows }
}

pub(crate) fn entries() -> Vec<CodeEntry> {
    let of = |family: CodeFamily| {
        family.rows.into_iter().map(move |explanation| CodeEntry {
            family: family.title,
            explanation,
            commands: commands(explanation.code),
        })
    };
    families().into_iter().flat_map(of).collect()
}

/// The codes with this name: exact matches, else regardless of case. A number is an exit code.
pub(crate) fn find(name: &str) -> Vec<CodeEntry> {
    let wanted =
        if name.bytes().all(|byte| byte.is_ascii_digit()) { format!("exit-{name}") } else { name.to_owned() };
    // Some exit reasons end with a step.
    let wanted = wanted.split_once(':').map_or(wanted.as_str(), |(reason, _)| reason);
    let all = entries();
    let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<CodeEntry> {
        let mut found: Vec<CodeEntry> = Vec::new();
        for entry in all.iter().filter(|entry| is_it(entry.explanation.code)) {
            if !found.iter().any(|known| known.explanation == entry.explanation) {
                found.push(*entry);
            }
        }
        found
    };
    let exact = named(&|code| code == wanted);
    if exact.is_empty() { named(&|code| code.eq_ignore_ascii_case(wanted)) } else { exact }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use crate::reference::missing;
    use clap::CommandFactory;

    #[test]
    fn codes_are_unique_in_a_family_and_every_text_is_a_sentence() {
        for CodeFamily { title, rows } in families() {
            let mut codes: Vec<&str> = rows.iter().map(|row| row.code).collect();
            codes.sort_unstable();
            let all = codes.len();
            codes.dedup();
            assert_eq!(codes.len(), all, "{title} has a duplicate code: {codes:?}");
            for row in rows {
                for text in [row.means, row.cause, row.next] {
                    assert!(text.ends_with(['.', ':']) && text.len() > 15, "{}: {text}", row.code);
                    assert!(!text.contains("  "), "{}: double space in {text}", row.code);
                }
            }
        }
    }

    #[test]
    fn every_named_command_exists() {
        let program = Cli::command();
        for entry in entries() {
            let Explanation { code, means, cause, next } = *entry.explanation;
            let quoted = [means, cause, next].into_iter().flat_map(|text| text.split('`').skip(1).step_by(2));
            for line in quoted.filter_map(|quoted| quoted.strip_prefix("baton ")) {
                assert_eq!(missing(&program, line), None, "{code}: baton {line}");
            }
            let explains = [means, cause, next].join(" ");
            for name in explains.split("`baton explain ").skip(1).filter_map(|rest| rest.split('`').next()) {
                let is_known = name == "REASON" || crate::explain::names().contains(&name);
                assert!(is_known, "{code}: no explanation of {name}");
            }
        }
    }

    #[test]
    fn exact_names_come_before_other_cases() {
        let families = |name: &str| -> Vec<&str> { find(name).iter().map(|entry| entry.family).collect() };
        assert_eq!(families("TOO_LARGE"), ["API errors"]);
        assert_eq!(families("too_large"), ["Tasks and plans"]);
        assert_eq!(families("Store_Damaged"), ["Store"]);
        assert_eq!(families("10"), ["Exit codes"]);
        assert_eq!(families("max-step-visits-exceeded:fix"), ["Exit reasons of runs"]);
        assert_eq!(families("human_only"), ["Tasks and plans"], "a refusal of two types is listed once");
        assert!(families("nothing").is_empty());
    }
}
