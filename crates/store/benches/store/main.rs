//! How fast the store is, beside the same writes made by hand on the same machine in the same run.
//!
//! `cargo bench -p baton-store` prints the table. Seconds differ from machine to machine; the ratios should not.
//! `BATON_BENCH_TASKS` sets the size of the large store (1,000,000), `BATON_BENCH_ONLY` the one backend to measure
//! (`sqlite` or `postgres`). PostgreSQL is started for the measurement, or found through `BATON_TEST_POSTGRES`. Many
//! workers on one PostgreSQL are `--bench fleet`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement that cannot go on says so by ending"
)]

mod bodies;
mod postgres;
mod raw_postgres;
mod raw_sqlite;
#[path = "../../tests/it/server.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod server;
mod sqlite;
mod table;
mod work;

fn main() {
    // Said by `cargo bench` alone; `cargo test --all-targets` only has to see that it builds.
    if std::env::args().all(|argument| argument != "--bench") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let only = std::env::var("BATON_BENCH_ONLY").ok();
    let is_wanted = |backend: &str| only.as_deref().is_none_or(|only| only == backend);
    if is_wanted("sqlite") {
        runtime.block_on(sqlite::measure());
    }
    if is_wanted("postgres") {
        runtime.block_on(postgres::measure());
    }
}
