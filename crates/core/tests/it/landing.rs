//! I18 over random histories of a lane: arrivals, failing and flaky checks, crashes, forced landings and moved targets.
//!
//! A tree is the set of what is merged in it. The checks fail on a tree with a guilty candidate, or with both of a pair that
//! does not go together.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::landing::lane::{BATCH_MAX, LaneMember, LaneOrder, lane_order};
use baton_core::landing::search::{LaneStep, next_step};
use baton_core::landing::verdict::TreeState;
use baton_core::recycle::Depth;
use baton_core::task::attempt::ResultKind;
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::Command;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::samples::{attempt, drive, ended, evidence, spec};

type Tree = BTreeSet<u32>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Landed,
    SentBack,
    BranchFails,
    Forced,
}

#[derive(Debug, Default)]
struct Lane {
    guilty: BTreeSet<u32>,
    pairs: Vec<(u32, u32)>,
    /// Trees on which the first run fails although nothing is wrong.
    flaky: BTreeSet<Tree>,
    branch: Tree,
    queue: Vec<u32>,
    runs: BTreeMap<Tree, Vec<bool>>,
    ends: BTreeMap<u32, End>,
    checked: usize,
    /// Those that the branch fails without, until it moves.
    delayed: Vec<u32>,
}

impl Lane {
    fn passes(&self, tree: &Tree) -> bool {
        let both = |(one, other): &(u32, u32)| tree.contains(one) && tree.contains(other);
        tree.is_disjoint(&self.guilty) && !self.pairs.iter().any(both)
    }

    fn state(&self, tree: &Tree) -> TreeState {
        match self.runs.get(tree).map(Vec::as_slice).unwrap_or_default() {
            [] => TreeState::Unknown,
            runs if runs.contains(&true) => TreeState::Green,
            [_] => TreeState::Suspect,
            _ => TreeState::Red,
        }
    }

    fn prefixes(&self) -> Vec<Tree> {
        let mut tree = self.branch.clone();
        let mut all = vec![tree.clone()];
        for candidate in self.queue.iter().take(BATCH_MAX) {
            tree.insert(*candidate);
            all.push(tree.clone());
        }
        all
    }

    /// One step of the lane; false when there is nothing to do. A crash loses the result of the run.
    fn step(&mut self, crashes: bool) -> bool {
        let prefixes = self.prefixes();
        let states: Vec<TreeState> = prefixes.iter().map(|tree| self.state(tree)).collect();
        match next_step(&states) {
            None => return false,
            Some(LaneStep::Check(prefix)) => {
                let tree = prefixes[prefix].clone();
                self.checked += 1;
                let is_first = !self.runs.contains_key(&tree);
                let passed = self.passes(&tree) && !(is_first && self.flaky.contains(&tree));
                if !crashes {
                    self.runs.entry(tree).or_default().push(passed);
                }
            }
            Some(LaneStep::Land(prefix)) => {
                // I18: exactly this tree passed.
                assert_eq!(states[prefix], TreeState::Green);
                assert!(self.passes(&prefixes[prefix]));
                self.branch.clone_from(&prefixes[prefix]);
                for landed in self.queue.drain(..prefix) {
                    assert_eq!(self.ends.insert(landed, End::Landed), None, "landed twice");
                }
                self.return_delayed();
            }
            Some(LaneStep::SendBackFirst) => {
                assert!(!self.passes(&prefixes[1]), "blamed for a flaky check");
                assert!(self.passes(&prefixes[0]), "blamed for the branch");
                self.leave_first(End::SentBack);
            }
            Some(LaneStep::BranchFails) => {
                assert!(!self.passes(&prefixes[0]));
                let first = self.queue.remove(0);
                self.delayed.push(first);
            }
        }
        true
    }

    /// The branch has moved, and may pass now.
    fn return_delayed(&mut self) {
        let delayed = std::mem::take(&mut self.delayed);
        self.queue.splice(..0, delayed);
    }

    fn leave_first(&mut self, end: End) {
        assert_eq!(self.ends.insert(self.queue.remove(0), end), None);
    }

    fn finish(&mut self) {
        // A candidate is checked and confirmed, with the tip, in a bounded number of runs.
        for _ in 0..10_000 {
            if !self.step(false) {
                for waiting in std::mem::take(&mut self.delayed) {
                    assert_eq!(self.ends.insert(waiting, End::BranchFails), None);
                }
                return;
            }
        }
        panic!("the lane does not come to an end: {self:?}");
    }

    fn with_candidates(count: u32) -> Self {
        let mut lane = Self { queue: (0..count).collect(), ..Self::default() };
        lane.runs.insert(Tree::new(), vec![true]);
        lane
    }

    fn ended(&self, end: End) -> Vec<u32> {
        self.ends.iter().filter(|(_, how)| **how == end).map(|(task, _)| *task).collect()
    }
}

#[derive(Debug, Clone)]
enum Move {
    Arrive,
    Step,
    Crash,
    /// A person forces the candidate at this place, by name.
    Force(usize),
    /// A person pushes to the branch.
    Push,
    /// The candidate at this place is cancelled.
    Withdraw(usize),
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        3 => Just(Move::Arrive),
        6 => Just(Move::Step),
        1 => Just(Move::Crash),
        1 => (0..8_usize).prop_map(Move::Force),
        1 => Just(Move::Push),
        1 => (0..8_usize).prop_map(Move::Withdraw),
    ]
}

/// Numbers of what people push, apart from those of candidates.
const PUSHED: u32 = 1_000;

proptest! {
    #[test]
    fn i18_whatever_happens_the_branch_moves_only_to_what_passed_and_every_candidate_ends(
        guilty in btree_set(0..40_u32, 0..6),
        pairs in vec((0..40_u32, 0..40_u32), 0..4),
        flaky in vec(btree_set(0..40_u32, 0..4), 0..4),
        moves in vec(moves(), 0..120),
    ) {
        let pairs = pairs.into_iter().filter(|(one, other)| one != other).collect();
        let mut lane = Lane { guilty, pairs, flaky: flaky.into_iter().collect(), ..Lane::default() };
        let (mut arrived, mut pushed, mut withdrawn) = (0, PUSHED, 0);
        for one in moves {
            match one {
                Move::Arrive => {
                    lane.queue.push(arrived);
                    arrived += 1;
                }
                Move::Step => drop(lane.step(false)),
                Move::Crash => drop(lane.step(true)),
                Move::Push => {
                    lane.branch.insert(pushed);
                    lane.return_delayed();
                    pushed += 1;
                }
                Move::Force(place) if place < lane.queue.len() => {
                    let forced = lane.queue.remove(place);
                    lane.branch.insert(forced);
                    lane.return_delayed();
                    lane.ends.insert(forced, End::Forced);
                }
                Move::Withdraw(place) if place < lane.queue.len() => {
                    lane.queue.remove(place);
                    withdrawn += 1;
                }
                Move::Force(_) | Move::Withdraw(_) => {}
            }
        }
        lane.finish();
        prop_assert_eq!(lane.ends.len() + withdrawn, arrived as usize);
        for landed in lane.ended(End::Landed).into_iter().chain(lane.ended(End::Forced)) {
            prop_assert!(lane.branch.contains(&landed));
        }
        for back in lane.ended(End::SentBack).into_iter().chain(lane.ended(End::BranchFails)) {
            prop_assert!(!lane.branch.contains(&back));
        }
    }

    #[test]
    fn one_culprit_is_found_in_few_extra_runs(count in 1..=16_u32, place in 0..16_u32) {
        let mut lane = Lane::with_candidates(count);
        lane.guilty.insert(place % count);
        while lane.ended(End::SentBack).is_empty() {
            prop_assert!(lane.step(false));
        }
        // Without a culprit one run is enough.
        let extra = lane.checked - 1;
        prop_assert!(extra <= count.next_power_of_two().trailing_zeros() as usize + 1, "{} runs for {}", extra, count);
        lane.finish();
        prop_assert_eq!(lane.ended(End::SentBack), vec![place % count]);
        prop_assert_eq!(lane.ended(End::Landed).len(), count as usize - 1);
    }

    #[test]
    fn two_culprits_are_both_found_and_the_rest_lands(one in 0..16_u32, other in 0..16_u32) {
        let mut lane = Lane::with_candidates(16);
        lane.guilty.extend([one, other]);
        lane.finish();
        prop_assert_eq!(lane.ended(End::SentBack), lane.guilty.iter().copied().collect::<Vec<_>>());
        prop_assert_eq!(lane.ended(End::Landed).len(), 16 - lane.guilty.len());
    }

    #[test]
    fn of_two_that_do_not_go_together_the_later_goes_back(one in 0..16_u32, other in 0..16_u32) {
        prop_assume!(one != other);
        let mut lane = Lane::with_candidates(16);
        lane.pairs.push((one, other));
        lane.finish();
        prop_assert_eq!(lane.ended(End::SentBack), vec![one.max(other)]);
    }

    #[test]
    fn a_flaky_check_is_run_again_and_blames_nobody(count in 1..=16_u32, flaky in vec(0..16_u32, 1..4)) {
        let mut lane = Lane::with_candidates(count);
        lane.flaky = flaky.iter().map(|last| (0..=*last % count).collect()).collect();
        lane.finish();
        prop_assert_eq!(lane.ended(End::Landed).len(), count as usize);
    }
}

/// A task in a lane, accepted like all others at the same time, so that its number and priority decide.
fn accepted(number: u32, priority: Priority) -> Task {
    let plain = spec(TaskType::Implementation, Depth::Original);
    let task = Task::create(TaskSpec { id: TaskId::from_bits(number), priority, ..plain });
    let done = drive(task, attempt(1, ended(ResultKind::Complete, "", evidence(1, 5))));
    drive(done, [Command::EnterLane { force: false }])
}

proptest! {
    /// Nothing lands before what it rests on, nothing that could land is left out, and nobody is overtaken for nothing.
    #[test]
    fn i18_a_lane_is_ordered_by_priority_and_by_what_rests_on_what(
        rows in vec((any::<bool>(), vec(0_u32..12, 0..3)), 1..10),
    ) {
        let unmet = |on: &[u32]| -> Vec<TaskId> { on.iter().map(|on| TaskId::from_bits(*on)).collect() };
        let members: Vec<LaneMember> = (0_u32..).zip(&rows).map(|(number, (is_urgent, on))| LaneMember {
            task: accepted(number, if *is_urgent { Priority::P1 } else { Priority::P2 }),
            unmet: unmet(on),
        }).collect();
        let needs: BTreeMap<TaskId, Vec<TaskId>> =
            members.iter().map(|member| (member.task.id(), member.unmet.clone())).collect();
        let LaneOrder { candidates, resting } = lane_order(members);
        prop_assert_eq!(candidates.len() + resting.len(), rows.len());
        let mut placed: BTreeSet<TaskId> = BTreeSet::new();
        for (at, task) in candidates.iter().enumerate() {
            prop_assert!(needs[&task.id()].iter().all(|on| placed.contains(on)));
            for later in &candidates[at + 1..] {
                let could_go = needs[&later.id()].iter().all(|on| placed.contains(on));
                let place = |task: &Task| (task.spec().priority, task.id());
                prop_assert!(!could_go || place(task) < place(later));
            }
            placed.insert(task.id());
        }
        for member in &resting {
            prop_assert!(!member.unmet.iter().all(|on| placed.contains(on)));
        }
    }
}
