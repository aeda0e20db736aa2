//! Probing agents: whether they are installed, their version, and what is wrong.

use baton_agents::presets::kind::AgentKind;
use baton_agents::presets::preset::Preset;
use baton_agents::probe::{AcpHandshake, probe};
use baton_agents::process::environment::AgentEnvironment;

use crate::bench::Bench;

#[tokio::test]
async fn an_installed_agent_completes_the_handshake() {
    let bench = Bench::new();
    let command = bench.acp(r#"{"http": true}"#).command;
    let environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
    let found = probe(&Preset::GENERIC, &command, &environment, bench.attempt).await;
    assert!(found.installed);
    let expected = AcpHandshake::Answered { agent: "fake 1".to_owned(), can_load: true, can_http: true };
    assert_eq!(found.handshake, expected);
    assert_eq!(bench.alive(), [] as [&str; 0]);
}

#[tokio::test]
async fn a_broken_agent_is_explained_and_a_missing_one_is_not_started() {
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
async fn the_version_comes_from_the_program() {
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
