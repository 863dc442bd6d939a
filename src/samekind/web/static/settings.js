/** What this browser remembers: theme, name, line-ups, keys. Works without storage, too, for one visit. */

const PREFIX = "samekind.";

/** @type {Map<string, any>} what could not be stored */
const unstored = new Map();

/** @param {string} name @param {any} otherwise @returns {any} */
export function remembered(name, otherwise) {
  try {
    const kept = localStorage.getItem(PREFIX + name);
    return kept === null ? otherwise : JSON.parse(kept);
  } catch {
    return unstored.get(name) ?? otherwise;
  }
}

/** @param {string} name @param {any} value */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    unstored.set(name, value);
  }
}

const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

/** @returns {boolean} */
export function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;
}

/** @param {HTMLElement} button the toggle, which says what is so */
export function initTheme(button) {
  const show = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    document.dispatchEvent(new CustomEvent("samekind:theme"));
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem(`${PREFIX}theme`, root.dataset.theme); // a bare word: theme.js reads it first
    } catch {
      // It holds for this visit.
    }
    show();
  });
  prefersDark.addEventListener("change", show);
  show();
}
