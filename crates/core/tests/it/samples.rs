//! Tasks in every state, reached the way a real one would get there, and commands of every kind.

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{AttemptId, CycleId, QuestionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{NonBlank, Role};
use baton_core::base::time::Timestamp;
use baton_core::limits::budget::{BudgetMeasure, BudgetReached, BudgetScope};
use baton_core::people::actor::Actor;
use baton_core::people::owner_token::OwnerToken;
use baton_core::recycle::{Depth, RecycleReason};
use baton_core::task::attempt::{
    AgentSession, AttemptEnd, AttemptReport, AttemptResult, BlockReason, CheckResult, ErrorCause, Evidence,
    ResultKind, SessionUse,
};
use baton_core::task::met_commits::MetCommits;
use baton_core::task::not_landed::{MetTask, NotLanded};
use baton_core::task::revision::Revision;
use baton_core::task::state::StateName;
use baton_core::task::{Purpose, Task, TaskSpec};
use baton_core::transition::command::{Command, CommandContext, CommandName, FreshIds};

pub(crate) fn text(text: &str) -> NonBlank {
    NonBlank::new(text).unwrap()
}

pub(crate) fn actors() -> [Actor; 4] {
    [
        Actor::human("mia"),
        Actor::policy("nightly"),
        Actor::Agent { attempt: AttemptId::from_bits(1) },
        Actor::Baton,
    ]
}

pub(crate) fn context(actor: Actor) -> CommandContext {
    CommandContext {
        now: Timestamp::from_ms(1_000),
        actor,
        fresh: FreshIds { question: QuestionId::from_bits(0xF1), breakdown: TaskId::from_bits(0xF2) },
    }
}

pub(crate) fn spec(task_type: TaskType, depth: Depth) -> TaskSpec {
    TaskSpec {
        description: "It fails on Mondays.".to_owned(),
        depth,
        ..TaskSpec::new(
            TaskId::from_bits(0xA),
            "session".parse().unwrap(),
            task_type,
            text("Fix the login"),
            Timestamp::from_ms(10),
        )
    }
}

pub(crate) fn breakdown_spec(by_hand: bool) -> TaskSpec {
    let purpose = Purpose::Breakdown {
        replaces_task_id: Some(TaskId::from_bits(0xB)),
        reason: Some(RecycleReason::TooLarge),
        by_hand,
    };
    TaskSpec { purpose, role: Role::breakdown(), ..spec(TaskType::Implementation, Depth::BrokenDown) }
}

pub(crate) fn result(kind: ResultKind) -> AttemptResult {
    match kind {
        ResultKind::Complete => AttemptResult::Complete,
        ResultKind::Incomplete => AttemptResult::Incomplete,
        ResultKind::NoEvidence => AttemptResult::NoEvidence,
        ResultKind::NoChanges => AttemptResult::NoChanges { reason: "it was there already".to_owned() },
        ResultKind::Asked => AttemptResult::Asked {
            question: QuestionDraft::new(QuestionKind::Clarification, text("Which port should it use?")),
        },
        ResultKind::Blocked => AttemptResult::Blocked { reason: BlockReason::Unstated },
        ResultKind::SystemicError => {
            AttemptResult::Error { cause: ErrorCause::Systemic, message: "rate limit".to_owned() }
        }
        ResultKind::OwnError => {
            AttemptResult::Error { cause: ErrorCause::Own, message: "no such file".to_owned() }
        }
        ResultKind::TurnLimit => AttemptResult::TurnLimit,
        ResultKind::Stopped => AttemptResult::Stopped { reason: "stopped by you".to_owned() },
    }
}

pub(crate) const SAYS: &str = "The login works on every day of the week.";
pub(crate) const ASKS: &str = "Should Sunday count as a weekday?";

pub(crate) fn evidence(commits: u32, turns: u32) -> Evidence {
    Evidence { commits, turns, turns_max: 50, ..Evidence::default() }
}

pub(crate) fn ended(kind: ResultKind, output: &str, verified: Evidence) -> AttemptEnd {
    AttemptEnd { reported: AttemptReport::new(result(kind), output), verified }
}

/// Every kind of end that is judged differently.
pub(crate) fn ends() -> Vec<AttemptEnd> {
    let failed_check = CheckResult::new(text("test"), 1, "1 failed");
    let kinds_of_evidence = [
        evidence(0, 5),
        evidence(0, 45),
        evidence(2, 20),
        Evidence { uncommitted_changes: true, ..evidence(0, 50) },
        Evidence { checks: vec![failed_check], ..evidence(1, 5) },
    ];
    let mut ends = Vec::new();
    for kind in ResultKind::ALL {
        for output in ["", SAYS, ASKS] {
            for verified in &kinds_of_evidence {
                for plan_submitted in [false, true] {
                    let mut end = ended(kind, output, verified.clone());
                    end.reported.plan_submitted = plan_submitted;
                    ends.push(end);
                }
            }
        }
    }
    ends
}

/// Applies commands in turn, as a human.
pub(crate) fn drive(mut task: Task, commands: impl IntoIterator<Item = Command>) -> Task {
    for command in commands {
        task = task.apply(command, &context(Actor::human("mia"))).unwrap().task;
    }
    task
}

pub(crate) fn claim(number: u64) -> Command {
    Command::Claim {
        attempt: AttemptId::from_bits(number),
        agent: "scripted".parse().unwrap(),
        open_blockers: 0,
        worker: None,
    }
}

pub(crate) fn settle(number: u64, end: AttemptEnd) -> Command {
    Command::Settle { attempt: AttemptId::from_bits(number), end }
}

/// The secret of the attempt of this number, digested.
pub(crate) fn owner(number: u8) -> OwnerToken {
    OwnerToken::from_digest([number; OwnerToken::BYTES])
}

pub(crate) fn start(number: u8) -> Command {
    let attempt = AttemptId::from_bits(u64::from(number));
    Command::Start { attempt, cycle: CycleId::from_bits(u64::from(number)), owner: owner(number) }
}

pub(crate) fn note_session(number: u32) -> Command {
    let agent = "scripted".parse().unwrap();
    let session = AgentSession {
        agent,
        account: None,
        id: format!("session-{number}"),
        since: Timestamp::from_ms(1),
        is_full: false,
        used: SessionUse::default(),
    };
    Command::NoteSession { attempt: AttemptId::from_bits(u64::from(number)), session }
}

pub(crate) fn ask(number: u8) -> Command {
    let question = QuestionDraft::new(QuestionKind::Clarification, text("Which port should it use?"));
    Command::Ask { owner: owner(number), question }
}

/// One attempt from claim to end.
pub(crate) fn attempt(number: u64, end: AttemptEnd) -> [Command; 2] {
    [claim(number), settle(number, end)]
}

fn work_tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for task_type in TaskType::ALL {
        for depth in [Depth::Original, Depth::BrokenDown] {
            tasks.push(Task::create(spec(task_type, depth)));
        }
    }
    tasks
}

fn code_tasks() -> Vec<Task> {
    work_tasks().into_iter().filter(|task| task.spec().task_type == TaskType::Implementation).collect()
}

fn breakdown_task() -> Task {
    drive(Task::create(breakdown_spec(false)), [Command::Release])
}

fn held_task() -> Task {
    Task::create_held(spec(TaskType::Implementation, Depth::Original))
}

pub(crate) fn commit() -> CommitId {
    "0123456789abcdef0123456789abcdef01234567".parse().unwrap()
}

/// Every reason why work does not land.
pub(crate) fn not_landed() -> Vec<NotLanded> {
    let check = CheckResult::new(text("test"), 1, "1 failed");
    let met = vec![MetTask { task_id: TaskId::from_bits(0xE), title: text("Rename the login") }];
    let (into, checks) = (BranchName::integration(), vec![check]);
    let met_commits = vec![MetCommits {
        branch: "main".parse().unwrap(),
        from: commit(),
        to: commit(),
        subjects: vec!["0123456 Rename the login page".to_owned()],
    }];
    vec![
        NotLanded::ChecksFailed {
            into: into.clone(),
            commit: commit(),
            base: commit(),
            checks: checks.clone(),
            met: met.clone(),
            met_more: 0,
            met_commits: met_commits.clone(),
            failed_before: true,
            suite: Some("0123abcd".to_owned()),
            protected: vec!["tests/login.rs".to_owned()],
        },
        NotLanded::Conflict {
            into: into.clone(),
            files: vec!["src/login.rs".to_owned()],
            met,
            met_more: 2,
            met_commits,
        },
        NotLanded::Moved { verified: commit(), tip: commit() },
        NotLanded::ProvesNothing { base: commit(), commands: vec![NonBlank::new("cargo test").unwrap()] },
        NotLanded::RestsOnCancelled { task_id: TaskId::from_bits(0xE) },
        NotLanded::BranchFails { into: into.clone(), base: commit(), checks: checks.clone() },
        NotLanded::StartFails { into, base: commit(), checks, conflicts: vec!["src/login.rs".to_owned()] },
        NotLanded::StartWithdrawn { commits: vec!["0123456 Rename the login page".to_owned()] },
    ]
}

fn budget_question() -> QuestionDraft {
    BudgetReached { scope: BudgetScope::Task, measure: BudgetMeasure::Turns, used: 5, allowed: 5 }.question()
}

fn reject() -> Command {
    Command::Reject { reason: text("the tests are missing") }
}

/// Running: just claimed, started, asking, and answered.
fn claimed_tasks() -> Vec<Task> {
    let claimed = work_tasks().into_iter().chain([breakdown_task()]).map(|task| drive(task, [claim(1)]));
    let mut tasks: Vec<Task> = claimed.collect();
    for task in code_tasks().into_iter().chain([breakdown_task()]) {
        let at_work = drive(task, [claim(1), start(1)]);
        let asking = drive(at_work.clone(), [ask(1)]);
        let question = asking.pending_question().unwrap().id;
        let answered_by = AnsweredBy::human("mia");
        let answered = drive(asking.clone(), [Command::Reply { question, answer: text("80"), answered_by }]);
        tasks.extend([at_work, asking, answered]);
    }
    // One that must not be run again by itself.
    let danger = Task::create(spec(TaskType::DangerousOp, Depth::Original));
    tasks.push(drive(danger, [claim(1), start(1)]));
    // Those made for a run, told what to do and not.
    for description in ["Write the notes.", ""] {
        let plain = spec(TaskType::Implementation, Depth::Original);
        let for_run = TaskSpec { purpose: Purpose::Run, description: description.to_owned(), ..plain };
        tasks.push(drive(Task::create(for_run), [claim(1)]));
    }
    // A planner of what must not be run again by itself.
    let plans_danger = TaskSpec { task_type: TaskType::DangerousOp, ..breakdown_spec(false) };
    tasks.push(drive(drive(Task::create(plans_danger), [Command::Release]), [claim(1), start(1)]));
    tasks
}

/// Tasks in `state`, one for each variety that behaves differently.
#[expect(clippy::too_many_lines, reason = "one case for each state")]
pub(crate) fn in_state(state: StateName) -> Vec<Task> {
    let ready = || ended(ResultKind::Complete, SAYS, evidence(2, 20));
    let asked = || ended(ResultKind::Asked, "", evidence(0, 5));
    let tasks: Vec<Task> = match state {
        StateName::Incoming => work_tasks(),
        StateName::Held => {
            vec![held_task(), drive(held_task(), [Command::TakeOver { at_once: false }])]
        }
        StateName::Breakdown => {
            vec![Task::create(breakdown_spec(false)), Task::create(breakdown_spec(true)), breakdown_task()]
        }
        StateName::Claimed => claimed_tasks(),
        StateName::NeedsContinuation => {
            let limit = || ended(ResultKind::TurnLimit, "", evidence(1, 50));
            code_tasks().into_iter().map(|task| drive(task, attempt(1, limit()))).collect()
        }
        StateName::AwaitingResponse => {
            let escalated =
                code_tasks().into_iter().filter(|task| task.spec().depth == Depth::BrokenDown).map(|task| {
                    let burned = ended(ResultKind::TurnLimit, "", evidence(0, 50));
                    let task = drive(task, attempt(1, burned));
                    drive(task, [Command::Recycle { reason: RecycleReason::TooLarge }])
                });
            let waiting = work_tasks()
                .into_iter()
                .chain([breakdown_task()])
                .map(|task| drive(task, attempt(1, asked())));
            let words = || ended(ResultKind::Complete, SAYS, evidence(0, 5));
            let claims_success = code_tasks().into_iter().map(|task| drive(task, attempt(1, words())));
            let over_budget = code_tasks().into_iter().chain([breakdown_task()]).map(|task| {
                let mut end = asked();
                end.reported.result = AttemptResult::Asked { question: budget_question() };
                drive(task, attempt(1, end))
            });
            waiting.chain(escalated).chain(claims_success).chain(over_budget).collect()
        }
        StateName::Blocked => {
            let blocked = ended(ResultKind::Blocked, "", evidence(0, 5));
            vec![drive(Task::create(spec(TaskType::DangerousOp, Depth::Original)), attempt(1, blocked))]
        }
        StateName::Provisional => {
            let mut tasks = Vec::new();
            for task in code_tasks() {
                let once = drive(task.clone(), attempt(1, ready()));
                let conflicted =
                    drive(once.clone(), [Command::ReportConflict { detail: text("src/login.rs") }]);
                let thrice = drive(
                    once.clone(),
                    [reject()]
                        .into_iter()
                        .chain(attempt(2, ready()))
                        .chain([reject()])
                        .chain(attempt(3, ready())),
                );
                tasks.push(drive(conflicted, attempt(2, ready())));
                tasks.extend([once, thrice]);
                for kind in [ResultKind::TurnLimit, ResultKind::NoChanges] {
                    tasks.push(drive(task.clone(), attempt(1, ended(kind, "", evidence(0, 5)))));
                }
            }
            let mut planned = ended(ResultKind::Complete, SAYS, evidence(0, 5));
            planned.reported.plan_submitted = true;
            let once = drive(breakdown_task(), attempt(1, planned.clone()));
            let again = |task: Task, number| {
                drive(task, [reject(), Command::Release].into_iter().chain(attempt(number, planned.clone())))
            };
            let thrice = again(again(once.clone(), 2), 3);
            tasks.extend([once, thrice]);
            tasks
        }
        StateName::Landing => {
            let mut tasks = Vec::new();
            for task in code_tasks() {
                let once = drive(task.clone(), attempt(1, ready()));
                let conflicted =
                    drive(once.clone(), [Command::ReportConflict { detail: text("src/login.rs") }]);
                let again = drive(conflicted, attempt(2, ready()));
                let thrice = drive(
                    once.clone(),
                    [reject()]
                        .into_iter()
                        .chain(attempt(2, ready()))
                        .chain([reject()])
                        .chain(attempt(3, ready())),
                );
                tasks.extend(
                    [once, again, thrice].map(|task| drive(task, [Command::EnterLane { force: false }])),
                );
            }
            tasks
        }
        StateName::Recycled => {
            let burned = ended(ResultKind::TurnLimit, "", evidence(0, 50));
            let task =
                drive(Task::create(spec(TaskType::Implementation, Depth::Original)), attempt(1, burned));
            let planning = drive(task, [Command::Recycle { reason: RecycleReason::TooLarge }]);
            let replaced = drive(planning.clone(), [Command::Replace { by: vec![TaskId::from_bits(0xC)] }]);
            vec![planning, replaced]
        }
        StateName::Done => {
            let accepted = attempt(1, ready()).into_iter().chain([Command::Accept { force: false }]);
            let reported = ended(ResultKind::Complete, SAYS, evidence(0, 3));
            vec![
                drive(Task::create(spec(TaskType::Implementation, Depth::Original)), accepted),
                drive(Task::create(spec(TaskType::Report, Depth::Original)), attempt(1, reported)),
            ]
        }
        StateName::Failed => {
            let failed = || ended(ResultKind::OwnError, "", evidence(0, 5));
            let all = work_tasks().into_iter().chain([breakdown_task()]);
            let failed = all.map(|task| drive(task, attempt(1, failed())));
            let marked = Command::MarkFailed { reason: text("it does not work") };
            failed.chain([drive(held_task(), [marked])]).collect()
        }
        StateName::Cancelled => {
            let all = work_tasks().into_iter().chain([breakdown_task()]);
            all.map(|task| drive(task, [Command::Cancel { reason: None }])).collect()
        }
    };
    for task in &tasks {
        assert_eq!(task.state().name(), state);
    }
    tasks
}

/// Commands of one kind, right and wrong ones, for a task as it stands.
pub(crate) fn commands(name: CommandName, task: &Task) -> Vec<Command> {
    let stranger = AttemptId::from_bits(999);
    let live = task.state().live_attempt().map_or(stranger, |attempt| attempt.id);
    let pending = task.pending_question().map_or(QuestionId::from_bits(9), |question| question.id);
    match name {
        CommandName::Claim => {
            let waiting = Command::Claim {
                attempt: AttemptId::from_bits(7),
                agent: "scripted".parse().unwrap(),
                open_blockers: 1,
                worker: None,
            };
            vec![claim(7), waiting]
        }
        CommandName::Start => vec![start(1), start(2)],
        CommandName::NoteSession => vec![note_session(1), note_session(2)],
        CommandName::TakeOver => [true, false].map(|at_once| Command::TakeOver { at_once }).to_vec(),
        CommandName::HandBack => [true, false].map(|is_done| Command::HandBack { is_done }).to_vec(),
        CommandName::LeaveRun => vec![Command::LeaveRun],
        CommandName::AddMessage => vec![Command::AddMessage { number: 2, text: text("Use port 80.") }],
        CommandName::NoteDelivery => {
            [live, stranger].map(|attempt| Command::NoteDelivery { attempt, number: 2 }).to_vec()
        }
        CommandName::Ask => vec![ask(1), ask(2)],
        CommandName::Settle => {
            let mine = ends().into_iter().map(|end| Command::Settle { attempt: live, end });
            let late =
                Command::Settle { attempt: stranger, end: ended(ResultKind::Complete, SAYS, evidence(1, 1)) };
            mine.chain([late]).collect()
        }
        CommandName::ExpireLease => {
            vec![Command::ExpireLease { attempt: live }, Command::ExpireLease { attempt: stranger }]
        }
        CommandName::Reply => {
            let answers = ["SPLIT", "RETRY", "CANCEL", "YES", "NO", "STOP", "ENOUGH", "Port 80, please."];
            let sources = [AnsweredBy::human("mia"), AnsweredBy::Queued, AnsweredBy::Expiry];
            let mut replies = Vec::new();
            for question in [pending, QuestionId::from_bits(9)] {
                for answer in answers {
                    for answered_by in sources.clone() {
                        replies.push(Command::Reply { question, answer: text(answer), answered_by });
                    }
                }
            }
            replies
        }
        CommandName::FailClosed => {
            vec![Command::FailClosed { question: pending, reason: text("nobody was there") }]
        }
        CommandName::Accept => vec![Command::Accept { force: false }, Command::Accept { force: true }],
        CommandName::Reject => vec![reject()],
        CommandName::Recycle => vec![
            Command::Recycle { reason: RecycleReason::TooLarge },
            Command::Recycle { reason: RecycleReason::CumulativeFailures },
        ],
        CommandName::ReportConflict => vec![Command::ReportConflict { detail: text("src/login.rs") }],
        CommandName::EnterLane => {
            vec![Command::EnterLane { force: false }, Command::EnterLane { force: true }]
        }
        CommandName::Land => vec![Command::Land { commit: commit(), verified: Vec::new(), evidence: None }],
        CommandName::ForceLand => {
            vec![
                Command::ForceLand {
                    commit: Some(commit()),
                    withdrawn: vec!["0123456 Rename the login page".to_owned()],
                },
                Command::ForceLand { commit: None, withdrawn: Vec::new() },
            ]
        }
        CommandName::DelayLanding => {
            let reasons = not_landed().into_iter().filter(NotLanded::is_delay);
            reasons.map(|reason| Command::DelayLanding { reason: Box::new(reason) }).collect()
        }
        CommandName::SendBack => {
            not_landed().into_iter().map(|reason| Command::SendBack { reason: Box::new(reason) }).collect()
        }
        CommandName::Release => vec![Command::Release],
        CommandName::Hold => vec![Command::Hold { reason: text("stopped by you") }],
        CommandName::MarkFailed => vec![Command::MarkFailed { reason: text("it does not work") }],
        CommandName::SubmitPlan => vec![Command::SubmitPlan],
        CommandName::ApprovePlan => vec![Command::ApprovePlan],
        CommandName::Replace => {
            vec![Command::Replace { by: vec![] }, Command::Replace { by: vec![TaskId::from_bits(0xC)] }]
        }
        CommandName::Retry => vec![Command::Retry],
        CommandName::Cancel => {
            vec![Command::Cancel { reason: None }, Command::Cancel { reason: Some(text("changed my mind")) }]
        }
        CommandName::Revise => vec![Command::Revise {
            revision: Revision { title: Some(text("Fix the log-in")), ..Revision::default() },
        }],
    }
}
