//! Agents that a registry of the Agent Client Protocol tells Baton about.

use serde_json::{Value, json};

use super::fake::{self, outcome, turns};
use crate::engine::test_repo::TestRepo;

/// A repository whose default agent only the registry knows, with its program on PATH.
fn repo() -> TestRepo {
    let mut repo = TestRepo::of(|home| {
        std::fs::create_dir(home.join("bin")).unwrap();
        std::os::unix::fs::symlink(fake::program("fake-acp-agent"), home.join("bin/fake")).unwrap();
        let script = home.join("acp.json");
        let steps = turns(json!([[{ "commit": "by the listed agent" }, outcome("complete")]]));
        std::fs::write(&script, steps.to_string()).unwrap();
        let launcher = format!(
            "#!/bin/sh\n[ \"$1 $LISTED_MODE\" = 'serve quiet' ] && exec \"$(dirname \"$0\")/fake\" {}\n",
            script.display()
        );
        std::fs::write(home.join("bin/listed"), launcher).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(home.join("bin/listed"), mode).unwrap();
        "default_agent = \"listed-agent\"\n".to_owned()
    });
    let path = format!("{}:{}", repo.home.join("bin").display(), std::env::var("PATH").unwrap());
    repo.variables.push(("PATH".to_owned(), path));
    let config = repo.home.join("config").display().to_string();
    repo.variables.push(("XDG_CONFIG_HOME".to_owned(), config));
    repo
}

fn registry(agents: &Value) -> String {
    json!({ "version": "1.0.0", "agents": agents, "extensions": [] }).to_string()
}

fn listed() -> Value {
    let target = format!("linux-{}", std::env::consts::ARCH);
    let binary = json!({ "archive": "https://example.org/a.tar.gz", "cmd": "./dist/listed", "args": ["serve"],
                         "env": { "LISTED_MODE": "quiet" } });
    json!({ "id": "listed-agent", "name": "Listed", "version": "1.0.0", "description": "d",
            "distribution": { "binary": { target: binary } } })
}

#[test]
fn an_agent_of_the_registry_is_known_by_its_id_and_works() {
    let repo = repo();
    let unknown = repo.output(&["task", "list"]);
    let file = repo.home.join("registry.json");
    std::fs::write(&file, registry(&json!([listed(), { "id": "broken" }]))).unwrap();
    let file = file.display().to_string();
    let told = repo.stdout(&["agents", "update", &file]);
    assert!(told.contains("1 agent in") && told.contains("1 added, 0 changed, 0 removed"), "{told}");
    assert!(told.contains("Left out: broken: "), "{told}");
    assert!(repo.stdout(&["agents", "update", &file]).contains("0 added, 0 changed, 0 removed"));
    let agents = repo.json(&["agents", "list"])["agents"].as_array().unwrap().clone();
    let found = agents.iter().find(|agent| agent["name"] == "listed-agent").unwrap();
    assert_eq!(
        (&found["command"], &found["from"], &found["is_installed"]),
        (&json!(["listed", "serve"]), &json!("registry"), &json!(true))
    );
    let built_in = agents.iter().filter(|agent| agent["from"] == "baton").count();
    assert!(built_in >= 25, "{built_in}");
    let task = repo.add("Something", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(repo.attempts(&task)[0]["attempt"]["agent"], "listed-agent");
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        said.contains("names the agent \"listed-agent\"") && said.contains("baton agents update"),
        "{said}"
    );
}

#[test]
fn a_file_that_is_no_registry_changes_nothing() {
    let repo = repo();
    let good = repo.home.join("good.json");
    std::fs::write(&good, registry(&json!([listed()]))).unwrap();
    repo.stdout(&["agents", "update", &good.display().to_string()]);
    let kept = repo.home.join("config/baton/agents.json");
    let before = std::fs::read_to_string(&kept).unwrap();
    for (text, why) in [
        ("not json", "it is not JSON"),
        ("{}", "it has no \"agents\""),
        ("{\"agents\": []}", "no agent in it can be used"),
        ("{\"agents\": [{\"id\": \"x\"}]}", "no agent in it can be used"),
    ] {
        let bad = repo.home.join("bad.json");
        std::fs::write(&bad, text).unwrap();
        let refused = repo.output(&["agents", "update", &bad.display().to_string()]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), before);
    }
    assert_eq!(repo.output(&["agents", "update", "/nowhere.json"]).status.code(), Some(2));
    // What was written by hand and is broken is named, with a way out.
    std::fs::write(&kept, "[{").unwrap();
    let refused = repo.output(&["agents", "list"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("baton agents update FILE"), "{said}");
}
