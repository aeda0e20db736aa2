//! Permissions and questions: decided by policy, answered by a person while the agent waits, or kept for later.

use std::sync::Arc;
use std::time::Duration;

use baton_agents::asking::asker::{AskFuture, AskReply, Asker};
use baton_agents::asking::permission::{PermissionDecision, PermissionPolicy, PermissionRequest};
use baton_agents::driver::run_result::EndReason;
use baton_agents::driver::setup::AgentSetup;
use baton_agents::driver::{AgentEvent, Launch};
use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::preset::Preset;
use baton_agents::protocols;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::task::attempt::{AttemptResult, BlockReason};

use crate::bench::{Bench, FinishedRun, clock, drive};

/// A person who always gives the same answer, or none.
struct Person(Option<&'static str>);

impl Asker for Person {
    fn ask(&self, _: QuestionDraft) -> AskFuture {
        match self.0 {
            Some(answer) => Box::pin(async move { AskReply::Answer(answer.to_owned()) }),
            None => Box::pin(std::future::pending()),
        }
    }
}

struct DenyPush;

impl PermissionPolicy for DenyPush {
    fn decide(&self, request: &PermissionRequest) -> PermissionDecision {
        if request.input.starts_with("git push") {
            PermissionDecision::Deny
        } else {
            PermissionDecision::Allow
        }
    }
}

async fn run(launch: Launch, permissions: impl PermissionPolicy + 'static, person: Person) -> FinishedRun {
    let setup =
        AgentSetup::new(clock(), Preset::GENERIC).permissions(Arc::new(permissions)).asker(Arc::new(person));
    drive(protocols::for_kind(AgentKind::Acp, setup).as_ref(), launch, |_| false).await
}

const PUSH: &str = r#"[{"permission": {"command": "git push", "always": true}}, {"text": " continued"}]"#;

#[tokio::test]
async fn the_policy_decides_and_is_recorded() {
    let bench = Bench::new();
    let ran = run(bench.acp_steps(PUSH), PermissionDecision::Allow, Person(None)).await;
    assert!(ran.ended.reported.output.contains(r#""optionId":"yes""#), "{}", ran.ended.reported.output);
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(ran.ended.turns, 1, "a call that starts with its permission request is a turn");
    let asked = ran.events.iter().find_map(|event| match event {
        AgentEvent::PermissionAsked(request, decision) => Some((request.input.as_str(), *decision)),
        _ => None,
    });
    assert_eq!(asked, Some(("git push", PermissionDecision::Allow)));
}

#[tokio::test]
async fn an_agent_whose_every_call_was_refused_has_not_succeeded() {
    let bench = Bench::new();
    let ran = run(bench.acp_steps(PUSH), DenyPush, Person(None)).await;
    assert!(ran.ended.reported.output.contains(r#""optionId":"no""#));
    assert_eq!(ran.ended.refusals, ["git push"]);
    let AttemptResult::Blocked { reason: BlockReason::Other(reason) } = &ran.ended.reported.result else {
        panic!("{:?}", ran.ended)
    };
    assert_eq!(reason, "every tool call of the agent was refused: git push");

    // An agent with another, allowed call may succeed.
    let steps = r#"[{"tool": "edit"}, {"permission": {"command": "git push"}}, {"text": "done"}]"#;
    let ran = run(bench.acp_steps(steps), DenyPush, Person(None)).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(ran.ended.problems, ["refused: git push"]);

    // An agent that stops after a refusal was not cancelled by Baton.
    let steps = r#"[{"tool": "edit"}, {"permission": {"command": "git push"}}, {"stop": "cancelled"}]"#;
    let ran = run(bench.acp_steps(steps), DenyPush, Person(None)).await;
    assert_eq!(ran.ended.reason, EndReason::Finished);
    assert!(matches!(&ran.ended.reported.result, AttemptResult::Blocked { .. }), "{:?}", ran.ended);
}

#[tokio::test]
async fn an_answer_in_time_reaches_the_waiting_agent() {
    let bench = Bench::new();
    for (answer, option) in [("Allow", "yes"), ("Always allow", "always"), ("Deny", "no")] {
        let ran = run(bench.acp_steps(PUSH), PermissionDecision::AskHuman, Person(Some(answer))).await;
        assert!(ran.ended.reported.output.contains(&format!(r#""optionId":"{option}""#)), "{answer}");
        assert!(ran.ended.reported.output.ends_with("continued"));
        let asked = ran
            .events
            .iter()
            .any(|event| matches!(event, AgentEvent::Question(draft) if draft.options.len() == 3));
        assert!(asked);
    }
}

#[tokio::test]
async fn an_answer_in_other_words_refuses_and_reaches_the_agent() {
    let bench = Bench::new();
    let script = r#"{"turns": [[{"permission": {"command": "git push"}}], [{"tool": "branch"}, {"text": "on a branch"}]]}"#;
    let ran =
        run(bench.acp(script), PermissionDecision::AskHuman, Person(Some("not to main; use a branch"))).await;
    assert!(ran.ended.reported.output.ends_with("on a branch"), "{}", ran.ended.reported.output);
    let session = bench.path("acp.sessions").join(ran.ended.agent_session.unwrap());
    let recorded = std::fs::read_to_string(session).unwrap();
    assert!(
        recorded.contains(r#"About \"git push\", which was refused: not to main; use a branch"#),
        "{recorded}"
    );
}

#[tokio::test]
async fn without_an_answer_the_turn_ends_with_the_question_and_can_be_resumed() {
    let bench = Bench::new();
    for person in [Person(None), Person(None)] {
        let mut launch = bench.acp_steps(PUSH);
        launch.limits.answer_wait = Duration::from_millis(200);
        let ran = run(launch, PermissionDecision::AskHuman, person).await;
        assert_eq!(ran.ended.reason, EndReason::Finished);
        let AttemptResult::Asked { question } = &ran.ended.reported.result else { panic!("{:?}", ran.ended) };
        assert_eq!(question.kind, QuestionKind::Permission);
        assert!(question.text.as_str().contains("git push"), "{}", question.text);
        assert!(ran.ended.agent_session.is_some(), "it can be resumed");
        assert!(!ran.ended.reported.output.contains("continued"));
        assert!(ran.events.iter().any(|event| matches!(event, AgentEvent::Asked(_))));
        assert_eq!(bench.alive(), [] as [&str; 0]);
    }
    assert!(bench.log().contains("the turn ended (cancelled)"), "{}", bench.log());
}

#[tokio::test]
async fn an_agent_that_waits_for_an_answer_is_not_idle() {
    let bench = Bench::new();
    let mut launch = bench.acp_steps(PUSH);
    launch.limits.answer_wait = Duration::from_secs(8);
    launch.limits.idle_timeout = Some(Duration::from_secs(5));
    let ran = run(launch, PermissionDecision::AskHuman, Person(None)).await;
    assert!(matches!(ran.ended.reported.result, AttemptResult::Asked { .. }), "{:?}", ran.ended);
}

#[tokio::test]
async fn a_form_is_asked_like_a_question() {
    let bench = Bench::new();
    let form = r#"{"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}}}"#;
    let steps = format!(r#"[{{"elicit": {form}}}, {{"text": " continued"}}]"#);
    let ran = run(bench.acp_steps(&steps), PermissionDecision::Allow, Person(Some("blue"))).await;
    assert!(ran.ended.reported.output.contains(r#"{"colour":"blue"}"#), "{}", ran.ended.reported.output);

    let mut launch = bench.acp_steps(&steps);
    launch.limits.answer_wait = Duration::from_millis(200);
    let ran = run(launch, PermissionDecision::Allow, Person(None)).await;
    let AttemptResult::Asked { question } = &ran.ended.reported.result else { panic!("{:?}", ran.ended) };
    assert_eq!(question.kind, QuestionKind::Clarification);
    assert!(question.text.as_str().starts_with("Which colour?\n\nThe agent waits"), "{}", question.text);
    assert_eq!(question.options.len(), 2);
}
