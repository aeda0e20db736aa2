//! `baton config`: the effective settings and their sources.

use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

struct ConfigFixture(TempDir);

impl ConfigFixture {
    fn new() -> Self {
        let fixture = Self(tempfile::tempdir().unwrap());
        fixture.write("home/.config/baton/config.toml", "max_agents = 2\nmax_unaccepted = 7\n");
        fixture.write(
            "app/.agent/baton.toml",
            "max_agents = 3\ndefault_agent = \"mine\"\n[agents.mine]\nkind = \"command\"\ncommand = [\"true\"]\n",
        );
        fixture.write("app/.git/HEAD", "ref: refs/heads/main\n");
        fixture
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(arguments).current_dir(self.0.path().join("app")).env_clear();
        command.env("HOME", self.0.path().join("home")).envs(variables.iter().copied());
        command.output().unwrap()
    }

    /// The value and the source of a setting.
    fn setting(&self, arguments: &[&str], variables: &[(&str, &str)], key: &str) -> (Value, String) {
        let output = self.run(arguments, variables);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = all["settings"].as_array().unwrap().iter().find(|one| one["key"] == key).unwrap();
        (found["value"].clone(), found["from"].as_str().unwrap().to_owned())
    }
}

#[test]
fn each_value_names_its_source_and_the_stronger_one_wins() {
    let fixture = ConfigFixture::new();
    let config = ["--json", "config"];
    let (value, from) = fixture.setting(&config, &[], "max_agents");
    assert!(value == 3 && from.ends_with("app/.agent/baton.toml"), "{value} {from}");
    let (value, from) = fixture.setting(&config, &[], "max_unaccepted");
    assert!(value == 7 && from.ends_with(".config/baton/config.toml"), "{value} {from}");
    assert_eq!(fixture.setting(&config, &[], "lease_seconds"), (30.into(), "default".to_owned()));
    assert_eq!(
        fixture.setting(&config, &[("BATON_MAX_AGENTS", "9")], "max_agents"),
        (9.into(), "BATON_MAX_AGENTS".to_owned())
    );
    let named = [("BATON_NAMESPACE", "from-variable")];
    assert_eq!(
        fixture.setting(&config, &named, "namespace"),
        ("from-variable".into(), "BATON_NAMESPACE".to_owned())
    );
    let flag = ["--json", "--namespace", "from-flag", "config"];
    assert_eq!(fixture.setting(&flag, &named, "namespace"), ("from-flag".into(), "--namespace".to_owned()));
    let store = [("BATON_STORE", "postgres://mia:secret@db/work")];
    assert_eq!(
        fixture.setting(&config, &store, "store"),
        ("postgres://db/work".into(), "BATON_STORE".to_owned())
    );
    assert_eq!(fixture.setting(&config, &[], "agents.mine.kind").0, "command");
}

#[test]
fn config_prints_a_table_and_names_mistakes() {
    let fixture = ConfigFixture::new();
    let output = fixture.run(&["config"], &[("BATON_ASKING_UNATTENDED", "fail")]);
    let table = String::from_utf8(output.stdout).unwrap();
    let line = |key: &str| {
        let line =
            table.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}: {table}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(line("SETTING"), ["SETTING", "VALUE", "FROM"]);
    assert_eq!(line("asking.unattended"), ["asking.unattended", "fail", "BATON_ASKING_UNATTENDED"]);
    assert_eq!(line("max_agents"), ["max_agents", "3", ".agent/baton.toml"]);
    assert_eq!(line("listen"), ["listen", "127.0.0.1:5678", "default"]);
    let output = fixture.run(&["config"], &[("BATON_MAX_AGENTS", "many")]);
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("BATON_MAX_AGENTS"), "{printed}");
}
