//! Limits per client and in total. Hitting one returns a readable error.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::http::peer::Sender;

/// Largest request body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Largest request body of a message with files, which are Base64 there.
pub const MESSAGE_BYTES_MAX: usize = 13 * 1024 * 1024;
/// How much of an oversized body is drained before the connection is closed.
pub const BODY_DRAINED_MAX: usize = 32 * 1024 * 1024;
/// Largest request head in total.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Headers per request.
pub const HEADERS_MAX: usize = 64;
/// How long a client may take to send a request head; also the keep-alive timeout.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a request may take, including its body. It does not apply to streams once they have started.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for a call that asks a person or runs a command: those end before, by the project's own limits.
pub const COMMAND_TIMEOUT: Duration = Duration::from_hours(24);
/// How long shutdown waits for open requests and streams.
pub const ENDING_PATIENCE: Duration = Duration::from_secs(10);
/// Concurrent connections. Further ones wait. Where fewer files may be open, it is a quarter of those: git and agents need
/// the rest.
pub const CONNECTIONS_MAX: usize = 2_048;
/// Of these, event streams and sockets, which last for hours. Requests keep the others.
pub const STREAMS_MAX: usize = 1_536;
/// Default page size.
pub const PAGE_DEFAULT: u32 = 50;
/// Largest page size.
pub const PAGE_MAX: u32 = 500;
/// Longest title; more text belongs in the description.
pub const TITLE_CHARS_MAX: usize = 500;
/// What a program that runs a routine may say.
pub(crate) const CALL_CHARS_MAX: usize = 20_000;

/// Token bucket per sender: burst size and refill per second. A script that polls in a loop stays below this;
/// a busy loop does not.
const BURST: f64 = 4_000.0;
const PER_SECOND: f64 = 2_000.0;
/// Tracked senders. Idle ones are evicted first.
const SENDERS_MAX: usize = 4_096;

/// Wrong tokens per sender: a person mistypes a few times, a program guesses.
const GUESSES: f64 = 20.0;
const GUESSES_PER_SECOND: f64 = 0.1;

/// Counts requests by sender.
pub struct RateLimit {
    burst: f64,
    per_second: f64,
    buckets: Mutex<HashMap<Sender, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl RateLimit {
    /// For all requests.
    pub fn of_requests() -> Self {
        Self { burst: BURST, per_second: PER_SECOND, buckets: Mutex::default() }
    }

    /// For wrong tokens at login.
    pub fn of_guesses() -> Self {
        Self { burst: GUESSES, per_second: GUESSES_PER_SECOND, buckets: Mutex::default() }
    }

    fn level(&self, bucket: Bucket, now: Instant) -> f64 {
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.left + since * self.per_second).min(self.burst)
    }

    /// Whether the sender's bucket is empty.
    pub fn is_used_up(&self, sender: Sender, now: Instant) -> bool {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.get(&sender).is_some_and(|bucket| self.level(*bucket, now) < 1.0)
    }

    /// Takes one request from the sender's bucket; false when it is empty.
    pub fn try_take(&self, sender: Sender, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= SENDERS_MAX && !buckets.contains_key(&sender) {
            buckets.retain(|_, bucket| self.level(*bucket, now) < self.burst);
            // All tracked senders are active: refuse a new one instead of growing the table.
            if buckets.len() >= SENDERS_MAX {
                return false;
            }
        }
        let bucket = buckets.entry(sender).or_insert(Bucket { left: self.burst, at: now });
        let left = self.level(*bucket, now);
        let takes = left >= 1.0;
        *bucket = Bucket { left: if takes { left - 1.0 } else { left }, at: now };
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(number: u32) -> Sender {
        Sender::Address(Ipv4Addr::from(number).into())
    }

    #[test]
    fn the_bucket_empties_and_refills() {
        let (limit, now) = (RateLimit::of_requests(), Instant::now());
        let taken = (0..5_000).filter(|_| limit.try_take(address(1), now)).count();
        assert_eq!(taken, 4_000);
        assert!(limit.try_take(address(2), now), "another address has its own");
        assert!(limit.try_take(Sender::User(1), now), "and so has whoever is known");
        let later = now + Duration::from_millis(10);
        assert_eq!((0..100).filter(|_| limit.try_take(address(1), later)).count(), 20);
    }

    #[test]
    fn guesses_are_few() {
        let (limit, now) = (RateLimit::of_guesses(), Instant::now());
        assert!(!limit.is_used_up(address(1), now));
        assert_eq!((0..100).filter(|_| limit.try_take(address(1), now)).count(), 20);
        assert!(limit.is_used_up(address(1), now) && !limit.is_used_up(address(2), now));
        assert!(!limit.is_used_up(address(1), now + Duration::from_secs(11)), "one more after ten seconds");
    }

    #[test]
    fn idle_addresses_are_evicted_first() {
        let (limit, now) = (RateLimit::of_requests(), Instant::now());
        for number in 0..4_096 {
            assert!(limit.try_take(address(number), now));
        }
        assert!(!limit.try_take(address(9_999), now), "nobody has been quiet yet");
        assert!(limit.try_take(address(9_999), now + Duration::from_secs(1)));
    }
}
