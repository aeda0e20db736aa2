//! One line for each thing measured.

use std::time::Duration;

pub(crate) fn head(title: &str) {
    println!("\n{title}\n");
    println!("| what | store | beside it | ratio | goal |");
    println!("| --- | --- | --- | --- | --- |");
}

pub(crate) fn line(what: &str, store: &str, beside: &str, ratio: &str, goal: &str) {
    println!("| {what} | {store} | {beside} | {ratio} | {goal} |");
}

pub(crate) fn per_second(count: u32, took: Duration) -> f64 {
    f64::from(count) / took.as_secs_f64()
}

/// The middle one and the worst of the hundred.
pub(crate) fn p50_p99(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

pub(crate) fn least_middle_most(mut figures: Vec<f64>) -> (f64, f64, f64) {
    figures.sort_unstable_by(f64::total_cmp);
    (figures[0], figures[figures.len() / 2], figures[figures.len() - 1])
}
