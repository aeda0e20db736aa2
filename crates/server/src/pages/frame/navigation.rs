//! The entries of the navigation bar.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Inbox,
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
pub(crate) const PLACES: [(Tab, &str, &str, &str, char); 9] = [
    (Tab::Inbox, "Inbox", "✉", "/", 'i'),
    (Tab::Board, "Board", "▦", "/board", 'b'),
    (Tab::Landing, "Landing", "⤓", "/landing", 'l'),
    (Tab::Chat, "Chat", "❝", "/chat", 'c'),
    (Tab::Graph, "Graph", "⋔", "/graph", 'r'),
    (Tab::Breakdowns, "Breakdowns", "⊞", "/breakdowns", 'd'),
    (Tab::Recipes, "Recipes", "↺", "/recipes", 'p'),
    (Tab::UserTasks, "User tasks", "❯", "/user-tasks", 'u'),
    (Tab::Health, "Health", "♥", "/health", 'h'),
];
