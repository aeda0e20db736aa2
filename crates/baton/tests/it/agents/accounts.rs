//! Agents on several accounts: a limit moves work on, and nobody has to do anything about it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::test_repo::{TestRepo, read};
use crate::landing::events;

fn moves(repo: &TestRepo, task: &str) -> Vec<Value> {
    events(repo, task).into_iter().filter(|event| event["event"] == "agent_moved").collect()
}

/// A shell agent that sees in `WHICH` which account it is on. `more` is added to its table, `others` to the file.
fn on_accounts(program: &str, more: &str, others: &str) -> TestRepo {
    let mut repo = TestRepo::of(|home| {
        let agent = home.join("agent.sh");
        format!(
            "default_agent = \"mine\"\nmax_agents = 4\n\
             [accounts.first]\nprovider = \"here\"\nenv = {{ WHICH = \"FIRST\" }}\n\
             [accounts.second]\nenv = {{ WHICH = \"SECOND\" }}\n{others}\n\
             [agents.mine]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\naccounts = [\"first\", \"second\"]\n{more}\n",
            agent.display()
        )
    });
    repo.variables
        .extend([("FIRST", "first"), ("SECOND", "second")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    repo.set_agent(program);
    repo
}

#[test]
fn forty_tasks_finish_on_two_accounts_with_limits() {
    // Each account refuses every fifth call, for two seconds.
    let repo = on_accounts(
        "calls=$(dirname \"$0\")/calls; mkdir -p \"$calls\"\n\
         touch \"$calls/$WHICH-$BATON_ATTEMPT_ID\"\n\
         if [ $(( $(ls \"$calls\" | grep -c \"^$WHICH-\") % 5 )) -eq 0 ]; then\n\
         echo 'HTTP 429 Too Many Requests: rate limit reached, try again in 2 seconds' >&2; exit 1; fi\n\
         echo \"$WHICH\" >> \"$(dirname \"$0\")/used\"; turns 1; work",
        "",
        "",
    );
    let tasks: Vec<String> = (0..40).map(|number| repo.add(&format!("Task {number}"), &[])).collect();
    let up = repo.up();
    let is_done = || {
        let done = repo.json(&["task", "list", "--queue", "provisional", "--limit", "100"]);
        done["tasks"].as_array().unwrap().len() == tasks.len()
    };
    repo.until("all are done", is_done);
    repo.until("each hold has ended by itself", || repo.json(&["hold", "list"])["holds"] == json!([]));
    assert_eq!(repo.json(&["questions"])["questions"], json!([]), "nobody is asked");
    up.end();
    let used = read(repo.home.join("used"));
    assert_eq!(used.lines().collect::<BTreeSet<_>>(), ["first", "second"].into());
    let (mut refused, mut moved) = (0, 0);
    for task in &tasks {
        let attempts = repo.attempts(task);
        let (last, earlier) = attempts.split_last().unwrap();
        assert_eq!(last["closing"]["end"]["reported"]["result"], "COMPLETE", "{last}");
        for attempt in earlier {
            assert_eq!(attempt["closing"]["end"]["reported"]["cause"], "systemic", "{attempt}");
        }
        refused += earlier.len();
        moved += moves(&repo, task).len();
    }
    assert!(refused > 0 && moved > 0, "{refused} {moved}");
    let accounts = repo.json(&["accounts"]);
    let turns = |number: usize| accounts["accounts"][number]["used_today"]["turns"].as_u64().unwrap();
    assert_eq!(
        (&accounts["accounts"][0]["name"], &accounts["accounts"][0]["state"]),
        (&json!("first"), &json!("open"))
    );
    assert_eq!(turns(0) + turns(1), 40, "{accounts:#}");
}

#[test]
fn a_session_goes_on_with_the_next_account() {
    let limit = json!({ "error": { "code": -32603, "message": "429: rate limit, try again in 3 hours" } });
    let script = turns(json!([[limit], [{ "commit": "done" }, outcome("complete")]]));
    let accounts = "[accounts.first]\n[accounts.second]\n";
    let repo = fake::repo(&script, "accounts = [\"first\", \"second\"]", accounts);
    let task = repo.add("Something", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let holds = repo.json(&["hold", "list"]);
    assert_eq!(
        (&holds["holds"][0]["agent"], &holds["holds"][0]["why"]),
        (&json!("first"), &json!("rate_limit"))
    );
    let listed = repo.stdout(&["accounts"]);
    assert!(
        listed.contains("first (fake): on hold until") && listed.contains("second (fake): open"),
        "{listed}"
    );
    up.end();
    let all = sessions(&repo);
    assert_eq!((all.len(), prompts(&all[0]).len()), (1, 2), "the session goes on");
    let moved = moves(&repo, &task);
    assert_eq!(moved.len(), 1, "{moved:#?}");
    assert_eq!(
        (&moved[0]["from"]["account"], &moved[0]["to"]["account"]),
        (&json!("first"), &json!("second"))
    );
}

#[test]
fn a_fallback_takes_the_work_unless_the_task_waits_for_its_agent() {
    let other = "[agents.other]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \
                 \"cat > /dev/null; echo $BATON_MODEL > model.txt; git add -A; git commit -qm done\"]\n";
    let repo = on_accounts("echo 'insufficient_quota' >&2; exit 1", "fallback = [\"other\"]", other);
    let first = repo.add("First", &[]);
    let add = |flags: &[&str]| {
        let added = repo.json(&[&["task", "add", "More"], flags].concat());
        added["task_id"].as_str().unwrap().to_owned()
    };
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    let agents: Vec<Value> =
        repo.attempts(&first).iter().map(|one| one["attempt"]["agent"].clone()).collect();
    assert_eq!(agents, ["mine", "mine", "other"]);
    let waits = add(&["--no-fallback"]);
    let chosen = add(&["--agent", "other", "--model", "tiny"]);
    repo.until_queue(&chosen, "provisional");
    assert_eq!(repo.attempts(&chosen).len(), 1);
    let diff = repo.stdout(&["task", "diff", &chosen]);
    assert!(diff.contains("+tiny"), "{diff}");
    let view = repo.show(&waits);
    assert_eq!((&view["queue"], &view["attempts"]), (&json!("incoming"), &json!([])));
    let reason = view["not_started"]["message"].as_str().unwrap();
    assert!(reason.contains("baton hold release first"), "{reason}");
    up.end();
    let unknown = repo.output(&["task", "add", "Never", "--agent", "nobody"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
}

#[test]
fn a_limit_of_one_model_moves_the_work_to_the_next_model_in_the_same_session() {
    let limit = "You've hit your Opus limit, try again in 3 hours";
    let limit = json!({ "error": { "code": -32603, "message": limit } });
    let mut script = turns(json!([[limit], [{ "commit": "done" }, outcome("complete")]]));
    script["models"] = json!(true);
    let models = "model = \"opus\"\nfallback_models = [\"Sonnet 4.5\"]\neffort = \"high\"";
    for accounts in ["", "[accounts.work]\n"] {
        let list = if accounts.is_empty() { "" } else { "accounts = [\"work\"]\n" };
        let repo = fake::repo(&script, &format!("{models}\n{list}"), accounts);
        let task = repo.add("Something", &[]);
        let up = repo.up();
        repo.until_queue(&task, "provisional");
        let other =
            repo.json(&["task", "add", "More", "--no-fallback"])["task_id"].as_str().unwrap().to_owned();
        let named = if accounts.is_empty() { "fake" } else { "fake-on-work" };
        let hold = &repo.json(&["hold", "list"])["holds"][0];
        assert_eq!((&hold["agent"], &hold["why"]), (&json!(named), &json!("rate_limit")), "{hold}");
        repo.until("the other waits", || repo.show(&other)["not_started"]["code"] == "intake_paused");
        up.end();
        let all = sessions(&repo);
        let of_task = &all[0];
        assert_eq!(prompts(of_task).len(), 2, "the session goes on: {all:#?}");
        let set: Vec<&Value> = of_task.iter().filter_map(|line| Some(&line.get("set")?["value"])).collect();
        assert_eq!(set, ["opus", "high", "Sonnet 4.5", "high"], "{of_task:#?}");
        let moved = moves(&repo, &task);
        assert_eq!((moved.len(), &moved[0]["to"]["agent"]), (1, &json!("fake-sonnet-4-5")), "{moved:#?}");
    }
}

#[test]
fn an_account_in_its_quiet_hours_gets_no_work() {
    let repo = on_accounts(
        "turns 1; work",
        "",
        "[accounts.third]\nquiet_hours = [\"00:00-12:00\", \"12:00-24:00\"]\n",
    );
    let settings = repo.folder.join(".agent/baton.toml");
    let text = read(&settings).replace("[\"first\", \"second\"]", "[\"third\"]");
    std::fs::write(&settings, text).unwrap();
    let task = repo.add("Something", &[]);
    let up = repo.up();
    up.wait_for_line("Listening on http://");
    repo.until("it is said why it waits", || repo.show(&task)["not_started"]["code"] == "intake_paused");
    let reason = repo.show(&task)["not_started"]["message"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("account third has quiet hours until "), "{reason}");
    assert!(!reason.contains("failures"), "{reason}");
    let accounts = repo.json(&["accounts"]);
    let third = accounts["accounts"].as_array().unwrap().iter().find(|one| one["name"] == "third").unwrap();
    assert_eq!((&third["state"], &third["agents"]), (&json!("quiet"), &json!(["mine"])));
    assert_eq!(repo.attempts(&task).len(), 0);
    up.end();
}

#[test]
fn the_same_agent_reviews_on_another_account_than_the_authors() {
    // The role needs no agent of its own: the default agent serves it.
    for role in ["[roles.verify]\nagent = \"mine\"", ""] {
        let repo = on_accounts(
            "home=$(dirname \"$0\")\n\
             case \"$prompt\" in\n\
             *\"Another agent has done the task\"*) echo \"$WHICH\" > \"$home/reviewer\"; echo AGREE ;;\n\
             *) echo \"$WHICH\" > \"$home/author\"; work ;;\n\
             esac",
            "",
            &format!("[checks]\nrules = [\"true\"]\n{role}"),
        );
        let added = repo.json(&["task", "add", "Work", "--accept-when", "reviewed"]);
        let task = added["task_id"].as_str().unwrap().to_owned();
        repo.work_until(&[(&task, "done")]);
        let (author, reviewer) = (read(repo.home.join("author")), read(repo.home.join("reviewer")));
        assert_ne!(author, reviewer);
        assert_eq!(repo.show(&task)["verified"]["accounts"], json!([author.trim()]));
    }
}
