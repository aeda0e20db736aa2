//! Effects stay in the outbox, in order, until they are carried out.

use baton_core::base::id::EffectId;
use baton_store::Backend;

use super::Fixture;
use super::make::{claim_one, conflict, created, write};

pub(crate) async fn effects_are_listed_in_order_until_finished<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=3 {
        write(&store, created(number, &[])).await;
        claim_one(&store).await;
        // Rolled back with its effects and their ids.
        conflict(&store, created(number, &[])).await;
    }
    let ids = |limit| {
        let store = store.clone();
        async move {
            let pending = store.pending_effects(None, limit).await.unwrap();
            pending.iter().map(|pending| pending.id).collect::<Vec<EffectId>>()
        }
    };
    let all = ids(10).await;
    assert_eq!(all.len(), 3);
    assert!(all.is_sorted());
    assert_eq!(ids(2).await, all[..2]);
    let after = store.pending_effects(Some(all[0]), 10).await.unwrap();
    assert_eq!(after.iter().map(|pending| pending.id).collect::<Vec<_>>(), all[1..]);
    store.finish_effects(&all[..1]).await.unwrap();
    store.finish_effects(&all[..1]).await.unwrap();
    assert_eq!(ids(10).await, all[1..]);
    store.finish_effects(&all).await.unwrap();
    assert_eq!(ids(10).await, []);

    write(&store, created(4, &[])).await;
    claim_one(&store).await;
    assert!(ids(10).await[0] > all[2], "an id is never given twice");
}
