//! Compares recorded runs of the real `task` with this crate.
//!
//! The cases live beside the checkout. `BATON_TASKFILE_CASES` names another folder, and
//! `BATON_TASKFILE_CASES_ALL=1` runs every case instead of a sample.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// What has to agree, by the beginning of the group's name, in percent, and how many cases of the group a sample has.
const BARS: &[(&str, f64, u32)] = &[
    ("hand/se", 100.0, 40),
    ("hand/sc", 97.0, 90),
    ("hand/expr", 97.0, 100),
    ("hand/shell", 93.0, 110),
    ("hand/bad", 90.0, 60),
    ("testdata", 95.0, 220),
    ("", 96.0, 200),
];

fn cases() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/taskfile");
    let folder = std::env::var_os("BATON_TASKFILE_CASES").map_or(beside, PathBuf::from);
    folder.join("cases.json").is_file().then_some(folder)
}

fn works(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// The share of cases that agree at the level `log`, from the last line of the runner.
fn share(runner: &Path, group: &str, sample: u32) -> f64 {
    let mut command = Command::new("python3");
    command.arg(runner).args(["--bin", env!("CARGO_BIN_EXE_baton-task"), "--group", group, "--jobs", "2"]);
    if std::env::var_os("BATON_TASKFILE_CASES_ALL").is_none() {
        command.args(["--sample", &sample.to_string()]);
    }
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let total = output
        .lines()
        .find(|l| l.starts_with("TOTAL"))
        .unwrap_or_else(|| panic!("the runner said: {output}"));
    let after = total.split("log").nth(1).unwrap_or_else(|| panic!("no level log in: {total}"));
    after.split('%').next().unwrap().trim().parse().unwrap()
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that could not run says so")]
fn the_shared_cases_agree() {
    let Some(folder) = cases() else {
        eprintln!("skipped: no shared cases beside the checkout and none in BATON_TASKFILE_CASES");
        return;
    };
    if !works("bwrap") || !works("python3") {
        eprintln!("skipped: the runner of the shared cases needs bubblewrap and python3");
        return;
    }
    // A copy with ordinary permissions: the runner hands out copies of its fixtures to be written in.
    let copy = TempDir::new().unwrap();
    let copied = Command::new("cp")
        .args(["-r", "--no-preserve=mode"])
        .arg(folder.join("."))
        .arg(copy.path())
        .status()
        .unwrap();
    let opened = Command::new("chmod").args(["-R", "a+rwX"]).arg(copy.path()).status().unwrap();
    assert!(copied.success() && opened.success());
    let short: Vec<String> = BARS
        .iter()
        .map(|(group, bar, sample)| (group, bar, share(&copy.path().join("run"), group, *sample)))
        .filter(|(_, bar, got)| got < *bar)
        .map(|(group, bar, got)| format!("{group}: {got} % agree, {bar} % should"))
        .collect();
    assert!(short.is_empty(), "{}", short.join("\n"));
}
