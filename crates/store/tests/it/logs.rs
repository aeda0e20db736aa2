//! Watching a log across machines: two handles on one PostgreSQL, one that has the log and one that watches.

use std::time::Duration;

use baton_core::base::id::AttemptId;
use baton_store::Backend;
use baton_store::postgres::{LogPiece, LogWatch};
use tokio::time::timeout;

use crate::postgres::{Postgres, run};
use crate::suite::Fixture;

/// Far longer than anything here takes; only a hang reaches it.
const SOON: Duration = Duration::from_mins(2);

fn piece(from: u64, text: &str) -> LogPiece {
    let bytes = text.as_bytes().to_vec();
    LogPiece { machine: "there".to_owned(), from, log_len: from + bytes.len() as u64, bytes }
}

#[test]
fn a_watch_is_notified_answered_and_ended() {
    run(async {
        let place = Postgres::new();
        let (here, there) = (place.open().await, place.open().await);
        let (looking, having) = (here.log_channel(), there.log_channel());
        let (mut seen, mut heard) = (looking.subscribe_pieces(), having.subscribe_watches());
        let watch = LogWatch { id: "w1".to_owned(), attempt: AttemptId::from_bits(7), wanted_from: Some(3) };
        assert_eq!(having.watches().await.unwrap(), []);
        looking.watch(&watch, 60_000).await.unwrap();
        timeout(SOON, heard.changed()).await.unwrap().unwrap();
        assert_eq!(having.watches().await.unwrap(), std::slice::from_ref(&watch));
        assert_eq!(looking.piece("w1").await.unwrap(), None);

        while seen.has_changed().unwrap() {
            seen.mark_unchanged();
        }
        having.answer("w1", &piece(3, "hello\n")).await.unwrap();
        timeout(SOON, seen.changed()).await.unwrap().unwrap();
        assert_eq!(looking.piece("w1").await.unwrap(), Some(piece(3, "hello\n")));
        let further = LogWatch { wanted_from: None, ..watch.clone() };
        looking.watch(&further, 60_000).await.unwrap();
        assert_eq!(having.watches().await.unwrap(), [further]);

        looking.end("w1").await.unwrap();
        assert_eq!(having.watches().await.unwrap(), []);
        having.answer("w1", &piece(9, "too late")).await.unwrap();
        assert_eq!(looking.piece("w1").await.unwrap(), None);
        looking.watch(&watch, -1).await.unwrap();
        having.answer("w1", &piece(3, "over")).await.unwrap();
        assert_eq!(looking.piece("w1").await.unwrap(), None, "its time was over before it was answered");
        assert_eq!(having.watches().await.unwrap(), [], "and it is cleared away");
    });
}

/// The listening connection is opened in the background, so a watch written meanwhile is not notified.
#[test]
fn a_watch_written_during_open_is_noticed() {
    run(async {
        let place = Postgres::new();
        let looking = place.open().await.log_channel();
        for round in 0..20 {
            let watch =
                LogWatch { id: format!("w{round}"), attempt: AttemptId::from_bits(round), wanted_from: None };
            let there = place.open().await;
            let having = there.log_channel();
            let mut heard = having.subscribe_watches();
            looking.watch(&watch, 60_000).await.unwrap();
            timeout(SOON, heard.changed()).await.unwrap().unwrap();
            assert!(having.watches().await.unwrap().contains(&watch));
            there.close().await.unwrap();
        }
    });
}
