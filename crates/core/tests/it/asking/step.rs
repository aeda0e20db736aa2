//! What can happen on a walk, chosen at random.

use baton_core::ask::question::QuestionKind;
use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::phase::handoff::{NamedTask, PhaseResults};
use baton_core::phase::{Phase, PhaseStart};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    Owner,
    /// The owner of the cycle before: the agent of a phase that is over.
    Former,
    Stranger,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Which {
    Pending,
    Former,
    Unknown,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Start(PhaseStart),
    Ask {
        who: Who,
        kind: QuestionKind,
        topic: u8,
        id_used_before: bool,
    },
    Propose {
        titles: Vec<u8>,
    },
    Answer {
        which: Which,
        says: Says,
        by: By,
    },
    AnswerGate {
        which: Which,
        says: Says,
        by: By,
        results_fit: bool,
        fresh: bool,
    },
    BreakOff {
        with_results: bool,
    },
    /// The owner asks the gate and the person answers yes, so that walks make progress.
    PassGate,
    TakeOver,
    /// A task of that title was finished elsewhere and is no longer open.
    Finish {
        title: u8,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Says {
    Yes,
    No,
    Edit,
    Words,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Human,
    Queued,
    Policy,
    Expiry,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let who = prop_oneof![6 => Just(Who::Owner), 1 => Just(Who::Former), 1 => Just(Who::Stranger)];
    let which =
        || prop_oneof![6 => Just(Which::Pending), 1 => Just(Which::Former), 1 => Just(Which::Unknown)];
    let says = || prop_oneof![4 => Just(Says::Yes), 2 => Just(Says::No), 1 => Just(Says::Edit), 2 => Just(Says::Words)];
    let by = || {
        prop_oneof![
            4 => Just(By::Human),
            1 => Just(By::Queued),
            1 => Just(By::Policy),
            1 => Just(By::Expiry)
        ]
    };
    let kind = prop_oneof![2 => Just(QuestionKind::Gate), 3 => prop::sample::select(&QuestionKind::ALL[..])];
    let mostly = || prop::bool::weighted(0.9);
    prop_oneof![
        2 => prop::sample::select(&PhaseStart::ALL[..]).prop_map(Step::Start),
        8 => (who, kind, 0u8..6, prop::bool::weighted(0.05))
            .prop_map(|(who, kind, topic, id_used_before)| Step::Ask { who, kind, topic, id_used_before }),
        2 => prop::collection::vec(0u8..12, 1..5).prop_map(|titles| Step::Propose { titles }),
        6 => (which(), says(), by()).prop_map(|(which, says, by)| Step::Answer { which, says, by }),
        6 => (which(), says(), by(), mostly(), mostly()).prop_map(|(which, says, by, results_fit, fresh)| {
            Step::AnswerGate { which, says, by, results_fit, fresh }
        }),
        3 => Just(Step::PassGate),
        1 => any::<bool>().prop_map(|with_results| Step::BreakOff { with_results }),
        1 => Just(Step::TakeOver),
        1 => (0u8..12).prop_map(|title| Step::Finish { title }),
    ]
}

pub(super) fn text(words: &str) -> NonBlank {
    NonBlank::new(words).unwrap()
}

/// Twelve spellings of four tasks.
pub(super) fn title(number: u8) -> String {
    let task = ["Fix parser", "Add docs", "Trim logs", "Sort ids"][usize::from(number % 4)];
    match number / 4 {
        0 => task.to_owned(),
        1 => format!(" {}!", task.to_uppercase()),
        _ => task.to_lowercase().replace(' ', " - "),
    }
}

pub(super) fn results_of(phase: Phase) -> PhaseResults {
    let named = |number| NamedTask { id: TaskId::from_bits(number), title: text("a subtask") };
    match phase {
        Phase::Hub => PhaseResults::Started,
        Phase::Plan => PhaseResults::Planned { subtasks: vec![named(1), named(2)] },
        Phase::Execute => {
            PhaseResults::Executed { completed: vec![named(1)], failed: vec![named(2)], left_out: Vec::new() }
        }
        Phase::Review => PhaseResults::Reviewed { discovered: 2, duplicates_skipped: 1 },
    }
}
