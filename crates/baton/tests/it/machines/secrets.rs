//! Agents do not get the credentials of the store, wherever Baton got them from.

use super::fleet::Fleet;
use crate::engine::store_choice::{address, report_skipped};
use crate::engine::test_repo::read;
use crate::postgres;

const IN_ADDRESS: &str = "word-in-the-address";
const IN_VARIABLE: &str = "word-in-a-variable";

#[test]
fn agents_do_not_get_the_credentials_of_the_store() {
    if let Some(reason) = postgres::missing() {
        return report_skipped(&reason);
    }
    // The tests' server needs no password and accepts any.
    let store = address().replacen('@', &format!(":{IN_ADDRESS}@"), 1);
    let fleet = Fleet::new(store, "secrets", "");
    let home = fleet.home.display();
    // Records its environment and the command lines of its attempt's processes.
    fleet.set_agent(&format!(
        "turns 1; work; env > {home}/environment\n\
         for process in /proc/[0-9]*; do\n\
         if grep -qsz \"^BATON_ATTEMPT_ID=$BATON_ATTEMPT_ID\\$\" $process/environ; then\n\
         tr '\\0' ' ' < $process/cmdline >> {home}/commands || true; fi; done"
    ));
    let mut machine = fleet.machine("lab", "");
    machine.variables.push(("PGPASSWORD".to_owned(), IN_VARIABLE.to_owned()));
    let up = machine.up(&["--agents", "1"]);
    up.wait_for_line("Listening");
    let project = machine.project(&fleet);
    let task = machine.add(&project, "Look around", &[]);
    machine.until_queue(&task, "provisional");
    up.end();
    let (environment, commands) = (read(fleet.home.join("environment")), read(fleet.home.join("commands")));
    assert!(
        environment.contains("BATON_STORE=postgres://") && commands.contains("agent.sh"),
        "{environment}\n{commands}"
    );
    for word in [IN_ADDRESS, IN_VARIABLE, "PGPASSWORD"] {
        assert!(!environment.contains(word), "{word} in the environment:\n{environment}");
        assert!(!commands.contains(word), "{word} on a command line:\n{commands}");
    }
}
