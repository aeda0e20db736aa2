use baton_core::recipe::exit_reason::{ExitCategory, ExitReason, InvalidExitReason};
use proptest::prelude::*;

use crate::recipes::fixture::step;

fn of(reason: &str) -> (ExitCategory, String) {
    let reason = ExitReason::new(reason).unwrap();
    (reason.category(), reason.message())
}

#[test]
fn the_documented_reasons_have_their_documented_messages() {
    for (reason, message) in [
        ("task-committed", "Task implementation committed successfully"),
        ("design-committed", "Design document committed successfully"),
        ("tasks-committed", "Implementation tasks created and committed"),
        ("no-changes-to-commit", "No changes to commit"),
        ("clarification-needed", "Needs clarification before continuing"),
        ("implementation-blocked", "Implementation blocked - cannot proceed"),
        ("no-design-document-found", "Design document not found"),
        ("no-tasks-available", "No tasks available to implement"),
        ("user-provided-other", "Recipe exited by user choice"),
        ("shipped-to-the-moon", "Completed: shipped-to-the-moon"),
    ] {
        assert_eq!(of(reason), (ExitCategory::Completed, message.to_owned()));
    }
}

#[test]
fn guardrails_and_errors_differ_from_completions() {
    for (reason, category) in [
        (ExitReason::max_total_steps(), ExitCategory::Guardrail),
        (ExitReason::max_step_visits_exceeded(&step("code-review")), ExitCategory::Guardrail),
        (ExitReason::orchestration_error(), ExitCategory::Error),
        (ExitReason::error(), ExitCategory::Error),
        (ExitReason::internal_error(), ExitCategory::Error),
        (ExitReason::no_prompt(), ExitCategory::Error),
        (ExitReason::user_requested(), ExitCategory::Completed),
    ] {
        assert_eq!(reason.category(), category, "{reason}");
        assert!(!reason.message().starts_with("Completed: "), "{reason} has no sentence of its own");
    }
    assert_eq!(
        ExitReason::max_step_visits_exceeded(&step("fix")).message(),
        "Stopped: step \"fix\" was entered too many times"
    );
    assert_eq!(of("max-step-visits-exceeded").0, ExitCategory::Guardrail);
    assert_eq!(of("errors-found").0, ExitCategory::Completed);
}

#[test]
fn a_reason_is_one_visible_line() {
    assert_eq!(ExitReason::new(" \n"), Err(InvalidExitReason::Blank));
    assert_eq!(ExitReason::new("a\nb"), Err(InvalidExitReason::NotOneLine));
    assert_eq!(ExitReason::new(&"x".repeat(201)), Err(InvalidExitReason::TooLong));
    assert_eq!(ExitReason::new(" error\n").unwrap(), ExitReason::error());
    assert!(serde_json::from_str::<ExitReason>("\"\"").is_err());
    assert_eq!(serde_json::to_string(&ExitReason::error()).unwrap(), "\"error\"");
}

proptest! {
    /// I10
    #[test]
    fn every_reason_has_a_category_and_a_message(
        text in prop_oneof![any::<String>(), "max-step-visits-exceeded.{0,9}", "[a-z-]{1,12}"],
    ) {
        if let Ok(reason) = ExitReason::new(&text) {
            prop_assert!(ExitCategory::ALL.contains(&reason.category()));
            prop_assert!(!reason.message().trim().is_empty());
        }
    }
}
