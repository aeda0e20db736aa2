//! Looking for agents: what is there, what it calls itself, and what is wrong with it.

use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::preset::Preset;
use baton_agents::probe::{AcpHandshake, probe};
use baton_agents::process::environment::AgentEnvironment;

use crate::bench::Bench;

#[tokio::test]
async fn an_agent_that_is_there_greets() {
    let bench = Bench::new();
    let command = bench.acp(r#"{"http": true}"#).command;
    let environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
    let found = probe(&Preset::GENERIC, &command, &environment, bench.attempt).await;
    assert!(found.installed);
    let parse_greeting =
        AcpHandshake::Answered { agent: "fake 1".to_owned(), can_load: true, can_http: true };
    assert_eq!(found.handshake, parse_greeting);
    assert_eq!(bench.alive(), [] as [&str; 0]);
}

#[tokio::test]
async fn one_that_breaks_says_why_and_one_that_is_missing_is_not_tried() {
    let bench = Bench::new();
    let environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
    let command = bench.acp(r#"{"stderr": "no licence", "exit": 1}"#).command;
    let broken = probe(&Preset::GENERIC, &command, &environment, bench.attempt).await;
    assert_eq!(
        broken.handshake,
        AcpHandshake::Failed("it exited without a handshake\nno licence".to_owned())
    );

    let missing = ["no-such-agent".to_owned()];
    let missing = probe(&Preset::GENERIC, &missing, &environment, bench.attempt).await;
    assert_eq!((missing.installed, missing.handshake), (false, AcpHandshake::NotTried));
}

#[tokio::test]
async fn the_version_is_asked_of_the_program_itself() {
    let bench = Bench::new();
    let environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
    let preset = Preset {
        kind: AgentKind::Claude,
        command: &["git"],
        version: &["git", "--version"],
        ..Preset::GENERIC
    };
    let found = probe(&preset, &["git".to_owned()], &environment, bench.attempt).await;
    assert!(found.version.unwrap().starts_with("git version "));
    assert_eq!(found.handshake, AcpHandshake::NotTried);
}
