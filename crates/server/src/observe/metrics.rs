//! Numbers for whoever watches the server, in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the duration buckets, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0];

/// What a request is counted under. The route is the pattern, never the address, so the number of series is fixed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    pub method: &'static str,
    pub route: String,
    pub status: u16,
}

#[derive(Default)]
struct Durations {
    count: u64,
    seconds: f64,
    within: [u64; BUCKETS.len()],
}

#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<Label, u64>>,
    durations: Mutex<Durations>,
    pub in_flight: Gauge,
    pub event_streams: Gauge,
}

/// A number that goes up and down.
#[derive(Default)]
pub struct Gauge(AtomicI64);

/// One more, until this is dropped.
pub struct Counted<'a>(&'a Gauge);

impl Gauge {
    pub fn one_more(&self) -> Counted<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self)
    }

    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// For things that outlive the borrow; whoever calls it calls [`Gauge::left`] too.
    pub fn entered(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn left(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.left();
    }
}

/// A number read elsewhere at the moment of asking.
pub struct Sample {
    pub name: &'static str,
    pub help: &'static str,
    pub value: u64,
}

impl Metrics {
    pub fn answered(&self, label: Label, took: Duration) {
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry(label).or_default() += 1;
        let mut durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = took.as_secs_f64();
        durations.count += 1;
        durations.seconds += seconds;
        for (within, bound) in durations.within.iter_mut().zip(BUCKETS) {
            *within += u64::from(seconds <= bound);
        }
    }

    /// Everything, as text.
    pub fn text(&self, samples: &[Sample]) -> String {
        let mut text = String::new();
        self.write_requests(&mut text);
        for (name, help, gauge) in [
            ("baton_http_requests_in_flight", "Requests being answered", &self.in_flight),
            ("baton_event_streams", "Open server-sent event streams", &self.event_streams),
        ] {
            write_gauge(&mut text, name, help, gauge.get());
        }
        for Sample { name, help, value } in samples {
            write_gauge(&mut text, name, help, *value);
        }
        text
    }

    fn write_requests(&self, text: &mut String) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str("# HELP baton_http_requests_total Requests answered\n");
        text.push_str("# TYPE baton_http_requests_total counter\n");
        for (Label { method, route, status }, count) in requests.iter() {
            let _ = writeln!(
                text,
                "baton_http_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} {count}"
            );
        }
        let durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str("# HELP baton_http_request_seconds How long answers took\n");
        text.push_str("# TYPE baton_http_request_seconds histogram\n");
        for (within, bound) in durations.within.iter().zip(BUCKETS) {
            let _ = writeln!(text, "baton_http_request_seconds_bucket{{le=\"{bound}\"}} {within}");
        }
        let _ = writeln!(text, "baton_http_request_seconds_bucket{{le=\"+Inf\"}} {}", durations.count);
        let _ = writeln!(text, "baton_http_request_seconds_sum {}", durations.seconds);
        let _ = writeln!(text, "baton_http_request_seconds_count {}", durations.count);
    }
}

fn write_gauge(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_told() {
        let metrics = Metrics::default();
        let label = Label { method: "GET", route: "/api/tasks/{id}".to_owned(), status: 200 };
        metrics.answered(label.clone(), Duration::from_millis(2));
        metrics.answered(label, Duration::from_secs(9));
        let one = metrics.in_flight.one_more();
        let text = metrics.text(&[Sample { name: "baton_x", help: "X", value: 7 }]);
        drop(one);
        for line in [
            "baton_http_requests_total{method=\"GET\",route=\"/api/tasks/{id}\",status=\"200\"} 2",
            "baton_http_request_seconds_bucket{le=\"0.001\"} 0",
            "baton_http_request_seconds_bucket{le=\"0.005\"} 1",
            "baton_http_request_seconds_bucket{le=\"+Inf\"} 2",
            "baton_http_requests_in_flight 1",
            "baton_x 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert_eq!(metrics.in_flight.get(), 0);
    }
}
