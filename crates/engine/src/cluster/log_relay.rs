//! The relay: hands out logs that are on this machine to watchers elsewhere, and asks for those that are
//! not. Between machines a log travels in pieces, only while somebody looks, and is kept nowhere on the way.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::base::id::AttemptId;
use baton_store::Store;
use baton_store::postgres::{LogChannel, LogPiece, LogWatch, PIECE_BYTES_MAX};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::base::error::EngineError;
use crate::base::ids::Ids;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError};
use crate::cluster::attempt_log::AttemptLog;
use crate::cluster::node::Node;
use crate::settings::location::StateLocation;

/// How often a log that is watched is looked at for more. Nobody reads faster.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often it is looked for watches whose notice was lost with a connection.
pub const SWEEP: Duration = Duration::from_secs(10);
/// How long the machine that has a log may take to answer.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How much longer a watch lasts than somebody waits for it: until the next look of a machine that is slow.
const WATCH_EXTRA_MS: i64 = 5_000;

/// Hands out what is here.
pub struct LogRelay {
    place: StateLocation,
    line: LogChannel,
    machine: String,
    /// What each watch was last given: from where, and how long the log was then.
    given: BTreeMap<String, (u64, u64)>,
    items: Items,
}

impl LogRelay {
    /// None where there is but one machine.
    pub fn new(store: &Store, node: &Node, place: StateLocation, items: Items) -> Option<Self> {
        let line = store.log_channel()?;
        // By the name the list of workers has it under.
        let machine = node.name.clone();
        Some(Self { place, line, machine, given: BTreeMap::new(), items })
    }

    /// Another one on the same line, that knows nothing yet.
    pub fn fresh(&self) -> Self {
        let Self { place, line, machine, items, .. } = self;
        let (place, line, machine, items) = (place.clone(), line.clone(), machine.clone(), items.clone());
        Self { place, line, machine, given: BTreeMap::new(), items }
    }

    /// What wakes it: somebody who wants to see a log.
    pub fn watched(&self) -> watch::Receiver<u64> {
        self.line.subscribe_watches()
    }

    /// Hands out the next piece of one log, if there is one. False when the log is not on this machine.
    async fn answer(&mut self, watch: &LogWatch) -> Result<bool, EngineError> {
        let Ok(Some(log)) = AttemptLog::find(&self.place.attempt_folder(watch.attempt)).await else {
            return Ok(false);
        };
        let (from, len) = (log.start(watch.wanted_from, PIECE_BYTES_MAX as u64), log.len());
        if self.given.get(&watch.id) == Some(&(from, len)) {
            return Ok(true);
        }
        let Ok(bytes) = log.bytes(from, PIECE_BYTES_MAX as u64).await else { return Ok(true) };
        let piece = LogPiece { machine: self.machine.clone(), from, log_len: len, bytes };
        self.line.answer(&watch.id, &piece).await?;
        self.given.insert(watch.id.clone(), (from, len));
        Ok(true)
    }
}

impl Service for LogRelay {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let watches = self.line.watches().await?;
        self.given.retain(|id, _| watches.iter().any(|watch| watch.id == *id));
        let items = self.items.clone();
        let mut is_watched = false;
        for watch in watches {
            let item = Item::new(ItemKind::Log, &watch.attempt);
            is_watched |= items.attempt(&item, self.answer(&watch)).await?.done().unwrap_or(false);
        }
        // Every look at any log comes to every machine: whatever they are told, they look no more often than this.
        let next = Instant::now() + LOOK_EVERY;
        Ok(items.end_round().again_at(is_watched.then_some(next)).not_before(next))
    }
}

/// A piece of an attempt's log from `from` on, or its end, from the machine that has it. None where nobody has it, or
/// nobody answers in time. With `wants_more`, it is waited for until there is something to see.
pub async fn look_elsewhere(
    store: &Store,
    attempt: AttemptId,
    from: Option<u64>,
    patience: Duration,
    wants_more: bool,
) -> Result<Option<LogPiece>, EngineError> {
    let Some(line) = store.log_channel() else { return Ok(None) };
    let watch = LogWatch { id: Ids::secret(), attempt, wanted_from: from };
    let lasts_ms = i64::try_from(patience.as_millis()).unwrap_or(i64::MAX).saturating_add(WATCH_EXTRA_MS);
    let mut news = line.subscribe_pieces();
    line.watch(&watch, lasts_ms).await?;
    let seen = wait(&line, &mut news, &watch, Instant::now() + patience, wants_more).await;
    // It would end by itself; but why should anybody write for nobody.
    line.end(&watch.id).await?;
    seen
}

async fn wait(
    line: &LogChannel,
    news: &mut watch::Receiver<u64>,
    watch: &LogWatch,
    until: Instant,
    wants_more: bool,
) -> Result<Option<LogPiece>, EngineError> {
    let mut last = None;
    loop {
        news.mark_unchanged();
        if let Some(piece) = line.piece(&watch.id).await? {
            let is_enough = !wants_more || !piece.bytes.is_empty();
            last = Some(piece);
            if is_enough {
                return Ok(last);
            }
        }
        // Also when nobody is left who could bring news.
        if !matches!(timeout_at(until, news.changed()).await, Ok(Ok(()))) {
            return Ok(last);
        }
    }
}
