//! What all pages share: landmarks, shortcuts, and commands on empty pages.

use super::{Scene, part, reads};

/// Pages that need no data, with the command the empty page shows.
const PAGES: [(&str, &str); 14] = [
    ("/", "baton task add"),
    ("/board", "baton task add"),
    ("/running", "baton task ready"),
    ("/costs", "baton cost"),
    ("/routines", "baton routine add"),
    ("/chat", "baton chat"),
    ("/graph", "baton task add"),
    ("/breakdowns", "baton recycle"),
    ("/recipes", ""),
    ("/user-tasks", "baton do"),
    ("/health", ""),
    ("/workers", "baton up"),
    ("/landing", "checks = [&quot;test&quot;]"),
    ("/help", ""),
];

#[tokio::test]
async fn every_page_has_landmarks_and_empty_pages_show_commands() {
    let scene = Scene::set().await;
    for (path, command) in PAGES {
        let page = scene.page(path).await;
        for (wanted, count) in [
            ("<main id=\"main\"", 1),
            ("<nav id=\"nav\" aria-label=\"Main\"", 1),
            ("<footer", 1),
            ("<h1>", 1),
        ] {
            assert_eq!(page.matches(wanted).count(), count, "{path}: {wanted}");
        }
        assert!(
            page.contains("<html lang=\"en\">") && page.contains("href=\"#main\">Skip to content</a>"),
            "{path}"
        );
        assert!(page.contains("rel=\"manifest\"") && page.contains("name=\"viewport\""), "{path}");
        // Live changes are announced to screen readers.
        for region in ["id=\"line\"", "id=\"told\"", "id=\"toasts\""] {
            assert!(part(&page, region, ">").contains("aria-live=\"polite\""), "{path}: {region}");
        }
        assert!(page.contains(command), "{path} does not say: {command}");
        for labelled in page.split(" for=\"").skip(1).map(|rest| part(rest, "", "\"")) {
            assert!(
                page.contains(&format!("id=\"{labelled}\"")),
                "{path}: a label for {labelled}, which is not there"
            );
        }
        let mut ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| part(rest, "", "\"")).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{path}: an id stands twice");
    }
}

#[tokio::test]
async fn the_shortcuts_list_every_key_and_page() {
    let scene = Scene::set().await;
    let sheet = scene.page("/help").await;
    reads(&sheet, &["j / k", "1 – 9", "Ctrl Enter", "/", "Ctrl K", "?", "Esc"]);
    let page = scene.page("/").await;
    assert!(page.contains("<dialog id=\"keys\""), "it is a sheet over every page, too");
    for link in part(&page, "<nav", "</nav>").split("data-chord=\"").skip(1) {
        let (chord, word) = (part(link, "", "\""), part(link, "class=\"word\">", "<"));
        reads(&sheet, &[&format!("g {chord} {word}")]);
    }
}

#[tokio::test]
async fn the_palette_finds_tasks_by_title_and_id() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    scene.add("Something else").await;
    for wanted in ["greet", &task.to_string()] {
        let found: serde_json::Value =
            serde_json::from_str(&scene.page(&format!("/search?q={wanted}")).await).unwrap();
        assert_eq!(found["entries"][0]["address"], format!("/tasks/{task}"), "{wanted}: {found}");
        assert_eq!(found["entries"].as_array().unwrap().len(), 1, "{wanted}: {found}");
    }
}
