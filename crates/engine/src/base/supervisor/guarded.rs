//! Turns the panic of a future into an error.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use super::error::ServiceError;

/// Awaits `work`. After a panic, `work` is only dropped.
pub fn catch_panic<T, E>(
    work: impl Future<Output = Result<T, E>> + Send,
) -> impl Future<Output = Result<T, ServiceError>> + Send
where
    E: Into<ServiceError>,
{
    let mut work = Box::pin(work);
    poll_fn(move |context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(done.map_err(Into::into)),
        Err(payload) => Poll::Ready(Err(ServiceError::panicked(payload.as_ref()))),
    })
}
