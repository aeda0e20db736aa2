use std::fs;

use baton_core::base::id::SessionId;
use baton_core::base::priority::Priority;
use baton_core::people::actor::Actor;
use baton_core::task::state::QueueName;
use baton_core::transition::arrival::ImportedState;
use baton_store::model::query::TaskFilter;
use baton_store::{SqliteOptions, SqliteStore};
use proptest::prelude::*;

use crate::base::ids::Ids;
use crate::import::*;
use crate::tasks::service::TaskService;

const BEADS: &str = r#"{"id":"app-1","title":"Log in","description":"With a name.","design":"One form.","acceptance_criteria":"It logs in.","notes":"Old.","status":"closed","priority":0,"issue_type":"feature","created_at":"2026-01-02T03:04:05Z","labels":["web","auth"],"comments":[{"author":"mia","text":"Mind Mondays."}]}
{"id":"app-2","title":"Log out","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-03T03:04:05.5+01:00","assignee":"jo","dependencies":[{"issue_id":"app-2","depends_on_id":"app-1","type":"blocks"},{"issue_id":"app-2","depends_on_id":"app-9","type":"parent-child"},{"issue_id":"app-2","depends_on_id":"gone-1","type":"blocks"},{"issue_id":"app-2","depends_on_id":"app-3","type":"related"}]}

{"id":"app-3","title":"Some day","status":"deferred","priority":4,"issue_type":"chore"}
{"id":"app-4","title":"Gone","status":"tombstone"}
{"id":"app-9","title":"Accounts","status":"open","issue_type":"epic"}
"#;

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn tasks(folder: &Path) -> TaskService {
    let store = SqliteStore::open(&folder.join("store.db"), SqliteOptions::default()).unwrap();
    TaskService::new(store.into(), Ids::random())
}

/// Name, arrival, priority and what it waits on, in the order they will be written.
fn outline(import: &Import) -> Vec<String> {
    import
        .items
        .iter()
        .map(|item| {
            let waits = item.waits_on.join(" ");
            format!("{} {} {} [{waits}]", item.name, item.arrival.as_str(), item.priority)
        })
        .collect()
}

#[test]
fn beads_issues_keep_their_text_state_and_edges() {
    let folder = folder_with(&[(".beads/issues.jsonl", BEADS)]);
    let import = Import::new(ImportTool::Beads.read(folder.path()).unwrap());
    assert_eq!(
        outline(&import),
        ["app-1 done P0 []", "app-2 open P1 [app-1]", "app-3 held P3 []", "app-9 held P2 [app-2]",]
    );
    assert_eq!(import.left_out, ["app-4 is deleted"]);
    let dropped: Vec<String> = import.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(dropped, ["app-2 depends on gone-1, which does not exist"]);
    insta::assert_snapshot!(import.items[0].text, @r"
    With a name.

    ## Design

    One form.

    ## Acceptance criteria

    It logs in.

    ## Notes

    Old.

    ## Comments

    mia: Mind Mondays.

    Beads: app-1
    Type: feature
    Labels: web, auth
    ");
    assert_eq!(import.items[1].created_at, "2026-01-03T02:04:05.5Z".parse().ok());
}

#[test]
fn the_beads_database_and_its_export_give_the_same_tasks() {
    let folder = folder_with(&[(".beads/issues.jsonl", BEADS)]);
    let exported = ImportTool::Beads.read(folder.path()).unwrap();
    let path = folder.path().join(".beads/beads.db");
    baton_store::external::fixture(
        &path,
        "CREATE TABLE issues (id TEXT, title TEXT, description TEXT, design TEXT, acceptance_criteria TEXT,
            notes TEXT, status TEXT, priority INTEGER, issue_type TEXT, assignee TEXT, created_at TEXT);
         CREATE TABLE dependencies (issue_id TEXT, depends_on_id TEXT, type TEXT);
         CREATE TABLE labels (issue_id TEXT, label TEXT);
         CREATE TABLE comments (id INTEGER, issue_id TEXT, author TEXT, text TEXT);
         INSERT INTO issues VALUES
            ('app-1', 'Log in', 'With a name.', 'One form.', 'It logs in.', 'Old.', 'closed', 0, 'feature', NULL, '2026-01-02T03:04:05Z'),
            ('app-2', 'Log out', '', '', '', '', 'open', 1, 'task', 'jo', '2026-01-03T02:04:05.5Z'),
            ('app-3', 'Some day', '', '', '', '', 'deferred', 4, 'chore', NULL, ''),
            ('app-4', 'Gone', '', '', '', '', 'tombstone', 2, 'task', NULL, ''),
            ('app-9', 'Accounts', '', '', '', '', 'open', 2, 'epic', NULL, '');
         INSERT INTO dependencies VALUES ('app-2', 'app-1', 'blocks'), ('app-2', 'app-9', 'parent-child'),
            ('app-2', 'gone-1', 'blocks'), ('app-2', 'app-3', 'related');
         INSERT INTO labels VALUES ('app-1', 'web'), ('app-1', 'auth');
         INSERT INTO comments VALUES (1, 'app-1', 'mia', 'Mind Mondays.');",
    )
    .unwrap();
    assert_eq!(ImportTool::Beads.read(&path).unwrap(), exported);
}

#[test]
fn task_master_subtasks_become_dependencies_of_their_task() {
    let tasks = r#"{"master":{"tasks":[
        {"id":1,"title":"Set up","description":"A repository.","status":"done","priority":"high","dependencies":[]},
        {"id":2,"title":"Serve","status":"in-progress","priority":"medium","dependencies":[1],"details":"HTTP.","testStrategy":"Call it.",
         "subtasks":[{"id":1,"title":"Listen","status":"done","dependencies":[]},
                     {"id":2,"title":"Answer","status":"pending","dependencies":[1, "1"]}]},
        {"id":3,"title":"Later","status":"deferred","dependencies":[2]}]},
      "other":{"tasks":[{"id":1,"title":"Elsewhere","status":"cancelled","dependencies":[]}]}}"#;
    let folder = folder_with(&[(".taskmaster/tasks/tasks.json", tasks)]);
    let import = Import::new(ImportTool::TaskMaster.read(folder.path()).unwrap());
    assert_eq!(
        outline(&import),
        [
            "master:1 done P1 []",
            "master:2.1 done P2 [master:1]",
            "master:2.2 open P2 [master:1 master:2.1]",
            "master:2 open P2 [master:1 master:2.1 master:2.2]",
            "master:3 held P2 [master:2]",
            "other:1 cancelled P2 []",
        ]
    );
    assert_eq!(import.items[2].title, "Serve › Answer");
    assert_eq!(
        import.items[3].text,
        "## Details\n\nHTTP.\n\n## How to test it\n\nCall it.\n\nTask Master: 2\nList: master"
    );

    // The older form has one list without a name; its tasks have the same names.
    let old = r#"{"tasks":[{"id":1,"title":"Set up","status":"pending","dependencies":[]}]}"#;
    let folder = folder_with(&[("tasks/tasks.json", old)]);
    assert_eq!(ImportTool::TaskMaster.read(folder.path()).unwrap().items[0].name, "master:1");
}

#[test]
fn backlog_files_are_read_with_their_front_matter() {
    let first = "---\nid: TASK-1\ntitle: First thing\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-16 02:03'\nlabels:\n  - api\ndependencies: []\npriority: high\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nDescribe it\n<!-- SECTION:DESCRIPTION:END -->\n";
    let second = "---\nid: task-2\ntitle: 'Second: thing'\nstatus: Done\ndependencies:\n  - task-1\n---\n";
    let part =
        "---\nid: TASK-1.1\ntitle: Sub\nstatus: To Do\ndependencies: []\nparent_task_id: TASK-1\n---\n";
    let tenth = "---\nid: TASK-10\ntitle: Tenth\nstatus: In Progress\n---\n\nJust text.\n";
    let folder = folder_with(&[
        ("backlog/tasks/task-10 - Tenth.md", tenth),
        ("backlog/tasks/task-1 - First-thing.md", first),
        ("backlog/tasks/task-1.1 - Sub.md", part),
        ("backlog/completed/task-2 - Second-thing.md", second),
        ("backlog/config.yml", "project_name: demo\n"),
    ]);
    let import = Import::new(ImportTool::Backlog.read(folder.path()).unwrap());
    assert_eq!(
        outline(&import),
        ["task-1.1 open P2 []", "task-1 open P1 [task-1.1]", "task-10 open P2 []", "task-2 done P2 [task-1]"]
    );
    assert_eq!(import.items[1].text, "## Description\n\nDescribe it\n\nBacklog: TASK-1\nLabels: api");
    assert_eq!(import.items[1].created_at, "2026-11-16T02:03:00Z".parse().ok());
}

#[test]
fn vibe_kanban_tasks_depend_on_the_task_that_created_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sqlite");
    baton_store::external::fixture(
        &path,
        "CREATE TABLE projects (id BLOB, name TEXT);
         CREATE TABLE tasks (id BLOB, project_id BLOB, title TEXT, description TEXT, status TEXT, parent_task_attempt BLOB, created_at TEXT);
         CREATE TABLE task_attempts (id BLOB, task_id BLOB);
         INSERT INTO projects VALUES (x'aa', 'Shop');
         INSERT INTO tasks VALUES (x'01', x'aa', 'Cart', 'Holds things.', 'inreview', NULL, '2026-02-03 04:05:06'),
            (x'02', x'aa', 'Cart, further', NULL, 'todo', x'0f', '2026-02-04 04:05:06.123'),
            (x'03', x'aa', 'DroppedEdge', NULL, 'cancelled', NULL, '');
         INSERT INTO task_attempts VALUES (x'0f', x'01');",
    )
    .unwrap();
    let import = Import::new(ImportTool::VibeKanban.read(folder.path()).unwrap());
    assert_eq!(outline(&import), ["01 open P2 []", "02 open P2 [01]", "03 cancelled P2 []"]);
    assert_eq!(
        import.items[0].text,
        "Holds things.\n\nVibe Kanban project: Shop\nVibe Kanban status: inreview"
    );
    assert_eq!(import.items[1].created_at, "2026-02-04T04:05:06.123Z".parse().ok());
}

#[test]
fn github_issues_get_dependencies_from_their_text() {
    let issues = r#"[{"number":3,"title":"Ship","body":"Depends on #1, #2 and more.\nblocked by: #7","state":"OPEN","labels":[{"name":"priority: high"}],"assignees":[{"login":"mia"}],"createdAt":"2026-01-01T00:00:00Z","url":"https://github.com/o/r/issues/3","comments":[{"author":{"login":"jo"},"body":"Soon?"}]},
      {"number":1,"title":"Build","state":"closed","state_reason":"completed","html_url":"https://github.com/o/r/issues/1"},
      {"number":2,"title":"Wont","state":"closed","state_reason":"not_planned"},
      {"number":9,"title":"A change","state":"open","pull_request":{}}]"#;
    let folder = folder_with(&[("issues.json", issues)]);
    let found = ImportTool::Github.read(&folder.path().join("issues.json")).unwrap();
    assert_eq!(found.origin, "github:https://github.com/o/r");
    let import = Import::new(found);
    assert_eq!(outline(&import), ["1 done P2 []", "2 cancelled P2 []", "3 open P1 [1 2]"]);
    assert_eq!(import.left_out, ["#9 is a pull request"]);
    assert_eq!(import.dropped.len(), 1);
}

#[test]
fn invalid_files_are_refused_with_their_position() {
    let folder = folder_with(&[
        ("bad/issues.jsonl", "{\"id\":\"a-1\",\"title\":\"ok\"}\n{\"id\":\n"),
        ("bad/tasks.json", "{\n  \"meta\": 1\n}"),
        ("bad/backlog/tasks/x.md", "no head"),
        ("bad/backlog/tasks/y.md", "---\nid: [\n---\n"),
        ("empty/readme.md", ""),
    ]);
    let refusal =
        |source: ImportTool, name: &str| source.read(&folder.path().join(name)).unwrap_err().to_string();
    assert!(refusal(ImportTool::Beads, "bad").contains("issues.jsonl:2: "));
    assert!(refusal(ImportTool::TaskMaster, "bad").contains("tasks.json:1: no list of tasks"));
    assert!(refusal(ImportTool::Backlog, "bad").contains("x.md:1: "));
    assert!(refusal(ImportTool::Beads, "missing").contains("cannot read "));
    for source in ImportTool::ALL {
        assert!(refusal(source, "empty").contains("nothing to import"), "{source:?}");
    }
}

#[tokio::test]
async fn a_second_import_adds_only_what_is_new() {
    let folder = folder_with(&[(".beads/issues.jsonl", BEADS)]);
    let tasks = tasks(folder.path());
    let session = "import-beads".parse().unwrap();
    let mia = Actor::human("mia");
    let read = || Import::new(ImportTool::Beads.read(folder.path()).unwrap());
    let first = read().write(&tasks, &session, None, &mia, |_| {}).await.unwrap();
    assert!(first.iter().all(|item| item.is_new));
    let ready: Vec<String> =
        tasks.store.ready(10).await.unwrap().iter().map(|row| row.value.spec().title.to_string()).collect();
    assert_eq!(ready, ["Log out"], "tasks whose dependencies are done are ready; held tasks are not");

    let more = format!(
        "{BEADS}{}\n",
        r#"{"id":"app-10","title":"New","status":"open","dependencies":[{"depends_on_id":"app-2"}]}"#
    );
    fs::write(folder.path().join(".beads/issues.jsonl"), more).unwrap();
    assert_eq!(read().find_known(&tasks).await.unwrap().len(), 4);
    let second = read().write(&tasks, &session, None, &mia, |_| {}).await.unwrap();
    let new: Vec<&str> = second.iter().filter(|item| item.is_new).map(|item| item.name.as_str()).collect();
    assert_eq!(new, ["app-10"]);
    let all = tasks.store.tasks(&TaskFilter::default(), None, 100).await.unwrap().items;
    assert_eq!(all.len(), 5);
    let done = TaskFilter { queue: Some(QueueName::Done), ..TaskFilter::default() };
    assert_eq!(tasks.store.tasks(&done, None, 100).await.unwrap().items.len(), 1);
    let added = second.iter().find(|item| item.is_new).unwrap().task;
    assert_eq!(tasks.store.dependencies(added).await.unwrap().len(), 1);
}

#[tokio::test]
async fn concurrent_imports_create_everything_once() {
    let lines: Vec<String> = (0..600)
        .map(|n| {
            format!(
                r#"{{"id":"x-{n}","title":"Task {n}","dependencies":[{{"depends_on_id":"x-{}"}}]}}"#,
                n / 2
            )
        })
        .collect();
    let folder = folder_with(&[("issues.jsonl", &lines.join("\n"))]);
    let tasks = tasks(folder.path());
    let session: SessionId = "import-beads".parse().unwrap();
    let mia = Actor::human("mia");
    let import = Import::new(ImportTool::Beads.read(folder.path()).unwrap());
    assert_eq!(import.dropped.len(), 1, "x-0 waits on itself");
    let (one, other) = tokio::join!(
        import.write(&tasks, &session, None, &mia, |_| {}),
        import.write(&tasks, &session, None, &mia, |_| {})
    );
    let (one, other) = (one.unwrap(), other.unwrap());
    let fresh = one.iter().chain(&other).filter(|item| item.is_new).count();
    assert_eq!(fresh, 600);
    let tasks = |list: &[Imported]| list.iter().map(|item| item.task).collect::<Vec<_>>();
    assert_eq!(tasks(&one), tasks(&other));
}

fn item(name: usize, waits_on: &[usize]) -> ExternalTask {
    ExternalTask {
        name: name.to_string(),
        title: "t".to_owned(),
        text: String::new(),
        priority: Priority::default(),
        arrival: ImportedState::Open,
        waits_on: waits_on.iter().map(ToString::to_string).collect(),
        created_at: None,
    }
}

proptest! {
    /// Whatever waits on whatever, every item comes once, behind all it still waits on.
    #[test]
    fn dependencies_come_first(edges in proptest::collection::vec((0usize..12, 0usize..14), 0..40)) {
        let items: Vec<ExternalTask> = (0..12)
            .map(|name| item(name, &edges.iter().filter(|(from, _)| *from == name).map(|(_, on)| *on).collect::<Vec<_>>()))
            .collect();
        let (ordered, dropped) = order::sort(items.clone());
        prop_assert_eq!(ordered.len(), items.len());
        let mut seen = std::collections::BTreeSet::new();
        for item in &ordered {
            prop_assert!(item.waits_on.iter().all(|on| seen.contains(on)));
            prop_assert!(seen.insert(item.name.clone()));
        }
        // Nothing is dropped that could have been kept, and nothing goes unsaid.
        let distinct: std::collections::BTreeSet<_> = edges.iter().collect();
        let kept: usize = ordered.iter().map(|item| item.waits_on.len()).sum();
        prop_assert_eq!(kept + dropped.len(), distinct.len());
        for edge in &dropped {
            prop_assert_eq!(edge.why == DropReason::Missing, edge.on == "12" || edge.on == "13");
        }
    }
}
