//! How a person continues an agent's session in a terminal.

use std::path::Path;

/// Words of a command in which the program is looked for: `npx -y PACKAGE`.
const WORDS_MAX: usize = 3;

/// The command for a session of the agent that this command starts; none for agents that are not known to have one.
pub fn terminal_command(agent: &[String], session: &str) -> Option<Vec<String>> {
    // The adapters of the Agent Client Protocol share the sessions of the programs they adapt. Some are started by npx.
    let mut names = agent.iter().take(WORDS_MAX).filter_map(|word| Path::new(word).file_stem()?.to_str());
    let words = names.find_map(words_for)?;
    Some(words.iter().map(|&word| word.to_owned()).chain([session.to_owned()]).collect())
}

fn words_for(program: &str) -> Option<&'static [&'static str]> {
    Some(match program {
        "claude" | "claude-agent-acp" | "claude-code-acp" => &["claude", "--resume"],
        "codex" | "codex-acp" => &["codex", "resume"],
        "opencode" => &["opencode", "--session"],
        "goose" => &["goose", "session", "--resume", "--session-id"],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_share_the_sessions_of_what_they_adapt() {
        let command = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            terminal_command(&words, "s-1").map(|command| command.join(" "))
        };
        assert_eq!(command(&["/usr/bin/claude"]).as_deref(), Some("claude --resume s-1"));
        assert_eq!(
            command(&["npx", "-y", "@zed-industries/claude-agent-acp"]).as_deref(),
            Some("claude --resume s-1")
        );
        assert_eq!(command(&["codex"]).as_deref(), Some("codex resume s-1"));
        assert_eq!(command(&["python3", "agent.py"]), None);
    }
}
