//! `task --init`.

use std::path::Path;

const FIRST: &str = "version: '3'

vars:
  GREETING: Hello, world!

tasks:
  default:
    desc: Says hello
    cmds:
      - echo \"{{.GREETING}}\"
    silent: true
";

/// Writes `Taskfile.yml` unless there is one, and returns the message to print.
pub(super) fn init(dir: &Path) -> Result<String, String> {
    let path = dir.join("Taskfile.yml");
    if path.exists() {
        return Err("task: A Taskfile already exists".to_owned());
    }
    std::fs::write(&path, FIRST)
        .map_err(|error| format!("task: cannot write {}: {error}", path.display()))?;
    Ok("Taskfile created: Taskfile.yml\n".to_owned())
}
