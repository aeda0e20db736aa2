//! Parses `OpenMetrics` 1.0 and checks the rules that scrapers rely on.

use std::collections::{BTreeMap, BTreeSet};

/// Samples by their name with labels.
pub(crate) type Samples = BTreeMap<String, f64>;

/// All samples of a valid text.
pub(crate) fn parse(text: &str) -> Samples {
    let body = text.strip_suffix("# EOF\n").expect("the text ends with # EOF and a line feed");
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    let mut current = String::new();
    let mut samples = Samples::new();
    for line in body.lines() {
        if let Some(described) = line.strip_prefix("# ") {
            let mut words = described.splitn(3, ' ');
            let (keyword, name) = (words.next().unwrap(), words.next().unwrap());
            let rest = words.next().unwrap_or_else(|| panic!("no description: {line}"));
            if name != current {
                assert!(!families.contains_key(name), "{name} is not in one piece");
                families.insert(name.to_owned(), String::new());
                name.clone_into(&mut current);
            }
            match keyword {
                "TYPE" => families.insert(name.to_owned(), rest.to_owned()).map_or((), drop),
                "HELP" | "UNIT" => {}
                other => panic!("{other} is no keyword"),
            }
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
            check_series(series, &current, &families[&current]);
            let value = value.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(samples.insert(series.to_owned(), value).is_none(), "{series} is there twice");
        }
    }
    check_histograms(&samples, &families);
    samples
}

fn check_series(series: &str, family: &str, kind: &str) {
    let name = series.split('{').next().unwrap();
    let is_name = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':');
    assert!(is_name(name) && !name.starts_with(|c: char| c.is_ascii_digit()), "{series}");
    let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{series} is not of {family}"));
    let suffixes: &[&str] = match kind {
        "counter" => &["_total", "_created"],
        "histogram" => &["_bucket", "_count", "_sum", "_created"],
        "gauge" => &[""],
        other => panic!("{family} has the type \"{other}\""),
    };
    assert!(suffixes.contains(&suffix), "{series} of a {kind}");
    let mut seen = BTreeSet::new();
    let Some(mut rest) = series.strip_prefix(name).and_then(|labels| labels.strip_prefix('{')) else {
        return;
    };
    rest = rest.strip_suffix('}').unwrap_or_else(|| panic!("the labels do not end: {series}"));
    while !rest.is_empty() {
        let (label, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("no value: {series}"));
        assert!(is_name(label) && seen.insert(label), "the label {label} of {series}");
        let end =
            end_of_value(value).unwrap_or_else(|| panic!("the value of {label} does not end: {series}"));
        rest = value[end + 1..].trim_start_matches(',');
    }
}

/// The position of the closing quote.
fn end_of_value(value: &str) -> Option<usize> {
    let mut is_escaped = false;
    value.char_indices().find_map(|(at, c)| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

/// Buckets are cumulative, and the last one has the total.
fn check_histograms(samples: &Samples, families: &BTreeMap<String, String>) {
    let mut buckets: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for (series, count) in samples {
        let Some((before, rest)) = series.split_once("le=\"") else { continue };
        let (bound, after) = rest.split_once('"').unwrap();
        let others = format!("{before}{}", after.trim_start_matches(','));
        let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
        buckets.entry(others).or_default().push((bound, *count));
    }
    assert!(buckets.is_empty() != families.values().any(|kind| kind == "histogram"));
    for (series, mut counts) in buckets {
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(counts.is_sorted_by_key(|(_, count)| *count), "{series}: {counts:?}");
        let (bound, all) = counts.pop().unwrap();
        assert!(bound.is_infinite(), "{series} has no last bucket");
        let total = series.replace("_bucket", "_count").replace(",}", "}").replace("{}", "");
        assert_eq!(samples.get(&total), Some(&all), "{total}");
    }
}
