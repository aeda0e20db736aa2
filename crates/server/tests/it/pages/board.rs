//! The board: cards, actions and previews.

use baton_core::base::id::TaskId;
use baton_core::task::attempt::{AttemptResult, ErrorCause, Evidence};

use serde_json::json;

use super::{Scene, burned_out, part, reads};

fn card(page: &str, task: TaskId) -> &str {
    part(page, &format!("id=\"card-{task}\""), "</article>")
}

#[tokio::test]
async fn a_card_shows_state_facts_and_dependencies() {
    let scene = Scene::set().await;
    let done = scene.add("Set up").await;
    scene.finish(done).await;
    scene.accept(done).await;
    let asking = scene.add("Add the French greeting").await;
    scene.ask(asking, "Formal or casual?", &[]).await;
    let finished = scene.add("Greet by name").await;
    scene.finish(finished).await;
    let working = scene.add("Profile the start-up").await;
    scene.stage.claim(working).await;
    let waiting = scene.add_after("Write the guide", &[done, finished]).await;
    scene.pass(180_000);
    let page = scene.page("/board").await;

    let column = |name: &str| part(&page, &format!("id=\"{name}\""), "</section>");
    reads(
        card(column("asking"), asking),
        &[&asking.to_string(), "? Question pending", "3 min", "Add the French greeting", "Formal or casual?"],
    );
    reads(
        card(column("review"), finished),
        &["3 min", "Greet by name", "+12 −3 in 1 file", "$0.34", "Accept", "Request changes", "Cancel"],
    );
    reads(card(column("working"), working), &["Profile the start-up", "claude"]);
    reads(card(column("queued"), waiting), &["Write the guide", "waits for 1 of 2"]);
    reads(card(column("done"), done), &["Set up", "+12 −3 in 1 file"]);
    reads(&page, &["○ Queued 1", "▶ Working 1", "? Waiting for you 1", "◆ Ready for review 1", "✓ Done 1"]);
}

#[tokio::test]
async fn only_legal_actions_have_a_button() {
    let scene = Scene::set().await;
    let queued = scene.add("Queued").await;
    let ready = scene.add("Ready").await;
    scene.finish(ready).await;
    let burned = scene.add("Burned out").await;
    scene.stage.attempt(burned, AttemptResult::TurnLimit, "", burned_out()).await;
    let failed = scene.add("Failed").await;
    let error =
        AttemptResult::Error { cause: ErrorCause::Own, message: "first line\nsecond line".to_owned() };
    scene.stage.attempt(failed, error, "", Evidence::default()).await;
    let over = scene.add("Over").await;
    scene.finish(over).await;
    scene.accept(over).await;
    let page = scene.page("/board").await;
    let verbs = |task: TaskId| -> Vec<String> {
        card(&page, task)
            .split(&format!("/tasks/{task}/do/"))
            .skip(1)
            .map(|rest| part(rest, "", "\"").to_owned())
            .collect()
    };
    assert_eq!(verbs(queued), ["cancel"]);
    assert_eq!(verbs(ready), ["accept", "reject", "cancel"]);
    assert_eq!(verbs(burned), ["recycle", "accept", "reject", "cancel"]);
    assert_eq!(verbs(failed), ["retry", "cancel"]);
    assert_eq!(verbs(over), Vec::<String>::new());
    // A card shows its state if it differs from the column's.
    reads(card(&page, burned), &["▲ No progress", "Accept anyway"]);
    reads(card(&page, failed), &["Failed", "first line", "Retry"]);
    // An action from an outdated page is refused.
    reads(&scene.page(&format!("/tasks/{over}/do/accept")).await, &["Not possible in the current state."]);
    let (status, _) = scene.stage.submit(&format!("/tasks/{over}/do/cancel"), "").await;
    assert_eq!(status, 409);
    // Errors keep their line breaks.
    assert!(scene.page(&format!("/tasks/{failed}")).await.contains("<pre>first line\nsecond line</pre>"));
}

#[tokio::test]
async fn a_preview_shows_the_consequences() {
    let scene = Scene::set().await;
    let first = scene.add("First").await;
    let other = scene.add("Other").await;
    scene.add_after("Starts then", &[first]).await;
    scene.add_after("Needs both", &[first, other]).await;
    scene.finish(first).await;
    let preview = async |verb: &str| scene.page(&format!("/tasks/{first}/do/{verb}")).await;
    let accept = preview("accept").await;
    reads(
        &accept,
        &[
            "Accept: First",
            &format!("Merges baton/{first} (2 commits"),
            "Starts ▶ Starts then",
            "Still waiting ○ Needs both",
            "waits on 1 more",
        ],
    );
    reads(
        &preview("reject").await,
        &["The agent goes on with this text, ahead of other work.", "What should change?"],
    );
    reads(
        &preview("cancel").await,
        &["Stops work on the task.", "✗ 2 tasks depending on it could never start."],
    );
    let large = scene.add("Large").await;
    scene.stage.attempt(large, AttemptResult::TurnLimit, "", burned_out()).await;
    reads(
        &scene.page(&format!("/tasks/{large}/do/recycle")).await,
        &["Replaces the task by smaller ones, once their plan is approved."],
    );
    // The action matches its preview.
    let (status, _) = scene.stage.submit(&format!("/tasks/{first}/do/reject"), "reason=Not+like+this").await;
    assert_eq!(status, 303);
    reads(
        &scene.page(&format!("/tasks/{first}")).await,
        &["Feedback for the next attempt", "Rejected just now", "Not like this"],
    );
}

#[tokio::test]
async fn filters_stay_when_a_column_is_expanded() {
    let scene = Scene::set().await;
    for number in 0..32 {
        scene.add(&format!("Wash & dry {number}")).await;
    }
    let other = scene.add("Something else").await;
    let page = scene.page("/board?q=wash+%26+dry").await;
    assert!(!page.contains(&format!("card-{other}")), "{page}");
    let more = part(&page, "<p class=\"more\"><a href=\"", "\"").replace("&amp;", "&");
    assert_eq!(more, "/board?q=wash%20%26%20dry&more=queued#queued");
    let whole = scene.page(more.split('#').next().unwrap()).await;
    assert_eq!(whole.matches("<article class=\"card").count(), 32);
}

#[tokio::test]
async fn the_board_is_narrowed_on_the_server_by_text_state_type_and_agent() {
    let scene = Scene::set().await;
    let coupon = scene.add("Coupons in the cart").await;
    let new = json!({ "title": "Ledger", "description": "Book every coupon.", "task_type": "REPORT", "agent": "claude" });
    let ledger: TaskId = scene.post("/api/tasks", &new).await["task_id"].as_str().unwrap().parse().unwrap();
    let done = scene.add("Set up").await;
    scene.finish(done).await;
    scene.accept(done).await;
    let all = [coupon, ledger, done];
    for (query, found) in [
        ("", vec![coupon, ledger, done]),
        ("q=COUPON", vec![coupon, ledger]),
        ("state=done", vec![done]),
        ("type=REPORT", vec![ledger]),
        // Chosen for one, at work on the other.
        ("agent=claude", vec![ledger, done]),
        ("q=coupon&type=IMPLEMENTATION&project=&state=&agent=", vec![coupon]),
    ] {
        for (view, mark) in [("", "card"), ("&view=list", "item")] {
            let page = scene.page(&format!("/board?{query}{view}")).await;
            let shown = all.into_iter().filter(|task| page.contains(&format!("id=\"{mark}-{task}\"")));
            assert_eq!(shown.collect::<Vec<_>>(), found, "{query}{view}");
        }
    }
    reads(&scene.page("/board?q=coupon&view=list").await, &["2 tasks", "newest first"]);
    reads(&scene.page("/board?q=nowhere").await, &["Nothing found", "Clear the search"]);
    for wrong in ["state=somewhere", "type=LUNCH", "agent=no%20name"] {
        assert_eq!(scene.stage.send("get", &format!("/board?{wrong}"), None).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_list_goes_on_where_its_page_ends() {
    let scene = Scene::set().await;
    for number in 0..105 {
        scene.add(&format!("Wash {number}")).await;
        scene.pass(1_000);
    }
    let rows = |page: &str| page.matches("<article class=\"item").count();
    let first = scene.page("/board?view=list&q=wash").await;
    reads(&first, &["105 tasks"]);
    let more = part(&first, "<p class=\"more\"><a href=\"", "\"").replace("&amp;", "&");
    let second = scene.page(&more).await;
    assert_eq!((rows(&first), rows(&second)), (100, 5));
    assert!(!second.contains("class=\"more\""), "{second}");
}

#[tokio::test]
async fn several_tasks_are_decided_about_at_once() {
    let scene = Scene::set().await;
    let (first, second) = (scene.add("First").await, scene.add("Second").await);
    for task in [first, second] {
        scene.finish(task).await;
    }
    let queued = scene.add("Queued").await;
    let queue = async |task: TaskId| {
        let (_, text) = scene.stage.send("get", &format!("/api/tasks/{task}"), None).await;
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    // The one that cannot be accepted is named; the others are accepted.
    let fields = format!("verb=accept&task={first}&task={queued}&task={second}");
    let (status, text) = scene.stage.submit("/tasks/bulk", &fields).await;
    assert_eq!(status, 409, "{text}");
    reads(&text, &[&queued.to_string(), "done for 2 other tasks"]);
    for task in [first, second] {
        assert_eq!(queue(task).await["queue"], "done");
    }
    let fields = format!("verb=priority&priority=P0&task={queued}&next=%2Fboard");
    let (status, _) = scene.stage.submit("/tasks/bulk", &fields).await;
    assert_eq!((status, scene.stage.last_header("location").as_deref()), (303, Some("/board")));
    assert_eq!(queue(queued).await["priority"], "P0");
    scene.stage.submit("/tasks/bulk", &format!("verb=cancel&task={queued}")).await;
    assert_eq!(queue(queued).await["status"], "CANCELLED");
    for wrong in ["verb=accept", &format!("verb=explode&task={queued}"), "verb=cancel&task=nonsense"] {
        assert_eq!(scene.stage.submit("/tasks/bulk", wrong).await.0, 400, "{wrong}");
    }
}
