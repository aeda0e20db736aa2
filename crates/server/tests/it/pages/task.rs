//! The task page: states, results, lineage.

use baton_core::task::attempt::{AttemptReport, AttemptResult, CheckResult, Evidence};
use serde_json::json;

use super::{Scene, burned_out, part, reads, text, worked};

#[tokio::test]
async fn the_state_diagram_and_the_timeline_show_the_time_in_each_state() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    scene.pass(5_000);
    let attempt = scene.stage.claim(task).await;
    scene.pass(61_000);
    scene.stage.settle(task, attempt, AttemptReport::new(AttemptResult::Complete, "Done."), worked()).await;
    scene.pass(600_000);
    let page = scene.page(&format!("/tasks/{task}/details")).await;
    let drawing = part(&page, "<figure class=\"machine\"", "</figure>");
    let way = "States of this task: Queued for 5 s, then Working for 1 min, then Ready for review for 10 min";
    assert!(drawing.contains(&format!("aria-label=\"{way}\"")), "{drawing}");
    assert_eq!(drawing.matches(" lit").count(), 2 + 3, "two lines and three states: {drawing}");
    assert_eq!(drawing.matches(" lit current").count(), 1, "{drawing}");
    reads(drawing, &["▶ Working", "1 min"]);

    let timeline = part(&page, "id=\"timeline\"", "</main>");
    reads(
        timeline,
        &[
            "Agents 1 min",
            "Waiting for you 10 min",
            "Queued 5 s",
            "○ Queued 5 s",
            "▶ Working 1 min",
            "◆ Ready for review 10 min",
            "1 claude 11 min ago 1 min complete 7/50 2 $0.34 log",
            "started by claude",
            "attempt ended: 2 commits",
        ],
    );
    // Three consecutive spans on one scale.
    let bars: Vec<&str> =
        timeline.split("class=\"bar\"").skip(1).map(|bar| part(bar, "x=\"", "\"")).collect();
    assert_eq!(bars, ["0", "7", "99"]);
}

#[tokio::test]
async fn reported_and_verified_results_are_shown_side_by_side() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    let failed = CheckResult::new(text("lint"), 3, "one line too long");
    let evidence = Evidence { checks: vec![failed], ..worked() };
    let result = AttemptResult::NoChanges { reason: "`greet` was there".to_owned() };
    scene.stage.attempt(task, result, "Nothing to do.", evidence).await;
    let page = scene.page(&format!("/tasks/{task}/details")).await;
    let pair = part(&page, "<div class=\"pair\">", "</section>");
    reads(
        pair,
        &[
            "Reported by the agent",
            "no changes",
            "greet was there",
            "Verified by Baton",
            "Commits 2",
            "Changed 1 file +12 −3",
            "Turns 7 of 50",
            "Time 1 min",
            "Tokens 48,200 in, 3,100 out",
            "Cost $0.34",
            "Check lint ✗ exit code 3",
            "one line too long",
        ],
    );
    assert!(pair.contains("<code>greet</code>"), "{pair}");
}

#[tokio::test]
async fn a_recycled_task_and_its_replacements_link_to_each_other() {
    let scene = Scene::set().await;
    let large = scene.add("Translate everything").await;
    scene.stage.attempt(large, AttemptResult::TurnLimit, "", burned_out()).await;
    scene.post(&format!("/api/tasks/{large}/recycle"), &json!({ "reason": "too_large" })).await;
    let page = scene.page(&format!("/tasks/{large}")).await;
    let breakdown = part(part(&page, "being planned in ", "</li>"), "/breakdowns/", "\"").to_owned();
    let planner = scene.page(&format!("/tasks/{breakdown}")).await;
    reads(&planner, &["Lineage", &format!("split from {large}")]);
    let plan = json!({ "items": [{ "title": "German" }, { "title": "Spanish", "depends_on": [1] }] });
    let (status, text) =
        scene.stage.send("patch", &format!("/api/breakdowns/{breakdown}"), Some(&plan)).await;
    assert_eq!(status, 200, "{text}");
    scene.post(&format!("/api/breakdowns/{breakdown}/approve"), &json!({})).await;
    let page = scene.page(&format!("/tasks/{large}")).await;
    let lineage = part(&page, "<h2>Lineage</h2>", "</section>");
    assert_eq!(lineage.matches("replaced by ").count(), 2, "{lineage}");
    let parts: Vec<&str> = lineage.split("replaced by <a href=\"/tasks/").skip(1).collect();
    let parts: Vec<&str> = parts.into_iter().map(|rest| rest.split('"').next().unwrap()).collect();
    let german = scene.page(&format!("/tasks/{}", parts[0])).await;
    reads(&german, &["Lineage", &format!("planned in {breakdown}")]);

    // Every task of the tree shows the same tree, with itself marked.
    for id in [&large.to_string(), &breakdown, parts[0], parts[1]] {
        let page = scene.page(&format!("/tasks/{id}/details")).await;
        let tree = part(&page, "<ul class=\"lineage\">", "</section>");
        reads(
            tree,
            &[
                &format!("Translate everything {large}"),
                &format!("Re-breakdown: Translate everything {breakdown} breakdown: too large"),
                &format!("German {} planned", parts[0]),
                &format!("Spanish {} planned", parts[1]),
            ],
        );
        assert_eq!(tree.matches("<ul class=\"lineage\">").count(), 2, "three generations: {tree}");
        let marked = part(tree, "aria-current=\"true\"", "</div>");
        assert!(marked.contains(&format!("href=\"/tasks/{id}/details#lineage\"")), "{marked}");
    }
}

#[tokio::test]
async fn the_lineage_shows_the_parts_of_a_plan() {
    let scene = Scene::set().await;
    let alone = scene.add("Greet by name").await;
    reads(&scene.page(&format!("/tasks/{alone}/details")).await, &["Lineage", "not created by a plan"]);
    let goal = scene.post("/api/breakdowns", &json!({ "title": "Speak French" })).await;
    let breakdown = goal["breakdown"]["task_id"].as_str().unwrap().to_owned();
    let plan = json!({ "items": [{ "title": "Find the words" }] });
    let (status, text) =
        scene.stage.send("patch", &format!("/api/breakdowns/{breakdown}"), Some(&plan)).await;
    assert_eq!(status, 200, "{text}");
    scene.post(&format!("/api/breakdowns/{breakdown}/approve"), &json!({})).await;
    let page = scene.page(&format!("/tasks/{breakdown}/details")).await;
    let tree = part(&page, "<ul class=\"lineage\">", "</section>");
    reads(tree, &["Speak French", "breakdown", "Find the words", "planned"]);
}

#[tokio::test]
async fn evidence_is_listed_by_attempt_newest_first() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    reads(&scene.page(&format!("/tasks/{task}/details")).await, &["No attempts"]);
    scene.stage.attempt(task, AttemptResult::Complete, "Done.", worked()).await;
    scene.post(&format!("/api/tasks/{task}/reject"), &json!({ "reason": "Too loud." })).await;
    let attempt = scene.stage.claim(task).await;
    let page = scene.page(&format!("/tasks/{task}/details")).await;
    reads(&page, &["Attempt 2 by claude", "▶ Running. Results appear when the attempt ends."]);
    let reported = AttemptReport::new(AttemptResult::NoChanges { reason: "it is quiet".to_owned() }, "");
    scene.stage.settle(task, attempt, reported, worked()).await;
    let page = scene.page(&format!("/tasks/{task}/details")).await;
    let second = part(&page, "id=\"evidence-2\"", "id=\"evidence-1\"");
    reads(second, &["Reported by the agent", "no changes", "Verified by Baton", "Commits 2"]);
    let first = part(&page, "id=\"evidence-1\"", "</section>");
    reads(first, &["Reported by the agent", "complete", "Verified by Baton", "Commits 2"]);
    assert!(page.find("evidence-2") < page.find("evidence-1"));
}

#[tokio::test]
async fn a_waiting_task_has_its_reply_box_on_top() {
    let scene = Scene::set().await;
    let task = scene.add("Add the French greeting").await;
    scene.ask(task, "Formal or casual?", &["formal", "casual"]).await;
    let page = scene.page(&format!("/tasks/{task}")).await;
    let main = part(&page, "<main", "</main>");
    let (box_at, activity_at) = (main.find("<textarea").unwrap(), main.find("id=\"activity\"").unwrap());
    assert!(box_at < activity_at, "{main}");
}

#[tokio::test]
async fn a_task_has_three_tabs_and_the_old_addresses_lead_to_them() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    for (tab, word) in [("", "Activity"), ("/diff", "Changes"), ("/details", "Details"), ("/log", "Activity")]
    {
        let page = scene.page(&format!("/tasks/{task}{tab}")).await;
        let tabs = part(&page, "aria-label=\"Task tabs\"", "</div>");
        assert_eq!(tabs.matches("<a ").count(), 3, "{tabs}");
        reads(part(tabs, "aria-current=\"page\"", "</a>"), &[word]);
    }
    for (old, new) in [
        ("/activity?attempt=ATT-00000001", "?attempt=ATT-00000001"),
        ("/questions", "#activity"),
        ("/timeline", "/details#timeline"),
        ("/evidence", "/details#evidence"),
        ("/lineage", "/details#lineage"),
    ] {
        let (status, _) = scene.stage.send("get", &format!("/tasks/{task}{old}"), None).await;
        let leads = scene.stage.last_header("location");
        assert_eq!((status, leads), (303, Some(format!("/tasks/{task}{new}"))), "{old}");
    }
}

#[tokio::test]
async fn the_activity_tells_attempts_questions_and_messages_in_their_order() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    scene.pass(1_000);
    scene.ask(task, "Formal or casual?", &[]).await;
    scene.pass(1_000);
    scene.post(&format!("/api/tasks/{task}/reply"), &json!({ "reply": "casual" })).await;
    scene.pass(1_000);
    scene.post(&format!("/api/tasks/{task}/messages"), &json!({ "content": "Keep it short." })).await;
    scene.pass(1_000);
    scene.stage.claim(task).await;
    let page = scene.page(&format!("/tasks/{task}")).await;
    let activity = part(&page, "id=\"activity\"", "</section>");
    reads(
        activity,
        &["Attempt 1", "asked", "Formal or casual?", "casual", "Keep it short.", "Attempt 2", "at work"],
    );
    // An attempt's result is not taken for that of the one at work.
    reads(&page, &["Result of the attempt before"]);
}

#[tokio::test]
async fn a_task_is_run_again_with_something_changed() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    scene.finish(task).await;
    scene.accept(task).await;
    let page = scene.page(&format!("/tasks/{task}")).await;
    let link = format!("/tasks/new?from={task}");
    assert!(page.contains(&format!("href=\"{link}\"")), "{page}");
    let form = scene.page(&link).await;
    assert!(form.contains("value=\"Greet by name\""), "{form}");
    let fields = format!(
        "title=Greet+by+name&description=Louder.&type=IMPLEMENTATION&agent=claude&model=large&after={task}"
    );
    let (status, text) = scene.stage.submit("/tasks/new", &fields).await;
    assert_eq!(status, 303, "{text}");
    let made = scene.stage.last_header("location").unwrap();
    let (_, text) = scene.stage.send("get", &format!("/api{made}"), None).await;
    let made: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&made["agent"], &made["model"], &made["description"]),
        (&json!("claude"), &json!("large"), &json!("Louder."))
    );
    assert_eq!(made["depends_on"], json!([task]));
    let (status, text) = scene.stage.submit("/tasks/new", "title=Again&after=TASK-ffffffff").await;
    assert_eq!(status, 400, "{text}");
}
