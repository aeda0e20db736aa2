//! The entries of the navigation bar.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    ForYou,
    Running,
    Board,
    Landing,
    Chat,
    Graph,
    Breakdowns,
    Recipes,
    UserTasks,
    Health,
    /// A page outside the navigation.
    Elsewhere,
}

/// Tab, label, icon, path, and the letter after `g`.
pub(crate) const PLACES: [(Tab, &str, &str, &str, char); 10] = [
    (Tab::ForYou, "For you", "✉", "/", 'i'),
    (Tab::Running, "Running", "▶", "/running", 'n'),
    (Tab::Board, "Board", "▦", "/board", 'b'),
    (Tab::Landing, "Landing", "⤓", "/landing", 'l'),
    (Tab::Chat, "Chat", "❝", "/chat", 'c'),
    (Tab::Graph, "Graph", "⋔", "/graph", 'r'),
    (Tab::Breakdowns, "Plans", "⊞", "/breakdowns", 'd'),
    (Tab::Recipes, "Recipes", "↺", "/recipes", 'p'),
    (Tab::UserTasks, "User tasks", "❯", "/user-tasks", 'u'),
    (Tab::Health, "Health", "♥", "/health", 'h'),
];
