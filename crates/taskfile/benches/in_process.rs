//! The in-process cost of a Taskfile: opening and listing four tasks, and running one that prints.
//!
//! `cargo bench -p baton-taskfile`. Each row is the minimum and median of a thousand runs, with the goal.
//! `scripts/bench-taskfile` compares the command line with go-task's.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints its result, and stops when it cannot be made"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use baton_taskfile::{OutputTarget, TaskInvocation, Taskfile, TaskfileCache};

const FILE: &str = "version: '3'
tasks:
  greet: {desc: Prints a greeting., silent: true, cmds: ['echo \"Hello from your custom Taskfile!\"']}
  list-current-dir: {desc: Lists the directory., cmds: [ls -lA]}
  run-go-tests: {desc: Runs the tests., silent: true, cmds: ['go test ./... {{.CLI_ARGS}}']}
  in-a-shell: {desc: Needs a shell., silent: true, cmds: ['echo \"This\" && true']}
";

fn measure(title: &str, goal: &str, mut work: impl FnMut()) {
    let mut times: Vec<Duration> = (0..1000)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    times.sort();
    println!("{title:44} min {:>10.1?}  median {:>10.1?}  goal {goal}", times[0], times[times.len() / 2]);
}

fn main() {
    let dir = tempfile::TempDir::new().unwrap();
    std::fs::write(dir.path().join("Taskfile.yml"), FILE).unwrap();
    let path = std::path::Path::new("Taskfile.yml");
    measure("open and list 4 tasks", "0.3 ms", || {
        black_box(Taskfile::open(dir.path(), path).unwrap().list(false).unwrap());
    });
    let cache = TaskfileCache::default();
    measure("list 4 tasks of an unchanged file", "0.3 ms", || {
        black_box(cache.open(dir.path(), path).unwrap().list(false).unwrap());
    });
    let run = |name: &str| {
        let outcome = Taskfile::open(dir.path(), path).unwrap().run(
            &TaskInvocation::new(name),
            &OutputTarget::Separate,
            None,
        );
        assert!(outcome.is_success());
        black_box(outcome);
    };
    measure("open and run a task that echoes", "1.2 ms", || run("greet"));
    measure("open and run a task in bash", "-", || run("in-a-shell"));
}
