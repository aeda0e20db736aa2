//! I6 to I9 over random walks of a loop: owners and strangers ask, people and policies answer, phases hand
//! off, the human aborts, and the state is serialized at any moment.

mod answering;
mod step;
mod walk;

use proptest::prelude::*;

use step::step;
use walk::Walk;

const SEQUENCES: u32 = 10_000;
const STEPS_MAX: usize = 200;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(SEQUENCES))]

    #[test]
    fn i6_i7_i8_i9_hold_on_every_walk(
        steps in prop::collection::vec((step(), prop::bool::weighted(0.2)), 1..STEPS_MAX),
    ) {
        let mut walk = Walk::new();
        for (step, goes_through_json) in &steps {
            if *goes_through_json {
                walk.through_json();
            }
            walk.take(step);
        }
    }
}

/// The walks above would prove little if they rarely got far.
#[test]
fn the_walks_reach_every_part_of_the_loop() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let walks = prop::collection::vec(step(), STEPS_MAX);
    let (mut handoffs, mut answers, mut created, mut skipped) = (0, 0, 0, 0);
    let mut iterations = 0;
    for _ in 0..200 {
        let mut walk = Walk::new();
        for step in walks.new_tree(&mut runner).unwrap().current() {
            walk.take(&step);
            iterations = iterations.max(walk.at.iteration());
        }
        handoffs += walk.handoffs;
        answers += walk.answered.len();
        created += walk.created;
        skipped += walk.skipped;
    }
    let reached = format!("{handoffs} {answers} {created} {skipped} {iterations}");
    assert!(
        handoffs > 1_000 && answers > 1_000 && created > 50 && skipped > 10 && iterations > 2,
        "{reached}"
    );
}
