//! One trace for each task, whichever process works on it and whenever.
//!
//! The ids of the trace and of its root span follow from the task's id, so that every attempt, on any machine, hangs its
//! spans under the same root. The engine knows nothing of this: a span with a field `task` belongs to that task's trace.

use std::cell::Cell;
use std::time::{Duration, UNIX_EPOCH};

use opentelemetry::trace::{
    Link, SpanBuilder, SpanContext, SpanId, SpanKind, TraceContextExt, TraceFlags, TraceId, TraceState,
    Tracer,
};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, SdkTracer, Span};
use sha2::{Digest, Sha256};

/// The root of a task's trace, from its creation to its first claim.
const ROOT: &str = "task";
/// When the root began; milliseconds, as the engine records it.
const CREATED_FIELD: &str = "created_unix_ms";

thread_local! {
    /// The ids of the root span that is being made on this thread.
    static ROOT_IDS: Cell<Option<(TraceId, SpanId)>> = const { Cell::new(None) };
}

/// Random ids, except for the roots of tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskIdGenerator(RandomIdGenerator);

impl IdGenerator for TaskIdGenerator {
    fn new_trace_id(&self) -> TraceId {
        ROOT_IDS.get().map_or_else(|| self.0.new_trace_id(), |(trace, _)| trace)
    }

    fn new_span_id(&self) -> SpanId {
        ROOT_IDS.get().map_or_else(|| self.0.new_span_id(), |(_, span)| span)
    }
}

/// Puts spans into the traces of their tasks and gives them the names and kinds of the conventions.
pub(crate) struct TaskTracer {
    inner: SdkTracer,
    /// Ids of tasks are unique in it.
    namespace: String,
}

impl TaskTracer {
    pub(crate) const fn new(inner: SdkTracer, namespace: String) -> Self {
        Self { inner, namespace }
    }

    fn root_of(&self, task: &str) -> SpanContext {
        let digest = Sha256::digest(format!("{}/{task}", self.namespace));
        let (mut trace, mut span) = ([0; 16], [0; 8]);
        trace.copy_from_slice(&digest[..16]);
        span.copy_from_slice(&digest[16..24]);
        let (trace, span) = (TraceId::from_bytes(trace), SpanId::from_bytes(span));
        SpanContext::new(trace, span, TraceFlags::SAMPLED, true, TraceState::NONE)
    }

    fn build_root(&self, mut builder: SpanBuilder, root: &SpanContext) -> Span {
        let created = attribute(&builder, CREATED_FIELD).and_then(|value| match value {
            Value::I64(ms) => u64::try_from(*ms).ok(),
            _ => None,
        });
        builder.start_time = created.map(|ms| UNIX_EPOCH + Duration::from_millis(ms)).or(builder.start_time);
        ROOT_IDS.set(Some((root.trace_id(), root.span_id())));
        let span = self.inner.build_with_context(builder, &Context::new());
        ROOT_IDS.set(None);
        span
    }
}

impl Tracer for TaskTracer {
    type Span = Span;

    fn build_with_context(&self, mut builder: SpanBuilder, parent: &Context) -> Span {
        name_by_convention(&mut builder);
        let Some(task) = attribute(&builder, "task").map(|task| task.as_str().into_owned()) else {
            return self.inner.build_with_context(builder, parent);
        };
        let root = self.root_of(&task);
        if builder.name == ROOT {
            return self.build_root(builder, &root);
        }
        let around = parent.span().span_context().clone();
        if around.trace_id() == root.trace_id() {
            return self.inner.build_with_context(builder, parent);
        }
        // It belongs to its task, and still shows what brought it about, such as a request.
        if around.is_valid() {
            builder.links.get_or_insert_default().push(Link::with_context(around));
        }
        self.inner.build_with_context(builder, &Context::new().with_remote_span_context(root))
    }
}

fn attribute<'a>(builder: &'a SpanBuilder, key: &str) -> Option<&'a Value> {
    let attributes = builder.attributes.as_ref()?;
    attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|attribute| &attribute.value)
}

/// `invoke_agent claude`, `execute_tool edit`, `GET /api/tasks`; and who is a server or a client.
fn name_by_convention(builder: &mut SpanBuilder) {
    let (detail, kind) = match builder.name.as_ref() {
        "invoke_agent" => ("gen_ai.agent.name", SpanKind::Client),
        "execute_tool" => ("gen_ai.tool.name", SpanKind::Internal),
        "request" => ("route", SpanKind::Server),
        _ => return,
    };
    let prefix = match attribute(builder, "method") {
        Some(method) => method.as_str().into_owned(),
        None => builder.name.to_string(),
    };
    if let Some(detail) = attribute(builder, detail) {
        builder.name = format!("{prefix} {}", detail.as_str()).into();
    }
    builder.span_kind = Some(kind);
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use opentelemetry::KeyValue;
    use opentelemetry::trace::{Span as _, TracerProvider};
    use opentelemetry_sdk::error::OTelSdkResult;
    use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};

    use super::*;

    /// Keeps what is exported.
    #[derive(Debug, Clone, Default)]
    struct Kept(Arc<Mutex<Vec<SpanData>>>);

    impl SpanExporter for Kept {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            self.0.lock().unwrap().extend(batch);
            Ok(())
        }
    }

    /// The spans that a tracer of this namespace makes.
    fn traced(namespace: &str, make: impl FnOnce(&TaskTracer)) -> Vec<SpanData> {
        let kept = Kept::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(kept.clone())
            .with_id_generator(TaskIdGenerator::default())
            .build();
        make(&TaskTracer::new(provider.tracer("test"), namespace.to_owned()));
        kept.0.lock().unwrap().clone()
    }

    fn end(tracer: &TaskTracer, name: &'static str, attributes: Vec<KeyValue>, parent: &Context) {
        let builder = SpanBuilder::from_name(name).with_attributes(attributes);
        tracer.build_with_context(builder, parent).end();
    }

    #[test]
    fn attempts_of_any_process_hang_under_the_root_of_their_task() {
        let task = || KeyValue::new("task", "TASK-1");
        let first = traced("here", |tracer| {
            end(tracer, "task", vec![task(), KeyValue::new("created_unix_ms", 5_000)], &Context::new());
            end(tracer, "attempt", vec![task()], &Context::new());
        });
        let later = traced("here", |tracer| end(tracer, "attempt", vec![task()], &Context::new()));
        let [root, attempt] = first.as_slice() else { panic!("{first:?}") };
        assert_eq!(root.parent_span_id, SpanId::INVALID);
        assert_eq!(root.start_time, UNIX_EPOCH + Duration::from_secs(5));
        for attempt in [attempt, &later[0]] {
            assert_eq!(attempt.span_context.trace_id(), root.span_context.trace_id());
            assert_eq!(attempt.parent_span_id, root.span_context.span_id());
        }
        assert_ne!(attempt.span_context.span_id(), later[0].span_context.span_id());
        let other = traced("elsewhere", |tracer| end(tracer, "attempt", vec![task()], &Context::new()));
        assert_ne!(other[0].span_context.trace_id(), root.span_context.trace_id());
    }

    #[test]
    fn a_landing_belongs_to_its_task_and_links_to_the_request() {
        let spans = traced("here", |tracer| {
            let request = tracer.build_with_context(SpanBuilder::from_name("request"), &Context::new());
            let around = Context::new().with_span(request);
            end(tracer, "landing", vec![KeyValue::new("task", "TASK-1")], &around);
        });
        let [landing, request] = spans.as_slice() else { panic!("{spans:?}") };
        assert_ne!(landing.span_context.trace_id(), request.span_context.trace_id());
        assert_eq!(landing.links.links[0].span_context.span_id(), request.span_context.span_id());
    }
}
