//! When two titles name the same task.

/// Two titles with the same normal form name the same task: case, white space and punctuation do not
/// tell tasks apart. `+` and `#` do, because C, C++ and C# are three things.
pub fn normalised_title(title: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || c == '+' || c == '#';
    let joined: String = title.chars().filter(|c| !matches!(c, '\'' | '’' | '`')).collect();
    let lower = joined.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !kept(c)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        // Only punctuation: all it has to be known by.
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
            assert_eq!(normalised_title(same), "fix the parser", "{same:?}");
        }
        assert_eq!(normalised_title("Don't panic"), normalised_title("dont panic"));
        assert_eq!(normalised_title("GRÜSSE senden"), "grüsse senden");
        assert_ne!(normalised_title("Port it to C"), normalised_title("Port it to C++"));
        assert_ne!(normalised_title("???"), normalised_title("!!!"));
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own(title: String) {
            let once = normalised_title(&title);
            prop_assert_eq!(normalised_title(&once), once);
        }
    }
}
