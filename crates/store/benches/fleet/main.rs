//! What one PostgreSQL carries: many workers, ten thousand agents, a million finished tasks.
//!
//! `cargo bench -p baton-store --bench fleet -- agents` runs one part; several can be named:
//!
//! - `throughput`: 1, 4 and 16 workers, each a process of its own, beside as many that speak plain SQL
//! - `agents`: ten thousand simulated agents on a hundred machines, at the rate of real ones and faster
//! - `idle`: a hundred machines with nothing to do, and what one task costs them all
//! - `history`: what finished tasks weigh, and what a store full of them costs the next one
//!
//! `BATON_BENCH_SECONDS` sets how long each measurement lasts. It prints Markdown. PostgreSQL is started for the measurement, or found through `BATON_TEST_POSTGRES`; then its share
//! of the processor is not known here. `docs/capacity.md` says how to read the tables.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement that cannot go on says so by ending"
)]

mod agents;
mod fleet;
mod history;
mod idle;
mod lag;
mod life;
mod machine;
mod office;
mod place;
mod process;
#[path = "../store/raw_postgres.rs"]
#[expect(dead_code, reason = "the other benchmark uses more of it")]
mod raw_postgres;
#[path = "../../tests/it/server.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod server;
mod sheet;
#[path = "../store/table.rs"]
#[expect(dead_code, reason = "the other benchmark uses more of it")]
mod table;
mod throughput;
#[path = "../store/work.rs"]
#[expect(dead_code, reason = "the other benchmark uses more of it")]
mod work;

use std::env;

/// Some minutes each.
const PARTS: [&str; 4] = ["throughput", "agents", "idle", "history"];
/// As many as `baton worker` has.
const THREADS: usize = 2;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().unwrap();
    if let Some(order) = process::Order::of(&arguments) {
        return runtime.block_on(order.carry_out());
    }
    // Said by `cargo bench` alone; `cargo test --all-targets` only has to see that it builds.
    if arguments.iter().all(|argument| argument != "--bench") {
        return;
    }
    let named: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |part: &str| named.iter().any(|name| *name == part);
    if named.is_empty() {
        println!("Name a part: cargo bench -p baton-store --bench fleet -- {}", PARTS.join("|"));
    }
    runtime.block_on(async {
        if is_wanted("throughput") {
            throughput::measure().await;
        }
        if is_wanted("agents") {
            agents::measure().await;
        }
        if is_wanted("idle") {
            idle::measure().await;
        }
        if is_wanted("history") {
            history::measure().await;
        }
    });
}
