//! Compares templates with the recorded output of the real `task` program. The recordings are not part of this
//! repository: they lie in a folder beside it, or in the one `BATON_CONFORMANCE` names. Without them the test is skipped
//! with a message.

use std::path::{Path, PathBuf};

use baton_taskfile::template::Template;
use baton_taskfile::{Map, Value};
use serde_json::Value as Json;

use crate::template::{Fixed, data};

/// The tolerated share of differences, in percent.
const DIFFER_MAX: usize = 1;

const HEAD: &str = "cat <<'__EOT__'\n";
const TAIL: &str = "__EOT__";

fn recordings() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("BATON_CONFORMANCE") {
        return Some(PathBuf::from(folder));
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().map(|folder| folder.join("shared/conformance/taskfile")).find(|folder| folder.is_dir())
}

/// What go-task itself adds to the variables of a file, as it was when the answers were recorded.
fn recorded_data() -> Map {
    let mut data = data();
    let special: [(&str, Value); 26] = [
        ("REF", vec!["c", "a", "b", "a"].into()),
        ("REFN", "y".into()),
        ("TASK", "default".into()),
        ("ALIAS", "default".into()),
        ("TASK_VERSION", "3.54.0".into()),
        ("TASK_EXE", "/opt/task/task".into()),
        ("TASKFILE", "/case/Taskfile.yml".into()),
        ("TASKFILE_DIR", "/case".into()),
        ("TASK_DIR", "/case".into()),
        ("ROOT_DIR", "/case".into()),
        ("ROOT_TASKFILE", "/case/Taskfile.yml".into()),
        ("USER_WORKING_DIR", "/case".into()),
        ("CLI_ARGS", "'a b' -c".into()),
        ("CLI_ARGS_LIST", vec!["a b", "-c"].into()),
        ("CLI_ASSUME_YES", false.into()),
        ("CLI_FORCE", false.into()),
        ("CLI_OFFLINE", false.into()),
        ("CLI_SILENT", false.into()),
        ("CLI_VERBOSE", false.into()),
        ("FILE_PATH_SEPARATOR", "/".into()),
        ("PATH_LIST_SEPARATOR", ":".into()),
        ("MATCH", Value::List(vec![])),
        ("HOME", "/home".into()),
        ("PATH", "/opt/task:/usr/bin:/bin".into()),
        ("PWD", "/case".into()),
        ("USER", "u".into()),
    ];
    data.extend(special.map(|(name, value)| (name.to_owned(), value)));
    for (name, value) in [("GOGC", "off"), ("LANG", "C.UTF-8"), ("NO_COLOR", "1"), ("TZ", "UTC")] {
        data.insert(name.to_owned(), value.into());
    }
    data
}

/// The command of a recorded Taskfile: its last line, a quoted text.
fn command(folder: &Path, fixture: &str) -> Option<String> {
    let file = folder.join("fixtures").join(fixture).join("Taskfile.yml");
    let text = std::fs::read_to_string(file).ok()?;
    let quoted = text.trim_end().lines().last()?.trim_start().strip_prefix("- cmd: ")?;
    serde_json::from_str(quoted).ok()
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that did nothing says so")]
fn templates_render_as_the_recordings_say() {
    let Some(folder) = recordings() else {
        eprintln!("skipped: there are no recordings (shared/conformance/taskfile or BATON_CONFORMANCE)");
        return;
    };
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let recorded: Json = serde_json::from_str(&text).unwrap();
    let data = recorded_data();
    let (mut held, mut wrong) = (0, Vec::new());
    for case in recorded["cases"].as_array().unwrap() {
        if !matches!(case["group"].as_str(), Some("hand/expr" | "hand/tmplblock")) {
            continue;
        }
        let fixture = case["fixture"].as_str().unwrap();
        let command = command(&folder, fixture).unwrap();
        let step = &case["expect"]["steps"][0];
        let failed = step["rc"] != 0;
        let expected = step[if failed { "stderr" } else { "stdout" }].as_str().unwrap();
        if failed && !expected.starts_with("template: ") {
            continue; // The template renders, and the shell fails.
        }
        let seen = match Template::parse(&command).and_then(|template| template.render(&data, &Fixed)) {
            Ok(text) => {
                text.strip_prefix(HEAD).and_then(|text| text.strip_suffix(TAIL)).unwrap_or(&text).to_owned()
            }
            Err(error) => format!("{error}\n"),
        };
        if seen == expected {
            held += 1;
        } else {
            wrong.push(format!("{fixture}: {command}\n  expected {expected:?}\n  rendered {seen:?}"));
        }
    }
    assert!(held > 300, "only {held} recordings were found");
    assert!(wrong.len() * 100 <= held * DIFFER_MAX, "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
