//! Claim order and admission: no limit is ever exceeded, and nobody is passed over without cause.

use std::collections::BTreeMap;

use baton_core::id::TaskId;
use baton_core::priority::Priority;
use baton_core::schedule::{
    Candidate, Capacity, ClaimRank, Held, Intake, Limits, Load, Urgency, admit, may_start, pick,
};
use baton_core::text::{AgentName, Role};
use baton_core::time::Timestamp;
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_ms(1_000_000);
const ROLES: [&str; 3] = ["implement", "review", "breakdown"];
const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];

fn role(name: &str) -> Role {
    name.parse().unwrap_or_else(|_| Role::implement())
}

fn agent(name: &str) -> AgentName {
    serde_json::from_value(name.into()).unwrap_or_else(|_| unreachable!("the names above are names"))
}

fn candidate(task: u32, urgency: Urgency, priority: Priority, created_ms: i64) -> Candidate {
    Candidate {
        task: TaskId::from_bits(task),
        rank: ClaimRank::of(urgency, priority, Timestamp::from_ms(created_ms)),
        created_at: Timestamp::from_ms(created_ms),
        role: role("implement"),
        agent: agent("claude"),
    }
}

fn roomy() -> Capacity {
    Capacity { total_max: 100, per_role: Limits::all(100), per_agent: Limits::all(100), unaccepted_max: 100 }
}

fn paused() -> Intake {
    Intake::default().after_systemic_failure(NOW).after_systemic_failure(NOW)
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
fn each_limit_names_itself() {
    let running = [(role("implement"), agent("claude")), (role("implement"), agent("codex"))];
    let load = Load::of(running, 5);
    let with = |change: fn(&mut Capacity)| {
        let mut capacity = roomy();
        change(&mut capacity);
        admit(&role("implement"), &agent("claude"), Urgency::Normal, &capacity, &load)
    };
    assert_eq!(with(|_| ()), Ok(()));
    assert_eq!(with(|c| c.total_max = 2), Err(Held::TotalFull { max: 2 }));
    assert_eq!(with(|c| c.per_role.default_max = 2), Err(Held::RoleFull { role: role("implement"), max: 2 }));
    assert_eq!(
        with(|c| c.per_agent.own_max.extend([(agent("claude"), 1)])),
        Err(Held::AgentFull { agent: agent("claude"), max: 1 })
    );
    assert_eq!(with(|c| c.per_agent.own_max.extend([(agent("codex"), 1)])), Ok(()), "another's limit");
    assert_eq!(with(|c| c.unaccepted_max = 5), Err(Held::TooManyUnaccepted { unaccepted: 5, max: 5 }));
    assert_eq!(with(|c| c.unaccepted_max = 6), Ok(()));
}

#[test]
fn a_pile_of_unaccepted_work_stops_new_work_and_not_resumed_work() {
    let candidates =
        [candidate(1, Urgency::Normal, Priority::P0, 0), candidate(2, Urgency::Resumed, Priority::P3, 0)];
    let capacity = Capacity { unaccepted_max: 3, ..roomy() };
    let chosen = pick(&candidates, &capacity, &Load::of([], 3), &BTreeMap::new(), NOW);
    assert_eq!(numbers(&chosen), [2]);
}

#[test]
fn who_is_held_does_not_hold_the_others() {
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
fn what_holds_a_task_is_said_in_words_and_in_a_code() {
    let held = Held::RoleFull { role: role("review"), max: 2 };
    insta::assert_snapshot!(held, @"2 tasks of role review run already; wait, or raise that role's limit");
    insta::assert_snapshot!(serde_json::to_string(&held).unwrap(), @r#"{"code":"role_full","role":"review","max":2}"#);
    let capacity = roomy();
    insta::assert_snapshot!(serde_json::to_string(&capacity).unwrap(), @r#"{"total_max":100,"per_role":{"default_max":100,"own_max":{}},"per_agent":{"default_max":100,"own_max":{}},"unaccepted_max":100}"#);
    assert_eq!(
        serde_json::from_str::<Capacity>(&serde_json::to_string(&capacity).unwrap()).unwrap(),
        capacity
    );
}

prop_compose! {
    fn any_candidates()(raw in prop::collection::vec((any::<bool>(), 0..4_usize, 0..5_i64, 0..3_usize, 0..3_usize), 0..30))
        -> Vec<Candidate>
    {
        (0..).zip(raw).map(|(task, (resumed, priority, created_ms, role_at, agent_at))| {
            let urgency = if resumed { Urgency::Resumed } else { Urgency::Normal };
            let mut candidate = candidate(task, urgency, Priority::ALL[priority], created_ms);
            candidate.role = role(ROLES[role_at]);
            candidate.agent = agent(AGENTS[agent_at]);
            candidate
        }).collect()
    }
}

prop_compose! {
    fn any_capacity()(
        total_max in 0..12_u32, role_max in 0..6_u32, agent_max in 0..6_u32,
        review_max in 0..6_u32, codex_max in 0..6_u32, unaccepted_max in 0..4_u32,
    ) -> Capacity {
        Capacity {
            total_max,
            per_role: Limits { default_max: role_max, own_max: BTreeMap::from([(role("review"), review_max)]) },
            per_agent: Limits { default_max: agent_max, own_max: BTreeMap::from([(agent("codex"), codex_max)]) },
            unaccepted_max,
        }
    }
}

proptest! {
    #[test]
    fn no_limit_is_exceeded_and_no_place_left_empty(
        candidates in any_candidates(),
        capacity in any_capacity(),
        running in prop::collection::vec((0..3_usize, 0..3_usize), 0..6),
        unaccepted in 0..6_u32,
        resting in prop::collection::btree_set(0..3_usize, 0..3),
    ) {
        let running: Vec<_> =
            running.into_iter().map(|(r, a)| (role(ROLES[r]), agent(AGENTS[a]))).collect();
        let before = Load::of(running.clone(), unaccepted);
        let intakes: BTreeMap<_, _> = resting.into_iter().map(|a| (agent(AGENTS[a]), paused())).collect();
        let chosen = pick(&candidates, &capacity, &before, &intakes, NOW);

        let started = chosen.iter().map(|c| (c.role.clone(), c.agent.clone()));
        let after = Load::of(running.into_iter().chain(started), unaccepted);
        prop_assert!(after.total() <= capacity.total_max.max(before.total()));
        for name in ROLES.map(role) {
            prop_assert!(after.of_role(&name) <= capacity.per_role.max(&name).max(before.of_role(&name)));
        }
        for name in AGENTS.map(agent) {
            prop_assert!(after.of_agent(&name) <= capacity.per_agent.max(&name).max(before.of_agent(&name)));
        }
        for candidate in &chosen {
            prop_assert!(!intakes.contains_key(&candidate.agent), "a resting agent was given work");
            prop_assert!(candidate.rank.urgency() == Urgency::Resumed || unaccepted < capacity.unaccepted_max);
        }
        prop_assert!(chosen.is_sorted_by(|a, b| a.order() < b.order()));

        // Whoever was not chosen is held by something that those before it in the order brought about.
        for candidate in candidates.iter().filter(|c| !chosen.contains(c)) {
            let mut load = before.clone();
            for earlier in chosen.iter().filter(|c| c.order() < candidate.order()) {
                load.start(&earlier.role, &earlier.agent);
            }
            prop_assert!(may_start(candidate, &capacity, &load, &intakes, NOW).is_err(), "passed over: {candidate:?}");
        }
    }

    #[test]
    fn the_order_they_come_in_changes_nothing(
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
