//! Permissions and questions: decided by policy, answered by a human while the agent waits, or kept for later.

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

use crate::bench::{Bench, Ran, clock, drive};

/// Always answers the same, or never.
struct Human(Option<&'static str>);

impl Asker for Human {
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

async fn run(launch: Launch, permissions: impl PermissionPolicy + 'static, human: Human) -> Ran {
    let setup =
        AgentSetup::new(clock(), Preset::GENERIC).permissions(Arc::new(permissions)).asker(Arc::new(human));
    drive(protocols::for_kind(AgentKind::Acp, setup).as_ref(), launch, |_| false).await
}

const PUSH: &str = r#"[{"permission": {"command": "git push", "always": true}}, {"text": " went on"}]"#;

#[tokio::test]
async fn the_policy_decides_and_is_on_record() {
    let bench = Bench::new();
    let ran = run(bench.acp_steps(PUSH), PermissionDecision::Allow, Human(None)).await;
    assert!(ran.ended.reported.output.contains(r#""optionId":"yes""#), "{}", ran.ended.reported.output);
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(ran.ended.turns, 1, "a call that is first heard of by its request is a turn");
    let asked = ran.events.iter().find_map(|event| match event {
        AgentEvent::PermissionAsked(request, decision) => Some((request.input.as_str(), *decision)),
        _ => None,
    });
    assert_eq!(asked, Some(("git push", PermissionDecision::Allow)));
}

#[tokio::test]
async fn an_agent_that_was_refused_everything_has_not_succeeded_whatever_it_says() {
    let bench = Bench::new();
    let ran = run(bench.acp_steps(PUSH), DenyPush, Human(None)).await;
    assert!(ran.ended.reported.output.contains(r#""optionId":"no""#));
    assert_eq!(ran.ended.refusals, ["git push"]);
    let AttemptResult::Blocked { reason: BlockReason::Other(reason) } = &ran.ended.reported.result else {
        panic!("{:?}", ran.ended)
    };
    assert_eq!(reason, "every tool call of the agent was refused: git push");

    // One that did something else beside it has done something.
    let steps = r#"[{"tool": "edit"}, {"permission": {"command": "git push"}}, {"text": "done"}]"#;
    let ran = run(bench.acp_steps(steps), DenyPush, Human(None)).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    assert_eq!(ran.ended.problems, ["refused: git push"]);

    // One that stops when it is refused something did not end by our hand.
    let steps = r#"[{"tool": "edit"}, {"permission": {"command": "git push"}}, {"stop": "cancelled"}]"#;
    let ran = run(bench.acp_steps(steps), DenyPush, Human(None)).await;
    assert_eq!(ran.ended.reason, EndReason::Finished);
    assert!(matches!(&ran.ended.reported.result, AttemptResult::Blocked { .. }), "{:?}", ran.ended);
}

#[tokio::test]
async fn a_human_who_answers_in_time_is_heard_at_once() {
    let bench = Bench::new();
    for (answer, option) in [("Allow", "yes"), ("Always allow", "always"), ("Deny", "no")] {
        let ran = run(bench.acp_steps(PUSH), PermissionDecision::AskHuman, Human(Some(answer))).await;
        assert!(ran.ended.reported.output.contains(&format!(r#""optionId":"{option}""#)), "{answer}");
        assert!(ran.ended.reported.output.ends_with("went on"));
        let asked = ran
            .events
            .iter()
            .any(|event| matches!(event, AgentEvent::Question(draft) if draft.options.len() == 3));
        assert!(asked);
    }
}

#[tokio::test]
async fn what_a_human_says_instead_of_no_reaches_the_agent() {
    let bench = Bench::new();
    let script = r#"{"turns": [[{"permission": {"command": "git push"}}], [{"tool": "branch"}, {"text": "on a branch"}]]}"#;
    let ran =
        run(bench.acp(script), PermissionDecision::AskHuman, Human(Some("not to main; use a branch"))).await;
    assert!(ran.ended.reported.output.ends_with("on a branch"), "{}", ran.ended.reported.output);
    let session = bench.path("acp.sessions").join(ran.ended.agent_session.unwrap());
    let told = std::fs::read_to_string(session).unwrap();
    assert!(told.contains(r#"About \"git push\", which was refused: not to main; use a branch"#), "{told}");
}

#[tokio::test]
async fn nobody_there_ends_the_turn_with_the_question_to_be_resumed() {
    let bench = Bench::new();
    for human in [Human(None), Human(None)] {
        let mut launch = bench.acp_steps(PUSH);
        launch.limits.answer_wait = Duration::from_millis(200);
        let ran = run(launch, PermissionDecision::AskHuman, human).await;
        assert_eq!(ran.ended.reason, EndReason::Finished);
        let AttemptResult::Asked { question } = &ran.ended.reported.result else { panic!("{:?}", ran.ended) };
        assert_eq!(question.kind, QuestionKind::Permission);
        assert!(question.text.as_str().contains("git push"), "{}", question.text);
        assert!(ran.ended.agent_session.is_some(), "it can be resumed");
        assert!(!ran.ended.reported.output.contains("went on"));
        assert!(ran.events.iter().any(|event| matches!(event, AgentEvent::Asked(_))));
        assert_eq!(bench.alive(), [] as [&str; 0]);
    }
    assert!(bench.log().contains("the turn ended (cancelled)"), "{}", bench.log());
}

#[tokio::test]
async fn waiting_for_a_human_is_not_idleness() {
    let bench = Bench::new();
    let mut launch = bench.acp_steps(PUSH);
    launch.limits.answer_wait = Duration::from_secs(4);
    launch.limits.idle_timeout = Some(Duration::from_millis(1_500));
    let ran = run(launch, PermissionDecision::AskHuman, Human(None)).await;
    assert!(matches!(ran.ended.reported.result, AttemptResult::Asked { .. }), "{:?}", ran.ended);
}

#[tokio::test]
async fn a_form_goes_through_the_same_door() {
    let bench = Bench::new();
    let form = r#"{"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}}}"#;
    let steps = format!(r#"[{{"elicit": {form}}}, {{"text": " went on"}}]"#);
    let ran = run(bench.acp_steps(&steps), PermissionDecision::Allow, Human(Some("blue"))).await;
    assert!(ran.ended.reported.output.contains(r#"{"colour":"blue"}"#), "{}", ran.ended.reported.output);

    let mut launch = bench.acp_steps(&steps);
    launch.limits.answer_wait = Duration::from_millis(200);
    let ran = run(launch, PermissionDecision::Allow, Human(None)).await;
    let AttemptResult::Asked { question } = &ran.ended.reported.result else { panic!("{:?}", ran.ended) };
    assert_eq!(question.kind, QuestionKind::Clarification);
    assert!(question.text.as_str().starts_with("Which colour?\n\nThe agent waits"), "{}", question.text);
    assert_eq!(question.options.len(), 2);
}
