//! The same cases for every real agent.

use std::time::Duration;

use baton_agents::asking::asker::{AskFuture, AskReply, Asker, NoAsker};
use baton_agents::asking::permission::PermissionDecision;
use baton_agents::driver::SessionResume;
use baton_agents::driver::run_result::EndReason;
use baton_agents::failure::FailureKind;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::task::attempt::{AttemptResult, ErrorCause};
use serde_json::{Value, json};

use super::Real;
use super::agents::{CLAUDE, CLAUDE_NATIVE, CODEX, CODEX_NATIVE, GEMINI, GOOSE, OPENCODE};
use crate::bench::FinishedRun;

struct Yes;

impl Asker for Yes {
    fn ask(&self, _: QuestionDraft) -> AskFuture {
        Box::pin(async { AskReply::Answer("Allow".to_owned()) })
    }
}

fn show(ran: &FinishedRun) -> String {
    format!("{:#?}", ran.ended)
}

async fn commits(real: &Real) {
    let commit = "echo hello > hello.txt && git add hello.txt && git commit -q -m 'by the agent'";
    let Some(stage) = real.stage(&json!([{"shell": commit}, {"text": "All is done."}])) else { return };
    let ran = real.run(&stage, |_| ()).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete, "{}\n{}", show(&ran), stage.bench.log());
    assert_eq!(stage.git(&["log", "--format=%s"]), "by the agent\nfirst", "{}", stage.bench.log());
    assert!(ran.ended.reported.output.contains("All is done."), "{}", show(&ran));
    assert_eq!(ran.ended.turns, 1, "{}", show(&ran));
    assert!(ran.ended.agent_session.is_some());
    assert!(ran.ended.input_tokens >= 100 || real.preset == "gemini", "{}", show(&ran));
    assert_eq!(stage.bench.alive(), [] as [&str; 0]);
}

async fn turn_limit(real: &Real) {
    let steps: Vec<Value> = (0..30).map(|number| json!({"shell": format!("echo {number}")})).collect();
    let Some(stage) = real.stage(&json!(steps)) else { return };
    let ran = real.run(&stage, |launch| launch.limits.turns_max = 3).await;
    assert_eq!(
        (ran.ended.reason, ran.ended.turns),
        (EndReason::TurnLimit, 3),
        "{}\n{}",
        show(&ran),
        stage.bench.log()
    );
    assert_eq!(ran.ended.reported.result, AttemptResult::TurnLimit);
    let asked = stage.model.turns().len();
    assert!(asked <= 6, "the model was asked {asked} times");
    assert_eq!(stage.bench.alive(), [] as [&str; 0]);
}

async fn denied(real: &Real) {
    let Some(stage) = real.stage(&json!([{"shell": "touch denied.txt"}, {"text": "I could not."}])) else {
        return;
    };
    let ran = real.run_asking(&stage, true, PermissionDecision::Deny, NoAsker, |_| ()).await;
    assert!(!stage.worktree().join("denied.txt").exists());
    assert!(!ran.ended.refusals.is_empty(), "{}\n{}", show(&ran), stage.bench.log());
    assert!(matches!(ran.ended.reported.result, AttemptResult::Blocked { .. }), "{}", show(&ran));
}

async fn asked_and_resumed(real: &Real) {
    // Some agents add a turn when they are interrupted, so the second step is listed more than once.
    let second = json!({"shell": "touch second.txt"});
    let steps = json!([{"shell": "touch first.txt"}, second, second, second, {"text": "All is done."}]);
    let Some(stage) = real.stage(&steps) else { return };
    let wait = Duration::from_millis(500);
    let ran = real
        .run_asking(&stage, true, PermissionDecision::AskHuman, NoAsker, |launch| {
            launch.limits.answer_wait = wait;
        })
        .await;
    let AttemptResult::Asked { question } = &ran.ended.reported.result else {
        panic!("{}\n{}", show(&ran), stage.bench.log())
    };
    assert_eq!(question.kind, QuestionKind::Permission);
    assert!(question.text.as_str().contains("touch first.txt"), "{}", question.text);
    assert!(!stage.worktree().join("first.txt").exists());
    assert_eq!(stage.bench.alive(), [] as [&str; 0]);

    let session = ran.ended.agent_session.clone().unwrap();
    let resume =
        SessionResume { agent_session: session.clone(), prompt_without: "from the beginning".to_owned() };
    let again = real
        .run_asking(&stage, true, PermissionDecision::AskHuman, Yes, |launch| {
            launch.session.resume = Some(resume.clone());
            "The answer is: Allow. Go on.".clone_into(&mut launch.prompt);
        })
        .await;
    assert_eq!(again.ended.agent_session, Some(session), "{}", show(&again));
    assert_eq!(again.ended.reported.result, AttemptResult::Complete, "{}", show(&again));
    assert!(stage.worktree().join("second.txt").exists(), "{}\n{}", show(&again), stage.bench.log());
    let last = stage.model.turns().pop().unwrap()["body"].to_string();
    assert!(
        last.contains("the prompt") && last.contains("The answer is: Allow"),
        "the history is not whole: {last}"
    );
}

async fn resumes(real: &Real) {
    let steps =
        json!([{"text": "The first part is done."}, {"shell": "touch second.txt"}, {"text": "All is done."}]);
    let Some(stage) = real.stage(&steps) else { return };
    let first = real.run(&stage, |_| ()).await;
    let session = first.ended.agent_session.clone().unwrap();
    let resume =
        SessionResume { agent_session: session.clone(), prompt_without: "from the beginning".to_owned() };
    let again = real
        .run(&stage, |launch| {
            launch.session.resume = Some(resume.clone());
            "Now the second part.".clone_into(&mut launch.prompt);
        })
        .await;
    assert_eq!(again.ended.agent_session, Some(session), "{}", show(&again));
    assert!(stage.worktree().join("second.txt").exists(), "{}", show(&again));
    assert!(!again.ended.reported.output.contains("The first part"), "the replay is not part of the output");
    assert_eq!(again.ended.turns, 1, "{}", show(&again));
    let last = stage.model.turns().pop().unwrap()["body"].to_string();
    assert!(
        last.contains("the prompt") && last.contains("Now the second part."),
        "the history is not whole: {last}"
    );
}

/// An agent that cannot load its session continues in a new one.
async fn session_replaced(real: &Real) {
    let Some(stage) = real.stage(&json!([{"shell": "touch second.txt"}, {"text": "All is done."}])) else {
        return;
    };
    let resume =
        SessionResume { agent_session: "of-another-day".to_owned(), prompt_without: "all so far".to_owned() };
    let ran = real.run(&stage, |launch| launch.session.resume = Some(resume.clone())).await;
    assert_eq!(ran.ended.reported.result, AttemptResult::Complete, "{}", show(&ran));
    assert!(ran.ended.problems[0].contains("earlier session"), "{}", show(&ran));
    let last = stage.model.turns().pop().unwrap()["body"].to_string();
    assert!(last.contains("all so far"), "the conversation is missing: {last}");
}

async fn fails(real: &Real, status: u16, kind: FailureKind) {
    let steps =
        json!([{"status": {"status": status, "headers": [["retry-after-ms", "10"], ["retry-after", "1"]]}}]);
    let Some(stage) = real.stage(&steps) else { return };
    let ran = real.run(&stage, |launch| launch.limits.idle_timeout = Some(Duration::from_secs(90))).await;
    let is_systemic =
        matches!(&ran.ended.reported.result, AttemptResult::Error { cause: ErrorCause::Systemic, .. });
    assert!(is_systemic, "{}\n{}", show(&ran), stage.bench.log());
    assert_eq!(ran.ended.failure.as_ref().map(|failure| failure.kind), Some(kind), "{}", show(&ran));
}

macro_rules! cases {
    ($agent:ident as $name:ident: $($case:ident),+) => {
        mod $name {
            use super::*;
            $(cases!(@case $agent $case);)+
        }
    };
    (@case $agent:ident overloaded) => {
        #[tokio::test]
        async fn a_model_that_answers_500_is_an_overload() {
            fails(&$agent, 500, FailureKind::Overload).await;
        }
    };
    (@case $agent:ident limited) => {
        #[tokio::test]
        async fn a_model_that_answers_429_is_a_rate_limit() {
            fails(&$agent, 429, FailureKind::RateLimit).await;
        }
    };
    (@case $agent:ident $case:ident) => {
        #[tokio::test]
        async fn $case() {
            super::$case(&$agent).await;
        }
    };
}

cases!(GOOSE as goose: commits, turn_limit, denied, asked_and_resumed, resumes, session_replaced, overloaded, limited);
cases!(OPENCODE as opencode: commits, turn_limit, denied, asked_and_resumed, resumes, session_replaced, overloaded, limited);
cases!(CLAUDE as claude: commits, turn_limit, denied, asked_and_resumed, resumes, session_replaced, overloaded, limited);
cases!(CLAUDE_NATIVE as claude_native: commits, turn_limit, denied, asked_and_resumed, resumes, session_replaced, overloaded, limited);
cases!(CODEX as codex: commits, turn_limit, resumes, session_replaced, overloaded, limited);
cases!(CODEX_NATIVE as codex_native: commits, turn_limit, resumes, session_replaced, overloaded, limited);
// It retries for minutes without output when its model fails, until the idle limit ends it. It also cannot load a session
// that ended after a few words.
cases!(GEMINI as gemini: commits, turn_limit, denied, session_replaced);
