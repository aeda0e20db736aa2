// Runs before the first paint to avoid flicker: sets the theme, and marks that scripts run.
(() => {
  const root = document.documentElement;
  root.classList.add("scripts");
  try {
    const chosen = localStorage.getItem("baton-theme");
    if (chosen) root.dataset.theme = chosen;
  } catch {
    // Storage is blocked; use the system's theme.
  }
})();
