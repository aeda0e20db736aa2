//! The forms other programs depend on: what events, effects and tasks look like as JSON. A change here is a
//! change of the product's outside and is meant to be seen in review.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::{AttemptId, CycleId, ProjectId, QuestionId, RoutineId, RunId, SessionId, TaskId};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::people::owner_token::OwnerToken;
use baton_core::people::role::PersonRole;
use baton_core::phase::PhaseStart;
use baton_core::phase::phase_loop::{FreshCycle, PhaseLoop};
use baton_core::recipe::exit_reason::ExitReason;
use baton_core::records::effect::{Effect, Notification, Timer};
use baton_core::records::event::{Event, EventBody, RoutineChange};
use baton_core::recycle::plan::{Plan, PlanDraft};
use baton_core::schedule::AgentPlace;
use baton_core::task::Task;
use baton_core::task::attempt::ResultKind;
use baton_core::task::environment::{EnvironmentChange, ReuseWay, ReusedFolder};
use baton_core::task::fence::{FenceAspect, FenceGap, FenceLayer, FenceMode, FenceReport, NetworkMode};
use baton_core::task::state::StateName;
use baton_core::transition::command::{Command, CommandName};
use serde_json::Value;

use crate::samples::{SAYS, attempt, commands, context, drive, ended, evidence, in_state, text};

/// The first example of each kind of event and effect that transitions produce.
pub(crate) fn examples() -> (BTreeMap<String, Value>, BTreeMap<String, Value>) {
    let (mut events, mut effects) = (BTreeMap::new(), BTreeMap::new());
    for state in StateName::ALL {
        for task in in_state(state) {
            for name in CommandName::ALL {
                for command in commands(name, &task) {
                    let applied = task.apply(command.clone(), &context(Actor::human("mia")));
                    // A few are Baton's alone.
                    let applied = applied.or_else(|_| task.apply(command, &context(Actor::Baton)));
                    let Ok(transition) = applied else { continue };
                    for event in transition.events {
                        let form = serde_json::to_value(&event).unwrap();
                        assert_eq!(serde_json::from_value::<Event>(form.clone()).unwrap(), event);
                        events.entry(form["event"].as_str().unwrap().to_owned()).or_insert(form);
                    }
                    for effect in transition.effects {
                        let form = serde_json::to_value(&effect).unwrap();
                        assert_eq!(serde_json::from_value::<Effect>(form.clone()).unwrap(), effect);
                        effects.entry(form["effect"].as_str().unwrap().to_owned()).or_insert(form);
                    }
                }
            }
        }
    }
    (events, effects)
}

/// The events no transition of a task produces.
#[expect(clippy::too_many_lines, reason = "one example for each kind of event")]
pub(crate) fn other_events() -> Vec<EventBody> {
    let session: SessionId = "session".parse().unwrap();
    let (task, part) = (TaskId::from_bits(0xA), TaskId::from_bits(0xB));
    let (run, project) = (RunId::from_bits(0xC), ProjectId::from_bits(0xD));
    let step = |name: &str| name.parse().unwrap();
    let plan: PlanDraft =
        serde_json::from_value(serde_json::json!({ "items": [{ "title": "first part" }] })).unwrap();
    let handoff = PhaseLoop::new(session.clone())
        .start(
            PhaseStart::Plan,
            FreshCycle { id: CycleId::from_bits(1), owner: OwnerToken::from_digest([7; 32]) },
        )
        .unwrap()
        .handoff;
    vec![
        EventBody::ProjectCreated { project, title: text("Share links") },
        EventBody::ProjectCompleted { project },
        EventBody::ProjectReopened { project },
        EventBody::ProjectLimited { project, at_once_max: Some(2) },
        EventBody::SessionOpened { session: session.clone(), project: Some(project) },
        EventBody::MessagePosted { session: session.clone(), text: text("Fix it"), task: Some(task) },
        EventBody::DependentsRewired { from: task, to: vec![part] },
        EventBody::PlanSubmitted { task, plan: Box::new(Plan::check(plan).unwrap()) },
        EventBody::PlanApproved { task, subtasks: vec![part] },
        EventBody::RunStarted {
            run,
            recipe: "implement-and-review".parse().unwrap(),
            label: text("Implement & Review"),
            session: session.clone(),
            task: Some(task),
            step: step("implement"),
            step_count: 1,
            iteration: 1,
        },
        EventBody::RunBound { run, session: session.clone(), task },
        EventBody::StepStarted {
            run,
            session: session.clone(),
            step: step("code-review"),
            step_count: 2,
            iteration: 1,
        },
        EventBody::StepLeft {
            run,
            session: session.clone(),
            from: step("implement"),
            to: step("code-review"),
            outcome: "complete".parse().unwrap(),
        },
        EventBody::OutcomeRefused {
            run,
            session: session.clone(),
            step: step("fix"),
            error: text("no outcome"),
        },
        EventBody::RunStopping { run, session: session.clone() },
        EventBody::RunExited {
            run,
            session: session.clone(),
            reason: ExitReason::new("no-tasks-available").unwrap(),
            error: None,
        },
        EventBody::AgentStarted { task, attempt: AttemptId::from_bits(0xE) },
        EventBody::AnswerQueued { session: session.clone(), task: Some(task), text: text("YES") },
        EventBody::EffectGivenUp {
            effect: Box::new(Effect::Notify { about: Notification::Failed(task) }),
            tries: 8,
            error: text("nobody listens"),
        },
        EventBody::AttemptFenced {
            task,
            attempt: AttemptId::from_bits(7),
            fence: FenceReport {
                mode: FenceMode::Auto,
                network: NetworkMode::Allow,
                layers: vec![FenceLayer::Landlock],
                gaps: vec![FenceGap {
                    aspect: FenceAspect::Processes,
                    reason: "bubblewrap is not installed".to_owned(),
                }],
            },
        },
        EventBody::EnvironmentChanged {
            task,
            attempt: AttemptId::from_bits(7),
            change: EnvironmentChange::FoldersReused {
                folders: vec![ReusedFolder {
                    path: "node_modules".to_owned(),
                    way: ReuseWay::Reflink,
                    files: 12_000,
                    bytes: 500_000_000,
                    duration_ms: 300,
                }],
            },
        },
        EventBody::AttemptRefused {
            task,
            attempt: AttemptId::from_bits(7),
            action: text("POST /api/tasks/TASK-0000000a/accept"),
            reason: text("only a person may do this"),
        },
        EventBody::NetworkRefused {
            task,
            attempt: AttemptId::from_bits(7),
            host: text("example.org:443"),
            reason: text("it is not in allow"),
        },
        EventBody::ItemFailed {
            service: text("loops"),
            item: text("landing TASK-0000000a"),
            error: text("the branch baton/next is checked out"),
            tries: 1,
            task: Some(task),
            session: None,
        },
        EventBody::AgentMoved {
            task,
            attempt: AttemptId::from_bits(7),
            from: AgentPlace { agent: "claude".parse().unwrap(), account: "work".parse().unwrap() },
            to: AgentPlace { agent: "codex".parse().unwrap(), account: "codex".parse().unwrap() },
            reason: text("work gets no work until 2026-11-17T23:00:00.000Z"),
        },
        EventBody::PhaseHandedOff { session, handoff: Box::new(handoff) },
        EventBody::IntakePaused {
            agent: "claude".parse().unwrap(),
            until: Some(Timestamp::from_ms(60_000)),
            reason: text("rate limit"),
        },
        EventBody::IntakeResumed { agent: "claude".parse().unwrap() },
        EventBody::TokenCreated {
            name: "ada".parse().unwrap(),
            role: PersonRole::Viewer,
            expires_at: Some(Timestamp::from_ms(60_000)),
        },
        EventBody::TokenRevoked { name: "ada".parse().unwrap() },
        EventBody::RoutineChanged {
            routine: RoutineId::from_bits(7),
            title: text("Update dependencies"),
            change: RoutineChange::Paused,
        },
        EventBody::RoutineRan {
            routine: RoutineId::from_bits(7),
            task,
            cause: "1970-01-01T06:00:00.000Z".to_owned(),
        },
        EventBody::RoutineSkipped {
            routine: RoutineId::from_bits(7),
            count: 2,
            last: "1970-01-01T06:00:00.000Z".to_owned(),
        },
    ]
}

/// A new event does not compile here until it has a number, and the test below requires an example of it.
const fn number(body: &EventBody) -> usize {
    match body {
        EventBody::ProjectCreated { .. } => 0,
        EventBody::ProjectCompleted { .. } => 1,
        EventBody::SessionOpened { .. } => 2,
        EventBody::MessagePosted { .. } => 3,
        EventBody::MessagesDelivered { .. } => 53,
        EventBody::TaskCreated { .. } => 4,
        EventBody::TaskClaimed { .. } => 5,
        EventBody::AttemptEnded { .. } => 6,
        EventBody::TaskProvisional { .. } => 7,
        EventBody::TaskDone { .. } => 8,
        EventBody::TaskContinues { .. } => 9,
        EventBody::TaskRequeued { .. } => 10,
        EventBody::TaskRejected { .. } => 11,
        EventBody::TaskConflicted { .. } => 12,
        EventBody::TaskRecycled { .. } => 13,
        EventBody::TaskReplaced { .. } => 14,
        EventBody::TaskFailed { .. } => 15,
        EventBody::TaskRetried { .. } => 16,
        EventBody::TaskCancelled { .. } => 17,
        EventBody::DependentsRewired { .. } => 18,
        EventBody::BreakdownReleased { .. } => 19,
        EventBody::PlanSubmitted { .. } => 20,
        EventBody::PlanApproved { .. } => 21,
        EventBody::PlanRejected { .. } => 22,
        EventBody::QuestionAsked { .. } => 23,
        EventBody::QuestionAnswered { .. } => 24,
        EventBody::QuestionWithdrawn { .. } => 25,
        EventBody::RunStarted { .. } => 26,
        EventBody::StepStarted { .. } => 27,
        EventBody::StepLeft { .. } => 28,
        EventBody::OutcomeRefused { .. } => 29,
        EventBody::RunExited { .. } => 30,
        EventBody::PhaseHandedOff { .. } => 31,
        EventBody::IntakePaused { .. } => 32,
        EventBody::IntakeResumed { .. } => 33,
        EventBody::RunBound { .. } => 34,
        EventBody::RunStopping { .. } => 35,
        EventBody::AgentStarted { .. } => 36,
        EventBody::AnswerQueued { .. } => 37,
        EventBody::EffectGivenUp { .. } => 38,
        EventBody::TaskLetGo { .. } => 39,
        EventBody::TaskHeldBack { .. } => 40,
        EventBody::TaskRevised { .. } => 41,
        EventBody::TokenCreated { .. } => 42,
        EventBody::TokenRevoked { .. } => 43,
        EventBody::ProjectLimited { .. } => 44,
        EventBody::ItemFailed { .. } => 45,
        EventBody::AttemptFenced { .. } => 46,
        EventBody::AttemptRefused { .. } => 47,
        EventBody::NetworkRefused { .. } => 48,
        EventBody::TaskLanding { .. } => 49,
        EventBody::TaskLanded { .. } => 50,
        EventBody::TaskSentBack { .. } => 51,
        EventBody::TaskForced { .. } => 52,
        EventBody::RoutineChanged { .. } => 54,
        EventBody::RoutineRan { .. } => 55,
        EventBody::RoutineSkipped { .. } => 56,
        EventBody::AgentMoved { .. } => 57,
        EventBody::EnvironmentChanged { .. } => 58,
        EventBody::TaskLandingDelayed { .. } => 59,
        EventBody::ProjectReopened { .. } => 60,
    }
}

#[test]
fn the_forms_of_the_other_events_are_stable() {
    let mut forms = BTreeMap::new();
    let mut numbers: BTreeSet<usize> = BTreeSet::new();
    for body in other_events() {
        numbers.insert(number(&body));
        let event = Event { at: Timestamp::from_ms(1_000), by: Actor::Baton, body };
        let form = serde_json::to_value(&event).unwrap();
        assert_eq!(serde_json::from_value::<Event>(form.clone()).unwrap(), event);
        forms.insert(form["event"].as_str().unwrap().to_owned(), form);
    }
    for form in examples().0.into_values() {
        numbers.insert(number(&serde_json::from_value::<Event>(form).unwrap().body));
    }
    assert_eq!(numbers, (0..61).collect(), "some kind of event has no example");
    insta::assert_snapshot!(lines(forms), @r#"
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000007","by":{"kind":"baton"},"event":"agent_moved","from":{"account":"work","agent":"claude"},"reason":"work gets no work until 2026-11-17T23:00:00.000Z","task":"TASK-0000000a","to":{"account":"codex","agent":"codex"}}
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-000000000000000e","by":{"kind":"baton"},"event":"agent_started","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"answer_queued","session":"session","task":"TASK-0000000a","text":"YES"}
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000007","by":{"kind":"baton"},"event":"attempt_fenced","fence":{"gaps":[{"aspect":"processes","reason":"bubblewrap is not installed"}],"layers":["landlock"],"mode":"auto","network":"allow"},"task":"TASK-0000000a"}
    {"action":"POST /api/tasks/TASK-0000000a/accept","at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000007","by":{"kind":"baton"},"event":"attempt_refused","reason":"only a person may do this","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"dependents_rewired","from":"TASK-0000000a","to":["TASK-0000000b"]}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"effect":{"about":{"failed":"TASK-0000000a"},"effect":"notify"},"error":"nobody listens","event":"effect_given_up","tries":8}
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000007","by":{"kind":"baton"},"change":{"change":"folders_reused","folders":[{"bytes":500000000,"duration_ms":300,"files":12000,"path":"node_modules","way":"reflink"}]},"event":"environment_changed","task":"TASK-0000000a"}
    {"agent":"claude","at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"intake_paused","reason":"rate limit","until":"1970-01-01T00:01:00.000Z"}
    {"agent":"claude","at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"intake_resumed"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"error":"the branch baton/next is checked out","event":"item_failed","item":"landing TASK-0000000a","service":"loops","task":"TASK-0000000a","tries":1}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"message_posted","session":"session","task":"TASK-0000000a","text":"Fix it"}
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000007","by":{"kind":"baton"},"event":"network_refused","host":"example.org:443","reason":"it is not in allow","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"error":"no outcome","event":"outcome_refused","run":"RUN-0000000c","session":"session","step":"fix"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"phase_handed_off","handoff":{"decision":"started","from":"hub","iteration":1,"prompt":"Iteration 1, plan phase. The next task of the queue, as get_next_task hands it out, is planned: how vague it is, what is missing and has to be cleared up with the human, and the subtasks it falls into. When the plan stands, the human is asked whether to execute it; on YES the execute phase follows by itself, not by way of the hub. Plan, execute and review take turns until the human ends the loop.","results":{"kind":"started"},"to":"plan"},"session":"session"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"plan_approved","subtasks":["TASK-0000000b"],"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"plan_submitted","plan":{"items":[{"title":"first part"}]},"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"project_completed","project":"PROJ-0000000d"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"project_created","project":"PROJ-0000000d","title":"Share links"}
    {"at":"1970-01-01T00:00:01.000Z","at_once_max":2,"by":{"kind":"baton"},"event":"project_limited","project":"PROJ-0000000d"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"project_reopened","project":"PROJ-0000000d"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"change":"paused","event":"routine_changed","routine":"RTN-00000007","title":"Update dependencies"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"cause":"1970-01-01T06:00:00.000Z","event":"routine_ran","routine":"RTN-00000007","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"count":2,"event":"routine_skipped","last":"1970-01-01T06:00:00.000Z","routine":"RTN-00000007"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"run_bound","run":"RUN-0000000c","session":"session","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"run_exited","reason":"no-tasks-available","run":"RUN-0000000c","session":"session"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"run_started","iteration":1,"label":"Implement & Review","recipe":"implement-and-review","run":"RUN-0000000c","session":"session","step":"implement","step_count":1,"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"run_stopping","run":"RUN-0000000c","session":"session"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"session_opened","project":"PROJ-0000000d","session":"session"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"step_left","from":"implement","outcome":"complete","run":"RUN-0000000c","session":"session","to":"code-review"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"step_started","iteration":1,"run":"RUN-0000000c","session":"session","step":"code-review","step_count":2}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"token_created","expires_at":"1970-01-01T00:01:00.000Z","name":"ada","role":"viewer"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"token_revoked","name":"ada"}
    "#);
}

#[test]
fn the_forms_of_timers_and_notifications_are_stable() {
    let forms = [
        Effect::ScheduleTimer {
            timer: Timer::QuestionExpires(QuestionId::from_bits(1)),
            at: Timestamp::from_ms(60_000),
        },
        Effect::CancelTimer { timer: Timer::IntakeResumes("claude".parse().unwrap()) },
        Effect::Notify { about: Notification::Failed(TaskId::from_bits(1)) },
        Effect::Notify { about: Notification::RunExited(RunId::from_bits(1)) },
    ]
    .map(|effect| serde_json::to_string(&effect).unwrap());
    insta::assert_snapshot!(forms.join("\n"), @r#"
    {"effect":"schedule_timer","timer":{"question_expires":"Q-00000001"},"at":"1970-01-01T00:01:00.000Z"}
    {"effect":"cancel_timer","timer":{"intake_resumes":"claude"}}
    {"effect":"notify","about":{"failed":"TASK-00000001"}}
    {"effect":"notify","about":{"run_exited":"RUN-00000001"}}
    "#);
}

fn lines(forms: BTreeMap<String, Value>) -> String {
    forms.into_values().map(|form| form.to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_forms_of_events_are_stable() {
    insta::assert_snapshot!(lines(examples().0), @r#"
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000001","by":{"kind":"human","name":"mia"},"event":"agent_started","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000001","by":{"kind":"human","name":"mia"},"end":{"reported":{"output":"","result":"COMPLETE"},"verified":{"checks":[],"commits":0,"cost_micro_usd":0,"deletions":0,"duration_ms":0,"files_changed":0,"input_tokens":0,"insertions":0,"output_tokens":0,"turns":5,"turns_max":50,"uncommitted_changes":false}},"event":"attempt_ended","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"breakdown_released","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"message_posted","session":"session","task":"TASK-0000000a","text":"Use port 80."}
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000001","by":{"kind":"human","name":"mia"},"event":"messages_delivered","task":"TASK-0000000a","up_to":2}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"plan_rejected","reason":"the tests are missing","task":"TASK-0000000a"}
    {"answer":"SPLIT","answered_by":{"by":"human","name":"mia"},"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"question_answered","question":"Q-000000f1","session":"session","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"question_asked","question":{"id":"Q-000000f1","kind":"clarification","no_holds":true,"options":["YES","NO"],"text":"YES/NO: このタスクはコード変更を許可しますか？\n(Do you permit code changes for this task?)\nThe agent stopped without saying what it needs. It has committed nothing. YES sends it back with permission to change code, and `YES: …` also with what it should know; NO holds the task until you release it."},"session":"session","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"question_withdrawn","question":"Q-000000f1","reason":"the attempt that asked it failed","session":"session","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_cancelled","reason":null,"task":"TASK-0000000a"}
    {"agent":"scripted","at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000007","by":{"kind":"human","name":"mia"},"event":"task_claimed","resumes":null,"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"detail":"src/login.rs","event":"task_conflicted","task":"TASK-0000000a"}
    {"after":"ATT-0000000000000001","at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_continues","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"depends_on":[],"event":"task_created","spec":{"created_at":"1970-01-01T00:00:01.000Z","depth":1,"description":"It fails on Mondays.","id":"TASK-000000f2","priority":"P2","purpose":{"by_hand":true,"purpose":"breakdown","reason":"too_large","replaces_task_id":"TASK-0000000a"},"role":"breakdown","session_id":"session","task_type":"IMPLEMENTATION","title":"Re-breakdown: Fix the login"}}
    {"accepted_by":{"by":"output"},"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_done","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"error":"it does not work","event":"task_failed","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"commit":"0123456789abcdef0123456789abcdef01234567","event":"task_forced","task":"TASK-0000000a","withdrawn":["0123456 Rename the login page"]}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_held_back","reason":"stopped by you","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"commit":"0123456789abcdef0123456789abcdef01234567","event":"task_landed","task":"TASK-0000000a"}
    {"accepted_by":{"kind":"human","name":"mia"},"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_landing","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"task_landing_delayed","reason":{"base":"0123456789abcdef0123456789abcdef01234567","checks":[{"exit_code":1,"name":"test","output_tail":"1 failed"}],"into":"baton/next","why":"branch_fails"},"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_let_go","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_provisional","mark":{"mark":"plan"},"question":null,"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","breakdown":"TASK-000000f2","by":{"kind":"human","name":"mia"},"event":"task_recycled","reason":"too_large","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_rejected","reason":"the tests are missing","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_replaced","replaced_by":["TASK-0000000c"],"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","attempt":"ATT-0000000000000001","by":{"kind":"human","name":"mia"},"event":"task_requeued","reason":{"message":"rate limit","why":"systemic"},"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_retried","task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"human","name":"mia"},"event":"task_revised","revision":{"title":"Fix the log-in"},"task":"TASK-0000000a"}
    {"at":"1970-01-01T00:00:01.000Z","by":{"kind":"baton"},"event":"task_sent_back","reason":{"base":"0123456789abcdef0123456789abcdef01234567","checks":[{"exit_code":1,"name":"test","output_tail":"1 failed"}],"commit":"0123456789abcdef0123456789abcdef01234567","failed_before":true,"into":"baton/next","met":[{"task_id":"TASK-0000000e","title":"Rename the login"}],"met_commits":[{"branch":"main","from":"0123456789abcdef0123456789abcdef01234567","subjects":["0123456 Rename the login page"],"to":"0123456789abcdef0123456789abcdef01234567"}],"protected":["tests/login.rs"],"suite":"0123abcd","why":"checks_failed"},"task":"TASK-0000000a"}
    "#);
}

#[test]
fn the_forms_of_effects_are_stable() {
    insta::assert_snapshot!(lines(examples().1), @r#"
    {"attempt":"ATT-0000000000000001","effect":"deliver_messages"}
    {"attempt":"ATT-0000000000000001","effect":"end_turn"}
    {"about":{"failed":"TASK-0000000a"},"effect":"notify"}
    {"attempt":"ATT-0000000000000001","effect":"retire_worktree"}
    {"attempt":"ATT-0000000000000007","effect":"start_agent","task":"TASK-0000000a"}
    {"attempt":"ATT-0000000000000001","effect":"stop_agent"}
    "#);
}

#[test]
fn the_form_of_a_task_is_stable() {
    let end = ended(ResultKind::Complete, SAYS, evidence(2, 20));
    let task = drive(in_state(StateName::Incoming).remove(6), attempt(1, end));
    insta::assert_snapshot!(serde_json::to_string_pretty(&task).unwrap(), @r#"
    {
      "spec": {
        "id": "TASK-0000000a",
        "session_id": "session",
        "task_type": "IMPLEMENTATION",
        "title": "Fix the login",
        "description": "It fails on Mondays.",
        "priority": "P2",
        "role": "implement",
        "purpose": {
          "purpose": "work"
        },
        "depth": 0,
        "created_at": "1970-01-01T00:00:00.010Z"
      },
      "state": {
        "name": "provisional",
        "attempt": "ATT-0000000000000001",
        "mark": {
          "mark": "ready"
        }
      },
      "ledger": {
        "started": 1,
        "tries": 1,
        "continuations": 0,
        "conflicts": 0,
        "is_ahead": false,
        "output": "The login works on every day of the week.",
        "last_end": {
          "reported": {
            "result": "COMPLETE",
            "output": "The login works on every day of the week."
          },
          "verified": {
            "commits": 2,
            "uncommitted_changes": false,
            "turns": 20,
            "turns_max": 50,
            "files_changed": 0,
            "insertions": 0,
            "deletions": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            "cost_micro_usd": 0,
            "duration_ms": 0,
            "checks": []
          }
        }
      },
      "updated_at": "1970-01-01T00:00:01.000Z"
    }
    "#);
}

#[test]
fn every_state_survives_json() {
    for state in StateName::ALL {
        for task in in_state(state) {
            let written = serde_json::to_string(&task).unwrap();
            assert_eq!(serde_json::from_str::<Task>(&written).unwrap(), task, "{state}");
        }
    }
}

#[test]
fn a_stored_task_that_breaks_a_rule_is_rejected() {
    let blocked = in_state(StateName::Blocked).remove(0);
    let mut row = serde_json::to_value(&blocked).unwrap();
    row["spec"]["task_type"] = "IMPLEMENTATION".into();
    let refusal = serde_json::from_value::<Task>(row).unwrap_err();
    assert!(refusal.to_string().contains("only DANGEROUS_OP may be"), "{refusal}");

    let mut row = serde_json::to_value(in_state(StateName::Recycled).remove(1)).unwrap();
    row["state"]["replaced_by"]["tasks"] = serde_json::json!([]);
    assert!(serde_json::from_value::<Task>(row).unwrap_err().to_string().contains("replaced by no task"));

    let mut row = serde_json::to_value(in_state(StateName::AwaitingResponse).remove(0)).unwrap();
    row["state"]["waiting"]["question"]["text"] = "  ".into();
    assert!(serde_json::from_value::<Task>(row).unwrap_err().to_string().contains("blank"));

    let mut row = serde_json::to_value(in_state(StateName::Incoming).remove(0)).unwrap();
    row["state"] = serde_json::json!({ "name": "breakdown", "released": true });
    assert!(serde_json::from_value::<Task>(row).is_err());
}

/// A task stored before requesters were recorded loads without one; otherwise the requester is kept.
#[test]
fn the_requester_of_a_task_is_stored() {
    let task = in_state(StateName::Incoming).remove(0);
    assert!(!serde_json::to_string(&task).unwrap().contains("asked_by"));
    let of_mia = task.with_requester(Actor::human("mia").person());
    let written = serde_json::to_string(&of_mia).unwrap();
    assert!(written.contains(r#""asked_by":"mia""#), "{written}");
    assert_eq!(serde_json::from_str::<Task>(&written).unwrap(), of_mia);
}

#[test]
fn cancelling_running_work_ends_its_agent() {
    let claimed = in_state(StateName::Claimed).remove(0);
    let transition = claimed.apply(Command::Cancel { reason: None }, &context(Actor::human("mia"))).unwrap();
    assert!(transition.effects.iter().any(|effect| matches!(effect, Effect::StopAgent { .. })));
}
