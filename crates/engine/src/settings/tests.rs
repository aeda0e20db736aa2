use std::time::Duration;

use baton_core::ask::answer_source::UnattendedPolicy;

use super::*;

fn read(text: &str) -> Result<Settings, String> {
    Settings::parse(text, Path::new("baton.toml")).map_err(|error| error.to_string())
}

#[test]
fn an_empty_file_is_all_defaults() {
    let settings = read("").unwrap();
    assert_eq!((settings.max_agents, settings.lease_seconds), (4, 30));
}

#[test]
fn roles_choose_agents_and_limits() {
    let settings = read(
        "default_agent = \"mine\"\nmax_agents = 6\n\
         [agents.mine]\nkind = \"command\"\ncommand = [\"true\"]\nmax = 3\n\
         [agents.other]\nkind = \"command\"\ncommand = [\"true\"]\n\
         [roles.breakdown]\nagent = \"other\"\nmax_turns = 12\nmax = 1\n",
    )
    .unwrap();
    let breakdown = Role::breakdown();
    let (name, _) = settings.agent_for(&breakdown).unwrap();
    assert_eq!((name.as_str(), settings.turn_limit(&breakdown).unwrap().max), ("other", 12));
    let capacity = settings.capacity();
    assert_eq!(capacity.per_role.max(&breakdown), 1);
    assert_eq!(capacity.per_agent.max(&"mine".parse().unwrap()), 3);
    assert!(!capacity.is_shared());
    let capacity = read("max_per_project = 2\nmax_per_person = 5").unwrap().capacity();
    assert_eq!((capacity.per_project.default_max, capacity.per_person.default_max), (2, 5));
}

#[test]
fn a_breakdown_has_20_turns_unless_its_role_says_otherwise() {
    let settings =
        read("default_agent = \"a\"\n[agents.a]\nkind = \"command\"\ncommand = [\"true\"]\n").unwrap();
    let max = |role: &Role| settings.turn_limit(role).unwrap().max;
    assert_eq!((max(&Role::breakdown()), max(&Role::implement())), (20, 50));
}

#[test]
fn an_unknown_key_names_the_nearest_known_one() {
    let error = read("max_agent = 3").unwrap_err();
    assert_eq!(error, "baton.toml: the file has no setting \"max_agent\"; did you mean \"max_agents\"?");
    let error = read("[agents.a]\nkind = \"command\"\nmax_turn = 3").unwrap_err();
    assert_eq!(error, "baton.toml: [agents.a] has no setting \"max_turn\"; did you mean \"max_turns\"?");
}

#[test]
fn an_unknown_agent_is_named() {
    let error = read("[roles.review]\nagent = \"a-spectre\"").unwrap_err();
    assert_eq!(
        error,
        "baton.toml: [roles.review] names the agent \"a-spectre\", which is neither in [agents] nor a known agent"
    );
    let error = read("[roles.review]\nagent = \"gose\"").unwrap_err();
    assert!(error.ends_with("did you mean \"goose\"?"), "{error}");
}

#[test]
fn notify_and_asking_are_read() {
    let settings = read(
        "[notify]\ncommand = [\"notify-send\", \"Baton\"]\nwebhook = \"http://localhost:9000/baton\"\n\
         [asking]\nunattended = \"fail\"\nexpires_after = 60\n",
    )
    .unwrap();
    assert_eq!(settings.asking.policy(), Some(UnattendedPolicy::FailClosed));
    assert_eq!(settings.asking.expires_after(), Some(Duration::from_mins(1)));
    assert_eq!(settings.notify.webhook.unwrap().to_string(), "http://localhost:9000/baton");
    assert_eq!(read("").unwrap().asking.policy(), None);
    let error = read("[notify]\nwebhook = \"https://me:pw@example.org\"").unwrap_err();
    assert!(error.contains("[notify] command"), "{error}");
    let error = read("[asking]\nunatended = \"fail\"").unwrap_err();
    assert!(error.ends_with("did you mean \"unattended\"?"), "{error}");
}

#[test]
fn an_error_has_its_line() {
    assert!(read("max_agents = \"many\"").unwrap_err().contains("line 1"));
}
