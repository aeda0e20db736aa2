//! `baton doctor`: checks git, settings, store and agents.

use std::fmt::Write;

use baton_core::base::words::pluralize;
use baton_engine::reports::doctor::{AgentFinding, Condition, DoctorReport, Finding, examine};
use baton_server::client::ApiClient;
use serde_json::Value;

use crate::context;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{self, ProgressBar};

pub(crate) async fn run(options: &GlobalOptions) -> Result<String, CliError> {
    let folder = context::current_dir()?;
    let progress = ProgressBar::new(options.json);
    progress.at("Checking", 0, 0);
    let mut report = examine(&folder, &options.place()).await;
    look_at_server(options, &mut report).await;
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

/// The running server knows how its background services are.
async fn look_at_server(options: &GlobalOptions, report: &mut DoctorReport) {
    let Ok((place, _)) = context::find(options) else { return };
    let Some(address) = context::server_file::running(&place, None).await else { return };
    let finding = match ApiClient::for_server(address).get::<Value>("/api/health").await {
        Ok(health) => services_found(&health),
        Err(error) => Finding {
            what: "server",
            condition: Condition::Broken,
            detail: format!("the server does not report its health: {error}"),
            fix: Some("check the output of baton up".to_owned()),
        },
    };
    report.is_well &= finding.condition != Condition::Broken;
    report.findings.push(finding);
}

fn services_found(health: &Value) -> Finding {
    let services: Vec<&Value> = health["services"].as_array().into_iter().flatten().collect();
    let failing: Vec<String> = services
        .iter()
        .filter(|service| service["state"] == "failing")
        .map(|service| {
            let text = |name: &str| service[name].as_str().unwrap_or("unknown").to_owned();
            format!("{} is failing: {}", text("name"), text("last_error"))
        })
        .collect();
    if failing.is_empty() {
        let detail = format!("all {} run", pluralize(services.len() as u64, "background service"));
        return Finding { what: "services", condition: Condition::Ok, detail, fix: None };
    }
    Finding {
        what: "services",
        condition: Condition::Broken,
        detail: failing.join("; "),
        fix: Some("remove the cause; the server retries by itself".to_owned()),
    }
}

fn mark(condition: Condition) -> char {
    match condition {
        Condition::Ok => '✓',
        Condition::Note => '·',
        Condition::Broken => '✗',
    }
}

fn render(report: &DoctorReport) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(text, "{} {:<11} {}", mark(finding.condition), finding.what, finding.detail);
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "  {:<11} → {fix}", "");
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
        if let Some(fix) = &agent.fix {
            let _ = writeln!(text, "    → {fix}");
        }
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|agent| agent.name.as_str()).collect();
        let _ = writeln!(text, "· not installed: {}", names.join(", "));
    }
    text
}
