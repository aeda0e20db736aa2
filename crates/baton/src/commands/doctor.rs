//! `baton doctor`: checks git, settings, store and agents.

use std::fmt::Write;

use baton_engine::reports::doctor::{AgentFinding, Condition, Report, examine};

use crate::context;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{self, ProgressBar};

pub(crate) async fn run(options: &GlobalOptions) -> Result<String, CliError> {
    let folder = context::current_dir()?;
    let progress = ProgressBar::new(options.json);
    progress.at("Checking", 0, 0);
    let report = examine(&folder, &options.place()).await;
    progress.end();
    let text = if options.json { output::json(&report)? } else { render(&report) };
    if report.is_well {
        return Ok(text);
    }
    // The report is data even when the exit code is not 0.
    output::line(text.trim_end());
    Err(CliError::failed(
        "something required does not work",
        "fix the lines marked ✗ as suggested, then run baton doctor again",
    ))
}

fn mark(condition: Condition) -> char {
    match condition {
        Condition::Ok => '✓',
        Condition::Note => '·',
        Condition::Broken => '✗',
    }
}

fn render(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(text, "{} {:<11} {}", mark(finding.condition), finding.what, finding.detail);
        if let Some(mend) = &finding.mend {
            let _ = writeln!(text, "  {:<11} → {mend}", "");
        }
    }
    text.push_str("\nAgents\n");
    let (here, missing): (Vec<&AgentFinding>, Vec<&AgentFinding>) =
        report.agents.iter().partition(|agent| agent.is_installed || agent.is_set_up);
    for agent in here {
        let version = agent.version.as_deref().unwrap_or("");
        let greeting =
            agent.greeting.as_deref().map(|name| format!("; answers as {name}")).unwrap_or_default();
        let set_up = if agent.is_set_up { ", configured" } else { "" };
        let kind = agent.kind.as_str();
        let about = format!("{kind}{set_up} {version}{greeting}");
        let _ = writeln!(text, "{} {:<14} {}", mark(agent.condition), agent.name, about.trim_end());
        for line in agent.problem.iter().flat_map(|problem| problem.lines()) {
            let _ = writeln!(text, "    {line}");
        }
        if let Some(mend) = &agent.mend {
            let _ = writeln!(text, "    → {mend}");
        }
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|agent| agent.name.as_str()).collect();
        let _ = writeln!(text, "· not installed: {}", names.join(", "));
    }
    text
}
