//! Every code there is, gathered from the types that have them. Nothing is explained here: each type does that itself.

use baton_core::access_token::TokenRefusal;
use baton_core::approval::ApprovalRefusal;
use baton_core::ask_refusal::{AnswerRefusal, AskRefusal};
use baton_core::choice::Unreadable;
use baton_core::exit_reason::ExitReason;
use baton_core::explanation::Explanation;
use baton_core::graph::GraphError;
use baton_core::loop_refusal::LoopRefusal;
use baton_core::phase_work::WorkRefusal;
use baton_core::recipe::FaultKind;
use baton_core::refusal::Refusal;
use baton_core::run::RunRefusal;
use baton_engine::error::EngineError;
use baton_engine::import::ImportError;
use baton_engine::settings::SettingsError;
use baton_engine::store_error::{Conflict, StoreError};
use baton_engine::user_tasks::UserTaskError;
use baton_engine::worktree::GitError;
use baton_server::client::ClientError;
use baton_server::http::error::Code;
use serde::Serialize;

use super::exit_codes;

/// Codes that are met in the same place.
#[derive(Debug)]
pub struct Family {
    pub title: &'static str,
    pub rows: Vec<&'static Explanation>,
}

/// One code with its family.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Entry {
    pub family: &'static str,
    #[serde(flatten)]
    pub explanation: &'static Explanation,
}

pub fn families() -> Vec<Family> {
    [
        family("Exit codes of commands", &[&exit_codes::EXPLAINED]),
        family("Codes of the API", &[Code::EXPLAINED]),
        family("Tasks and plans", &[Refusal::EXPLAINED, ApprovalRefusal::EXPLAINED, EngineError::EXPLAINED]),
        family("What waits on what", &[GraphError::EXPLAINED, Conflict::EXPLAINED]),
        family(
            "Asking and answering",
            &[AskRefusal::EXPLAINED, AnswerRefusal::EXPLAINED, Unreadable::EXPLAINED],
        ),
        family("Runs and the loop", &[RunRefusal::EXPLAINED, LoopRefusal::EXPLAINED, WorkRefusal::EXPLAINED]),
        family("Ends of a run", &[&ExitReason::EXPLAINED]),
        family("Faults of recipe files", &[FaultKind::EXPLAINED]),
        family("Tokens of people", &[TokenRefusal::EXPLAINED]),
        family("The store", &[StoreError::EXPLAINED]),
        family("The server", &[ClientError::EXPLAINED]),
        family("Git", &[GitError::EXPLAINED]),
        family("Settings", &[SettingsError::EXPLAINED]),
        family("User tasks", &[UserTaskError::EXPLAINED]),
        family("Import", &[ImportError::EXPLAINED]),
    ]
    .into()
}

/// Two types may refuse for the same reason; it is listed once.
fn family(title: &'static str, tables: &[&'static [Explanation]]) -> Family {
    let mut rows: Vec<&'static Explanation> = Vec::new();
    for row in tables.iter().copied().flatten() {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    Family { title, rows }
}

pub fn entries() -> Vec<Entry> {
    let of = |family: Family| {
        family.rows.into_iter().map(move |explanation| Entry { family: family.title, explanation })
    };
    families().into_iter().flat_map(of).collect()
}

/// What goes by this name. As it is written where that is known, else in any case; a bare number is an exit code.
pub fn find(name: &str) -> Vec<Entry> {
    let wanted =
        if name.bytes().all(|byte| byte.is_ascii_digit()) { format!("exit-{name}") } else { name.to_owned() };
    // A recipe's end may carry the step it is about.
    let wanted = wanted.split_once(':').map_or(wanted.as_str(), |(reason, _)| reason);
    let all = entries();
    let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<Entry> {
        let mut found: Vec<Entry> = Vec::new();
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
    use crate::cli::Arguments;
    use crate::reference::missing;
    use clap::CommandFactory;

    #[test]
    fn a_family_has_each_code_once_and_every_text_says_something() {
        for Family { title, rows } in families() {
            let mut codes: Vec<&str> = rows.iter().map(|row| row.code).collect();
            codes.sort_unstable();
            let all = codes.len();
            codes.dedup();
            assert_eq!(codes.len(), all, "{title} has a code twice: {codes:?}");
            for row in rows {
                for text in [row.means, row.cause, row.next] {
                    assert!(text.ends_with(['.', ':']) && text.len() > 15, "{}: {text}", row.code);
                    assert!(!text.contains("  "), "{}: two blanks in {text}", row.code);
                }
            }
        }
    }

    #[test]
    fn every_command_that_is_named_exists() {
        let program = Arguments::command();
        for entry in entries() {
            let Explanation { code, means, cause, next } = *entry.explanation;
            let quoted = [means, cause, next].into_iter().flat_map(|text| text.split('`').skip(1).step_by(2));
            for line in quoted.filter_map(|quoted| quoted.strip_prefix("baton ")) {
                assert_eq!(missing(&program, line), None, "{code}: baton {line}");
            }
            let explains = [means, cause, next].join(" ");
            for name in explains.split("`baton explain ").skip(1).filter_map(|rest| rest.split('`').next()) {
                let is_known = name == "REASON" || super::super::names().contains(&name);
                assert!(is_known, "{code}: nobody explains {name}");
            }
        }
    }

    #[test]
    fn a_name_is_found_as_written_first_and_then_in_any_case() {
        let families = |name: &str| -> Vec<&str> { find(name).iter().map(|entry| entry.family).collect() };
        assert_eq!(families("TOO_LARGE"), ["Codes of the API"]);
        assert_eq!(families("too_large"), ["Tasks and plans"]);
        assert_eq!(families("Store_Damaged"), ["The store"]);
        assert_eq!(families("10"), ["Exit codes of commands"]);
        assert_eq!(families("max-step-visits-exceeded:fix"), ["Ends of a run"]);
        assert_eq!(families("human_only"), ["Tasks and plans"], "the same refusal of two types is told once");
        assert!(families("nothing").is_empty());
    }
}
