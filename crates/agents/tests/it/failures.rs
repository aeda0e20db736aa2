//! Failures of providers in the words of real agents: `fixtures/failures/AGENT.CLASS.txt`, written by the tests in
//! `real/failures.rs`.

use std::path::Path;

use baton_agents::failure::{AgentFailure, FailureKind, Symptoms};
use baton_core::base::time::Timestamp;

pub(crate) const FOLDER: &str = "tests/fixtures/failures";

/// What the scripted model is told to fail with, and what it has to be recognised as.
pub(crate) const CLASSES: [(&str, FailureKind); 6] = [
    ("login", FailureKind::Authentication),
    ("quota", FailureKind::Quota),
    ("limit", FailureKind::RateLimit),
    ("overload", FailureKind::Overload),
    ("context", FailureKind::ContextOverflow),
    ("network", FailureKind::Network),
];

/// 2026-11-15T09:30:00Z.
const NOW: Timestamp = Timestamp::from_ms(1_794_735_000_000);

#[test]
fn the_words_of_real_agents_are_recognised() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let mut seen = 0;
    for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let (_, class) = name.split_once('.').unwrap();
        let (_, kind) = CLASSES.into_iter().find(|(known, _)| *known == class).unwrap();
        let said = std::fs::read_to_string(&file).unwrap();
        let symptoms = Symptoms { error: &said, was_prompted: true, ..Symptoms::default() };
        let found = AgentFailure::classify(&symptoms, NOW).map(|failure| failure.kind);
        assert_eq!(found, Some(kind), "{name}: {said}");
        seen += 1;
    }
    assert!(seen > 0, "there are no fixtures in {}", folder.display());
}
