/** What this browser remembers: theme, name, line-ups, keys. Without storage it holds for the visit. */

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

/** @returns {boolean} */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Change between light and dark. */
export function switchTheme() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(`${PREFIX}theme`, theme); // a bare word: theme.js reads it first
  } catch {
    // It holds for this visit.
  }
}
