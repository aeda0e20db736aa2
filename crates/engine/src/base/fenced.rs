//! Quotes foreign text in a prompt, so that nothing in it passes for an instruction of Baton's.

/// The text in a fence longer than any inside it.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().bytes().take_while(|b| *b == b'`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}
