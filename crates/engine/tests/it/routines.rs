//! Routines on a real store: what is due becomes one task each, however many look at the same time.

use baton_core::base::id::{RoutineId, SessionId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::routine::schedule::Schedule;
use baton_core::routine::{CatchUp, Overlap, Routine, RoutineTask, Trigger};
use baton_core::task::Task;
use baton_core::transition::command::Command;
use baton_engine::runs::routines::{NewRoutine, Routines};
use baton_store::model::query::TaskFilter;

use crate::fixture::{mia, text};
use crate::works::Works;

const HOURS_DOWN: i64 = 5;
const LOOKERS: usize = 8;

/// A routine by the hour whose last hours nobody has looked at.
async fn overdue(works: &Works, overlap: Overlap) -> (Routines, RoutineId) {
    let routines = Routines::new(&works.engine.workspace.projects);
    let trigger = Trigger::Time {
        schedule: Schedule::every("hour").unwrap(),
        time_zone: text("UTC"),
        catch_up: CatchUp::All,
    };
    let task = RoutineTask {
        title: text("Look around"),
        description: "Carefully.".to_owned(),
        project_id: None,
        task_type: TaskType::Report,
        priority: Priority::P1,
        recipe: None,
    };
    let added = routines.add(NewRoutine { task, trigger, overlap }, mia()).await.unwrap();
    let next_at = added.next_at.map(|next| next.plus_ms(-HOURS_DOWN * 60 * 60 * 1_000));
    let late = Routine { next_at, ..added };
    let change = Change::new().put(Record::Routine(Box::new(late.clone())), WriteGuard::Version(1));
    assert!(matches!(
        works.tasks().store.commit(change).await.unwrap(),
        baton_store::model::commit::Commit::Written { .. }
    ));
    (routines, late.id)
}

async fn tasks(works: &Works, id: RoutineId) -> Vec<Task> {
    let filter = TaskFilter { session: Some(SessionId::for_routine(id)), ..TaskFilter::default() };
    let page = works.tasks().store.tasks(&filter, None, 100).await.unwrap();
    page.items.into_iter().map(|stored| stored.value).collect()
}

/// Looks at it from several places at once.
async fn look(routines: &Routines, id: RoutineId) {
    let mut looking = Vec::new();
    for _ in 0..LOOKERS {
        let routines = routines.clone();
        looking.push(tokio::spawn(async move { routines.fire(id).await }));
    }
    for look in looking {
        look.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn every_missed_moment_becomes_one_task_after_the_other() {
    let works = Works::new("", "").await;
    let (routines, id) = overdue(&works, Overlap::Queue).await;
    for number in 1..=HOURS_DOWN {
        look(&routines, id).await;
        let made = tasks(&works, id).await;
        assert_eq!(made.len(), usize::try_from(number).unwrap(), "one at a time, and each once");
        let last = made.last().unwrap();
        assert!(last.spec().description.starts_with("Carefully.\n\nStarted by the routine RTN-"));
        works.tasks().apply(last.id(), Command::Cancel { reason: None }, mia()).await.unwrap();
    }
    look(&routines, id).await;
    assert_eq!(tasks(&works, id).await.len(), 5, "nothing is due any more");
    let after = routines.get(id).await.unwrap();
    assert_eq!((after.run_count, after.skipped_count), (5, 0));
    assert!(after.next_at.unwrap() > works.tasks().store.now().await.unwrap());
}

#[tokio::test]
async fn a_run_that_is_not_over_is_replaced_by_the_last_one() {
    let works = Works::new("", "").await;
    let (routines, id) = overdue(&works, Overlap::Replace).await;
    look(&routines, id).await;
    let [first] = &tasks(&works, id).await[..] else { panic!() };
    let (_, called) = routines.call(id, Some("now"), "It failed again.").await.unwrap();
    let made = tasks(&works, id).await;
    assert_eq!(made.len(), 2);
    assert_eq!(called, baton_engine::runs::routines::Called::Started(made[1].id()));
    assert!(made[1].spec().description.contains("It failed again."));
    let before = works.tasks().task(first.id()).await.unwrap().value;
    assert_eq!(before.state().status().as_str(), "CANCELLED");
    let (_, again) = routines.call(id, Some("now"), "It failed again.").await.unwrap();
    assert_eq!(again, called, "the same call");
    assert_eq!(tasks(&works, id).await.len(), 2);
}
