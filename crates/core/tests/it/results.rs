//! Every (type of task, reported result) pair, under every kind of evidence that changes the answer.

use baton_core::ask::detection::asks;
use baton_core::ask::fallback::Fallback;
use baton_core::base::task_type::{Deliverable, TaskType};
use baton_core::task::attempt::{
    AttemptEnd, AttemptReport, AttemptResult, BlockReason, Evidence, ResultKind,
};
use baton_core::task::finding::WorkFinding;
use baton_core::task::guard::{AttemptVerdict, Judgement, judge, judge_breakdown, judge_run};
use baton_core::task::state::ReviewMark;
use proptest::prelude::*;

use crate::samples::{ASKS, SAYS, ended, ends, evidence};

/// The evidence that changes an answer, by column: what the agent wrote, and whether git shows work.
/// The last column is an attempt that used 45 of its 50 turns.
const COLUMNS: [(&str, u32, u32); 6] =
    [(SAYS, 0, 5), (ASKS, 0, 5), ("", 0, 5), (SAYS, 2, 5), (ASKS, 2, 5), (SAYS, 0, 45)];

/// One letter per verdict, for the tables below.
fn letter(verdict: &AttemptVerdict) -> char {
    match verdict {
        AttemptVerdict::Done => 'D',
        AttemptVerdict::Provisional { mark: ReviewMark::Ready, .. } => 'P',
        AttemptVerdict::Provisional { mark: ReviewMark::NoChanges { .. }, .. } => 'N',
        AttemptVerdict::Provisional { mark: ReviewMark::BurnedOut, .. } => 'B',
        AttemptVerdict::Provisional { mark: ReviewMark::NotConverging, .. } => '!',
        AttemptVerdict::Provisional { mark: ReviewMark::NeedsReview { .. }, .. } => '?',
        AttemptVerdict::Provisional { mark: ReviewMark::Plan, .. } => 'L',
        AttemptVerdict::Await { .. } => 'A',
        AttemptVerdict::Block { .. } => 'K',
        AttemptVerdict::Continue => 'C',
        AttemptVerdict::Requeue { reason } if reason.is_blamed() => 'R',
        AttemptVerdict::Requeue { .. } => 'S',
        AttemptVerdict::Fail { .. } => 'F',
        AttemptVerdict::Stop { .. } => 'H',
    }
}

/// The specified behaviour, written by hand and independent of the code.
///
/// Columns: says, asks, silent, says + commits, asks + commits, says + burned out.
/// D done · P provisional · N provisional, no changes · B provisional, burned out · A awaiting response ·
/// K blocked · C continues · R back, blamed · S back, not blamed · F failed ·
/// H held · ? provisional, needs review.
const fn promised(deliverable: Deliverable, result: ResultKind) -> &'static str {
    match (deliverable, result) {
        (
            Deliverable::Output,
            ResultKind::Complete
            | ResultKind::Incomplete
            | ResultKind::NoEvidence
            | ResultKind::NoChanges
            | ResultKind::TurnLimit,
        ) => "DAADAD",
        (Deliverable::Output, ResultKind::Blocked) => "AAAAAA",
        // I22: what somebody stopped continues only when a person says so.
        (Deliverable::Output, ResultKind::Stopped) => "HHHHHH",
        (Deliverable::Code | Deliverable::Danger, ResultKind::Stopped) => "HHH??H",

        // Whether words are enough is for a person to say.
        (Deliverable::Code, ResultKind::Complete | ResultKind::NoEvidence) => "AARPPB",
        (Deliverable::Code, ResultKind::Incomplete) => "AAACPA",
        (Deliverable::Code, ResultKind::NoChanges) => "NNNPPB",
        (Deliverable::Code, ResultKind::Blocked) => "AAAAAA",
        (Deliverable::Code, ResultKind::TurnLimit) => "BBBCCB",

        (Deliverable::Danger, ResultKind::Complete) => "NAAPAB",
        (Deliverable::Danger, ResultKind::Incomplete | ResultKind::NoEvidence | ResultKind::TurnLimit) => {
            "AAAAAA"
        }
        (Deliverable::Danger, ResultKind::NoChanges) => "NNNPPB",
        (Deliverable::Danger, ResultKind::Blocked) => "KKKKKK",

        (Deliverable::Output | Deliverable::Code | Deliverable::Danger, ResultKind::Asked) => "AAAAAA",
        (Deliverable::Output | Deliverable::Code | Deliverable::Danger, ResultKind::SystemicError) => {
            "SSSSSS"
        }
        (Deliverable::Output | Deliverable::Code | Deliverable::Danger, ResultKind::OwnError) => "FFFFFF",
    }
}

fn verdict(task_type: TaskType, result: ResultKind, column: (&str, u32, u32)) -> Judgement {
    let (output, commits, turns) = column;
    judge(task_type, &ended(result, output, evidence(commits, turns)))
}

#[test]
fn every_pair_of_type_and_result_ends_as_promised() {
    for task_type in TaskType::ALL {
        for result in ResultKind::ALL {
            let row: String =
                COLUMNS.iter().map(|column| letter(&verdict(task_type, result, *column).verdict)).collect();
            assert_eq!(row, promised(task_type.deliverable(), result), "{task_type} × {result:?}");
        }
    }
}

/// A task made for a run: with commits it is judged as code, otherwise as output. None of its work is lost.
#[test]
fn a_task_created_for_a_run_is_judged_by_its_evidence() {
    for result in ResultKind::ALL {
        let row: String = COLUMNS
            .iter()
            .map(|&(output, commits, turns)| {
                let end = ended(result, output, evidence(commits, turns));
                letter(&judge_run(&end).verdict)
            })
            .collect();
        let (output, code) = (promised(Deliverable::Output, result), promised(Deliverable::Code, result));
        assert_eq!(row, format!("{}{}{}", &output[..3], &code[3..5], &output[5..]), "{result:?}");
    }
}

/// A new result or type does not compile here until it is in the list the table is built from.
#[test]
fn the_lists_of_types_and_results_are_complete() {
    for (place, result) in ResultKind::ALL.into_iter().enumerate() {
        let expected = match result {
            ResultKind::Complete => 0,
            ResultKind::Incomplete => 1,
            ResultKind::NoEvidence => 2,
            ResultKind::NoChanges => 3,
            ResultKind::Asked => 4,
            ResultKind::Blocked => 5,
            ResultKind::SystemicError => 6,
            ResultKind::OwnError => 7,
            ResultKind::TurnLimit => 8,
            ResultKind::Stopped => 9,
        };
        assert_eq!(place, expected);
    }
    for (place, task_type) in TaskType::ALL.into_iter().enumerate() {
        let expected = match task_type {
            TaskType::ReadInfo => 0,
            TaskType::Report => 1,
            TaskType::LightEdit => 2,
            TaskType::Implementation => 3,
            TaskType::ReviewResponse => 4,
            TaskType::ConfigCiChange => 5,
            TaskType::DangerousOp => 6,
        };
        assert_eq!(place, expected);
    }
}

#[test]
fn i1_a_waiting_task_has_a_question_that_its_output_asks() {
    for task_type in TaskType::ALL {
        for end in ends() {
            let Judgement { verdict, output } = judge(task_type, &end);
            if let AttemptVerdict::Await { question } | AttemptVerdict::Block { question } = verdict {
                assert!(!question.text.as_str().trim().is_empty());
                assert!(asks(&output), "{task_type}: {output:?}");
            }
        }
    }
}

#[test]
fn i2_only_a_dangerous_operation_is_ever_blocked() {
    for task_type in TaskType::ALL {
        for end in ends() {
            let is_blocked = matches!(judge(task_type, &end).verdict, AttemptVerdict::Block { .. });
            assert!(!is_blocked || task_type == TaskType::DangerousOp, "{task_type}");
        }
    }
}

#[test]
fn a_silent_block_gets_the_question_that_fits_its_reason() {
    let cases = [
        (TaskType::Report, BlockReason::Unstated, Fallback::Default),
        (TaskType::Implementation, BlockReason::Unstated, Fallback::Implementation),
        (TaskType::Implementation, BlockReason::Other("disk".to_owned()), Fallback::Implementation),
        (TaskType::Implementation, BlockReason::Timeout, Fallback::Timeout),
        (TaskType::LightEdit, BlockReason::InteractivePrompt, Fallback::Interactive),
        (TaskType::Implementation, BlockReason::Other("STDIN_REQUIRED".to_owned()), Fallback::Interactive),
        (TaskType::DangerousOp, BlockReason::Unstated, Fallback::Dangerous),
    ];
    for (task_type, reason, fallback) in cases {
        let mut end = ended(ResultKind::Blocked, " \n", evidence(0, 5));
        end.reported.result = AttemptResult::Blocked { reason: reason.clone() };
        let judged = judge(task_type, &end);
        assert_eq!(judged.output, fallback.question_after(Some(0)).text.as_str(), "{task_type} {reason:?}");
    }
}

#[test]
fn the_question_about_a_dangerous_operation_says_who_stopped_it() {
    let mut end = ended(ResultKind::Blocked, "", evidence(0, 5));
    end.reported.result = AttemptResult::Blocked { reason: BlockReason::Timeout };
    let timed_out = judge(TaskType::DangerousOp, &end);
    assert_eq!(
        letter(&timed_out.verdict),
        letter(&judge(TaskType::DangerousOp, &ended(ResultKind::Blocked, "", evidence(0, 5))).verdict)
    );
    assert!(timed_out.output.contains("Baton stopped its agent, which has reached its time limit."));
    let turns = judge(TaskType::DangerousOp, &ended(ResultKind::TurnLimit, "", evidence(0, 50)));
    assert!(
        turns.output.contains("Baton stopped its agent, which has used up its turns."),
        "{}",
        turns.output
    );
}

#[test]
fn an_output_without_a_question_gets_one_appended() {
    let judged =
        judge(TaskType::Implementation, &ended(ResultKind::Blocked, "I cannot go on.", evidence(0, 5)));
    assert!(judged.output.starts_with("I cannot go on.\n\nこのタスクを実行するために"), "{}", judged.output);
}

#[test]
fn a_breakdown_delivers_a_plan_or_says_why_not() {
    let planned = |kind, is_planned: bool, output, turns| {
        let mut end = ended(kind, output, evidence(0, turns));
        end.reported.plan_submitted = is_planned;
        letter(&judge_breakdown(&end).verdict)
    };
    let mut rows = Vec::new();
    for kind in ResultKind::ALL {
        let row: String = [
            planned(kind, true, SAYS, 5),
            planned(kind, false, SAYS, 5),
            planned(kind, false, ASKS, 5),
            planned(kind, false, SAYS, 45),
        ]
        .into_iter()
        .collect();
        rows.push(format!("{kind:?}: {row}"));
    }
    insta::assert_snapshot!(rows.join("\n"), @r"
    Complete: LRAB
    Incomplete: LRAB
    NoEvidence: LRAB
    NoChanges: LRAB
    Asked: AAAA
    Blocked: LAAA
    SystemicError: SSSS
    OwnError: FFFF
    TurnLimit: LBBB
    Stopped: LAAA
    ");
}

proptest! {
    /// I15: whatever the agent writes about commits, only what Baton counted decides.
    #[test]
    fn i15_claims_in_the_output_do_not_make_work(claim in "[a-zA-Z0-9 .]{1,80}", commits in 1_u32..99) {
        let boast = format!("{claim}. I made {commits} commits.");
        let judged = judge(TaskType::Implementation, &ended(ResultKind::Complete, &boast, evidence(0, 5)));
        prop_assert_eq!(letter(&judged.verdict), 'A');
    }

    /// The guard is total: any output at all is judged, and I1 holds for it.
    #[test]
    fn any_output_is_judged(output in any::<String>(), kind in 0_usize..10, task_type in 0_usize..7, commits in 0_u32..3, turns in 0_u32..60) {
        let judged = judge(TaskType::ALL[task_type], &ended(ResultKind::ALL[kind], &output, evidence(commits, turns)));
        if let AttemptVerdict::Await { question } | AttemptVerdict::Block { question } = judged.verdict {
            prop_assert!(!question.text.as_str().trim().is_empty());
        }
    }
}

#[test]
fn work_with_a_finding_that_needs_a_person_is_not_ready() {
    let unfinished = WorkFinding::Unfinished { operation: "merge".to_owned() };
    let moved = WorkFinding::BranchMoved { name: "refs/heads/main".to_owned() };
    for (findings, expected) in [(vec![moved.clone()], 'P'), (vec![moved, unfinished], '?')] {
        let verified = Evidence { commits: 1, findings, ..Evidence::default() };
        let end = AttemptEnd { reported: AttemptReport::new(AttemptResult::Complete, "Done."), verified };
        assert_eq!(letter(&judge(TaskType::Implementation, &end).verdict), expected);
    }
}
