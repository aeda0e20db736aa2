//! `TaskService` on a real store.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::people::actor::Actor;
use baton_core::records::session::TaskRequest;
use baton_core::recycle::RecycleReason;
use baton_core::task::TaskSpec;
use baton_core::task::attempt::AttemptResult;
use baton_core::task::state::{QueueName, ReplacedBy, TaskState};
use baton_core::transition::command::Command;
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::asking::Answers;
use baton_engine::reports::lineage::Lineage;
use baton_engine::tasks::error::TaskError;
use baton_store::model::commit::Conflict;
use baton_store::model::query::TaskFilter;

use crate::fixture::{Office, mia, spec, text};

#[tokio::test]
async fn a_task_is_claimed_only_when_what_it_waits_on_is_accepted() {
    let office = Office::open();
    let first = office.add("first", &[]).await;
    let second = office.add("second", &[first]).await;
    let [(task, attempt)] = office.claim().await[..] else { panic!("only the first is ready") };
    assert_eq!(task, first);
    let settled = office.settle(first, attempt, AttemptResult::Complete, 1, 5).await;
    assert_eq!(settled.state().queue(), QueueName::Provisional);
    assert!(office.claim().await.is_empty(), "provisional is not done");
    office.tasks.apply(first, Command::Accept { force: false }, mia()).await.unwrap();
    assert_eq!(office.claim().await[0].0, second);
}

#[tokio::test]
async fn a_recycled_task_is_replaced_by_its_plan_and_dependents_wait_for_the_leaves() {
    let office = Office::open();
    let big = office.add("big", &[]).await;
    let after = office.add("after", &[big]).await;
    let [(_, attempt)] = office.claim().await[..] else { panic!() };
    office.settle(big, attempt, AttemptResult::TurnLimit, 0, 50).await;
    let recycled = office
        .tasks
        .apply(big, Command::Recycle { reason: RecycleReason::TooLarge }, Actor::Baton)
        .await
        .unwrap();
    let TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } = *recycled.state() else {
        panic!()
    };

    assert!(office.claim().await.is_empty(), "a breakdown waits for a human to release it");
    let draft = serde_json::from_value(serde_json::json!({ "items": [
        { "title": "part one" }, { "title": "part two", "depends_on": [1] }
    ] }));
    office.tasks.submit_plan(breakdown, draft.unwrap(), mia()).await.unwrap();
    let parts = office.tasks.approve(breakdown, mia()).await.unwrap();
    assert!(office.tasks.approve(breakdown, mia()).await.is_err(), "a plan is approved once");

    let waits: Vec<_> = office.tasks.store.dependencies(after).await.unwrap();
    assert_eq!(waits.iter().map(|edge| edge.on).collect::<Vec<_>>(), vec![parts[1]]);
    for part in parts {
        let [(task, attempt)] = office.claim().await[..] else { panic!("one at a time") };
        assert_eq!(task, part);
        office.settle(part, attempt, AttemptResult::Complete, 1, 5).await;
        office.tasks.apply(part, Command::Accept { force: false }, mia()).await.unwrap();
    }
    assert_eq!(office.claim().await[0].0, after);
}

/// As a loop does it: no breakdown stands between a task and the parts that were planned for it.
#[tokio::test]
async fn the_parts_of_a_task_that_a_loop_planned_come_of_the_task_itself() {
    let office = Office::open();
    let subject = office.add("a house", &[]).await;
    let mut parts = Vec::new();
    for title in ["dig", "build"] {
        let part = |id, now| TaskSpec { planned_in: Some(subject), ..spec(title, id, now) };
        parts.push(office.tasks.add_task(&[], mia(), part).await.unwrap().id());
    }
    let replace = Command::Replace { by: parts.clone() };
    office.tasks.apply(subject, replace, Actor::policy("the loop")).await.unwrap();
    for of in [subject, parts[0], parts[1]] {
        let lineage = Lineage::load(&office.tasks, of).await.unwrap();
        let kin: Vec<_> = lineage.kin.iter().map(|kin| (kin.task.id(), kin.level)).collect();
        assert_eq!(kin, [(subject, 0), (parts[0], 1), (parts[1], 1)]);
    }
}

#[tokio::test]
async fn of_many_answers_at_once_exactly_one_is_taken() {
    let office = Office::open();
    let task = office.add("unclear", &[]).await;
    let [(_, attempt)] = office.claim().await[..] else { panic!() };
    let asked = AttemptResult::Blocked { reason: baton_core::task::attempt::BlockReason::Unstated };
    let waiting = office.settle(task, attempt, asked, 0, 5).await;
    let question = waiting.state().pending_question().unwrap().id;

    let answers = (0..8).map(|number| {
        let tasks = office.tasks.clone();
        tokio::spawn(async move {
            let answered_by = AnsweredBy::human(format!("person {number}"));
            Answers::new(&tasks).answer(question, text("Change src/login.rs."), answered_by, mia()).await
        })
    });
    let mut taken = 0;
    for answer in answers.collect::<Vec<_>>() {
        match answer.await.unwrap() {
            Ok(task) => {
                taken += 1;
                assert_eq!(task.as_ref().unwrap().state().queue(), QueueName::Incoming);
            }
            Err(error) if error.is::<TaskError>() || error.is::<CommandRefusal>() => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(taken, 1);
}

#[tokio::test]
async fn i3_each_chat_message_adds_one_task_to_its_session() {
    let office = Office::open();
    let session: baton_core::base::id::SessionId = "test-session".parse().unwrap();
    for number in 1..=3 {
        let request = |task_id| TaskRequest {
            task_id,
            task_type: TaskType::ReadInfo,
            priority: Priority::default(),
            recipe: None,
        };
        office.tasks.post(session.clone(), None, text("What does it do?"), mia(), request).await.unwrap();
        let filter = TaskFilter { session: Some(session.clone()), ..TaskFilter::default() };
        let tasks = office.tasks.store.tasks(&filter, None, 10).await.unwrap();
        assert_eq!(tasks.items.len(), number);
    }
    let groups = office.tasks.store.task_groups(None, 10).await.unwrap().items;
    assert_eq!((groups.len(), groups[0].task_count), (1, 3));
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let office = Office::open();
    let unknown = baton_core::base::id::TaskId::from_bits(9);
    let error = office.tasks.apply(unknown, Command::Retry, mia()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no task TASK-00000009");
    let task = office.add("calm", &[]).await;
    let error = Answers::new(&office.tasks)
        .reply(task, text("yes"), AnsweredBy::human("mia"), mia())
        .await
        .unwrap_err();
    assert!(matches!(error.get(), Some(TaskError::NotWaiting { .. })), "{error}");
    let orphan = office.tasks.add_task(&[unknown], mia(), |id, now| spec("orphan", id, now)).await;
    assert!(orphan.is_err_and(|error| error.is::<Conflict>()));
}
