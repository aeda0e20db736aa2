//! Listens to the program's own spans and hands each on when it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use baton_engine::base::ids::Ids;
use tokio::sync::mpsc;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::telemetry::span::{Fields, Happening, Span};

/// Happenings kept of one span; a span that has more is not a request.
const HAPPENINGS_MAX: usize = 64;

pub struct Spans {
    sender: mpsc::Sender<Span>,
    /// How many did not fit.
    dropped: Arc<AtomicU64>,
}

impl Spans {
    pub fn new(sender: mpsc::Sender<Span>) -> Self {
        Self { sender, dropped: Arc::default() }
    }

    pub fn dropped(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.dropped)
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(reference) = context.span(id) else { return };
        let parent = reference.parent().and_then(|parent| {
            parent.extensions().get::<Span>().map(|span| (span.trace_id.clone(), span.id.clone()))
        });
        let secret = Ids::secret();
        let digits = |from: usize, count: usize| secret.chars().skip(from).take(count).collect::<String>();
        let (trace_id, parent_id) = match parent {
            Some((trace, span)) => (trace, Some(span)),
            None => (digits(0, 32), None),
        };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let now = SystemTime::now();
        reference.extensions_mut().insert(Span {
            trace_id,
            id: digits(32, 16),
            parent_id,
            name: reference.name(),
            started: now,
            ended: now,
            fields,
            happenings: Vec::new(),
        });
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        if let Some(reference) = context.span(id)
            && let Some(span) = reference.extensions_mut().get_mut::<Span>()
        {
            record.record(&mut span.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(reference) = context.event_span(event) else { return };
        let mut extensions = reference.extensions_mut();
        let Some(span) = extensions.get_mut::<Span>() else { return };
        if span.happenings.len() < HAPPENINGS_MAX {
            let mut fields = Fields::default();
            event.record(&mut fields);
            let said = fields.take("message").and_then(|said| said.as_str().map(str::to_owned));
            let name = said.unwrap_or_else(|| event.metadata().name().to_owned());
            span.happenings.push(Happening { at: SystemTime::now(), name, fields });
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(reference) = context.span(&id) else { return };
        let Some(mut span) = reference.extensions_mut().remove::<Span>() else { return };
        span.ended = SystemTime::now();
        // Full, or nobody sends any more: the request is answered all the same.
        if self.sender.try_send(span).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}
