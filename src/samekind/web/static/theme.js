// Runs before the first paint, so that a page kept dark never flashes white.
(() => {
  let kept = null;
  try {
    kept = localStorage.getItem("samekind.theme");
  } catch {
    // Storage may be forbidden; the system's choice stands then.
  }
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
