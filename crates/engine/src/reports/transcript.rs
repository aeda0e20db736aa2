//! The log of an attempt as a conversation: what the agent said, thought, planned and did.

use baton_agents::output::activity::Activity;
pub use baton_agents::output::activity::{TodoItem, TodoState};
use baton_core::base::time::Timestamp;
use serde::Serialize;

/// One thing that happened, in the order of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TranscriptEntry {
    Message {
        at: Timestamp,
        text: String,
    },
    Thought {
        at: Timestamp,
        text: String,
    },
    Todo {
        at: Timestamp,
        items: Vec<TodoItem>,
    },
    Tool(ToolUse),
    /// Standard error.
    Errors {
        at: Timestamp,
        text: String,
    },
    /// A remark by Baton.
    Note {
        at: Timestamp,
        text: String,
    },
}

/// One tool call, from its start to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolUse {
    pub at: Timestamp,
    pub id: String,
    pub title: String,
    pub tool: String,
    pub input: String,
    pub output: String,
    pub changes: Vec<FileChange>,
    /// None while it runs, or if the agent never said how it ended.
    pub ended: Option<ToolEnd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ToolEnd {
    pub at: Timestamp,
    pub ok: bool,
}

/// A change to a file, as the agent describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    pub path: String,
    pub old: String,
    pub new: String,
}

/// Reads the lines of a log. A line in another form is left out: the raw log has it.
pub fn read_transcript(log: &str) -> Vec<TranscriptEntry> {
    let lines: Vec<LogLine<'_>> = log.lines().filter_map(LogLine::read).collect();
    let has_activities = lines.iter().any(|line| line.mark == "act");
    let mut entries: Vec<TranscriptEntry> = Vec::new();
    for line in lines {
        match line.mark {
            "out" => say(&mut entries, line.at, line.text),
            "err" => complain(&mut entries, line.at, line.text),
            "***" => entries.push(TranscriptEntry::Note { at: line.at, text: line.text.to_owned() }),
            "act" => {
                if let Ok(activity) = serde_json::from_str(line.text) {
                    take(&mut entries, line.at, activity);
                }
            }
            // Logs of before have the titles of tools only.
            "rep" if !has_activities => entries.extend(old_tool(&line)),
            _ => {}
        }
    }
    entries
}

/// `2026-11-17T22:00:00.000Z out The text`.
struct LogLine<'a> {
    at: Timestamp,
    mark: &'a str,
    text: &'a str,
}

impl<'a> LogLine<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (at, rest) = line.split_once(' ')?;
        let (mark, text) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(Self { at: at.parse().ok()?, mark, text })
    }
}

fn say(entries: &mut Vec<TranscriptEntry>, at: Timestamp, line: &str) {
    if let Some(TranscriptEntry::Message { text, .. }) = entries.last_mut() {
        text.push('\n');
        text.push_str(line);
    } else if !line.trim().is_empty() {
        entries.push(TranscriptEntry::Message { at, text: line.to_owned() });
    }
}

fn complain(entries: &mut Vec<TranscriptEntry>, at: Timestamp, line: &str) {
    if let Some(TranscriptEntry::Errors { text, .. }) = entries.last_mut() {
        text.push('\n');
        text.push_str(line);
    } else {
        entries.push(TranscriptEntry::Errors { at, text: line.to_owned() });
    }
}

fn take(entries: &mut Vec<TranscriptEntry>, at: Timestamp, activity: Activity) {
    match activity {
        Activity::Thought { text } => entries.push(TranscriptEntry::Thought { at, text }),
        Activity::Todo { items } => entries.push(TranscriptEntry::Todo { at, items }),
        Activity::Tool { id, title, kind } => {
            entries.push(TranscriptEntry::Tool(tool_use(at, id, title, kind)));
        }
        Activity::Input { id, text } => with_tool(entries, &id, |tool| tool.input = text),
        Activity::Output { id, text } => with_tool(entries, &id, |tool| {
            // Some agents send what a command has printed so far, again and again.
            if text.starts_with(&tool.output) || tool.output.is_empty() {
                tool.output = text;
            } else {
                tool.output = format!("{}\n{text}", tool.output);
            }
        }),
        Activity::Change { id, path, old, new } => with_tool(entries, &id, |tool| {
            tool.changes.retain(|change| change.path != path || change.old != old);
            tool.changes.push(FileChange { path, old, new });
        }),
        Activity::ToolEnd { id, ok } => with_tool(entries, &id, |tool| tool.ended = Some(ToolEnd { at, ok })),
    }
}

/// The last call with this id: some models reuse ids.
fn with_tool(entries: &mut [TranscriptEntry], id: &str, change: impl FnOnce(&mut ToolUse)) {
    let tool = entries.iter_mut().rev().find_map(|entry| match entry {
        TranscriptEntry::Tool(tool) if tool.id == id => Some(tool),
        _ => None,
    });
    if let Some(tool) = tool {
        change(tool);
    }
}

fn tool_use(at: Timestamp, id: String, title: String, tool: String) -> ToolUse {
    let (input, output) = (String::new(), String::new());
    ToolUse { at, id, title, tool, input, output, changes: Vec::new(), ended: None }
}

fn old_tool(line: &LogLine<'_>) -> Option<TranscriptEntry> {
    let (tool, title) = line.text.strip_prefix("tool (")?.split_once("): ")?;
    Some(TranscriptEntry::Tool(tool_use(line.at, String::new(), title.to_owned(), tool.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_becomes_a_conversation() {
        let log = [
            "2026-11-17T22:00:00.000Z *** the agent's session is s1",
            "2026-11-17T22:00:01.000Z act {\"did\":\"thought\",\"text\":\"Look first.\"}",
            "2026-11-17T22:00:01.000Z rep tool (execute): npm test",
            "2026-11-17T22:00:01.000Z act {\"did\":\"tool\",\"id\":\"1\",\"title\":\"npm test\",\"kind\":\"execute\"}",
            "2026-11-17T22:00:01.000Z act {\"did\":\"input\",\"id\":\"1\",\"text\":\"npm test\"}",
            "2026-11-17T22:00:02.000Z act {\"did\":\"output\",\"id\":\"1\",\"text\":\"1 ok\"}",
            "2026-11-17T22:00:02.500Z act {\"did\":\"output\",\"id\":\"1\",\"text\":\"1 ok\\n2 ok\"}",
            "2026-11-17T22:00:03.000Z act {\"did\":\"tool_end\",\"id\":\"1\",\"ok\":true}",
            "2026-11-17T22:00:04.000Z out All is green.",
            "2026-11-17T22:00:04.000Z out ",
            "2026-11-17T22:00:04.000Z out Done.",
            "not a line of the log",
            "2026-11-17T22:00:05.000Z act {\"did\":\"something of tomorrow\"}",
        ]
        .join("\n");
        let entries = read_transcript(&log);
        let [
            TranscriptEntry::Note { .. },
            TranscriptEntry::Thought { text: thought, .. },
            TranscriptEntry::Tool(tool),
            TranscriptEntry::Message { text, .. },
        ] = entries.as_slice()
        else {
            panic!("{entries:#?}")
        };
        assert_eq!((thought.as_str(), text.as_str()), ("Look first.", "All is green.\n\nDone."));
        assert_eq!((tool.input.as_str(), tool.output.as_str()), ("npm test", "1 ok\n2 ok"));
        assert!(tool.ended.is_some_and(|end| end.ok && end.at.ms_since(tool.at) == 2_000));
    }

    #[test]
    fn a_log_of_before_still_has_its_tools() {
        let entries = read_transcript("2026-11-17T22:00:01.000Z rep tool (read): src/app.js");
        assert!(
            matches!(entries.as_slice(), [TranscriptEntry::Tool(tool)] if tool.title == "src/app.js" && tool.tool == "read"),
            "{entries:?}"
        );
    }
}
