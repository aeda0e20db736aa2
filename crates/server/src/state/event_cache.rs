//! The newest events, shared by all readers of the event log: a commit costs one query, not one per client.

use std::collections::VecDeque;
use std::sync::Arc;

use baton_engine::StoredEvent;
use tokio::sync::Mutex;

/// Events kept. Few, because an event can contain a whole message; readers that are further behind query the store.
const EVENTS_MAX: usize = 64;

#[derive(Default)]
pub struct EventCache {
    tail: Mutex<Tail>,
}

/// All events of the log after `from`, up to the last one here.
#[derive(Default)]
struct Tail {
    from: u64,
    events: VecDeque<Arc<StoredEvent>>,
}

impl EventCache {
    /// The events after `after`: from the cache if it covers them, else by `read`, which gets the sequence number to read
    /// after. Readers at the end of the log wait for one `read` and share its result.
    pub async fn events_after<E>(
        &self,
        after: u64,
        read: impl AsyncFnOnce(u64) -> Result<Vec<StoredEvent>, E>,
    ) -> Result<Vec<Arc<StoredEvent>>, E> {
        let mut tail = self.tail.lock().await;
        if let Some(cached) = tail.after(after) {
            return Ok(cached);
        }
        if after < tail.last() {
            // Far behind: this reader's events are of no use to others.
            drop(tail);
            return Ok(read(after).await?.into_iter().map(Arc::new).collect());
        }
        let events: Vec<_> = read(after).await?.into_iter().map(Arc::new).collect();
        if !events.is_empty() && tail.last() != after {
            *tail = Tail { from: after, events: VecDeque::new() };
        }
        tail.extend(&events);
        Ok(events)
    }
}

impl Tail {
    fn last(&self) -> u64 {
        self.events.back().map_or(self.from, |event| event.seq)
    }

    /// The cached events after `after`; none if it is not covered, or at the end.
    fn after(&self, after: u64) -> Option<Vec<Arc<StoredEvent>>> {
        if after < self.from || after >= self.last() {
            return None;
        }
        Some(self.events.iter().filter(|event| event.seq > after).cloned().collect())
    }

    fn extend(&mut self, events: &[Arc<StoredEvent>]) {
        self.events.extend(events.iter().cloned());
        while self.events.len() > EVENTS_MAX {
            self.from = self.events.pop_front().map_or(self.from, |event| event.seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::convert::Infallible;

    use baton_core::base::id::TaskId;
    use baton_core::base::time::Timestamp;
    use baton_core::people::actor::Actor;
    use baton_core::records::event::{Event, EventBody};

    fn event(seq: u64) -> StoredEvent {
        let body = EventBody::TaskRetried { task: TaskId::from_bits(1) };
        StoredEvent { seq, event: Event { at: Timestamp::from_ms(0), by: Actor::Baton, body } }
    }

    /// Reads after `after` from a log that ends at `last`; returns the sequence numbers.
    async fn read(cache: &EventCache, queries: &Cell<u32>, after: u64, last: u64) -> Vec<u64> {
        let log = async |after: u64| {
            queries.set(queries.get() + 1);
            Ok::<_, Infallible>((after + 1..=last).take(16).map(event).collect())
        };
        cache.events_after(after, log).await.unwrap().iter().map(|event| event.seq).collect()
    }

    #[tokio::test]
    async fn readers_at_the_end_of_the_log_share_one_query() {
        let (cache, queries) = (EventCache::default(), Cell::new(0));
        assert!(read(&cache, &queries, 100, 100).await.is_empty());
        for _ in 0..10 {
            assert_eq!(read(&cache, &queries, 100, 102).await, [101, 102]);
        }
        assert_eq!(read(&cache, &queries, 101, 102).await, [102]);
        assert_eq!(queries.get(), 2, "one for the empty end, one for the new events");
    }

    #[tokio::test]
    async fn a_reader_that_is_behind_gets_every_event() {
        let (cache, queries) = (EventCache::default(), Cell::new(0));
        read(&cache, &queries, 1_000, 1_010).await;
        let (mut after, mut seen) = (0, Vec::new());
        loop {
            let page = read(&cache, &queries, after, 1_010).await;
            let Some(last) = page.last() else { break };
            after = *last;
            seen.extend(page);
        }
        assert_eq!(seen, (1..=1_010).collect::<Vec<u64>>());
    }

    #[tokio::test]
    async fn the_cache_stays_small_and_complete() {
        let (cache, queries) = (EventCache::default(), Cell::new(0));
        let mut after = 0;
        for last in 1..500 {
            assert_eq!(read(&cache, &queries, after, last).await, [last]);
            after = last;
        }
        let tail = cache.tail.lock().await;
        assert_eq!((tail.events.len(), tail.from, tail.last()), (EVENTS_MAX, 499 - EVENTS_MAX as u64, 499));
    }
}
