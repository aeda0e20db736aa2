//! Title comparison.

/// The normal form of a title. Two titles with the same normal form name the same task: case, white space and
/// punctuation do not distinguish tasks. `+` and `#` do, because C, C++ and C# are three things.
pub fn normalize_title(title: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || c == '+' || c == '#';
    let joined: String = title.chars().filter(|c| !matches!(c, '\'' | '’' | '`')).collect();
    let lower = joined.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !kept(c)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        // Only punctuation, so there is nothing else to compare by.
        title.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_white_space_and_punctuation_do_not_tell_titles_apart() {
        for same in [
            "Fix the parser",
            " fix  THE parser! ",
            "Fix: the-parser",
            "fix\tthe\nparser…",
            "Fix 'the' parser",
        ] {
            assert_eq!(normalize_title(same), "fix the parser", "{same:?}");
        }
        assert_eq!(normalize_title("Don't panic"), normalize_title("dont panic"));
        assert_eq!(normalize_title("GRÜSSE senden"), "grüsse senden");
        assert_ne!(normalize_title("Port it to C"), normalize_title("Port it to C++"));
        assert_ne!(normalize_title("???"), normalize_title("!!!"));
    }

    proptest! {
        #[test]
        fn normalizing_is_idempotent(title: String) {
            let once = normalize_title(&title);
            prop_assert_eq!(normalize_title(&once), once);
        }
    }
}
