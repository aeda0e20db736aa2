//! `baton hold`: lists and releases held agents.

use std::fmt::Write;

use baton_core::base::text::AgentName;
use baton_core::limits::hold::Hold;
use serde_json::{Value, json};

use crate::cli::holds::HoldCommand;
use crate::context::api::{self, Api};
use crate::error::CliError;
use crate::output;

pub(crate) async fn run(api: &Api, command: HoldCommand) -> Result<String, CliError> {
    match command {
        HoldCommand::List => {
            let mut answer: Value = api.get("/api/holds").await?;
            let holds: Vec<Hold> = api::read(answer["holds"].take())?;
            if api.is_json {
                return output::json(&json!({ "holds": holds }));
            }
            Ok(render(&holds))
        }
        HoldCommand::Release { agent } => {
            let agent: AgentName = agent.parse().map_err(|error: baton_core::base::text::InvalidName| {
                CliError::usage(error.to_string(), "list the holds: baton hold list")
            })?;
            let released: Hold = api.post(&format!("/api/holds/{agent}/release"), &json!({})).await?;
            if api.is_json {
                return output::json(&released);
            }
            Ok(format!("Released {agent}.\n"))
        }
    }
}

fn render(holds: &[Hold]) -> String {
    if holds.is_empty() {
        return "No holds.\n".to_owned();
    }
    let mut text = String::new();
    for hold in holds {
        let until = match hold.until {
            Some(until) => format!("until {until}"),
            None => format!("until released: baton hold release {}", hold.agent),
        };
        let since = output::time(hold.since);
        let _ = writeln!(text, "{} ({}) since {since}, {until}", hold.agent, hold.why.as_str());
        for line in hold.reason.as_str().lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}
