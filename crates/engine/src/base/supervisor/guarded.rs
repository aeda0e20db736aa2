//! Runs a future so that neither its error nor its panic gets any further.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use super::error::ServiceError;

/// Awaits `work`, on the heap. After a panic nothing of it is touched again but its destructor.
pub fn guarded<T, E>(
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
