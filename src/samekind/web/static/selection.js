/** What to do with rows that somebody drew a line around on the map. */

import { call } from "./api.js";
import { count, h, openDialog } from "./dom.js";
import { mini, oneLine } from "./items.js";
import { openPlacing } from "./say.js";

const SHOWN = 24;
const MOST = 1000; // that can be placed at once

/** @typedef {import("./types.js").ItemView} ItemView */

/**
 * Show what was selected, and let somebody say what it is.
 *
 * @param {import("./project.js").Project} project
 * @param {number[]} rows
 * @param {() => void} changed
 */
export async function openSelection(project, rows, changed) {
  const some = rows.slice(0, MOST);
  /** @type {ItemView[]} */
  const shown = await Promise.all(some.slice(0, SHOWN).map((row) => call("GET", `/api/items/${row}`)));
  const rest = some.slice(SHOWN).map((row) => ({ row, title: `row ${row}`, text: null, fields: [], has_picture: false }));
  const more = rows.length > MOST ? ` Only the first ${count(MOST, "thing")} can be placed at once.` : "";
  const dialog = openDialog(`${count(rows.length, "thing")} selected`, [
    h("p", { class: "hint" }, `${rows.length > SHOWN ? `The first ${SHOWN} are shown.` : "All of them are shown."} Do all belong to one kind?${more}`),
    h("ul", { class: "grid selection" }, ...shown.map((item) => h("li", { class: "member", title: oneLine(item) }, mini(item)))),
    h(
      "p",
      { class: "buttons sticky" },
      h("button", {
        type: "button",
        class: "primary belongs",
        onclick: () => (dialog.close(), openPlacing(project, [...shown, ...rest], changed)),
      }, rows.length === 1 ? "It belongs to…" : "All belong to…"),
      h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
    ),
  ], { class: "wide" });
}
