//! What is kept of an agent's output is bounded.

use std::fs;

use baton_agents::driver::{AgentEvent, Driver};
use baton_agents::output::log::{AttemptLogWriter, LineSource};
use baton_agents::protocols::command::CommandAgent;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::AttemptResult;
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::sync::{mpsc, watch};

use crate::bench::{Bench, clock, run};

const MB: u64 = 1_000_000;

/// The peak memory of this process.
fn memory_peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn a_flood_of_output_is_bounded_in_memory_and_log() {
    let bench = Bench::new();
    let before = memory_peak();
    let mut launch = bench.steps(r#"[{"say": "first"}, {"flood": 200000000}, {"say": "last"}]"#);
    launch.limits.log_bytes_max = 2 * MB;
    let (sender, mut receiver) = mpsc::channel(16);
    let (_cancel, cancelled) = watch::channel(false);
    let agent = CommandAgent::new(clock());
    let counting = async {
        let mut bytes = 0;
        while let Some(event) = receiver.recv().await {
            if let AgentEvent::Text(text) = event {
                bytes += text.len() as u64;
            }
        }
        bytes
    };
    let (ended, bytes) = tokio::join!(agent.run(launch, sender, cancelled), counting);
    assert_eq!(ended.reported.result, AttemptResult::Complete);
    assert_eq!(bytes, 200 * MB + 11, "a receiver that keeps up misses nothing");
    assert!(memory_peak() - before < 40 * MB, "{} more", memory_peak() - before);

    let output = ended.reported.output;
    assert!(output.len() < 300_000, "{}", output.len());
    assert!(output.starts_with("first\n") && output.contains("bytes left out …") && output.ends_with("last"));
    let log = bench.log();
    assert!(log.len() as u64 <= 2 * MB + 1000, "{}", log.len());
    assert!(log.contains(" out first\n") && log.contains("lines left out …") && log.contains(" out last\n"));
}

#[tokio::test]
async fn a_receiver_that_never_reads_does_not_block_the_agent() {
    let bench = Bench::new();
    let (sender, mut receiver) = mpsc::channel(1);
    let (_cancel, cancelled) = watch::channel(false);
    let ended =
        CommandAgent::new(clock()).run(bench.steps(r#"[{"flood": 5000000}]"#), sender, cancelled).await;
    assert_eq!(ended.reported.result, AttemptResult::Complete);
    assert!(matches!(receiver.recv().await, Some(AgentEvent::Started(_))));
}

#[tokio::test]
async fn a_dropped_receiver_does_not_block_the_agent() {
    let bench = Bench::new();
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let (_cancel, cancelled) = watch::channel(false);
    let ended =
        CommandAgent::new(clock()).run(bench.steps(r#"[{"flood": 5000000}]"#), sender, cancelled).await;
    assert_eq!(ended.reported.result, AttemptResult::Complete);
}

#[tokio::test]
async fn a_report_that_is_too_long_is_text_and_a_problem() {
    let bench = Bench::new();
    let line = r#"printf '{"baton":"result","status":"COMPLETE","output":"'; head -c 3000000 /dev/zero | tr '\0' x; echo '"}'"#;
    let ran = run(bench.shell(line)).await;
    assert_eq!(ran.ended.problems.len(), 1);
    assert!(ran.ended.problems[0].contains("it is longer than 1048576 bytes"), "{:?}", ran.ended.problems);
}

#[tokio::test]
async fn a_log_marks_the_stream_of_each_line_and_is_never_overwritten() {
    let bench = Bench::new();
    let steps = r#"[{"say": "text"}, {"turns": 1}]"#;
    run(bench.steps(steps)).await;
    let first = bench.log();
    run(bench.shell("echo 2>&1 second; echo third >&2; exit 1")).await;
    assert_eq!(bench.log(), first);
    assert!(first.contains(
        "\n1970-01-01T00:00:00.000Z out text\n1970-01-01T00:00:00.000Z rep {\"baton\":\"turn\"}\n"
    ));
    assert!(first.ends_with("*** the agent exited with code 0 (it finished)\n"), "{first}");
    let second = fs::read_to_string(bench.path("attempt.2.log")).unwrap();
    assert!(second.contains(" out second\n") && second.contains(" err third\n"), "{second}");
}

#[test]
fn a_full_log_keeps_both_ends_and_counts_the_rest() {
    let bench = Bench::new();
    let path = bench.path("small.log");
    let mut log = AttemptLogWriter::create(&path, 1000).unwrap();
    for number in 0..100 {
        log.line(Timestamp::from_ms(0), LineSource::Out, &format!("line {number}"));
    }
    log.finish().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.len() < 1200, "{}", text.len());
    assert!(text.starts_with("1970-01-01T00:00:00.000Z out line 0\n"), "{text}");
    assert!(text.ends_with(" out line 99\n"), "{text}");
    let lines = text.matches(" out line ").count();
    assert!(text.contains(&format!("\n… {} lines left out …\n1970", 100 - lines)), "{text}");
}

#[tokio::test]
async fn without_a_log_the_agent_is_not_started() {
    let bench = Bench::new();
    let mut launch = bench.shell("true");
    launch.log_path = bench.path("no/such/folder/attempt.log");
    let ended = run(launch).await.ended;
    assert!(ended.problems[0].contains("cannot create the log"), "{:?}", ended.problems);
}

proptest! {
    // Each case is a process.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_on_either_stream_are_read_to_the_end(bytes in vec(any::<u8>(), 0..5000)) {
        let bench = Bench::new();
        fs::write(bench.worktree().join("bytes"), &bytes).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ran = runtime.block_on(run(bench.shell("cat bytes; cat bytes >&2")));
        prop_assert_eq!(ran.ended.reported.result, AttemptResult::Complete);
    }
}
