//! How fast the store is, beside the same writes made by hand on the same machine in the same run.
//!
//! `cargo bench -p baton-store` prints the table. Seconds differ from machine to machine; the ratios should not.
//! `BATON_BENCH_TASKS` sets the size of the large store (1,000,000).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement that cannot go on says so by ending"
)]

mod raw_sqlite;
mod sqlite;
mod table;
mod work;

fn main() {
    // Said by `cargo bench` alone; `cargo test --all-targets` only has to see that it builds.
    if std::env::args().all(|argument| argument != "--bench") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(sqlite::measure());
}
