//! "Did you mean": the nearest of some known words.

/// The nearest known word, when it is near enough to be meant: at most two letters away, and never
/// more than half of the word.
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let allowed = (word.chars().count() / 2).min(2);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
