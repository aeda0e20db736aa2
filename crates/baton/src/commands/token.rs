//! `baton token`: who else may come in, and as what.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::cli::tokens::TokenCommand;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

pub(crate) async fn run(api: &Api, command: TokenCommand) -> Result<String, CliError> {
    match command {
        TokenCommand::Create { name, role, expires } => {
            let expires_at = match expires {
                Some(expiry) => Some(expiry.at(api.now().await?)),
                None => None,
            };
            let body = json!({ "name": name, "role": role, "expires_at": expires_at });
            let created: Value = api.post("/api/tokens", &body).await?;
            if api.is_json {
                return output::json(&created);
            }
            output::talk(&format!("Token for {name} ({role}). It is shown only once:"));
            Ok(format!("{}\n", created["token"].as_str().unwrap_or_default()))
        }
        TokenCommand::List => {
            let answer: Value = api.get("/api/tokens").await?;
            if api.is_json { output::json(&answer) } else { Ok(render(&answer)) }
        }
        TokenCommand::Revoke { name } => {
            let revoked: Value = api.delete(&format!("/api/tokens/{name}")).await?;
            if api.is_json {
                return output::json(&revoked);
            }
            Ok(format!("Revoked the token of {name}.\n"))
        }
    }
}

fn render(answer: &Value) -> String {
    let tokens = answer["tokens"].as_array().map(Vec::as_slice).unwrap_or_default();
    if tokens.is_empty() {
        return "No tokens. Create one: baton token create NAME --role viewer\n".to_owned();
    }
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut text = String::new();
    for token in tokens {
        let (name, role) = (word(&token["name"]), word(&token["role"]));
        let end = match (token["revoked"]["at"].as_str(), token["expires_at"].as_str()) {
            (Some(at), _) => format!("revoked {at} by {}", by(&token["revoked"]["by"])),
            (None, Some(at)) if token["is_good"] == true => format!("until {at}"),
            (None, Some(at)) => format!("expired {at}"),
            (None, None) => "no expiry".to_owned(),
        };
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name} ({role}) since {}, {end}", word(&token["created_at"]));
    }
    text
}

fn by(actor: &Value) -> &str {
    actor["name"].as_str().unwrap_or("someone")
}
