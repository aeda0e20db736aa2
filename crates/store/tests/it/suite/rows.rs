//! Rows round-trip, and a change is atomic.

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{AttachmentId, AttemptId, ProjectId, QuestionId, RoutineId, RunId, SessionId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::landing::verdict::{CheckRun, Verdict, VerdictKey};
use baton_core::limits::hold::{Hold, HoldReason};
use baton_core::limits::spending::{Spending, SpendingAccount, SpendingAmount};
use baton_core::people::access_token::AccessToken;
use baton_core::people::actor::Actor;
use baton_core::people::owner_token::OwnerToken;
use baton_core::people::role::PersonRole;
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::recipe::run::Run;
use baton_core::recipe::{Recipe, RecipeDraft};
use baton_core::records::attachment::{AttachedFile, Attachment};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::project::Project;
use baton_core::records::receipt::{Receipt, ReceiptKey, RequestedWork};
use baton_core::records::session::{PostedMessage, Session, TaskRequest};
use baton_core::recycle::plan::{ItemDraft, Plan, PlanDraft};
use baton_core::recycle::plan_record::PlanRecord;
use baton_core::routine::cause::Cause;
use baton_core::routine::schedule::Schedule;
use baton_core::routine::{CatchUp, Overlap, Routine, RoutineRun, RoutineState, RoutineTask, Trigger};
use baton_core::task::attempt::{Attempt, CheckResult};
use baton_core::task::attempt_record::AttemptRecord;
use baton_core::transition::command::Command;
use baton_store::model::commit::Conflict;
use baton_store::model::query::{Cursor, RunFilter};
use baton_store::model::record_kind::RecordKind;
use baton_store::{Backend, StoreError};
use serde_json::json;

use super::Fixture;
use super::make::{agent, at, claim_one, conflict, created, human, load, task_id, text, transition, write};

fn project(number: u32) -> Project {
    Project {
        id: ProjectId::from_bits(number),
        title: text("Share links"),
        description: "With 'quotes' and \u{1F3B5}".to_owned(),
        path: "/src/app".to_owned(),
        base_branch: "main".parse().unwrap(),
        feature_branch: None,
        remote: None,
        at_once_max: None,
        created_at: at(5),
        completed_at: None,
    }
}

/// A project with its own limit.
pub(crate) fn limited_project() -> Project {
    Project { at_once_max: Some(2), ..project(2) }
}

fn session_id() -> SessionId {
    "chat".parse().unwrap()
}

fn posted(session: &Session, number: u32) -> PostedMessage {
    let request = TaskRequest {
        task_id: task_id(number),
        task_type: TaskType::ReadInfo,
        priority: Priority::P2,
        recipe: None,
    };
    session.post(text("What is this?\nSay it."), request, &Actor::human("mia"), at(6))
}

fn attempt() -> AttemptRecord {
    let attempt = Attempt {
        worker: Some("build-7".to_owned()),
        id: AttemptId::from_bits(u64::MAX),
        number: 1,
        agent: agent("codex"),
        started_at: at(1),
        resumes: None,
        agent_session: None,
    };
    AttemptRecord::new(task_id(7), attempt, None)
}

fn question() -> QuestionRecord {
    let question =
        QuestionDraft::new(QuestionKind::Clarification, text("Which one?")).with_id(QuestionId::from_bits(9));
    QuestionRecord {
        question,
        session_id: session_id(),
        task_id: None,
        asked_at: at(3),
        state: QuestionState::Pending,
    }
}

const fn first_of<T>(value: T) -> Versioned<T> {
    Versioned { version: 1, value }
}

fn hold() -> Hold {
    Hold::new(agent("codex"), HoldReason::RateLimit, "429", at(3), Some(at(9)))
}

pub(crate) fn token() -> AccessToken {
    AccessToken {
        name: "ada".parse().unwrap(),
        role: PersonRole::Responder,
        digest: OwnerToken::from_digest([1; 32]),
        browser_digest: OwnerToken::from_digest([2; 32]),
        created_at: at(3),
        created_by: Actor::human("mia"),
        expires_at: Some(at(9)),
        revoked: None,
    }
}

pub(crate) fn verdict() -> Verdict {
    let commit: CommitId = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let name = NonBlank::new("test").unwrap();
    let passed = CheckResult::new(name, 0, "ok");
    Verdict {
        key: VerdictKey {
            tree: commit.clone(),
            suite: "0a1b".to_owned(),
            environment: "linux-x86_64".to_owned(),
        },
        into: BranchName::integration(),
        commit: commit.clone(),
        base: commit,
        subject: baton_core::landing::verdict::VerdictSubject::Candidate,
        suite_from: None,
        runs: vec![CheckRun { started_at: at(4), duration_ms: 12, results: vec![passed] }],
    }
}

pub(crate) fn attachment(number: u64) -> Attachment {
    Attachment {
        id: AttachmentId::from_bits(number),
        session_id: session_id(),
        file: AttachedFile::from_bytes("shot.png", &[0, 255]).unwrap(),
        at: at(i64::try_from(number).unwrap()),
    }
}

fn routine(number: u32) -> Routine {
    Routine {
        id: RoutineId::from_bits(number),
        task: RoutineTask {
            title: text("Update dependencies"),
            description: String::new(),
            project_id: None,
            task_type: TaskType::Implementation,
            priority: Priority::P2,
            recipe: None,
        },
        trigger: Trigger::Time {
            schedule: Schedule::every("Mon 06:00").unwrap(),
            time_zone: text("Europe/Berlin"),
            catch_up: CatchUp::All,
        },
        overlap: Overlap::Queue,
        state: RoutineState::Active,
        created_at: at(i64::from(number)),
        created_by: Actor::human("mia"),
        next_at: Some(at(9)),
        waiting: vec![Cause::Instant { at: at(8) }],
        last: Some(RoutineRun { cause: Cause::Instant { at: at(7) }, task_id: task_id(1), at: at(7) }),
        run_count: 1,
        skipped_count: 2,
    }
}

fn spending() -> Spending {
    Spending {
        account: SpendingAccount::Day(5),
        amount: SpendingAmount { turns: 7, ..SpendingAmount::default() },
    }
}

fn plan() -> PlanRecord {
    let draft = PlanDraft { items: vec![ItemDraft { title: "First".to_owned(), ..ItemDraft::default() }] };
    let plan = Plan::check(draft).unwrap();
    PlanRecord { task_id: task_id(7), plan, submitted_by: Actor::Baton, submitted_at: at(4) }
}

fn recipe_run() -> Run {
    let draft: RecipeDraft = serde_json::from_value(json!({
        "id": "one-step", "label": "One step", "description": "Does one thing", "initial_step": "work",
        "steps": { "work": {
            "prompt": "Do it.",
            "outcomes": ["complete", "other"],
            "on_outcome": { "complete": {"exit": "task-committed"}, "other": {"exit": "user-provided-other"} }
        } }
    }))
    .unwrap();
    Run::start(RunId::from_bits(3), &Recipe::check(draft).unwrap(), session_id(), None)
}

/// A run in this session, started at this time.
fn run_in(bits: u32, session: &str, started: i64) -> Run {
    let json = serde_json::to_value(recipe_run()).unwrap();
    let mut json = json.as_object().unwrap().clone();
    json.insert("id".to_owned(), json!(RunId::from_bits(bits)));
    json.insert("session".to_owned(), json!(session));
    let run: Run = serde_json::from_value(json.into()).unwrap();
    run.begin_at(at(started))
}

pub(crate) async fn runs_are_listed_newest_first_by_session_and_state<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let over = run_in(5, "other", 5).exit(ExitReason::user_requested()).unwrap().0;
    let mut change = Change::new();
    for run in [run_in(1, "one", 1), run_in(2, "one", 3), run_in(3, "other", 3), over] {
        change = change.put(Record::Run(Box::new(run)), WriteGuard::New);
    }
    write(&store, change).await;
    let ids = async |filter: RunFilter, cursor: Option<Cursor>, limit: u32| {
        let page = store.runs(&filter, cursor, limit).await.unwrap();
        let ids: Vec<u32> = page.items.iter().map(|run| run.value.id().bits()).collect();
        (ids, page.next)
    };
    let (first, next) = ids(RunFilter::default(), None, 3).await;
    assert_eq!(first, [5, 3, 2]);
    assert_eq!(ids(RunFilter::default(), next, 3).await, (vec![1], None));
    let one = RunFilter { session: Some("one".parse().unwrap()), is_open: None };
    assert_eq!(ids(one, None, 10).await, (vec![2, 1], None));
    let open = RunFilter { session: Some("other".parse().unwrap()), is_open: Some(true) };
    assert_eq!(ids(open, None, 10).await, (vec![3], None));
    let ended = RunFilter { session: None, is_open: Some(false) };
    assert_eq!(ids(ended, None, 10).await, (vec![5], None));
    store.close().await.unwrap();
}

/// A message with its task, and one row of every other kind but a receipt.
pub(crate) fn one_of_each() -> Change {
    Change::post_message(None, posted(&Session::open(session_id(), None, at(2)), 1))
        .put(Record::Project(project(1)), WriteGuard::New)
        .put(Record::Attempt(attempt()), WriteGuard::Owned)
        .put(Record::Question(question()), WriteGuard::Owned)
        .put(Record::Plan(plan()), WriteGuard::New)
        .put(Record::Run(Box::new(recipe_run())), WriteGuard::New)
        .put(Record::Loop(Box::new(PhaseLoop::new(session_id()))), WriteGuard::New)
        .put(Record::Hold(hold()), WriteGuard::New)
        .put(Record::Spending(spending()), WriteGuard::New)
        .put(Record::AccessToken(Box::new(token())), WriteGuard::New)
        .put(Record::Verdict(Box::new(verdict())), WriteGuard::New)
        .put(Record::Attachment(Box::new(attachment(1))), WriteGuard::New)
        .put(Record::Attachment(Box::new(attachment(2))), WriteGuard::New)
        .put(Record::Routine(Box::new(routine(1))), WriteGuard::New)
        .put(Record::Routine(Box::new(routine(2))), WriteGuard::New)
}

pub(crate) async fn every_kind_of_row_round_trips<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let posted = posted(&Session::open(session_id(), None, at(2)), 1);
    let (loops, run) = (PhaseLoop::new(session_id()), recipe_run());
    let last_seq = write(&store, one_of_each()).await;
    assert_eq!(last_seq, posted.events.len() as u64);
    store.close().await.unwrap();

    let store = place.open().await;
    let first = |value| Some(Versioned { version: 1, value });
    assert_eq!(
        store.project(ProjectId::from_bits(1)).await.unwrap(),
        Some(Versioned { version: 1, value: project(1) })
    );
    assert_eq!(store.session(&session_id()).await.unwrap().map(|row| row.value), Some(posted.session));
    assert_eq!(store.messages(&session_id(), 0, 10).await.unwrap(), [posted.message]);
    assert_eq!(store.messages(&session_id(), 1, 10).await.unwrap(), []);
    assert_eq!(store.task(task_id(1)).await.unwrap(), first(posted.task));
    assert_eq!(store.attempt(attempt().attempt.id).await.unwrap(), Some(attempt()));
    assert_eq!(store.attempts(task_id(7)).await.unwrap(), [attempt()]);
    assert_eq!(
        store.question(QuestionId::from_bits(9)).await.unwrap().map(|row| row.value),
        Some(question())
    );
    assert_eq!(store.plan(task_id(7)).await.unwrap().map(|row| row.value), Some(plan()));
    assert_eq!(store.run(RunId::from_bits(3)).await.unwrap().map(|row| row.value), Some(run.clone()));
    assert_eq!(store.open_runs().await.unwrap(), [Versioned { version: 1, value: run }]);
    assert_eq!(store.phase_loop(&session_id()).await.unwrap().map(|row| row.value), Some(loops));
    assert_eq!(store.holds().await.unwrap(), [Versioned { version: 1, value: hold() }]);
    assert_eq!(store.access_tokens().await.unwrap(), [Versioned { version: 1, value: token() }]);
    let found = store.access_token(&token().name).await.unwrap();
    assert_eq!(found.map(|row| row.value), Some(token()));
    assert_eq!(store.access_token(&"nobody".parse().unwrap()).await.unwrap(), None);
    assert_eq!(store.spending(SpendingAccount::Day(5)).await.unwrap(), Some(first_of(spending())));
    assert_eq!(store.verdict(&verdict().key).await.unwrap(), Some(first_of(verdict())));
    let unknown = VerdictKey { suite: "other".to_owned(), ..verdict().key };
    assert_eq!(store.verdict(&unknown).await.unwrap(), None);
    assert_eq!(store.last_verdicts(10).await.unwrap(), [first_of(verdict())]);
    assert_eq!(store.last_verdicts(0).await.unwrap(), []);
    let newest_first = [first_of(attachment(2)), first_of(attachment(1))];
    assert_eq!(store.attachments(&session_id(), 9).await.unwrap(), newest_first);
    assert_eq!(store.attachments(&session_id(), 1).await.unwrap(), newest_first[..1]);
    assert_eq!(store.attachments(&"other".parse().unwrap(), 9).await.unwrap(), []);
    assert_eq!(store.spending(SpendingAccount::Day(6)).await.unwrap(), None);
    assert_eq!(store.routine(RoutineId::from_bits(2)).await.unwrap(), Some(first_of(routine(2))));
    assert_eq!(store.routine(RoutineId::from_bits(3)).await.unwrap(), None);
    assert_eq!(store.routines().await.unwrap(), [first_of(routine(1)), first_of(routine(2))]);
    let removed = routine(1).remove(at(9), Actor::human("mia"));
    write(&store, Change::new().put(Record::Routine(Box::new(removed.clone())), WriteGuard::Version(1)))
        .await;
    assert_eq!(store.routines().await.unwrap(), [first_of(routine(2))], "a removed one is not listed");
    assert_eq!(store.routine(RoutineId::from_bits(1)).await.unwrap().map(|row| row.value), Some(removed));
    let events: Vec<_> =
        store.events_after(0, 10).await.unwrap().into_iter().map(|line| line.event).collect();
    assert_eq!(events, posted.events);
}

fn receipt(posted: &PostedMessage) -> Receipt {
    Receipt {
        key: ReceiptKey::for_chat(ProjectId::from_bits(1), "once").unwrap(),
        session_id: posted.session.id.clone(),
        message: Some(posted.message.number),
        task_id: Some(posted.task.id()),
        wanted: RequestedWork::default(),
        delivered: None,
        answer: None,
        at: at(6),
    }
}

/// The receipt of the message in [`one_of_each`].
pub(crate) fn first_receipt() -> Receipt {
    receipt(&posted(&Session::open(session_id(), None, at(2)), 1))
}

/// A receipt and its message are written together: a message sent twice is stored once.
pub(crate) async fn a_receipt_is_written_once<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let open = Session::open(session_id(), None, at(2));
    let first = posted(&open, 1);
    let send = |posted: &PostedMessage, version| {
        Change::post_message(version, posted.clone()).put(Record::Receipt(receipt(posted)), WriteGuard::New)
    };
    write(&store, send(&first, None)).await;
    let second = posted(&first.session, 2);
    let expected = Conflict::Moved {
        kind: RecordKind::Receipt,
        key: "chat/PROJ-00000001/once".to_owned(),
        expected: WriteGuard::New,
        found: Some(1),
    };
    assert_eq!(conflict(&store, send(&second, Some(1))).await, expected);
    store.close().await.unwrap();

    let store = place.open().await;
    assert_eq!(store.receipt(&receipt(&first).key).await.unwrap(), Some(receipt(&first)));
    assert_eq!(store.messages(&session_id(), 0, 10).await.unwrap(), [first.message]);
    assert_eq!(store.task(task_id(2)).await.unwrap(), None, "the second task was not made");
    let other = ReceiptKey::for_chat(ProjectId::from_bits(2), "once").unwrap();
    assert_eq!(store.receipt(&other).await.unwrap(), None, "another project's key is another key");
}

pub(crate) async fn every_guard_is_checked<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let put = |guard| Change::new().put(Record::Project(project(1)), guard);
    let moved = |expected, found| Conflict::Moved {
        kind: RecordKind::Project,
        key: "PROJ-00000001".to_owned(),
        expected,
        found,
    };

    assert_eq!(conflict(&store, put(WriteGuard::Version(1))).await, moved(WriteGuard::Version(1), None));
    write(&store, put(WriteGuard::New)).await;
    assert_eq!(conflict(&store, put(WriteGuard::New)).await, moved(WriteGuard::New, Some(1)));
    assert_eq!(conflict(&store, put(WriteGuard::Version(2))).await, moved(WriteGuard::Version(2), Some(1)));
    write(&store, put(WriteGuard::Version(1))).await;
    write(&store, put(WriteGuard::Owned)).await;
    let found = store.project(ProjectId::from_bits(1)).await.unwrap().unwrap();
    assert_eq!(found.version, 3, "each write is one more");
}

pub(crate) async fn a_conflict_changes_nothing<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    write(&store, created(1, &[])).await;
    let read = load(&store, task_id(1)).await;
    let cancel = || transition(&read, Command::Cancel { reason: None }, &human(10));
    write(&store, cancel()).await;

    let late = created(2, &[]).and(cancel()).and(created(3, &[2]));
    let expected = Conflict::Moved {
        kind: RecordKind::Task,
        key: "TASK-00000001".to_owned(),
        expected: WriteGuard::Version(1),
        found: Some(2),
    };
    assert_eq!(conflict(&store, late).await, expected);
    assert_eq!(store.task(task_id(2)).await.unwrap(), None, "the half of it that came first");
    assert_eq!(store.ready_count().await.unwrap(), 0);
    assert_eq!(store.events_after(0, 100).await.unwrap().len(), 2, "no event of it");
    assert_eq!(write(&store, created(2, &[])).await, 3, "and no number is lost");
}

pub(crate) async fn two_stores_are_isolated<F: Fixture>() {
    let (place, other) = (F::fresh().await, F::fresh().await);
    let (store, stranger) = (place.open().await, other.open().await);
    write(&store, created(1, &[])).await;
    assert_eq!(stranger.task(task_id(1)).await.unwrap(), None);
    assert_eq!(stranger.ready_count().await.unwrap(), 0);
    assert_eq!(write(&stranger, created(1, &[])).await, 1, "numbers are each store's own");
    claim_one(&stranger).await;
    assert_eq!(store.leases().await.unwrap(), []);
    assert_eq!(store.ready_count().await.unwrap(), 1);
}

pub(crate) async fn a_closed_store_returns_closed<F: Fixture>() {
    let place = F::fresh().await;
    let store = place.open().await;
    let clone = store.clone();
    store.close().await.unwrap();
    clone.close().await.unwrap();
    assert!(matches!(clone.commit(created(1, &[])).await, Err(StoreError::Closed)));
    assert!(matches!(clone.task(task_id(1)).await, Err(StoreError::Closed)));
}
