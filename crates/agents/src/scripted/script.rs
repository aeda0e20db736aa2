//! A script: which steps to execute for which prompt. Validated as a whole before the first step.

use std::path::{Component, Path};

use baton_core::records::session::HISTORY_HEADING;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::report::{self, ParsedLine};

/// Children per step.
const SPAWN_MAX: u32 = 100;
/// Bytes per flood.
const FLOOD_MAX: u64 = 4 * 1024 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(default)]
    scripts: Vec<Scene>,
    /// For prompts that match no scene.
    #[serde(default)]
    otherwise: Vec<ScriptStep>,
}

/// Steps and their conditions. A missing condition matches everything.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scene {
    #[serde(default)]
    when: PromptTexts,
    #[serde(default)]
    attempt: Option<u32>,
    #[serde(default)]
    resumed: Option<bool>,
    /// The step of a recipe.
    #[serde(default)]
    step: Option<String>,
    #[serde(default)]
    visit: Option<u32>,
    steps: Vec<ScriptStep>,
}

/// What the prompt has to contain: one text, or each of several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum PromptTexts {
    One(String),
    All(Vec<String>),
}

impl Default for PromptTexts {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl PromptTexts {
    fn are_in(&self, prompt: &str) -> bool {
        match self {
            Self::One(text) => prompt.contains(text),
            Self::All(texts) => texts.iter().all(|text| prompt.contains(text)),
        }
    }
}

/// The conditions of this run, from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCue {
    pub attempt: u32,
    pub resumed: bool,
    /// The step of a recipe; empty outside of one.
    pub step: String,
    /// How often the step was entered, including this time.
    pub visit: u32,
}

impl Default for ScriptCue {
    fn default() -> Self {
        Self { attempt: 1, resumed: false, step: String::new(), visit: 1 }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptStep {
    Write(TextFile),
    Append(TextFile),
    Delete(String),
    /// Commits everything in the worktree with this message.
    Commit(String),
    Say(String),
    /// Like `say`, on standard error.
    Log(String),
    Turns(u32),
    Usage(Map<String, Value>),
    Ask(Map<String, Value>),
    Result(Map<String, Value>),
    Outcome(Map<String, Value>),
    /// The items of a breakdown plan.
    Plan(Vec<Value>),
    SleepMs(u64),
    Hang,
    Crash(Crash),
    /// This many bytes of text.
    Flood(u64),
    Spawn(SpawnChildren),
    IgnoreTerm,
    /// Finds the answer in the prompt after the last occurrence of this text.
    ReadAnswer(String),
    /// Crashes, but only the first time for each task.
    FailOnce(Crash),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextFile {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crash {
    Exit(u8),
    Signal(CrashSignal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CrashSignal {
    Abrt,
    Hup,
    Int,
    Kill,
    Term,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpawnChildren {
    pub count: u32,
    /// In a new session, without the agent as parent.
    #[serde(default)]
    pub detached: bool,
    #[serde(default)]
    pub ignore_term: bool,
}

/// What is wrong with a script, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    #[error("invalid script: {0}")]
    Json(String),
    #[error("invalid script: {place}: {reason}")]
    Step { place: String, reason: String },
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Self =
            serde_json::from_str(text).map_err(|error| ScriptError::Json(error.to_string()))?;
        for (scene, steps) in script.scenes() {
            for (number, step) in steps.iter().enumerate() {
                step.check().map_err(|reason| ScriptError::Step { place: place(scene, number), reason })?;
            }
        }
        Ok(script)
    }

    /// The first matching scene and its number; None for `otherwise`.
    pub fn choose(&self, prompt: &str, cue: &ScriptCue) -> (Option<usize>, &[ScriptStep]) {
        let prompt = without_history(prompt);
        let fits = |scene: &Scene| {
            scene.when.are_in(&prompt)
                && scene.attempt.is_none_or(|number| number == cue.attempt)
                && scene.resumed.is_none_or(|wanted| wanted == cue.resumed)
                && scene.step.as_ref().is_none_or(|wanted| *wanted == cue.step)
                && scene.visit.is_none_or(|number| number == cue.visit)
        };
        match self.scripts.iter().position(fits) {
            Some(number) => (Some(number), &self.scripts[number].steps),
            None => (None, &self.otherwise),
        }
    }

    fn scenes(&self) -> impl Iterator<Item = (Option<usize>, &[ScriptStep])> {
        let scenes = self.scripts.iter().enumerate().map(|(number, scene)| (Some(number), &scene.steps[..]));
        scenes.chain([(None, &self.otherwise[..])])
    }
}

/// The prompt without the earlier messages of its conversation, which would match the scenes they had themselves.
fn without_history(prompt: &str) -> String {
    let mut kept = String::new();
    let mut fence: Option<&str> = None;
    let mut is_history = false;
    for line in prompt.split_inclusive('\n') {
        let bare = line.trim_end();
        let ticks = &bare[..bare.bytes().take_while(|byte| *byte == b'`').count()];
        match fence {
            Some(open) if bare == open => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            None if bare == HISTORY_HEADING => is_history = true,
            None if bare.starts_with("## ") => is_history = false,
            Some(_) | None => {}
        }
        if !is_history {
            kept.push_str(line);
        }
    }
    kept
}

/// The position as a JSON path.
pub(super) fn place(scene: Option<usize>, step: usize) -> String {
    match scene {
        Some(scene) => format!("scripts[{scene}].steps[{step}]"),
        None => format!("otherwise[{step}]"),
    }
}

impl ScriptStep {
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Write(TextFile { path, .. }) | Self::Append(TextFile { path, .. }) | Self::Delete(path) => {
                check_path(path)
            }
            Self::Commit(message) if message.trim().is_empty() => Err("the message is blank".to_owned()),
            Self::ReadAnswer(mark) if mark.is_empty() => {
                Err("the text before the answer is empty".to_owned())
            }
            Self::Spawn(spawn) if spawn.count > SPAWN_MAX => Err(format!("at most {SPAWN_MAX} at a time")),
            Self::Flood(bytes) if *bytes > FLOOD_MAX => Err(format!("at most {FLOOD_MAX} bytes")),
            Self::Usage(_) | Self::Ask(_) | Self::Result(_) | Self::Outcome(_) | Self::Plan(_) => {
                self.check_report()
            }
            Self::Commit(_)
            | Self::ReadAnswer(_)
            | Self::Spawn(_)
            | Self::Flood(_)
            | Self::Say(_)
            | Self::Log(_)
            | Self::Turns(_)
            | Self::SleepMs(_)
            | Self::Hang
            | Self::Crash(_)
            | Self::IgnoreTerm
            | Self::FailOnce(_) => Ok(()),
        }
    }

    /// Rejects invalid reports here, so that they do not look like a bug of the driver. Use `say` for malformed reports.
    fn check_report(&self) -> Result<(), String> {
        match self.report_line().map(|line| report::read(&line)) {
            Some(ParsedLine::Unreadable(fault)) => Err(fault.reason),
            Some(ParsedLine::Report(_) | ParsedLine::Text) | None => Ok(()),
        }
    }

    /// The output line of a report step.
    pub fn report_line(&self) -> Option<String> {
        let (kind, fields) = match self {
            Self::Usage(fields) => ("usage", fields.clone()),
            Self::Ask(fields) => ("ask", fields.clone()),
            Self::Result(fields) => ("result", fields.clone()),
            Self::Outcome(fields) => ("outcome", fields.clone()),
            Self::Plan(items) => {
                ("plan", Map::from_iter([("items".to_owned(), Value::Array(items.clone()))]))
            }
            Self::Write(_)
            | Self::Append(_)
            | Self::Delete(_)
            | Self::Commit(_)
            | Self::Say(_)
            | Self::Log(_)
            | Self::Turns(_)
            | Self::SleepMs(_)
            | Self::Hang
            | Self::Crash(_)
            | Self::Flood(_)
            | Self::Spawn(_)
            | Self::IgnoreTerm
            | Self::ReadAnswer(_)
            | Self::FailOnce(_) => return None,
        };
        let mut line = Map::from_iter([("baton".to_owned(), Value::String(kind.to_owned()))]);
        line.extend(fields);
        Some(Value::Object(line).to_string())
    }
}

/// A script may write in its worktree only.
fn check_path(path: &str) -> Result<(), String> {
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if is_inside && !path.is_empty() {
        Ok(())
    } else {
        Err(format!("\"{path}\" must be a relative path without `..`"))
    }
}
