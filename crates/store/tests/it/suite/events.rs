//! Events: numbered without gaps, the same for every reader, and pruned only when unneeded.

use baton_core::base::time::Timestamp;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::event::StoredEvent;
use baton_store::model::query::{EventRetention, PruneResult};

use super::Fixture;
use super::make::{at, conflict, created, finish_one, human, load, task_id, transition, write};
use super::rows::verdict;

/// Reads from the last number seen until it has seen `last`.
async fn read_up_to<S: Backend>(store: S, last: u64) -> Vec<u64> {
    let mut news = store.subscribe();
    let mut seen: Vec<u64> = Vec::new();
    while seen.last().is_none_or(|seen| *seen < last) {
        news.borrow_and_update();
        let more = store.events_after(seen.last().copied().unwrap_or(0), 7).await.unwrap();
        if more.is_empty() {
            news.changed().await.unwrap();
        }
        seen.extend(more.iter().map(|line| line.seq));
    }
    seen
}

pub(crate) async fn event_numbers_have_no_gaps<F: Fixture>() {
    const WRITERS: u32 = 8;
    const EACH: u32 = 50;
    const LAST: u64 = (WRITERS * EACH) as u64 + 1;
    let place = F::fresh().await;
    let store = place.open().await;
    let beside = place.open().await;
    write(&store, created(0, &[])).await;
    let readers: Vec<_> = [&store, &store, &beside]
        .map(|store| tokio::spawn(read_up_to(store.clone(), LAST)))
        .into_iter()
        .collect();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = if writer % 2 == 0 { store.clone() } else { beside.clone() };
            tokio::spawn(async move {
                for number in 1..=EACH {
                    write(&store, created(writer * EACH + number, &[])).await;
                    // Rolled back with its events and their numbers.
                    conflict(&store, created(1_000_000, &[]).and(created(0, &[]))).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    for reader in readers {
        assert_eq!(reader.await.unwrap(), (1..=LAST).collect::<Vec<u64>>());
    }
}

pub(crate) async fn a_commit_wakes_every_handle<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let beside = place.open().await;
    let (mut here, mut there) = (store.subscribe(), beside.subscribe());
    let seq = write(&store, created(1, &[])).await;
    assert_eq!(*here.borrow_and_update(), seq, "known here with the answer");
    there.wait_for(|newest| *newest >= seq).await.unwrap();
    let seq = write(&beside, created(2, &[])).await;
    here.wait_for(|newest| *newest >= seq).await.unwrap();
}

fn numbers(lines: &[StoredEvent]) -> Vec<u64> {
    lines.iter().map(|line| line.seq).collect()
}

pub(crate) async fn events_are_listed_per_task<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    write(&store, created(2, &[])).await;
    let one = load(&store, task_id(1)).await;
    write(&store, transition(&one, Command::Cancel { reason: None }, &human(3))).await;
    assert_eq!(numbers(&store.task_events(task_id(1), 0, 10).await.unwrap()), [1, 3]);
    assert_eq!(numbers(&store.task_events(task_id(1), 1, 10).await.unwrap()), [3]);
    assert_eq!(numbers(&store.task_events(task_id(2), 0, 1).await.unwrap()), [2]);
}

pub(crate) async fn old_verdicts_are_pruned<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let change = Change::new().put(Record::Verdict(Box::new(verdict())), WriteGuard::New);
    write(&store, change).await;
    let checked_at = verdict().checked_at().unwrap().ms();
    let older = EventRetention { events_before: Timestamp::from_ms(checked_at), rows_max: 1 };
    assert_eq!(store.prune(&older).await.unwrap().verdicts, 0);
    let that_old = EventRetention { events_before: Timestamp::from_ms(checked_at + 1), rows_max: 1 };
    let pruned = store.prune(&that_old).await.unwrap();
    assert_eq!((pruned.verdicts, pruned.is_more), (1, true));
    assert_eq!(store.verdict(&verdict().key).await.unwrap(), None);
    assert_eq!(store.prune(&that_old).await.unwrap(), PruneResult::default());
}

pub(crate) async fn old_events_are_pruned_except_of_open_tasks<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=3 {
        write(&store, created(number, &[])).await;
    }
    assert_eq!(finish_one(&store).await, task_id(1));
    let before = numbers(&store.events_after(0, 100).await.unwrap());
    let one_row = EventRetention { events_before: at(2), rows_max: 1 };
    let pruned = store.prune(&one_row).await.unwrap();
    assert_eq!((pruned.events, pruned.is_more), (1, true));
    let pruned = store.prune(&EventRetention { events_before: at(2), rows_max: 100 }).await.unwrap();
    assert_eq!((pruned.events, pruned.is_more), (1, false), "2 and 3 are open, the end of 1 is young");
    let after = numbers(&store.events_after(0, 100).await.unwrap());
    assert_eq!(after, [2, 3, 5, 6], "1 was made and claimed long ago");

    let everything = EventRetention { events_before: at(i64::MAX / 4), rows_max: 100 };
    store.prune(&everything).await.unwrap();
    assert_eq!(numbers(&store.events_after(0, 100).await.unwrap()), [2, 3]);
    assert_eq!(write(&store, created(4, &[])).await, before.len() as u64 + 1, "no number is given twice");
}
