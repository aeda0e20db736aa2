//! Reads for many tasks at once return what the single reads return, put together.

use baton_core::base::id::{QuestionId, SessionId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::session::Message;
use baton_core::task::TaskSpec;
use baton_core::task::attempt_record::AttemptRecord;
use baton_core::task::state::QueueName;
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::query::{FIRST_PROMPT_CHARS_MAX, QuestionFilter, TaskFilter};

use super::Fixture;
use super::make::{
    at, claim_one, complete, context, create, created, settled, spec, task_id, text, transition, write,
};

/// Includes unknown and repeated ids, in no order.
const ASKED_FOR: [u32; 6] = [4, 1, 77, 2, 3, 1];
const KNOWN: [u32; 4] = [1, 2, 3, 4];

fn ids(numbers: &[u32]) -> Vec<TaskId> {
    numbers.iter().copied().map(task_id).collect()
}

/// Four tasks; the third and fourth have dependencies.
async fn four_tasks<S: Backend>(store: &S) {
    for (number, on) in [(1, &[][..]), (2, &[]), (3, &[1, 2]), (4, &[1])] {
        write(store, created(number, on)).await;
    }
}

pub(crate) async fn many_tasks_are_read_at_once<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    four_tasks(&store).await;
    let mut single = Vec::new();
    for id in ids(&KNOWN) {
        single.push(store.task(id).await.unwrap().unwrap());
    }
    assert_eq!(store.tasks_by_ids(&ids(&ASKED_FOR)).await.unwrap(), single);
    assert_eq!(store.tasks_by_ids(&[]).await.unwrap(), []);
}

pub(crate) async fn edges_of_many_tasks_are_read_at_once<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    four_tasks(&store).await;
    let claimed = claim_one(&store).await;
    write(&store, settled(&claimed, complete(), 10)).await;
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for id in ids(&KNOWN) {
        below.extend(store.dependencies(id).await.unwrap());
        above.extend(store.dependents(id, None, 1).await.unwrap());
    }
    assert_eq!(below.len(), 3);
    assert!(below.iter().any(|edge| edge.is_met) && below.iter().any(|edge| !edge.is_met));
    assert_eq!(store.dependencies_of_many(&ids(&ASKED_FOR)).await.unwrap(), below);
    assert_eq!(store.dependents_of_many(&ids(&ASKED_FOR), 1).await.unwrap(), above);
    assert_eq!(store.dependents_of_many(&ids(&ASKED_FOR), 9).await.unwrap().len(), 3);
    assert_eq!(store.dependents_of_many(&ids(&ASKED_FOR), 0).await.unwrap(), []);
    assert_eq!(store.dependencies_of_many(&[]).await.unwrap(), []);
}

pub(crate) async fn attempts_of_many_tasks_are_read_at_once<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    four_tasks(&store).await;
    for _ in 0..2 {
        let lost = claim_one(&store).await;
        let expire = Command::ExpireLease { attempt: lost.lease.attempt };
        write(&store, transition(&lost.task, expire, &context(Actor::Baton, 0))).await;
    }
    claim_one(&store).await;
    claim_one(&store).await;
    let (mut all, mut last): (Vec<AttemptRecord>, Vec<AttemptRecord>) = (Vec::new(), Vec::new());
    for id in ids(&KNOWN) {
        let attempts = store.attempts(id).await.unwrap();
        last.extend(attempts.last().cloned());
        all.extend(attempts);
    }
    assert_eq!((all.len(), last.len()), (4, 2));
    assert_eq!(store.attempts_of_many(&ids(&ASKED_FOR)).await.unwrap(), all);
    assert_eq!(store.last_attempts(&ids(&ASKED_FOR)).await.unwrap(), last);
}

pub(crate) async fn questions_of_many_tasks_are_read_at_once<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    four_tasks(&store).await;
    let mut silent = complete();
    silent.reported.output = String::new();
    for ms in [20, 10] {
        let claimed = claim_one(&store).await;
        write(&store, settled(&claimed, silent.clone(), ms)).await;
    }
    let mut single = Vec::new();
    for task in ids(&KNOWN) {
        let filter = QuestionFilter { task: Some(task), ..QuestionFilter::default() };
        single.extend(store.questions(&filter, None, 9).await.unwrap().items);
    }
    assert_eq!(single.len(), 2);
    assert_eq!(store.questions_of_many(&ids(&ASKED_FOR), None).await.unwrap(), single);
    assert_eq!(store.questions_of_many(&ids(&ASKED_FOR), Some(true)).await.unwrap(), single);
    assert_eq!(store.questions_of_many(&ids(&ASKED_FOR), Some(false)).await.unwrap(), []);
    single.sort_by_key(|stored| stored.value.question.id);
    let mut asked_for: Vec<QuestionId> = single.iter().rev().map(|stored| stored.value.question.id).collect();
    asked_for.push(QuestionId::from_bits(0x7777_7777));
    assert_eq!(store.questions_by_ids(&asked_for).await.unwrap(), single);

    let newest = QuestionFilter { newest_first: true, ..QuestionFilter::default() };
    let first = store.questions(&newest, None, 1).await.unwrap();
    assert_eq!(first.items[0].value.asked_at, at(20));
    let second = store.questions(&newest, first.next, 1).await.unwrap();
    assert_eq!((second.items[0].value.asked_at, second.next), (at(10), None));
}

pub(crate) async fn matches_are_counted_up_to_a_bound<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    four_tasks(&store).await;
    claim_one(&store).await;
    let all = TaskFilter::default();
    assert_eq!(store.count_tasks(&all, 100).await.unwrap(), 4);
    assert_eq!(store.count_tasks(&all, 3).await.unwrap(), 3);
    let titled = TaskFilter { title: Some("TASK 4".to_owned()), ..TaskFilter::default() };
    assert_eq!(store.count_tasks(&titled, 100).await.unwrap(), 1);
    let claimed = TaskFilter { queue: Some(QueueName::Claimed), ..TaskFilter::default() };
    assert_eq!(store.count_tasks(&claimed, 100).await.unwrap(), 1);
    assert_eq!(store.count_questions(&QuestionFilter::pending(), 100).await.unwrap(), 0);
    assert_eq!(
        store.queue_depths().await.unwrap(),
        [(QueueName::Incoming, 3), (QueueName::Claimed, 1)].into()
    );
}

fn message(session: &SessionId, number: u32) -> Change {
    let message = Message {
        session_id: session.clone(),
        number,
        at: at(i64::from(number)),
        author: Actor::human("mia"),
        text: text(&format!("Message {number}")),
        task_id: None,
    };
    Change::new().put(Record::Message(message), WriteGuard::New)
}

pub(crate) async fn the_last_messages_are_read_without_the_first<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let session: SessionId = "chat".parse().unwrap();
    for number in 1..=5 {
        write(&store, message(&session, number)).await;
    }
    let numbers = async |before, limit| {
        let messages = store.last_messages(&session, before, limit).await.unwrap();
        messages.iter().map(|message| message.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(None, 2).await, [4, 5]);
    assert_eq!(numbers(Some(4), 2).await, [2, 3]);
    assert_eq!(numbers(Some(1), 2).await, [0; 0]);
    assert_eq!(numbers(None, 9).await, [1, 2, 3, 4, 5]);
}

pub(crate) async fn recent_groups_come_first_and_their_prompts_are_cut<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let of = |session: &str, number: u32| TaskSpec { session_id: session.parse().unwrap(), ..spec(number) };
    let long = "ä\0b".repeat(500);
    write(&store, create(TaskSpec { description: long, ..of("a", 1) }, &[])).await;
    write(&store, create(TaskSpec { description: "\u{2003}\n".to_owned(), ..of("b", 2) }, &[])).await;
    write(&store, create(of("c", 3), &[])).await;
    let names = async |limit| {
        let groups = store.recent_task_groups(limit).await.unwrap();
        groups.iter().map(|group| group.session.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(9).await, ["c", "b", "a"]);
    let claimed = claim_one(&store).await;
    assert_eq!(claimed.task.value.id(), task_id(1));
    write(&store, settled(&claimed, complete(), 10_000_000)).await;
    assert_eq!(names(9).await, ["a", "c", "b"]);
    assert_eq!(names(1).await, ["a"]);
    let listed = store.task_groups(None, 9).await.unwrap().items;
    assert_eq!(listed.len(), 3);
    let cut = listed[0].first_prompt.chars().count();
    assert_eq!(cut, usize::try_from(FIRST_PROMPT_CHARS_MAX).unwrap());
    assert_eq!(listed[1].first_prompt, "Task 2");
    for group in store.recent_task_groups(9).await.unwrap() {
        assert!(listed.contains(&group), "{group:?}");
    }
}
