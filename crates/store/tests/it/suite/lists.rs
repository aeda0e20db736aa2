//! Lists: filtered, paged, and stable while rows are added and removed.

use std::collections::BTreeMap;

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::task::TaskSpec;
use baton_core::task::revision::Revision;
use baton_core::task::state::{QueueName, TaskStatus};
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::query::{Cursor, QuestionFilter, TaskFilter};

use super::Fixture;
use super::make::{
    at, claim_one, complete, create, created, human, load, settled, spec, task_id, text, transition, write,
};

async fn listed<S: Backend>(store: &S, filter: TaskFilter) -> Vec<TaskId> {
    let page = store.tasks(&filter, None, 100).await.unwrap();
    assert_eq!(page.next, None);
    page.items.iter().map(|task| task.value.id()).collect()
}

pub(crate) async fn pages_are_stable_while_rows_change<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    // Two of every age, so that the id decides.
    let aged = |number: u32| TaskSpec { created_at: at(i64::from(number / 2)), ..spec(number) };
    for number in (10..30).rev() {
        write(&store, create(aged(number), &[])).await;
    }
    let newest = TaskFilter { newest_first: true, ..TaskFilter::default() };
    let first = store.tasks(&newest, None, 3).await.unwrap();
    let second = store.tasks(&newest, first.next, 17).await.unwrap();
    let from_the_end: Vec<TaskId> =
        first.items.iter().chain(&second.items).map(|task| task.value.id()).collect();
    assert_eq!((from_the_end, second.next), ((10..30).rev().map(task_id).collect(), None));

    let mut seen = Vec::new();
    let mut cursor: Option<Cursor> = None;
    loop {
        let page = store.tasks(&TaskFilter::default(), cursor.clone(), 3).await.unwrap();
        seen.extend(page.items.iter().map(|task| task.value.id()));
        // One before the cursor, one after: only the latter is still to come.
        let round = u32::try_from(seen.len()).unwrap();
        write(&store, create(TaskSpec { created_at: at(0), ..spec(1_000 + round) }, &[])).await;
        let Some(next) = page.next else { break };
        cursor = Some(next.to_string().parse().unwrap());
    }
    assert_eq!(seen, (10..30).map(task_id).collect::<Vec<_>>());
    let filter = TaskFilter { title: Some("TASK 1".to_owned()), ..TaskFilter::default() };
    let exact = store.tasks(&filter, None, 10).await.unwrap();
    assert_eq!(exact.items.len(), 10);
    assert!(exact.next.is_some());
}

pub(crate) async fn filters_combine<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let project = Some(ProjectId::from_bits(5));
    write(&store, create(TaskSpec { project_id: project, ..spec(1) }, &[])).await;
    write(&store, create(TaskSpec { title: text("Grüße ÄNDERN 50%_off"), ..spec(2) }, &[])).await;
    let elsewhere = "other".parse().unwrap();
    write(&store, create(TaskSpec { session_id: elsewhere, project_id: project, ..spec(3) }, &[])).await;
    claim_one(&store).await;
    let planner = TaskSpec { role: "breakdown".parse().unwrap(), ..spec(4) };
    write(&store, create(planner, &[])).await;

    let all = TaskFilter::default;
    assert_eq!(listed(&store, all()).await, [task_id(1), task_id(2), task_id(3), task_id(4)]);
    assert_eq!(listed(&store, TaskFilter { project, ..all() }).await, [task_id(1), task_id(3)]);
    assert_eq!(listed(&store, TaskFilter { queue: Some(QueueName::Claimed), ..all() }).await, [task_id(1)]);
    assert_eq!(
        listed(&store, TaskFilter { status: Some(TaskStatus::Queued), ..all() }).await,
        [task_id(2), task_id(3), task_id(4)]
    );
    assert_eq!(
        listed(&store, TaskFilter { session: Some("other".parse().unwrap()), ..all() }).await,
        [task_id(3)]
    );
    let planners = TaskFilter { role: Some("breakdown".parse().unwrap()), ..all() };
    assert_eq!(listed(&store, planners).await, [task_id(4)]);
    let both = TaskFilter { project, status: Some(TaskStatus::Queued), ..all() };
    assert_eq!(listed(&store, both).await, [task_id(3)]);
    let touched = store.task(task_id(1)).await.unwrap().unwrap().value.updated_at();
    let since = |moment| TaskFilter { updated_from: Some(moment), ..all() };
    assert!(listed(&store, since(touched)).await.contains(&task_id(1)));
    assert!(!listed(&store, since(touched.plus_ms(1))).await.contains(&task_id(1)));
    for (part, found) in [("ändern", true), ("50%_", true), ("5_%", false), ("GRÜSSE", false)] {
        let filter = TaskFilter { title: Some(part.to_owned()), ..all() };
        assert_eq!(!listed(&store, filter).await.is_empty(), found, "{part}");
    }
}

pub(crate) async fn a_text_is_found_in_titles_and_descriptions<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let described = |number, text: &str| TaskSpec { description: text.to_owned(), ..spec(number) };
    write(&store, create(described(1, "Coupons\0 in the CART"), &[])).await;
    write(&store, create(TaskSpec { title: text("Coupon page"), ..spec(2) }, &[])).await;
    write(&store, create(described(3, "Something else"), &[])).await;
    let wanted = |text: &str| TaskFilter { text: Some(text.to_owned()), ..TaskFilter::default() };
    for (text, found) in [("coupon", vec![1, 2]), ("cart", vec![1]), ("task 3", vec![3]), ("spec", vec![])] {
        let found: Vec<_> = found.into_iter().map(task_id).collect();
        assert_eq!(listed(&store, wanted(text)).await, found, "{text}");
        assert_eq!(store.count_tasks(&wanted(text), 100).await.unwrap(), found.len() as u64, "{text}");
    }
}

pub(crate) async fn tasks_are_found_by_type_and_agent<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let report = TaskSpec { task_type: TaskType::Report, ..spec(1) };
    write(&store, create(report, &[])).await;
    let claimed = claim_one(&store).await;
    write(&store, create(TaskSpec { agent: Some("chosen".parse().unwrap()), ..spec(2) }, &[])).await;
    let typed = TaskFilter { task_type: Some(TaskType::Report), ..TaskFilter::default() };
    assert_eq!(listed(&store, typed).await, [task_id(1)]);
    let by = |agent: &str| TaskFilter { agent: Some(agent.parse().unwrap()), ..TaskFilter::default() };
    assert_eq!(listed(&store, by("chosen")).await, [task_id(2)]);
    let worker = claimed.task.value.state().live_attempt().unwrap().agent.to_string();
    assert_eq!(listed(&store, by(&worker)).await, [task_id(1)]);
    assert_eq!(listed(&store, by("nobody")).await, []);
}

pub(crate) async fn a_revision_updates_title_and_order<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=3 {
        write(&store, create(spec(number), &[])).await;
    }
    let revision = Revision {
        title: Some(text("Shorten the LINKS")),
        description: Some("All of them.".to_owned()),
        priority: Some(Priority::P0),
        ..Revision::default()
    };
    let last = load(&store, task_id(3)).await;
    write(&store, transition(&last, Command::Revise { revision }, &human(1_000))).await;
    let titled = |title: &str| TaskFilter { title: Some(title.to_owned()), ..TaskFilter::default() };
    assert_eq!(listed(&store, titled("links")).await, [task_id(3)]);
    assert_eq!(listed(&store, titled("task 3")).await, []);
    let revised = load(&store, task_id(3)).await;
    assert_eq!(revised.value.spec().description, "All of them.");
    // The most urgent one is first now, and queued once.
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(claim_one(&store).await.task.value.id());
    }
    assert_eq!(order, [task_id(3), task_id(1), task_id(2)]);
}

pub(crate) async fn groups_summarise_their_sessions<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let of = |session: &str, number: u32| TaskSpec { session_id: session.parse().unwrap(), ..spec(number) };
    // The older task is written later, and is still the group's first.
    write(&store, create(of("b", 5), &[])).await;
    write(&store, create(TaskSpec { description: " ".to_owned(), ..of("a", 2) }, &[])).await;
    write(&store, create(of("b", 3), &[])).await;
    write(&store, create(TaskSpec { role: "review".parse().unwrap(), ..of("c", 9) }, &[])).await;
    let claimed = claim_one(&store).await;
    write(&store, settled(&claimed, complete(), 10_000_000)).await;

    let first = store.task_groups(None, 2).await.unwrap();
    let names: Vec<&str> = first.items.iter().map(|group| group.session.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let (a, b) = (&first.items[0], &first.items[1]);
    assert_eq!(a.status_counts, BTreeMap::from([(TaskStatus::Complete, 1)]));
    assert_eq!((a.task_count, a.latest_status, a.first_prompt.as_str()), (1, TaskStatus::Complete, "Task 2"));
    assert_eq!((a.created_at, a.latest_updated_at), (at(2), at(10_000_000)));
    assert_eq!(b.status_counts, BTreeMap::from([(TaskStatus::Queued, 2)]));
    assert_eq!((b.created_at, b.first_prompt.as_str()), (at(3), "Do what task 3 asks."));
    assert_eq!(b.latest_updated_at, at(5));
    let rest = store.task_groups(first.next, 2).await.unwrap();
    assert_eq!(rest.items.len(), 1);
    assert_eq!(rest.items[0].first_prompt, "Task 9", "the prompt of a loop's agent is nobody's message");
    assert_eq!(rest.next, None);
}

pub(crate) async fn a_prefix_finds_tasks<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in [0x9a00_0001, 0x9a00_0002, 0x9b00_0000] {
        write(&store, create(TaskSpec { created_at: at(1), ..spec(number) }, &[])).await;
    }
    assert_eq!(
        store.tasks_by_prefix("TASK-9a", 2).await.unwrap(),
        [task_id(0x9a00_0001), task_id(0x9a00_0002)]
    );
    assert_eq!(store.tasks_by_prefix("TASK-9a", 1).await.unwrap().len(), 1);
    assert_eq!(store.tasks_by_prefix("TASK-9b000000", 2).await.unwrap(), [task_id(0x9b00_0000)]);
    assert_eq!(store.tasks_by_prefix("TASK-", 9).await.unwrap().len(), 3);
    for nothing in ["TASK-9A", "TASK-%", "TASK-9a_", "x", "TASK-9c"] {
        assert_eq!(store.tasks_by_prefix(nothing, 2).await.unwrap(), [], "{nothing}");
    }
}

pub(crate) async fn questions_are_listed_oldest_first<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=3 {
        write(&store, created(number, &[])).await;
    }
    let mut silent = complete();
    silent.reported.output = String::new();
    for number in 1..=3 {
        let claimed = claim_one(&store).await;
        write(&store, settled(&claimed, silent.clone(), 1_000 - number)).await;
    }
    let pending = store.questions(&QuestionFilter::pending(), None, 2).await.unwrap();
    let asked: Vec<_> = pending.items.iter().map(|question| question.value.task_id).collect();
    assert_eq!(asked, [Some(task_id(3)), Some(task_id(2))]);
    let rest = store.questions(&QuestionFilter::pending(), pending.next.clone(), 2).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (1, None));

    let waiting = load(&store, task_id(3)).await;
    let question = waiting.value.state().pending_question().unwrap().id;
    let answered_by = baton_core::ask::answer_source::AnsweredBy::human("mia");
    let reply = Command::Reply { question, answer: NonBlank::new("YES").unwrap(), answered_by };
    write(&store, transition(&waiting, reply, &human(2_000))).await;
    assert_eq!(store.questions(&QuestionFilter::pending(), None, 9).await.unwrap().items.len(), 2);
    let of_three =
        QuestionFilter { task: Some(task_id(3)), is_pending: Some(false), ..QuestionFilter::default() };
    assert_eq!(store.questions(&of_three, None, 9).await.unwrap().items.len(), 1);
    let of_session = QuestionFilter { session: Some("chat".parse().unwrap()), ..QuestionFilter::default() };
    assert_eq!(store.questions(&of_session, None, 9).await.unwrap().items.len(), 3);
}
