//! Formatting helpers shared by all user-facing text.

/// "1 commit", "2 commits".
pub fn pluralize(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A shell word that a person or an agent can paste: quoted if a shell would interpret it.
pub fn shell_word(text: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '@' | ':' | ',');
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| pluralize(count, "task")), ["0 tasks", "1 task", "2 tasks"]);
    }

    #[test]
    fn shell_metacharacters_are_quoted() {
        for plain in ["main", "feature/dca27809", "git@host:team/app.git", "größe"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's`$(x)`"), r"'it'\''s`$(x)`'");
        assert_eq!(shell_word(""), "''");
    }
}
