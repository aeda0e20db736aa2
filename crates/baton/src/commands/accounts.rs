//! `baton accounts`: the logins that agents work on.

use std::fmt::Write;

use baton_engine::reports::accounts::{AccountState, AccountView};
use serde_json::{Value, json};

use crate::context::api::{self, Api};
use crate::error::CliError;
use crate::output;

pub(crate) async fn run(api: &Api) -> Result<String, CliError> {
    let mut answer: Value = api.get("/api/accounts").await?;
    let accounts: Vec<AccountView> = api::read(answer["accounts"].take())?;
    if api.is_json {
        return output::json(&json!({ "accounts": accounts }));
    }
    if accounts.is_empty() {
        return Ok("No agents are set up. Find some: baton doctor\n".to_owned());
    }
    Ok(accounts.iter().map(render).collect())
}

fn render(account: &AccountView) -> String {
    let AccountView { name, provider, agents, state, until, reason, used_today, .. } = account;
    let agents: Vec<&str> = agents.iter().map(baton_core::base::text::AgentName::as_str).collect();
    let provider = provider.as_ref().map(|provider| format!(", {provider}")).unwrap_or_default();
    let agents = if agents.is_empty() { "no agent".to_owned() } else { agents.join(", ") };
    let state = match (state, until) {
        (AccountState::Open, _) => "open".to_owned(),
        (AccountState::Quiet, Some(until)) => format!("quiet hours until {until}"),
        (AccountState::Quiet, None) => "quiet hours".to_owned(),
        (AccountState::Held, Some(until)) => format!("on hold until {until}"),
        (AccountState::Held, None) => format!("on hold until released: baton hold release {name}"),
    };
    let mut text = format!("{name} ({agents}{provider}): {state}\n");
    for line in reason.iter().flat_map(|reason| reason.lines()) {
        let _ = writeln!(text, "    {line}");
    }
    let dollars = used_today.cost_micro_usd / 10_000;
    let _ = writeln!(
        text,
        "    today: {} turns, {} tokens, {}.{:02} dollars, {} minutes",
        used_today.turns,
        used_today.tokens,
        dollars / 100,
        dollars % 100,
        used_today.wall_ms / 60_000
    );
    text
}
