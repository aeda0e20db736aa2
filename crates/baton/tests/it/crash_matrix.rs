//! Every boundary × every fault: the demo ends, or loses its store, at each change, claim, call of git and item of a service,
//! and is started again. The boundaries are not chosen: a first run writes down all that it passes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use crate::demo::{BRANCH, Demo, PATIENCE, ends_within, exit_code};

/// Faults in an ordinary test run, spread evenly over all. `scripts/crash-matrix` tries every one.
const FAULTS: usize = 6;
/// Demos at once.
const WORKERS: usize = 2;

/// What the demo's own check asks of a tree: each greeting begins with a number of its own.
fn numbers_are_unique(demo: &Demo, commit: &str) -> bool {
    let files = demo.git(&["ls-tree", "-r", "--name-only", commit, "greetings/"]);
    let texts = files.lines().filter(|file| Path::new(file).extension().is_some_and(|end| end == "txt"));
    let numbers: Vec<String> = texts
        .map(|file| demo.git(&["show", &format!("{commit}:{file}")]))
        .map(|text| text.split_whitespace().next().unwrap_or_default().to_owned())
        .collect();
    let mut unique = numbers.clone();
    unique.sort();
    unique.dedup();
    unique.len() == numbers.len()
}

/// All that a run without faults passes, as `fault:boundary`.
fn enumerate() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo { folder: folder.path().canonicalize().unwrap() };
    let log = demo.folder.join("boundaries");
    let mut child = demo.start_with(&[("BATON_CRASH_LOG", log.to_str().unwrap())]);
    assert!(ends_within(&mut child, PATIENCE), "the demo without faults did not end");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    demo.check();
    let mut points: Vec<String> = std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    points.sort();
    points.dedup();
    points
}

/// What one fault came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultEnd {
    /// The process ended there, and the next one finished.
    Recovered,
    /// It went on by itself.
    WentOn,
}

/// Runs into the fault, starts again as often as a person would, and checks the result.
fn try_fault(point: &str) -> FaultEnd {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo { folder: folder.path().canonicalize().unwrap() };
    let mut child = demo.start_with(&[("BATON_CRASH", point)]);
    assert!(ends_within(&mut child, PATIENCE), "{point}: it neither ended nor failed");
    let code = child.wait().unwrap().code();
    // A second start also where it went on: it finds everything done.
    assert_eq!(exit_code(&demo), Some(0), "after {point}");
    demo.check();
    for commit in demo.git(&["rev-list", "--first-parent", BRANCH]).lines() {
        assert!(numbers_are_unique(&demo, commit), "after {point}: {commit} does not pass the check");
    }
    if code == Some(0) { FaultEnd::WentOn } else { FaultEnd::Recovered }
}

#[test]
fn after_a_fault_at_any_boundary_everything_is_done_once() {
    let all = enumerate();
    let is_full = std::env::var("BATON_CRASH_MATRIX").is_ok_and(|wanted| wanted == "all");
    let stride = if is_full { 1 } else { (all.len() / FAULTS).max(1) };
    let wanted: Vec<&String> = all.iter().step_by(stride).collect();
    for kind in ["before:claim", "after:git: ", "before:item: ", "unknown-after:task_", "full:task_"] {
        assert!(all.iter().any(|point| point.starts_with(kind)), "no boundary is called {kind}…: {all:#?}");
    }
    let (left, ends) = (Mutex::new(wanted.into_iter()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(point) = { left.lock().unwrap().next() } {
                    let end = try_fault(point);
                    let mut ends = ends.lock().unwrap();
                    ends.insert(point.clone(), end);
                    let _ = writeln!(std::io::stderr(), "{} of {}: {point}: {end:?}", ends.len(), all.len());
                }
            });
        }
    });
    if is_full {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reliability.md");
        std::fs::write(path, report(&ends.into_inner().unwrap())).unwrap();
    }
}

/// A row for each boundary, a column for each fault.
fn report(ends: &BTreeMap<String, FaultEnd>) -> String {
    const COLUMNS: [&str; 7] = ["before", "after", "away", "busy", "full", "unknown-before", "unknown-after"];
    let mut rows: BTreeMap<&str, BTreeMap<&str, FaultEnd>> = BTreeMap::new();
    for (point, end) in ends {
        let (fault, boundary) = point.split_once(':').unwrap();
        rows.entry(boundary).or_default().insert(fault, *end);
    }
    let mut text = String::from(
        "# What happens when Baton dies\n\n\
         The demo (questions, a review, landing with a semantic conflict, a task that is broken down) was run into a fault at \
         every boundary it passes: each change of the store, by the events it writes; each claim; each call of git; each item \
         of a background service. Then it was started again. After each run every task is done, every commit is on the branch \
         once, every commit of the branch's first-parent history passes the check, no question is left, the checkout is \
         untouched and no process is left over.\n\n\
         The faults: the process ends before or after the step; the store is away, locked or full once; the answer to a change \
         is lost, before or after it was written. ✓ means that the next start finished the work, ↷ that the same process went \
         on by itself; an empty cell is a fault that cannot happen there. A single failure would have failed the run that \
         wrote this table: `scripts/crash-matrix`.\n\n",
    );
    let _ = writeln!(text, "{} faults at {} boundaries.\n", ends.len(), rows.len());
    let _ = writeln!(text, "| boundary | {} |", COLUMNS.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(COLUMNS.len()));
    for (boundary, found) in rows {
        let cells = COLUMNS.map(|fault| match found.get(fault) {
            Some(FaultEnd::Recovered) => "✓",
            Some(FaultEnd::WentOn) => "↷",
            None => "",
        });
        let _ = writeln!(text, "| `{boundary}` | {} |", cells.join(" | "));
    }
    text
}
