//! The line between somebody who watches a log and the machine that has it.
//!
//! Logs stay where their agents ran. A watch is a row that says which piece is wanted; the machine that has the log
//! writes that piece into it, as long as the watch lasts, and the row goes when it is over. Both are told by the
//! server at once. Nothing is kept here, and no more of a log than one piece for each watch.

use std::sync::Arc;

use baton_core::base::id::AttemptId;
use tokio::sync::watch;
use tokio_postgres::Row;

use super::pool::Pool;
use crate::error::StoreError;

/// What the server says when a watch was written, which every machine wants to know, and when a piece was, which is
/// news only to those who watch.
pub(super) const LOGS: &str = "logs";
pub(super) const PIECE: &str = "piece";
/// The most of a log that travels at once.
pub const PIECE_BYTES_MAX: usize = 256 * 1024;
/// Watches at once; more are of no use to anybody, and a loop that makes them must not fill the table.
const WATCHES_MAX: i64 = 1_000;

const NOW_MS: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Somebody wants to see a log from a byte on; from the end of it where none is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWatch {
    /// Of the watcher's own making, and theirs alone.
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

/// Counts up with every watch, and with every piece of a log, that somebody wrote or may have written unheard.
#[derive(Clone, Default)]
pub(super) struct LogNews {
    watches: watch::Sender<u64>,
    pieces: watch::Sender<u64>,
}

impl LogNews {
    pub(super) fn watched(&self) {
        self.watches.send_modify(|count| *count += 1);
    }

    pub(super) fn given(&self) {
        self.pieces.send_modify(|count| *count += 1);
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct LogLine {
    pub(super) pool: Arc<Pool>,
    pub(super) news: LogNews,
    pub(super) channel: String,
}

impl LogLine {
    /// Changes whenever a watch was written, here or elsewhere, and whenever one may have been.
    pub fn watched(&self) -> watch::Receiver<u64> {
        self.news.watches.subscribe()
    }

    /// Changes whenever a piece was written, here or elsewhere, and whenever one may have been.
    pub fn given(&self) -> watch::Receiver<u64> {
        self.news.pieces.subscribe()
    }

    /// Watches, or goes on watching, for `lasts_ms` more.
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
        let params: super::connect::Params<'_> =
            &[&watch.id, &attempt, &wanted, &lasts_ms, &WATCHES_MAX, &self.channel];
        if self.pool.query("watching a log", &sql, params).await?.is_empty() {
            let detail = format!("{WATCHES_MAX} logs are being watched already");
            return Err(StoreError::Backend { doing: "watching a log", detail });
        }
        Ok(())
    }

    /// Everything that is watched now. What is over is cleared away on the way.
    pub async fn watches(&self) -> Result<Vec<LogWatch>, StoreError> {
        let sql =
            format!("SELECT id, attempt, wanted_from, expires_ms <= {NOW_MS} FROM log_watches ORDER BY id");
        let rows = self.pool.query("reading watches", &sql, &[]).await?;
        let (over, lasting): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.get(3));
        if !over.is_empty() {
            let clear = format!("DELETE FROM log_watches WHERE expires_ms <= {NOW_MS}");
            self.pool.query("clearing watches", &clear, &[]).await?;
        }
        Ok(lasting.into_iter().filter_map(watch_of).collect())
    }

    /// The machine that has the log answers; a watch that is over takes no answer.
    pub async fn answer(&self, watch: &str, piece: &LogPiece) -> Result<(), StoreError> {
        let sql = format!(
            "WITH w AS (
                UPDATE log_watches SET machine = $2, piece_from = $3, log_len = $4, piece = $5
                WHERE id = $1 AND expires_ms > {NOW_MS} RETURNING id
            ) SELECT pg_notify($6, '{PIECE}')::text FROM w"
        );
        let (from, len) = (signed(piece.from), signed(piece.log_len));
        let bytes = &piece.bytes[..piece.bytes.len().min(PIECE_BYTES_MAX)];
        let params: super::connect::Params<'_> =
            &[&watch, &piece.machine, &from, &len, &bytes, &self.channel];
        self.pool.query("handing out a log", &sql, params).await.map(drop)
    }

    /// What has come of a watch so far.
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

    /// Nobody looks any more.
    pub async fn end(&self, watch: &str) -> Result<(), StoreError> {
        self.pool.query("ending a watch", "DELETE FROM log_watches WHERE id = $1", &[&watch]).await.map(drop)
    }
}

/// An attempt that does not read as one is nobody's; its row goes when its time is over.
fn watch_of(row: &Row) -> Option<LogWatch> {
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
