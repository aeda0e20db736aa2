//! Claim order and admission: no limit is ever exceeded, and no task is skipped without a reason.

use std::collections::BTreeMap;

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::text::{AgentName, NonBlank, Role};
use baton_core::base::time::Timestamp;
use baton_core::schedule::{
    AgentIntake, Candidate, Capacity, ClaimRank, LimitsByKey, Load, Share, StartRefusal, Urgency, admit,
    may_start, pick,
};
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_ms(1_000_000);
const ROLES: [&str; 3] = ["implement", "review", "breakdown"];
const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];
const PERSONS: [&str; 3] = ["mia", "noor", "ada"];

fn role(name: &str) -> Role {
    name.parse().unwrap_or_else(|_| Role::implement())
}

fn agent(name: &str) -> AgentName {
    serde_json::from_value(name.into()).unwrap_or_else(|_| unreachable!("the names above are names"))
}

fn candidate(task: u32, urgency: Urgency, priority: Priority, created_ms: i64) -> Candidate {
    Candidate {
        task: TaskId::from_bits(task),
        rank: ClaimRank::new(urgency, priority, Timestamp::from_ms(created_ms)),
        created_at: Timestamp::from_ms(created_ms),
        role: role("implement"),
        agent: agent("claude"),
        share: Share::default(),
    }
}

fn project(number: u32) -> ProjectId {
    ProjectId::from_bits(number)
}

fn person(name: &str) -> NonBlank {
    NonBlank::new(name).unwrap_or_else(|_| unreachable!("the names above are not blank"))
}

fn share(of_project: u32, of_person: &str) -> Share {
    Share { project: Some(project(of_project)), person: Some(person(of_person)) }
}

fn roomy() -> Capacity {
    Capacity {
        total_max: 100,
        per_role: LimitsByKey::all(100),
        per_agent: LimitsByKey::all(100),
        unaccepted_max: 100,
        per_project: LimitsByKey::none(),
        per_person: LimitsByKey::none(),
    }
}

fn paused() -> AgentIntake {
    AgentIntake::default().after_systemic_failure(NOW).after_systemic_failure(NOW)
}

fn numbers(chosen: &[&Candidate]) -> Vec<u32> {
    chosen.iter().map(|candidate| candidate.task.bits()).collect()
}

#[test]
fn replied_to_first_then_priority_then_age_then_id() {
    let candidates = [
        candidate(1, Urgency::Normal, Priority::P0, 0),
        candidate(2, Urgency::Normal, Priority::P1, 0),
        candidate(3, Urgency::Resumed, Priority::P3, 9),
        candidate(4, Urgency::Normal, Priority::P0, 5),
        candidate(6, Urgency::Normal, Priority::P2, 5),
        candidate(5, Urgency::Normal, Priority::P2, 5),
        candidate(7, Urgency::Resumed, Priority::P0, 9),
    ];
    let chosen = pick(&candidates, &roomy(), &Load::default(), &BTreeMap::new(), NOW);
    assert_eq!(numbers(&chosen), [7, 3, 1, 4, 2, 5, 6]);
}

#[test]
fn the_total_limit_message_fits_the_number() {
    let messages = [0, 1, 4].map(|max| StartRefusal::TotalFull { max }.to_string());
    assert_eq!(
        messages,
        [
            "no task may run here: max_agents is 0; raise it",
            "a task runs already and the total limit is 1; wait, or raise it",
            "4 tasks run already, the most allowed in all; wait, or raise the total limit",
        ]
    );
}

#[test]
fn each_limit_names_itself() {
    let running = [(role("implement"), agent("claude")), (role("implement"), agent("codex"))];
    let load = Load::new(running, 5);
    let with = |change: fn(&mut Capacity)| {
        let mut capacity = roomy();
        change(&mut capacity);
        admit(&candidate(9, Urgency::Normal, Priority::P2, 0), &capacity, &load)
    };
    assert_eq!(with(|_| ()), Ok(()));
    assert_eq!(with(|c| c.total_max = 2), Err(StartRefusal::TotalFull { max: 2 }));
    assert_eq!(
        with(|c| c.per_role.default_max = 2),
        Err(StartRefusal::RoleFull { role: role("implement"), max: 2 })
    );
    assert_eq!(
        with(|c| c.per_agent.own_max.extend([(agent("claude"), 1)])),
        Err(StartRefusal::AgentFull { agent: agent("claude"), max: 1 })
    );
    assert_eq!(with(|c| c.per_agent.own_max.extend([(agent("codex"), 1)])), Ok(()), "another's limit");
    assert_eq!(
        with(|c| c.unaccepted_max = 5),
        Err(StartRefusal::TooManyUnaccepted { unaccepted: 5, max: 5 })
    );
    assert_eq!(with(|c| c.unaccepted_max = 6), Ok(()));
}

#[test]
fn a_share_is_full_by_its_project_or_by_its_person() {
    // (project, person, limit of projects, own limit of project 1, limit of people, what holds it)
    type Row = (u32, &'static str, u32, Option<u32>, u32, Option<StartRefusal>);
    let mut load = Load::default();
    load.occupy(&share(1, "mia"), 2);
    load.occupy(&share(2, "mia"), 1);
    load.occupy(&Share { person: None, ..share(1, "mia") }, 1);
    let project_full = |max| Some(StartRefusal::ProjectFull { project: project(1), running: 3, max });
    let mia_full = |max| Some(StartRefusal::PersonFull { person: person("mia"), running: 3, max });
    let table: [Row; 9] = [
        (1, "mia", u32::MAX, None, u32::MAX, None),
        (1, "noor", 3, None, u32::MAX, project_full(3)),
        (1, "noor", 4, None, u32::MAX, None),
        (1, "noor", 9, Some(3), 9, project_full(3)),
        (1, "noor", 2, Some(9), 9, None),
        (1, "noor", 9, Some(0), 9, project_full(0)),
        (2, "mia", 9, Some(0), 3, mia_full(3)),
        (2, "mia", 2, None, 4, None),
        (1, "mia", 3, None, 3, project_full(3)),
    ];
    for (of_project, of_person, default_max, own, person_max, held) in table {
        let per_project =
            LimitsByKey { default_max, own_max: own.map(|own| (project(1), own)).into_iter().collect() };
        let capacity = Capacity { per_project, per_person: LimitsByKey::all(person_max), ..roomy() };
        let share = share(of_project, of_person);
        assert_eq!(share.room(&capacity, &load) > 0, held.is_none(), "{share:?}");
        let asking = Candidate { share, ..candidate(9, Urgency::Resumed, Priority::P0, 0) };
        assert_eq!(admit(&asking, &capacity, &load).err(), held, "{asking:?}");
    }
    let nobodys = candidate(9, Urgency::Normal, Priority::P2, 0);
    let closed = Capacity { per_project: LimitsByKey::all(0), per_person: LimitsByKey::all(0), ..roomy() };
    assert_eq!(
        admit(&nobodys, &closed, &load),
        Ok(()),
        "a task without a requester is under no personal limit"
    );
}

#[test]
fn ownership_matters_only_if_a_limit_is_set() {
    assert!(!roomy().is_shared());
    assert!(Capacity { per_person: LimitsByKey::all(5), ..roomy() }.is_shared());
    let own = LimitsByKey { own_max: [(project(1), 2)].into(), ..LimitsByKey::none() };
    assert!(Capacity { per_project: own, ..roomy() }.is_shared());
}

#[test]
fn a_full_project_at_the_head_does_not_block_others() {
    let of = |number, of_project| Candidate {
        share: share(of_project, "mia"),
        ..candidate(number, Urgency::Normal, Priority::P0, i64::from(number))
    };
    let candidates = [of(1, 1), of(2, 1), of(3, 1), of(4, 2), of(5, 2)];
    let capacity = Capacity { per_project: LimitsByKey::all(2), ..roomy() };
    let mut load = Load::default();
    assert_eq!(numbers(&pick(&candidates, &capacity, &load, &BTreeMap::new(), NOW)), [1, 2, 4, 5]);
    load.occupy(&share(1, "noor"), 2);
    assert_eq!(numbers(&pick(&candidates, &capacity, &load, &BTreeMap::new(), NOW)), [4, 5]);
}

#[test]
fn a_pile_of_unaccepted_work_stops_new_work_and_not_resumed_work() {
    let candidates =
        [candidate(1, Urgency::Normal, Priority::P0, 0), candidate(2, Urgency::Resumed, Priority::P3, 0)];
    let capacity = Capacity { unaccepted_max: 3, ..roomy() };
    let chosen = pick(&candidates, &capacity, &Load::new([], 3), &BTreeMap::new(), NOW);
    assert_eq!(numbers(&chosen), [2]);
}

#[test]
fn a_task_that_may_not_start_does_not_block_others() {
    let mut other = candidate(2, Urgency::Normal, Priority::P3, 0);
    other.agent = agent("codex");
    let candidates = [candidate(1, Urgency::Resumed, Priority::P0, 0), other];
    let intakes = BTreeMap::from([(agent("claude"), paused())]);
    assert_eq!(numbers(&pick(&candidates, &roomy(), &Load::default(), &intakes, NOW)), [2]);
    let later = NOW.plus_ms(60_000);
    assert_eq!(numbers(&pick(&candidates, &roomy(), &Load::default(), &intakes, later)), [1, 2]);
}

#[test]
fn a_task_listed_twice_starts_once() {
    let twice =
        [candidate(1, Urgency::Normal, Priority::P2, 0), candidate(1, Urgency::Normal, Priority::P2, 0)];
    assert_eq!(numbers(&pick(&twice, &roomy(), &Load::default(), &BTreeMap::new(), NOW)), [1]);
}

#[test]
fn a_start_refusal_has_a_message_and_a_code() {
    let held = StartRefusal::RoleFull { role: role("review"), max: 2 };
    insta::assert_snapshot!(held, @"2 tasks of role review run already; wait, or raise that role's limit");
    insta::assert_snapshot!(serde_json::to_string(&held).unwrap(), @r#"{"code":"role_full","role":"review","max":2}"#);
    let capacity = roomy();
    insta::assert_snapshot!(serde_json::to_string(&capacity).unwrap(), @r#"{"total_max":100,"per_role":{"default_max":100,"own_max":{}},"per_agent":{"default_max":100,"own_max":{}},"unaccepted_max":100,"per_project":{"default_max":4294967295,"own_max":{}},"per_person":{"default_max":4294967295,"own_max":{}}}"#);
    let full = StartRefusal::ProjectFull { project: project(0xdca2_7809), running: 2, max: 2 };
    insta::assert_snapshot!(full, @"project PROJ-dca27809 is at its limit, 2 of 2; wait, or raise it");
    insta::assert_snapshot!(serde_json::to_string(&full).unwrap(), @r#"{"code":"project_full","project":"PROJ-dca27809","running":2,"max":2}"#);
    for held in [held, full] {
        assert_eq!(serde_json::to_value(&held).unwrap()["code"], held.code());
    }
    assert_eq!(
        serde_json::from_str::<Capacity>(&serde_json::to_string(&capacity).unwrap()).unwrap(),
        capacity
    );
}

prop_compose! {
    fn any_share()(of_project in prop::option::of(0..3_u32), of_person in prop::option::of(0..3_usize)) -> Share {
        Share { project: of_project.map(project), person: of_person.map(|at| person(PERSONS[at])) }
    }
}

prop_compose! {
    fn any_candidates()(raw in prop::collection::vec((any::<bool>(), 0..4_usize, 0..5_i64, 0..3_usize, 0..3_usize, any_share()), 0..30))
        -> Vec<Candidate>
    {
        (0..).zip(raw).map(|(task, (resumed, priority, created_ms, role_at, agent_at, share))| {
            let urgency = if resumed { Urgency::Resumed } else { Urgency::Normal };
            let mut candidate = candidate(task, urgency, Priority::ALL[priority], created_ms);
            candidate.role = role(ROLES[role_at]);
            candidate.agent = agent(AGENTS[agent_at]);
            candidate.share = share;
            candidate
        }).collect()
    }
}

prop_compose! {
    fn any_capacity()(
        total_max in 0..12_u32, role_max in 0..6_u32, agent_max in 0..6_u32,
        review_max in 0..6_u32, codex_max in 0..6_u32, unaccepted_max in 0..4_u32,
        project_max in 0..6_u32, own_max in 0..6_u32, person_max in 0..8_u32,
    ) -> Capacity {
        Capacity {
            total_max,
            per_role: LimitsByKey { default_max: role_max, own_max: BTreeMap::from([(role("review"), review_max)]) },
            per_agent: LimitsByKey { default_max: agent_max, own_max: BTreeMap::from([(agent("codex"), codex_max)]) },
            unaccepted_max,
            per_project: LimitsByKey { default_max: project_max, own_max: BTreeMap::from([(project(1), own_max)]) },
            per_person: LimitsByKey::all(person_max),
        }
    }
}

proptest! {
    #[test]
    fn no_limit_is_exceeded_and_no_slot_left_empty(
        candidates in any_candidates(),
        capacity in any_capacity(),
        running in prop::collection::vec((0..3_usize, 0..3_usize, any_share()), 0..6),
        unaccepted in 0..6_u32,
        resting in prop::collection::btree_set(0..3_usize, 0..3),
    ) {
        let mut before = Load::new([], unaccepted);
        for (r, a, share) in &running {
            before.start(&role(ROLES[*r]), &agent(AGENTS[*a]));
            before.occupy(share, 1);
        }
        let intakes: BTreeMap<_, _> = resting.into_iter().map(|a| (agent(AGENTS[a]), paused())).collect();
        let chosen = pick(&candidates, &capacity, &before, &intakes, NOW);

        let mut after = before.clone();
        for started in &chosen {
            after.start(&started.role, &started.agent);
            after.occupy(&started.share, 1);
        }
        prop_assert!(after.total() <= capacity.total_max.max(before.total()));
        for name in ROLES.map(role) {
            prop_assert!(after.for_role(&name) <= capacity.per_role.max(&name).max(before.for_role(&name)));
        }
        for name in AGENTS.map(agent) {
            prop_assert!(after.for_agent(&name) <= capacity.per_agent.max(&name).max(before.for_agent(&name)));
        }
        for number in 0..3 {
            let (of, max) = (project(number), capacity.per_project.max(&project(number)));
            prop_assert!(after.for_project(of) <= max.max(before.for_project(of)));
        }
        for name in PERSONS.map(person) {
            prop_assert!(after.for_person(&name) <= capacity.per_person.max(&name).max(before.for_person(&name)));
        }
        for candidate in &chosen {
            prop_assert!(candidate.share.room(&capacity, &before) > 0, "beyond what a store looks at");
            prop_assert!(!intakes.contains_key(&candidate.agent), "a resting agent was given work");
            prop_assert!(candidate.rank.urgency() == Urgency::Resumed || unaccepted < capacity.unaccepted_max);
        }
        prop_assert!(chosen.is_sorted_by(|a, b| a.order() < b.order()));

        // Every task that was not chosen is blocked by a limit that earlier ones used up.
        for candidate in candidates.iter().filter(|c| !chosen.contains(c)) {
            let mut load = before.clone();
            for earlier in chosen.iter().filter(|c| c.order() < candidate.order()) {
                load.start(&earlier.role, &earlier.agent);
                load.occupy(&earlier.share, 1);
            }
            prop_assert!(may_start(candidate, &capacity, &load, &intakes, NOW).is_err(), "passed over: {candidate:?}");
        }
    }

    #[test]
    fn input_order_does_not_matter(
        candidates in any_candidates(), capacity in any_capacity(), turn in 0..30_usize,
    ) {
        let chosen = pick(&candidates, &capacity, &Load::default(), &BTreeMap::new(), NOW);
        let mut turned = candidates.clone();
        turned.reverse();
        let turn = turn.min(turned.len());
        turned.rotate_left(turn);
        prop_assert_eq!(pick(&turned, &capacity, &Load::default(), &BTreeMap::new(), NOW), chosen);
    }
}
