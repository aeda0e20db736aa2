//! `baton-task`: go-task's command line.

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    std::process::exit(baton_taskfile::cli::main(&words));
}
