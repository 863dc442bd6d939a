/** Which key does what. A person may change that; no key does two things. */

import { remember, remembered } from "./settings.js";

/** What keys can do, in the words of the help. */
export const ACTIONS = /** @type {Record<string, string>} */ ({
  same: "Same kind",
  different: "Different kinds",
  unsure: "Not sure",
  skip: "Skip for now",
  none: "None of these (line-up)",
  say: "Type its kind",
  fresh: "It is a new kind",
  undo: "Undo",
  zoom: "Zoom pictures",
  help: "Help",
});

const DEFAULTS = /** @type {Record<string, string[]>} */ ({
  same: ["s", "ArrowLeft"],
  different: ["d", "ArrowRight"],
  unsure: [" ", "u"],
  skip: ["k"],
  none: ["0", "n"],
  say: ["/", "t"],
  fresh: ["w", "+"],
  undo: ["Backspace", "b", "Ctrl+z"],
  zoom: ["z"],
  help: ["?", "h"],
});

const NAMES = /** @type {Record<string, string>} */ ({
  " ": "Space",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Backspace: "⌫",
});

// What moves the focus, closes dialogs or presses buttons keeps its meaning.
const RESERVED =
  /^(Tab|Escape|Enter|Shift|Control|Alt|Meta|Dead|Process|Unidentified|F\d+|PageUp|PageDown|.*Lock)$/;

/** @param {KeyboardEvent} event @returns {string | null} the key's name here; null for what is the browser's */
export function keyOf(event) {
  if (event.altKey || event.isComposing) return null;
  // On a keyboard with other letters, the key in the same place counts.
  const latin = /^Key([A-Z])$/.exec(event.code);
  const key = event.key.length === 1 && event.key > "~" && latin ? latin[1] : event.key;
  const plain = key.length === 1 ? key.toLowerCase() : key;
  return event.ctrlKey || event.metaKey ? `Ctrl+${plain}` : plain;
}

/** @param {string} key @returns {string} as it is shown on a button */
export function keyLabel(key) {
  return (
    NAMES[key] ??
    (key.length === 1
      ? key.toUpperCase()
      : key.replace(/\+(.)$/, (_, last) => `+${last.toUpperCase()}`))
  );
}

/** @param {EventTarget | null} target @returns {boolean} whether it takes typing */
export function takesTyping(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select"))
  );
}

/** @param {EventTarget | null} target @param {string} key @returns {boolean} whether the key presses the focused control */
export function pressesControl(target, key) {
  return (
    (key === " " || key === "Enter") &&
    target instanceof Element &&
    target.closest("button, a, summary, input, label") !== null
  );
}

class Keys {
  constructor() {
    /** @type {Record<string, string[]>} */
    this.own = remembered("keys", {});
  }

  /** @param {string} action @returns {string[]} */
  of(action) {
    const own = this.own[action];
    return Array.isArray(own) && own.length ? own : DEFAULTS[action];
  }

  /** @param {string} action @returns {string} the key to show */
  label(action) {
    return keyLabel(this.of(action)[0]);
  }

  /** @param {string} key @returns {string | null} the action, or "1" … "9" */
  action(key) {
    if (/^[1-9]$/.test(key)) return key;
    return Object.keys(ACTIONS).find((action) => this.of(action).includes(key)) ?? null;
  }

  /** @param {string} action @param {string} key @returns {string | null} why it was refused */
  set(action, key) {
    if (RESERVED.test(key))
      return `${keyLabel(key)} is needed to move about the page. Press another key.`;
    if (/^[1-9]$/.test(key)) return "The digits 1 to 9 pick from a line-up. Press another key.";
    if (key.startsWith("Ctrl+")) return "Keys with Ctrl belong to the browser. Press another key.";
    const taken = this.action(key);
    if (taken && taken !== action)
      return `${keyLabel(key)} already means “${ACTIONS[taken]}”. Press another key.`;
    this.own = { ...this.own, [action]: [key] };
    remember("keys", this.own);
    return null;
  }

  reset() {
    this.own = {};
    remember("keys", this.own);
  }
}

export const keys = new Keys();
