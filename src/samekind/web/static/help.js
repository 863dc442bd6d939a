/** Help: what to do, and the keys, which can be changed here. */

import { html, useLayoutEffect, useState } from "./vendor/preact.js";
import { Dialog } from "./dialogs.js";
import { ACTIONS, keyLabel, keyOf, keys } from "./keys.js";
import { openDialog, set, state } from "./store.js";
import { Button } from "./parts.js";

const RULES = [
  "“Not sure” is a fine answer. Of a pair, another member of the kind may be asked about later; of a line-up, the item is left alone. Skip keeps it for later, under Review.",
  "Undo goes back as far as you like, and takes back what was learnt, too.",
  "In a line-up, pick the kind that fits, or say that none does: one press answers several questions.",
  "You know its kind? Press / and type its name. Enter takes the kind of exactly that name, or what you chose with the arrow keys, or else makes a new kind.",
  "On a sheet, press those that do not belong, and then once for all others.",
  "A key pressed at the very moment a question appears does nothing: nobody has seen the question by then.",
  "Found so far shows the kinds. Name them, merge them, click what does not belong.",
  "Close the page whenever you like. Answers are on disk as soon as it says “Saved”.",
  "What is counted are presses: every answer is one, also one that answers several questions.",
];

export function openHelp() {
  if (document.querySelector("dialog.help")) return;
  openDialog((close) => html`<${Help} close=${close} />`);
}

/** @param {{close: () => void}} props */
function Help({ close }) {
  const [said, setSaid] = useState("To change a key, press Change and then the new key.");
  const [listening, setListening] = useState("");
  const changed = () => set({ keysChanged: state.keysChanged + 1 });
  useLayoutEffect(() => {
    if (!listening) return undefined;
    const dialog = document.querySelector("dialog.help");
    const listen = (/** @type {KeyboardEvent} */ event) => {
      const key = keyOf(event);
      if (key === "Tab") return;
      event.preventDefault();
      event.stopPropagation();
      if (key === null || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      const isEscape = key === "Escape";
      const refused = isEscape ? "Nothing was changed." : keys.set(listening, key);
      setSaid(refused ?? `${keyLabel(key)} now means “${ACTIONS[listening]}”.`);
      if (refused && !isEscape) return;
      setListening("");
      changed();
    };
    dialog?.addEventListener("keydown", /** @type {EventListener} */ (listen), true);
    return () =>
      dialog?.removeEventListener("keydown", /** @type {EventListener} */ (listen), true);
  }, [listening]);
  const listenFor = (/** @type {string} */ action) => {
    setListening(action);
    setSaid(`Press the new key for “${ACTIONS[action]}”. Escape leaves it as it is.`);
  };
  const reset = () => {
    keys.reset();
    setSaid("All keys are as they were at first.");
    changed();
  };
  return html`<${Dialog} title="Help" kind="help" close=${close}>
    <p>
      You see two items. Are they of the same kind? You decide what a kind is. One key answers,
      saves and shows the next.
    </p>
    <ul>
      ${RULES.map((rule) => html`<li>${rule}</li>`)}
    </ul>
    <h3>Keys</h3>
    <p class="hint" role="status">${said}</p>
    <table class="keys">
      <thead class="hidden">
        <tr>
          <th scope="col">What</th>
          <th scope="col">Keys</th>
          <th scope="col">Change</th>
        </tr>
      </thead>
      <tbody>
        ${Object.entries(ACTIONS).map(([action, what]) => html`<${KeyRow} key=${action} action=${action} what=${what} listen=${listenFor} />`)}
        <tr>
          <th scope="row">Pick from a line-up, mark on a sheet</th>
          <td><kbd>1</kbd>${" – "}<kbd>9</kbd></td>
          <td></td>
        </tr>
        <tr>
          <th scope="row">In a field: take it, leave it</th>
          <td><kbd>Enter</kbd>${" "}<kbd>Esc</kbd></td>
          <td></td>
        </tr>
        <tr>
          <th scope="row">On the map: closer, farther, move, all of it</th>
          <td><kbd>+</kbd>${" "}<kbd>−</kbd>${" "}<kbd>← ↑ ↓ →</kbd>${" "}<kbd>Esc</kbd></td>
          <td></td>
        </tr>
      </tbody>
    </table>
    <p class="buttons"><${Button} act=${reset}>Reset all keys<//></p>
  <//>`;
}

/** @param {{action: string, what: string, listen: (action: string) => void}} props */
function KeyRow({ action, what, listen }) {
  return html`<tr>
    <th scope="row">${what}</th>
    <td>${keys.of(action).map((key) => html`<kbd>${keyLabel(key)}</kbd>`)}</td>
    <td>
      <button
        type="button"
        data-action=${action}
        aria-label=${`Change the key for ${what}`}
        onclick=${() => listen(action)}
      >
        Change
      </button>
    </td>
  </tr>`;
}
