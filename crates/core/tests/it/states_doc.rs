//! `docs/states.md` is generated from the tables; this test regenerates it and compares.

use std::fmt::Write;

use baton_core::task::state::StateName;
use baton_core::transition::command::CommandName;
use baton_core::transition::diagram;
use baton_core::transition::table::next_states;

use crate::kept_page::holds;
use crate::samples::in_state;

const INTRO: &str = "\
# States

Drawn from the tables the code runs on, and checked by a test. To draw it again after a change:

    BATON_BLESS=1 cargo nextest run -p baton-core states_doc

## A task

";

fn transition_table() -> String {
    let mut table = String::from("| from | command | to |\n| --- | --- | --- |\n");
    for state in StateName::ALL {
        for command in CommandName::ALL {
            let to: Vec<&str> = next_states(state, command).iter().map(|state| state.as_str()).collect();
            if !to.is_empty() {
                writeln!(table, "| {state} | {command} | {} |", to.join(", ")).unwrap();
            }
        }
    }
    table
}

fn faces() -> String {
    let mut table = String::from("| state | queue | status | reply box |\n| --- | --- | --- | --- |\n");
    for state in StateName::ALL {
        let mut rows: Vec<String> = Vec::new();
        for task in in_state(state) {
            let (queue, status) = (task.state().queue(), task.state().status());
            let queue = serde_json::to_value(queue).unwrap();
            let shows = if status.shows_reply_ui() { "yes" } else { "" };
            let status = serde_json::to_value(status).unwrap();
            let row = format!(
                "| {state} | {} | {} | {shows} |\n",
                queue.as_str().unwrap(),
                status.as_str().unwrap()
            );
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        table.push_str(&rows.concat());
    }
    table
}

fn drawn() -> String {
    format!(
        "{INTRO}```mermaid\n{}```\n\nEvery pair that is not in this table is refused, with a reason.\n\n{}\n\
         Two faces are shown outside:\n\n{}\n\
         ## The phases of a loop\n\n```mermaid\n{}```\n",
        diagram::task_states(),
        transition_table(),
        faces(),
        diagram::phases(),
    )
}

#[test]
fn states_doc_matches_the_tables() {
    holds("states.md", &drawn());
}
