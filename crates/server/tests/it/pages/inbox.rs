//! The inbox and questions on other pages.

use serde_json::json;

use super::{Scene, part, reads};

#[tokio::test]
async fn questions_are_listed_oldest_first_with_context_and_options() {
    let scene = Scene::set().await;
    let late = scene.add("Add the French greeting").await;
    let early = scene.add("Move to the new parser").await;
    scene.ask(early, "May I break **old** files?", &[]).await;
    scene.pass(125_000);
    scene.ask(late, "Formal or casual?", &["formal", "casual", "both"]).await;
    scene.pass(5_000);
    let page = scene.page("/").await;
    let list = part(&page, "id=\"questions\"", "<section class=\"also\"");
    reads(
        list,
        &[
            "? Question Move to the new parser",
            "asked 2 min ago",
            "May I break old files?",
            "Context",
            "Agent output",
            "I looked at both.",
            "Your answer",
            "Add the French greeting",
            "asked 5 s ago",
            "Formal or casual?",
            "1 formal",
            "2 casual",
            "3 both",
            "Your answer",
        ],
    );
    assert_eq!(list.matches("<textarea").count(), 2, "there is always a field to write in");
    for key in 1..=3 {
        assert!(list.contains(&format!("data-option=\"{key}\"")), "{list}");
    }
    assert!(page.contains("<title>(2) For you · Baton</title>") && page.contains("/badge/2.svg"), "{page}");
    assert!(page.contains("2 things wait for you"));
}

#[tokio::test]
async fn a_question_answered_elsewhere_is_shown_as_closed() {
    let scene = Scene::set().await;
    let task = scene.add("Add the French greeting").await;
    scene.ask(task, "Formal or casual?", &["formal", "casual"]).await;
    let waiting = scene.stage.tasks.task(task).await.unwrap().value;
    let id = waiting.pending_question().unwrap().id;
    scene.post(&format!("/api/questions/{id}/answer"), &json!({ "answer": "casual" })).await;
    scene.pass(61_000);
    // Only a page that still shows the question gets it.
    let shown = format!("x-baton-shown: {id}\r\n");
    let (_, page) = scene.stage.send_with(&shown, "get", "/", None).await;
    let card = part(&page, &format!("id=\"q-{id}\""), "</article>");
    reads(card, &["Formal or casual?", "✓ Answered by mia 1 min ago", "casual"]);
    assert!(!card.contains("<form"), "{card}");
    assert!(!scene.page("/").await.contains(&format!("id=\"q-{id}\"")));
    let own = scene.page(&format!("/questions/{id}")).await;
    reads(&own, &["Answered by mia"]);
}

#[tokio::test]
async fn the_answer_form_works_without_scripts() {
    let scene = Scene::set().await;
    let task = scene.add("Add the French greeting").await;
    scene.ask(task, "Formal or casual?", &["formal", "casual"]).await;
    let page = scene.page(&format!("/tasks/{task}")).await;
    let action = part(&page, "action=\"/questions/", "\"");
    let (status, _) =
        scene.stage.submit(&format!("/questions/{action}"), "next=%2Ftasks&option=casual").await;
    assert_eq!((status, scene.stage.last_header("location").as_deref()), (303, Some("/tasks")));
    let page = scene.page(&format!("/tasks/{task}")).await;
    reads(&page, &["Activity", "Add the French greeting", "Answered by mia just now", "casual"]);
}

#[tokio::test]
async fn an_empty_store_shows_the_welcome_page() {
    let scene = Scene::set().await;
    let page = scene.page("/").await;
    reads(
        &page,
        &[
            "Welcome to Baton",
            "Set up an agent.",
            "Done.",
            "baton doctor",
            "Add a task.",
            "baton task add \"Fix the typo in the README\"",
            "Decide.",
            "baton demo",
        ],
    );
    for leads in ["/tasks/new", "/chat"] {
        assert!(
            part(&page, "class=\"empty welcome\"", "</main>").contains(&format!("href=\"{leads}\"")),
            "{leads}"
        );
    }
    scene.add("Add a greeting").await;
    reads(&scene.page("/").await, &["Nothing waits for you", "baton questions --follow"]);
}
