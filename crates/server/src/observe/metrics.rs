//! What `/metrics` shows, in one registry: requests here, work from the log of events, and numbers read at each scrape.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::observe::health_metrics::{HealthMetrics, HealthReadings};
use crate::observe::work_metrics::WorkMetrics;

/// Upper bounds of the duration buckets of requests, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0];

/// What a request is counted under. The route is the pattern, never the address, so the number of series is fixed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RequestLabel {
    pub method: &'static str,
    pub route: String,
    pub status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabel {
    queue: &'static str,
}

pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabel, Counter>,
    request_seconds: Histogram,
    pub in_flight: Level,
    pub event_streams: Level,
    pub work: WorkMetrics,
    scraped: Scraped,
    health: HealthMetrics,
}

/// Gauges that are set at each scrape.
#[derive(Default)]
struct Scraped {
    sockets: Gauge,
    tasks_ready: Gauge,
    agents_running: Gauge,
    questions_pending: Gauge,
    question_oldest_seconds: Gauge,
    tasks_unaccepted: Gauge,
    events_last_seq: Gauge,
    queue_depth: Family<QueueLabel, Gauge>,
}

/// What was read for one scrape.
pub struct Readings {
    pub sockets: u64,
    pub tasks_ready: u64,
    pub agents_running: u64,
    pub questions_pending: u64,
    pub question_oldest_seconds: u64,
    pub tasks_unaccepted: u64,
    pub events_last_seq: u64,
    /// By the name of the queue.
    pub queue_depth: Vec<(&'static str, u64)>,
    pub health: HealthReadings,
}

/// A number that goes up and down.
#[derive(Default)]
pub struct Level(Gauge);

/// One more, until this is dropped.
pub struct Counted<'a>(&'a Level);

impl Level {
    pub fn one_more(&self) -> Counted<'_> {
        self.entered();
        Counted(self)
    }

    /// For things that outlive the borrow; the caller calls [`Level::left`] too.
    pub fn entered(&self) {
        self.0.inc();
    }

    pub fn left(&self) {
        self.0.dec();
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.left();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("baton"),
            requests: Family::default(),
            request_seconds: Histogram::new(BUCKETS),
            in_flight: Level::default(),
            event_streams: Level::default(),
            work: WorkMetrics::default(),
            scraped: Scraped::default(),
            health: HealthMetrics::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("http_requests", "Requests answered", metrics.requests.clone());
        registry.register("http_request_seconds", "How long responses took", metrics.request_seconds.clone());
        registry.register("http_requests_in_flight", "Requests being answered", metrics.in_flight.0.clone());
        registry.register("event_streams", "Open server-sent event streams", metrics.event_streams.0.clone());
        metrics.scraped.register(registry);
        metrics.work.register(registry);
        registry.register_collector(Box::new(metrics.health.clone()));
        metrics
    }
}

impl Metrics {
    pub fn answered(&self, label: &RequestLabel, took: Duration) {
        self.requests.get_or_create(label).inc();
        self.request_seconds.observe(took.as_secs_f64());
    }

    /// Everything, in the text format of `OpenMetrics`.
    pub fn text(&self, readings: Readings) -> String {
        self.scraped.set(&readings);
        self.health.set(readings.health);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

impl Scraped {
    fn register(&self, registry: &mut Registry) {
        registry.register("sockets", "Open WebSockets", self.sockets.clone());
        registry.register("tasks_ready", "Tasks that could be started now", self.tasks_ready.clone());
        registry.register("agents_running", "Agents running here", self.agents_running.clone());
        registry.register(
            "questions_pending",
            "Questions without an answer, up to 500",
            self.questions_pending.clone(),
        );
        registry.register(
            "question_oldest_seconds",
            "Age of the oldest question without an answer; 0 where there is none",
            self.question_oldest_seconds.clone(),
        );
        registry.register(
            "tasks_unaccepted",
            "Finished tasks that wait to be accepted, up to 500",
            self.tasks_unaccepted.clone(),
        );
        registry.register("events_last_seq", "Number of the last event", self.events_last_seq.clone());
        registry.register("queue_depth", "Tasks in each queue", self.queue_depth.clone());
    }

    fn set(&self, readings: &Readings) {
        let set = |gauge: &Gauge, value: u64| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        set(&self.sockets, readings.sockets);
        set(&self.tasks_ready, readings.tasks_ready);
        set(&self.agents_running, readings.agents_running);
        set(&self.questions_pending, readings.questions_pending);
        set(&self.question_oldest_seconds, readings.question_oldest_seconds);
        set(&self.tasks_unaccepted, readings.tasks_unaccepted);
        set(&self.events_last_seq, readings.events_last_seq);
        for (queue, count) in &readings.queue_depth {
            set(&self.queue_depth.get_or_create(&QueueLabel { queue }), *count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_readings_are_encoded() {
        let metrics = Metrics::default();
        let label = RequestLabel { method: "GET", route: "/api/tasks/{id}".to_owned(), status: 200 };
        metrics.answered(&label, Duration::from_millis(2));
        metrics.answered(&label, Duration::from_secs(9));
        let one = metrics.in_flight.one_more();
        let readings = || Readings {
            sockets: 1,
            tasks_ready: 7,
            agents_running: 2,
            questions_pending: 3,
            question_oldest_seconds: 60,
            tasks_unaccepted: 4,
            events_last_seq: 9,
            queue_depth: vec![("incoming", 7)],
            health: HealthReadings::default(),
        };
        let text = metrics.text(readings());
        drop(one);
        for line in [
            "# TYPE baton_http_requests counter",
            "baton_http_requests_total{method=\"GET\",route=\"/api/tasks/{id}\",status=\"200\"} 2",
            "baton_http_request_seconds_bucket{le=\"0.001\"} 0",
            "baton_http_request_seconds_bucket{le=\"0.005\"} 1",
            "baton_http_request_seconds_bucket{le=\"+Inf\"} 2",
            "baton_http_requests_in_flight 1",
            "baton_tasks_ready 7",
            "baton_question_oldest_seconds 60",
            "baton_queue_depth{queue=\"incoming\"} 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
        assert!(metrics.text(readings()).contains("\nbaton_http_requests_in_flight 0\n"));
    }
}
