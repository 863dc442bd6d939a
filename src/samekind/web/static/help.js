/** Help: what to do, and the keys, which can be changed here. */

import { h, openDialog } from "./dom.js";
import { ACTIONS, keyLabel, keyOf, keys } from "./keys.js";

/** @param {() => void} changed called when keys were changed */
export function openHelp(changed) {
  if (document.querySelector("dialog.help")) return;
  const said = h("p", { class: "hint", role: "status" }, "To change a key, press Change and then the new key.");
  const table = h("tbody", {});
  /** @type {((event: KeyboardEvent) => void) | null} waits for a new key */
  let listening = null;
  const stop = () => {
    if (listening) dialog.removeEventListener("keydown", listening, true);
    listening = null;
  };
  const listen = (/** @type {string} */ action) => {
    stop();
    said.textContent = `Press the new key for “${ACTIONS[action]}”. Escape leaves it as it is.`;
    listening = (event) => {
      const key = keyOf(event);
      if (key === "Tab") return;
      event.preventDefault();
      event.stopPropagation();
      if (key === null || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      const refused = key === "Escape" ? "Nothing was changed." : keys.set(action, key);
      said.textContent = refused ?? `${keyLabel(key)} now means “${ACTIONS[action]}”.`;
      if (refused && key !== "Escape") return;
      stop();
      show();
      table.querySelector(`[data-action="${action}"]`)?.focus();
      changed();
    };
    dialog.addEventListener("keydown", listening, true);
  };
  const show = () =>
    table.replaceChildren(
      ...Object.entries(ACTIONS).map(([action, what]) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, what),
          h("td", {}, ...keys.of(action).map((key) => h("kbd", {}, keyLabel(key)))),
          h("td", {}, h("button", { type: "button", "data-action": action, "aria-label": `Change the key for ${what}`, onclick: () => listen(action) }, "Change")),
        ),
      ),
      h("tr", {}, h("th", { scope: "row" }, "Pick from a line-up"), h("td", {}, h("kbd", {}, "1"), " – ", h("kbd", {}, "9")), h("td", {})),
    );
  show();
  const dialog = openDialog(
    "Help",
    [
      h("p", {}, "You see two things. Are they of the same kind? You decide what a kind is. One key answers, saves and shows the next."),
      h("ul", {},
        h("li", {}, "Not sure is a fine answer: of a pair, another member of the kind may be asked about later; of a line-up, the thing is left alone. Skip keeps it for later, under Review."),
        h("li", {}, "Undo goes back as far as you like, and takes back what was learnt, too."),
        h("li", {}, "In a line-up, pick the kind that fits, or say that none does: one press answers several questions."),
        h("li", {}, "You know its kind? Type its name, or a word of it, and press Enter: that settles it. What is not found is a new kind of that name."),
        h("li", {}, "On a sheet, press those that do not belong, and then once for all others."),
        h("li", {}, "Found so far shows the kinds. Name them, merge them, click what does not belong."),
        h("li", {}, "Close the page whenever you like. Answers are on disk as soon as it says “Saved”.")),
      h("h3", {}, "Keys"),
      said,
      h("table", { class: "keys" }, h("thead", { class: "hidden" }, h("tr", {}, h("th", { scope: "col" }, "What"), h("th", { scope: "col" }, "Keys"), h("th", { scope: "col" }, "Change"))), table),
      h("p", { class: "buttons" }, h("button", {
        type: "button",
        onclick: () => {
          keys.reset();
          said.textContent = "All keys are as they were at first.";
          show();
          changed();
        },
      }, "Reset all keys")),
    ],
    { class: "help", onclose: stop },
  );
}
