//! Two servers on one store that both send notices: each notice is sent once.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::sharing::fleet;
use crate::engine::test_repo::read;

const TASKS: usize = 4;

/// The notices of both servers, one on each line.
fn received(file: &Path) -> Vec<Value> {
    if !file.exists() {
        return Vec::new();
    }
    read(file).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn two_servers_send_each_notice_once_and_the_second_takes_over() {
    let Some(fleet) = fleet("notices", r#"turns 1; echo '{"baton":"ask","question":"Which port?"}'"#) else {
        return;
    };
    let file = fleet.home.join("notices.json");
    // Each line is one write, so the lines of two servers do not mix.
    let settings = format!(
        "[notify]\ncommand = [\"sh\", \"-c\", \"notice=$(cat); printf '%s\\\\n' \\\"$notice\\\" >> {}\"]\n",
        file.display()
    );
    let (first, second, lab) = (
        fleet.machine_with("first", &settings),
        fleet.machine_with("second", &settings),
        fleet.machine("lab", ""),
    );
    let servers = [first.up(&["--agents", "0"]), second.up(&["--agents", "0"])];
    for server in &servers {
        server.wait_for_line("Listening");
    }
    let project = first.project(&fleet);
    let worker = lab.worker(&["--agents", "4"]);
    let ask = |count: usize| {
        for number in 0..count {
            let task = first.add(&project, &format!("Ask {number}"), &[]);
            second.until("it asks", || second.task(&task)["status"] == "AWAITING_RESPONSE");
        }
    };
    ask(TASKS);
    second.until("all notices are sent", || received(&file).len() >= TASKS);
    let [one, other] = servers;
    one.end();
    ask(TASKS);
    second.until("the other server sends the rest", || received(&file).len() >= 2 * TASKS);
    worker.end();
    other.end();
    let all = received(&file);
    let ids: BTreeSet<String> = all.iter().map(|notice| notice["id"].to_string()).collect();
    assert_eq!((all.len(), ids.len()), (2 * TASKS, 2 * TASKS), "{all:#?}");
}
