//! Task names with `*` in them.

/// What each `*` of a pattern matches in a name, the earlier ones greedily.
pub(crate) fn match_wildcards(pattern: &str, name: &str) -> Option<Vec<String>> {
    let Some((head, tail)) = pattern.split_once('*') else {
        return (pattern == name).then(Vec::new);
    };
    let rest = name.strip_prefix(head)?;
    let mut cuts: Vec<usize> = rest.char_indices().map(|(i, _)| i).chain([rest.len()]).collect();
    cuts.reverse();
    for cut in cuts {
        if let Some(mut matched) = match_wildcards(tail, &rest[cut..]) {
            matched.insert(0, rest[..cut].to_owned());
            return Some(matched);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::match_wildcards;

    #[test]
    fn wildcards_match_greedily() {
        let matched = |p, n| match_wildcards(p, n).map(|m| m.join("|"));
        assert_eq!(matched("start:*", "start:foo"), Some("foo".to_owned()));
        assert_eq!(matched("a:*:b:*", "a:1:b:2"), Some("1|2".to_owned()));
        assert_eq!(matched("*-*", "a-b-c"), Some("a-b|c".to_owned()));
        assert_eq!(matched("a", "a"), Some(String::new()));
        assert_eq!(matched("a*", "b"), None);
    }
}
