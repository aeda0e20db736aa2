//! Passing pieces of a log from the machine that has it to one that shows it.
//!
//! Logs stay on the machine where the agent ran. A watch is a row that says which piece is wanted; the machine that
//! has the log writes the piece into the row, which is deleted when the watch ends. Both sides are notified. The
//! database holds one piece per watch and nothing else.

use std::sync::Arc;

use baton_core::base::id::AttemptId;
use tokio::sync::watch;
use tokio_postgres::Row;

use crate::error::StoreError;
use crate::postgres::connect::pool::Pool;

/// The payloads when a watch was written, which concerns every machine, and when a piece was, which concerns watchers
/// only.
pub(crate) const LOGS: &str = "logs";
pub(crate) const PIECE: &str = "piece";
/// The largest piece.
pub const PIECE_BYTES_MAX: usize = 256 * 1024;
/// Bounds the table against a client that creates watches in a loop.
const WATCHES_MAX: i64 = 1_000;

const NOW_MS: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A request for a log from a byte offset, or for its end if there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWatch {
    /// Chosen by the watcher, and unique.
    pub id: String,
    pub attempt: AttemptId,
    pub wanted_from: Option<u64>,
}

/// A piece of a log, from the machine that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPiece {
    pub machine: String,
    pub from: u64,
    pub log_len: u64,
    pub bytes: Vec<u8>,
}

/// Counters that change with every watch and every piece that was written, or may have been while not listening.
#[derive(Clone, Default)]
pub(crate) struct LogSignals {
    watches: watch::Sender<u64>,
    pieces: watch::Sender<u64>,
}

impl LogSignals {
    pub(crate) fn watch_changed(&self) {
        self.watches.send_modify(|count| *count += 1);
    }

    pub(crate) fn piece_written(&self) {
        self.pieces.send_modify(|count| *count += 1);
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct LogChannel {
    pub(crate) pool: Arc<Pool>,
    pub(crate) signals: LogSignals,
    pub(crate) channel: String,
}

impl LogChannel {
    /// Changes whenever a watch was, or may have been, written by any process.
    pub fn subscribe_watches(&self) -> watch::Receiver<u64> {
        self.signals.watches.subscribe()
    }

    /// Changes whenever a piece was, or may have been, written by any process.
    pub fn subscribe_pieces(&self) -> watch::Receiver<u64> {
        self.signals.pieces.subscribe()
    }

    /// Starts or extends a watch by `lasts_ms`.
    pub async fn watch(&self, watch: &LogWatch, lasts_ms: i64) -> Result<(), StoreError> {
        let sql = format!(
            "WITH w AS (
                INSERT INTO log_watches (id, attempt, wanted_from, expires_ms)
                SELECT $1, $2, $3, {NOW_MS} + $4 WHERE (SELECT count(*) FROM log_watches) < $5
                ON CONFLICT (id) DO UPDATE SET wanted_from = excluded.wanted_from, expires_ms = excluded.expires_ms
                RETURNING id
            ) SELECT pg_notify($6, '{LOGS}')::text FROM w"
        );
        let wanted = watch.wanted_from.map(signed);
        let attempt = watch.attempt.to_string();
        let params: crate::postgres::connect::connector::Params<'_> =
            &[&watch.id, &attempt, &wanted, &lasts_ms, &WATCHES_MAX, &self.channel];
        if self.pool.query("watching a log", &sql, params).await?.is_empty() {
            let detail = format!("there are already {WATCHES_MAX} watches");
            return Err(StoreError::Backend { doing: "watching a log", detail });
        }
        Ok(())
    }

    /// All current watches. Deletes expired ones.
    pub async fn watches(&self) -> Result<Vec<LogWatch>, StoreError> {
        let sql =
            format!("SELECT id, attempt, wanted_from, expires_ms <= {NOW_MS} FROM log_watches ORDER BY id");
        let rows = self.pool.query("reading watches", &sql, &[]).await?;
        let (over, lasting): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.get(3));
        if !over.is_empty() {
            let clear = format!("DELETE FROM log_watches WHERE expires_ms <= {NOW_MS}");
            self.pool.query("clearing watches", &clear, &[]).await?;
        }
        Ok(lasting.into_iter().filter_map(decode_watch).collect())
    }

    /// Called by the machine that has the log. Ignored if the watch has expired.
    pub async fn answer(&self, watch: &str, piece: &LogPiece) -> Result<(), StoreError> {
        let sql = format!(
            "WITH w AS (
                UPDATE log_watches SET machine = $2, piece_from = $3, log_len = $4, piece = $5
                WHERE id = $1 AND expires_ms > {NOW_MS} RETURNING id
            ) SELECT pg_notify($6, '{PIECE}')::text FROM w"
        );
        let (from, len) = (signed(piece.from), signed(piece.log_len));
        let bytes = &piece.bytes[..piece.bytes.len().min(PIECE_BYTES_MAX)];
        let params: crate::postgres::connect::connector::Params<'_> =
            &[&watch, &piece.machine, &from, &len, &bytes, &self.channel];
        self.pool.query("handing out a log", &sql, params).await.map(drop)
    }

    /// The last piece written for a watch.
    pub async fn piece(&self, watch: &str) -> Result<Option<LogPiece>, StoreError> {
        let sql = "SELECT machine, piece_from, log_len, piece FROM log_watches WHERE id = $1 AND machine IS NOT NULL";
        let rows = self.pool.query("reading a log", sql, &[&watch]).await?;
        Ok(rows.first().map(|row| LogPiece {
            machine: row.get(0),
            from: unsigned(row.get(1)),
            log_len: unsigned(row.get(2)),
            bytes: row.get(3),
        }))
    }

    /// Ends a watch.
    pub async fn end(&self, watch: &str) -> Result<(), StoreError> {
        self.pool.query("ending a watch", "DELETE FROM log_watches WHERE id = $1", &[&watch]).await.map(drop)
    }
}

/// A row whose attempt id is invalid is ignored until it expires.
fn decode_watch(row: &Row) -> Option<LogWatch> {
    let attempt: &str = row.get(1);
    let wanted: Option<i64> = row.get(2);
    Some(LogWatch { id: row.get(0), attempt: attempt.parse().ok()?, wanted_from: wanted.map(unsigned) })
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
