//! Small turns of phrase that everything Baton says to people has in common.

/// "1 commit", "2 commits".
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A word of a command line that a person, or an agent, will paste into a shell: quoted where a shell would act on it.
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
    fn one_is_one_and_none_is_many() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "task")), ["0 tasks", "1 task", "2 tasks"]);
    }

    #[test]
    fn what_a_shell_would_act_on_is_quoted() {
        for plain in ["main", "feature/dca27809", "git@host:team/app.git", "größe"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's`$(x)`"), r"'it'\''s`$(x)`'");
        assert_eq!(shell_word(""), "''");
    }
}
