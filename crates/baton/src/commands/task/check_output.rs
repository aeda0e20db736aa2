//! `baton task show --checks`: what the checks printed about a task, whether they passed or not.

use std::fmt::Write;

use baton_engine::landing::task_landing::TaskLanding;
use baton_engine::reports::view::TaskView;

/// Those at the end of the last attempt, then those of the landing.
pub(super) fn render(view: &TaskView) -> String {
    let mut text = String::new();
    for check in view.verified.iter().flat_map(|verified| &verified.checks) {
        add(&mut text, check.name.as_str(), "end of the attempt", check.exit_code, &check.output_tail);
    }
    match view.landing.as_ref().map(|landing| &landing.landing) {
        Some(TaskLanding::Landed { evidence: Some(evidence), .. }) => {
            for check in &evidence.checks {
                let output = check.output_tail.as_deref().unwrap_or_default();
                add(&mut text, check.name.as_str(), "landing", check.exit_code, output);
            }
        }
        Some(TaskLanding::SentBack { checks, .. }) => {
            for check in checks {
                add(&mut text, check.name.as_str(), "landing", check.exit_code, &check.output_tail);
            }
        }
        Some(
            TaskLanding::Landed { evidence: None, .. }
            | TaskLanding::Checking { .. }
            | TaskLanding::Waiting { .. }
            | TaskLanding::Forced { .. },
        )
        | None => {}
    }
    if text.is_empty() { "\nNo check has run on its work.\n".to_owned() } else { text }
}

fn add(text: &mut String, name: &str, place: &str, exit_code: i32, output: &str) {
    let output = match output.trim_end() {
        "" => "(no output)",
        printed => printed,
    };
    let _ = writeln!(text, "\n{name} ({place}, exit code {exit_code}):\n{output}");
}
