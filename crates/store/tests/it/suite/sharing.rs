//! Limits per project and person: never exceeded by concurrent claims, and never blocking others.

use std::collections::BTreeSet;

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, WriteGuard};
use baton_core::records::project::Project;
use baton_core::schedule::{Capacity, LimitsByKey};
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::task::state::StateName;
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;
use baton_store::Backend;
use baton_store::model::claim::{ClaimRequest, ClaimedTask};
use tokio::task::JoinSet;

use super::Fixture;
use super::make::{
    at, claim_one, complete, context, created_by, human, load, no_limits, request, settled, spec, task_id,
    text, transition, write,
};

fn project(number: u32, at_once_max: Option<u32>) -> Project {
    Project {
        id: ProjectId::from_bits(number),
        title: text("Share links"),
        description: String::new(),
        path: "/src/app".to_owned(),
        base_branch: "main".parse().unwrap(),
        feature_branch: None,
        remote: None,
        at_once_max,
        created_at: at(0),
        completed_at: None,
    }
}

/// A task of a project (none if 0), requested by a person.
fn task(number: u32, of_project: u32, person: &str) -> Change {
    let project_id = (of_project > 0).then(|| ProjectId::from_bits(of_project));
    created_by(TaskSpec { project_id, ..spec(number) }, &Actor::human(person))
}

fn per_project(max: u32) -> Capacity {
    Capacity { per_project: LimitsByKey::all(max), ..no_limits() }
}

fn per_person(max: u32) -> Capacity {
    Capacity { per_person: LimitsByKey::all(max), ..no_limits() }
}

async fn claim<S: Backend>(store: &S, capacity: &Capacity, count: u32) -> Vec<ClaimedTask> {
    let wanted = ClaimRequest { capacity: capacity.clone(), ..request("worker", count) };
    store.claim(wanted).await.unwrap()
}

const NOTHING: [u32; 0] = [];

fn ids(claimed: &[ClaimedTask]) -> Vec<u32> {
    claimed.iter().map(|one| one.lease.task.bits()).collect()
}

pub(crate) async fn limits_per_project_and_person_are_enforced<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for (number, of_project, person) in
        [(1, 1, "mia"), (2, 1, "mia"), (3, 1, "noor"), (4, 2, "mia"), (5, 0, "mia"), (6, 0, "noor")]
    {
        write(&store, task(number, of_project, person)).await;
    }
    let first = claim(&store, &per_project(2), 9).await;
    assert_eq!(ids(&first), [1, 2, 4, 5, 6], "of no project as many as there are");
    assert_eq!(first[0].lease.share, first[0].task.value.share());
    assert_eq!(first[0].lease.share.person, Some(text("mia")));
    let mut held = store.leases().await.unwrap();
    held.sort_by_key(|lease| lease.task);
    assert_eq!(
        held.iter().map(|lease| &lease.share).collect::<Vec<_>>(),
        first.iter().map(|one| &one.lease.share).collect::<Vec<_>>()
    );

    assert_eq!(ids(&claim(&store, &per_project(2), 9).await), NOTHING);
    write(&store, settled(&first[0], complete(), 10_000)).await;
    // Noor has one and mia three.
    assert_eq!(ids(&claim(&store, &per_person(1), 9).await), NOTHING);
    assert_eq!(ids(&claim(&store, &per_person(2), 9).await), [3]);
    write(&store, task(7, 3, "mia")).await;
    assert_eq!(ids(&claim(&store, &per_person(3), 9).await), NOTHING);
    assert_eq!(ids(&claim(&store, &per_person(4), 9).await), [7]);
}

pub(crate) async fn a_projects_own_limit_overrides_the_settings<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let put = |project, guard| Change::new().put(Record::Project(project), guard);
    write(&store, put(project(1, Some(1)), WriteGuard::New)).await;
    write(&store, put(project(2, None), WriteGuard::New)).await;
    for number in 1..=8 {
        write(&store, task(number, 1 + number % 2, "mia")).await;
    }
    assert_eq!(
        ids(&claim(&store, &per_project(2), 9).await),
        [1, 2, 3],
        "one of project 1, two of the other"
    );
    assert_eq!(
        ids(&claim(&store, &no_limits(), 1).await),
        [5],
        "who sets no limit is held by the projects' own"
    );
    write(&store, put(project(1, Some(3)), WriteGuard::Version(1))).await;
    assert_eq!(ids(&claim(&store, &per_project(0), 9).await), [4, 6]);
    write(&store, put(project(1, None), WriteGuard::Version(2))).await;
    assert_eq!(ids(&claim(&store, &per_project(0), 9).await), NOTHING);
    write(&store, put(project(2, Some(0)), WriteGuard::Version(1))).await;
    assert_eq!(ids(&claim(&store, &no_limits(), 9).await), [8]);
    write(&store, put(project(2, None), WriteGuard::Version(2))).await;
    assert_eq!(ids(&claim(&store, &no_limits(), 9).await), [7]);
}

/// Every end of an attempt frees its place.
pub(crate) async fn every_end_of_an_attempt_frees_its_place<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=6 {
        write(&store, task(number, 1, "mia")).await;
    }
    let one = per_project(1);
    let next = async |expected: u32| {
        let claimed = claim(&store, &one, 9).await;
        assert_eq!(ids(&claimed), [expected]);
        assert_eq!(ids(&claim(&store, &one, 9).await), NOTHING, "no more beside it");
        claimed.into_iter().next().unwrap()
    };
    let done = next(1).await;
    write(&store, settled(&done, complete(), 10_000)).await;

    let cancelled = next(2).await;
    write(&store, transition(&cancelled.task, Command::Cancel { reason: None }, &human(10_000))).await;

    let asking = next(3).await;
    let end = AttemptEnd {
        reported: AttemptReport::new(AttemptResult::Complete, "Shall I go on?"),
        verified: Evidence { turns: 3, turns_max: 50, ..Evidence::default() },
    };
    write(&store, settled(&asking, end, 10_000)).await;
    let waiting = load(&store, task_id(3)).await;
    assert_eq!(waiting.value.state().name(), StateName::AwaitingResponse);

    let brief = ClaimRequest { capacity: one.clone(), lease_ms: 1, ..request("worker", 9) };
    let lost = store.claim(brief).await.unwrap().remove(0);
    assert_eq!(lost.lease.task, task_id(4));
    place.advance(10).await;
    assert_eq!(store.expired_leases(9).await.unwrap().len(), 1);
    assert_eq!(ids(&claim(&store, &one, 9).await), NOTHING, "until somebody takes it back");
    let expire = Command::ExpireLease { attempt: lost.lease.attempt };
    write(&store, transition(&lost.task, expire, &context(Actor::Baton, 70_000))).await;
    next(4).await;
}

/// A full project at the head of the queue is skipped, however many tasks it has.
pub(crate) async fn a_full_project_does_not_starve_others<F: Fixture>() {
    const MANY: u32 = 5_000;
    let place = F::fresh().await;
    let store = place.open().await;
    let mut all = Change::new();
    for number in 1..=MANY {
        all = all.and(task(number, 1, "mia"));
    }
    write(&store, all).await;
    let three = per_project(3);
    assert_eq!(ids(&claim(&store, &three, 9).await), [1, 2, 3]);
    for number in 1..=4 {
        write(&store, task(MANY + number, 1 + number, "noor")).await;
    }
    assert_eq!(ids(&claim(&store, &three, 3).await), [MANY + 1, MANY + 2, MANY + 3]);
    assert_eq!(
        ids(&claim(&store, &Capacity { per_person: LimitsByKey::all(3), ..three.clone() }, 3).await),
        NOTHING
    );
    assert_eq!(ids(&claim(&store, &three, 3).await), [MANY + 4]);
    assert_eq!(store.ready_count().await.unwrap(), u64::from(MANY) - 3);
}

/// Tasks the worker cannot run take no capacity from those it can.
pub(crate) async fn tasks_that_do_not_fit_use_no_capacity<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    for number in 1..=33 {
        let needs = if number <= 30 { ["gpu".parse().unwrap()].into() } else { BTreeSet::new() };
        let spec = TaskSpec { project_id: Some(ProjectId::from_bits(1)), needs, ..spec(number) };
        write(&store, created_by(spec, &Actor::human("mia"))).await;
    }
    assert_eq!(ids(&claim(&store, &per_project(2), 5).await), [31, 32]);
    assert_eq!(ids(&claim(&store, &per_project(2), 5).await), NOTHING);
    assert_eq!(ids(&claim(&store, &per_project(4), 5).await), [33]);
    // The same for limits that have nothing to do with projects.
    let other = F::fresh().await;
    let store = other.open().await;
    for number in 1..=5 {
        let needs = if number <= 4 { ["gpu".parse().unwrap()].into() } else { BTreeSet::new() };
        write(&store, created_by(TaskSpec { needs, ..spec(number) }, &Actor::human("mia"))).await;
    }
    let one_of_a_role = Capacity { per_role: LimitsByKey::all(1), ..no_limits() };
    assert_eq!(ids(&claim(&store, &one_of_a_role, 9).await), [5]);
}

/// The index of ready tasks by share matches the ready tasks after every change.
pub(crate) async fn shares_follow_what_is_ready<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let two = per_project(2);
    // Ready before and after the limit was set.
    write(&store, task(1, 1, "mia")).await;
    write(&store, task(2, 1, "mia")).await;
    let first = claim(&store, &two, 1).await;
    assert_eq!(ids(&first), [1]);
    let waits = TaskSpec { project_id: Some(ProjectId::from_bits(1)), ..spec(3) };
    write(&store, super::make::create(waits, &[task_id(1)])).await;
    write(
        &store,
        transition(&load(&store, task_id(2)).await, Command::Cancel { reason: None }, &human(9_000)),
    )
    .await;
    assert_eq!(ids(&claim(&store, &two, 9).await), NOTHING);
    write(&store, settled(&first[0], complete(), 10_000)).await;
    let freed = claim(&store, &two, 9).await;
    assert_eq!(ids(&freed), [3], "its blocker is done");
    let expire = Command::ExpireLease { attempt: freed[0].lease.attempt };
    write(&store, transition(&freed[0].task, expire, &context(Actor::Baton, 11_000))).await;
    let again: Task = claim(&store, &two, 9).await.remove(0).task.value;
    assert_eq!(again.id(), task_id(3), "it came back");
    assert_eq!(ids(&claim(&store, &two, 9).await), NOTHING);
    // Without a limit the queue is the same.
    write(&store, task(4, 1, "mia")).await;
    assert_eq!(claim_one(&store).await.lease.task, task_id(4));
}

/// Sixteen claimers through two handles; the count is highest just before each end.
pub(crate) async fn sixteen_claimers_never_exceed_a_limit<F: Fixture>() {
    const PROJECTS: u32 = 3;
    const TASKS: u32 = 300;
    const AT_ONCE: usize = 2;
    const MIA_AT_ONCE: usize = 3;
    let place = F::fresh().await;
    let store = place.open().await;
    let beside = place.open().await;
    write(&store, Change::new().put(Record::Project(project(1, Some(1))), WriteGuard::New)).await;
    let mut all = Change::new();
    for number in 1..=TASKS {
        all = all.and(task(number, 1 + number % PROJECTS, if number % 2 == 0 { "mia" } else { "noor" }));
    }
    write(&store, all).await;
    let capacity = Capacity {
        per_project: LimitsByKey::all(u32::try_from(AT_ONCE).unwrap()),
        per_person: LimitsByKey {
            own_max: [(text("mia"), u32::try_from(MIA_AT_ONCE).unwrap())].into(),
            ..LimitsByKey::none()
        },
        ..no_limits()
    };
    let mut claimers = JoinSet::new();
    for number in 0..16 {
        let (store, capacity) =
            (if number % 2 == 0 { store.clone() } else { beside.clone() }, capacity.clone());
        claimers.spawn(async move {
            let mut done: Vec<TaskId> = Vec::new();
            while store.ready_count().await.unwrap() > 0 {
                for claimed in claim(&store, &capacity, 2).await {
                    let leases = store.leases().await.unwrap();
                    let of_project = |number: u32| {
                        let of = Some(ProjectId::from_bits(number));
                        leases.iter().filter(|lease| lease.share.project == of).count()
                    };
                    assert!(of_project(1) <= 1, "the project's own limit");
                    assert!((2..=PROJECTS).all(|number| of_project(number) <= AT_ONCE), "{leases:?}");
                    let of_mia =
                        leases.iter().filter(|lease| lease.share.person == Some(text("mia"))).count();
                    assert!(of_mia <= MIA_AT_ONCE, "{leases:?}");
                    done.push(claimed.lease.task);
                    write(&store, settled(&claimed, complete(), 10_000)).await;
                }
                tokio::task::yield_now().await;
            }
            done
        });
    }
    let mut done: Vec<TaskId> = claimers.join_all().await.into_iter().flatten().collect();
    done.sort();
    assert_eq!(done, (1..=TASKS).map(task_id).collect::<Vec<_>>(), "each once, and all of them");
}
