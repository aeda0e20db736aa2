//! What real agents make of the failures of their provider. `BATON_WRITE_FAILURES=1` keeps their words for the tests that run
//! without them.

use std::path::Path;
use std::time::Duration;

use baton_core::task::attempt::{AttemptResult, ErrorCause};
use serde_json::json;

use super::Real;
use super::agents::{CLAUDE, CLAUDE_NATIVE, CODEX, CODEX_NATIVE, GOOSE};
use crate::failures::{CLASSES, FOLDER};

async fn every_failure(real: &Real) {
    let mut wrong = Vec::new();
    for (class, kind) in CLASSES {
        let Some(stage) = real.stage(&json!([{"failure": class}])) else { return };
        let ran = real.run(&stage, |launch| launch.limits.idle_timeout = Some(Duration::from_mins(1))).await;
        // It makes room in its session by itself, and goes on.
        if class == "context"
            && real.preset == "goose"
            && ran.ended.reported.result == AttemptResult::Complete
        {
            continue;
        }
        let AttemptResult::Error { cause: ErrorCause::Systemic, message } = &ran.ended.reported.result else {
            wrong.push(format!("{class}: {:?}", ran.ended.reported.result));
            continue;
        };
        let found = ran.ended.failure.as_ref().map(|failure| failure.kind);
        // Behind Baton's own words, and without the rest of standard error where the failure is known by less.
        let said = message.split_once('\n').map_or("", |(_, said)| said);
        let said = ran.ended.failure.as_ref().map_or(said, |failure| failure.message.as_str());
        keep(real, class, said);
        if found != Some(kind) {
            wrong.push(format!("{class}: {found:?}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", real.preset);
}

fn keep(real: &Real, class: &str, said: &str) {
    if std::env::var_os("BATON_WRITE_FAILURES").is_none() || said.trim().is_empty() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{}.{class}.txt", real.preset)), format!("{}\n", said.trim_end()))
        .unwrap();
}

macro_rules! agents {
    ($($agent:ident as $name:ident),+) => {
        $(#[tokio::test]
        async fn $name() {
            every_failure(&$agent).await;
        })+
    };
}

// Gemini, Qwen and Kimi retry without a word for longer than a test may wait.
agents!(
    GOOSE as goose,
    CLAUDE as claude,
    CLAUDE_NATIVE as claude_native,
    CODEX as codex,
    CODEX_NATIVE as codex_native
);
