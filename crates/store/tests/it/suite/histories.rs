//! Random histories, applied to the store and to the model side by side.

use std::collections::BTreeMap;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::base::id::TaskId;
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::Role;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Versioned};
use baton_core::recycle::RecycleReason;
use baton_core::recycle::plan::{ItemDraft, Plan, PlanDraft};
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, ErrorCause};
use baton_core::task::{Purpose, Task, TaskSpec};
use baton_core::transition::approval::Approval;
use baton_core::transition::command::{Command, CommandContext};
use baton_store::Backend;
use baton_store::model::claim::ClaimRequest;
use baton_store::model::commit::Commit;
use baton_store::model::query::{QuestionFilter, TaskFilter};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::Fixture;
use super::make::{agent, burned_out, complete, context, create, request, spec, task_id, text, with_commits};
use super::model::Model;

/// Histories per run; `PROPTEST_CASES` overrides it.
const CASES: u32 = 48;

#[derive(Debug, Clone)]
enum Op {
    Create {
        waits_on: Vec<usize>,
        priority: Priority,
        task_type: TaskType,
    },
    Claim {
        count: u32,
    },
    /// A command to a task, if core allows it.
    Tell {
        which: usize,
        what: What,
    },
    /// The same from a caller that read an older version: always a conflict.
    TellLate {
        which: usize,
    },
    Approve {
        which: usize,
        parts: usize,
    },
    Reopen,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Complete,
    Commits,
    BurnOut,
    FailOwn,
    Expire,
    Reply,
    Accept,
    Reject,
    Recycle,
    Release,
    SubmitPlan,
    Retry,
    Cancel,
}

fn op() -> impl Strategy<Value = Op> {
    let priority = prop::sample::select(Priority::ALL.to_vec());
    let task_type =
        prop::sample::select(vec![TaskType::ReadInfo, TaskType::Implementation, TaskType::DangerousOp]);
    let waits_on = prop::collection::vec(any::<usize>(), 0..4);
    let what = prop::sample::select(vec![
        What::Complete,
        What::Complete,
        What::Commits,
        What::BurnOut,
        What::FailOwn,
        What::Expire,
        What::Reply,
        What::Accept,
        What::Accept,
        What::Reject,
        What::Recycle,
        What::Release,
        What::SubmitPlan,
        What::Retry,
        What::Cancel,
    ]);
    prop_oneof![
        5 => (waits_on, priority, task_type)
            .prop_map(|(waits_on, priority, task_type)| Op::Create { waits_on, priority, task_type }),
        4 => (1..4_u32).prop_map(|count| Op::Claim { count }),
        12 => (any::<usize>(), what).prop_map(|(which, what)| Op::Tell { which, what }),
        1 => any::<usize>().prop_map(|which| Op::TellLate { which }),
        2 => (any::<usize>(), 1..4_usize).prop_map(|(which, parts)| Op::Approve { which, parts }),
        1 => Just(Op::Reopen),
    ]
}

pub(crate) async fn random_histories_match_the_model<F: Fixture>() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let handle = tokio::runtime::Handle::current();
    let run = move || {
        let histories = prop::collection::vec(op(), 1..60);
        let result = TestRunner::new(config).run(&histories, |ops| {
            handle.block_on(History::<F>::play(ops));
            Ok(())
        });
        // Prints the shortest failing history.
        if let Err(error) = result {
            panic!("{error}");
        }
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

struct History<F: Fixture> {
    place: F,
    store: F::Store,
    model: Model,
    /// In creation order, so that an index means the same task in a shrunk history.
    ids: Vec<TaskId>,
    clock_ms: i64,
}

impl<F: Fixture> History<F> {
    async fn play(ops: Vec<Op>) {
        let place = F::fresh().await;
        let store = place.open().await;
        let mut history = Self { place, store, model: Model::default(), ids: Vec::new(), clock_ms: 0 };
        for op in ops {
            history.clock_ms += 1;
            history.step(op).await;
            history.check_ready().await;
        }
        history.check_all().await;
    }

    async fn step(&mut self, op: Op) {
        match op {
            Op::Create { waits_on, priority, task_type } => self.create(&waits_on, priority, task_type).await,
            Op::Claim { count } => self.claim(count).await,
            Op::Tell { which, what } => {
                if let Some(change) = self.pick(which).and_then(|task| self.told(&task, what)) {
                    self.write(change).await;
                }
            }
            Op::TellLate { which } => self.tell_late(which).await,
            Op::Approve { which, parts } => {
                if let Some(change) = self.pick(which).and_then(|task| self.approved(&task, parts)) {
                    self.write(change).await;
                }
            }
            Op::Reopen => {
                self.store.close().await.unwrap();
                self.store = self.place.open().await;
                self.check_all().await;
            }
        }
    }

    fn pick(&self, which: usize) -> Option<Versioned<Task>> {
        let id = self.ids.get(which % self.ids.len().max(1))?;
        Some(self.model.tasks[id].clone())
    }

    fn fresh_id(&self, more: usize) -> TaskId {
        task_id(u32::try_from(self.ids.len() + more).unwrap())
    }

    async fn create(&mut self, waits_on: &[usize], priority: Priority, task_type: TaskType) {
        let on: Vec<TaskId> =
            waits_on.iter().filter_map(|which| self.pick(*which)).map(|task| task.value.id()).collect();
        let id = self.fresh_id(0);
        let spec = TaskSpec { priority, task_type, ..spec(id.bits()) };
        self.write(create(spec, &on)).await;
    }

    async fn claim(&mut self, count: u32) {
        let agents =
            BTreeMap::from([(Role::implement(), agent("claude")), (Role::breakdown(), agent("codex"))]);
        let request = ClaimRequest { agents, ..request("worker", count) };
        let expected: Vec<TaskId> = self.model.ready().into_iter().take(count as usize).collect();
        let claimed = self.store.claim(request).await.unwrap();
        assert_eq!(claimed.iter().map(|claim| claim.task.value.id()).collect::<Vec<_>>(), expected);
        for claim in claimed {
            let before = &self.model.tasks[&claim.task.value.id()];
            let context = CommandContext { now: claim.task.value.updated_at(), ..context(Actor::Baton, 0) };
            let (attempt, agent) = (claim.lease.attempt, claim.lease.agent.clone());
            let transition = before
                .value
                .apply(
                    Command::Claim { attempt, agent, open_blockers: 0, worker: Some("worker".to_owned()) },
                    &context,
                )
                .unwrap();
            self.model.apply(&Change::transition(before.version, transition));
            assert_eq!(self.model.tasks[&claim.task.value.id()], claim.task);
        }
    }

    fn told(&self, task: &Versioned<Task>, what: What) -> Option<Change> {
        let live = task.value.state().live_attempt().map(|attempt| attempt.id);
        let settle = |end: AttemptEnd| live.map(|attempt| Command::Settle { attempt, end });
        let human = Actor::human("mia");
        let (command, actor) = match what {
            What::Complete => (settle(complete())?, Actor::Baton),
            What::Commits => {
                let mut end = with_commits();
                end.reported.plan_submitted = task.value.is_breakdown();
                (settle(end)?, Actor::Baton)
            }
            What::BurnOut => (settle(burned_out())?, Actor::Baton),
            What::FailOwn => {
                let result = AttemptResult::Error { cause: ErrorCause::Own, message: "It broke.".to_owned() };
                (settle(AttemptEnd { reported: AttemptReport::new(result, ""), ..complete() })?, Actor::Baton)
            }
            What::Expire => (Command::ExpireLease { attempt: live? }, Actor::Baton),
            What::Reply => {
                let question = task.value.state().pending_question()?;
                let answer = question.draft.options.first().cloned().unwrap_or_else(|| text("Go on."));
                let answered_by = AnsweredBy::human("mia");
                (Command::Reply { question: question.id, answer, answered_by }, human)
            }
            What::Accept => (Command::Accept { force: true }, human),
            What::Reject => (Command::Reject { reason: text("Not yet.") }, human),
            What::Recycle => (Command::Recycle { reason: RecycleReason::TooLarge }, human),
            What::Release => (Command::Release, human),
            What::SubmitPlan => (Command::SubmitPlan, human),
            What::Retry => (Command::Retry, human),
            What::Cancel => (Command::Cancel { reason: None }, human),
        };
        let mut context = context(actor, self.clock_ms);
        context.fresh.breakdown = self.fresh_id(0);
        let transition = task.value.apply(command, &context).ok()?;
        Some(Change::transition(task.version, transition))
    }

    fn approved(&self, breakdown: &Versioned<Task>, parts: usize) -> Option<Change> {
        let replaced = match breakdown.value.spec().purpose {
            Purpose::Breakdown { replaces_task_id, .. } => replaces_task_id.map(|id| &self.model.tasks[&id]),
            Purpose::Work | Purpose::Run => return None,
        };
        let items = (0..parts).map(|number| ItemDraft {
            title: format!("Part {number}"),
            // The middle one of three is independent, so that there are two leaves.
            depends_on: if number == 2 { vec![1.into()] } else { Vec::new() },
            ..ItemDraft::default()
        });
        let plan = Plan::check(PlanDraft { items: items.collect() }).unwrap();
        let subtask_ids: Vec<TaskId> = (0..parts).map(|number| self.fresh_id(number)).collect();
        let approval = Approval { breakdown, plan: &plan, replaced, subtask_ids: &subtask_ids };
        approval.approve(&context(Actor::human("mia"), self.clock_ms)).ok()
    }

    async fn tell_late(&mut self, which: usize) {
        let Some(mut task) = self.pick(which) else { return };
        let Ok(transition) =
            task.value.apply(Command::Cancel { reason: None }, &context(Actor::human("mia"), 0))
        else {
            return;
        };
        task.version -= 1;
        let also = create(spec(self.fresh_id(0).bits()), &[]);
        let late = also.and(Change::transition(task.version, transition));
        assert!(matches!(self.store.commit(late).await.unwrap(), Commit::Conflict(_)));
    }

    async fn write(&mut self, change: Change) {
        self.model.apply(&change);
        let last_seq = self.model.events.len() as u64;
        assert_eq!(self.store.commit(change).await.unwrap(), Commit::Written { last_seq });
        let known: Vec<TaskId> =
            self.model.tasks.keys().copied().filter(|id| !self.ids.contains(id)).collect();
        self.ids.extend(known);
    }

    async fn check_ready(&self) {
        let ready = self.store.ready(1_000).await.unwrap();
        let expected = self.model.ready();
        assert_eq!(ready.iter().map(|task| task.value.id()).collect::<Vec<_>>(), expected);
        assert_eq!(self.store.ready_count().await.unwrap(), expected.len() as u64);
    }

    async fn check_all(&self) {
        let mut tasks = self.store.tasks(&TaskFilter::default(), None, 10_000).await.unwrap().items;
        tasks.sort_by_key(|task| task.value.id());
        assert_eq!(tasks, self.model.tasks.values().cloned().collect::<Vec<_>>());
        for id in &self.ids {
            let found = self.store.dependencies(*id).await.unwrap();
            let expected: Vec<_> = self.model.edges.iter().filter(|edge| edge.0 == *id).collect();
            assert_eq!(
                found.iter().map(|edge| (edge.task, edge.on)).collect::<Vec<_>>(),
                expected.into_iter().copied().collect::<Vec<_>>()
            );
            assert!(found.iter().all(|edge| edge.is_met == self.model.is_done(edge.on)), "{found:?}");
        }
        let events = self.store.events_after(0, 10_000).await.unwrap();
        assert!(events.iter().map(|line| line.seq).eq(1..=self.model.events.len() as u64));
        assert!(events.iter().map(|line| &line.event).eq(&self.model.events));
        let mut leases: Vec<_> =
            self.store.leases().await.unwrap().iter().map(|lease| lease.attempt).collect();
        leases.sort_unstable();
        assert_eq!(leases, self.model.leases.iter().copied().collect::<Vec<_>>());
        assert_eq!(self.store.pending_effects(None, 10_000).await.unwrap().len(), self.model.effects);
        let questions = self.store.questions(&QuestionFilter::pending(), None, 10_000).await.unwrap().items;
        let mut questions: Vec<_> = questions.iter().map(|question| question.value.question.id).collect();
        questions.sort_unstable();
        assert_eq!(questions, self.model.pending_questions.iter().copied().collect::<Vec<_>>());
    }
}
