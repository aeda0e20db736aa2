// Runs before the first paint, so that nothing flickers: light or dark as chosen, and that scripts run at all.
(() => {
  const root = document.documentElement;
  root.classList.add("scripts");
  try {
    const chosen = localStorage.getItem("baton-theme");
    if (chosen) root.dataset.theme = chosen;
  } catch {
    // Storage is forbidden here; the system's choice stands.
  }
})();
