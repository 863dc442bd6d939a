/** A sheet: many things that are likely of one kind. Press those that are not; one press answers for all others. */

import { count, h } from "./dom.js";
import { knownAs } from "./cluster_names.js";
import { mini, oneLine, spoken } from "./items.js";

/**
 * @param {import("./types.js").SheetQuestion} question
 * @param {(said: import("./types.js").Said, event?: Event) => void} answer
 * @returns {import("./pair.js").View}
 */
export function sheetView({ items, cluster }, answer) {
  /** @type {Set<number>} rows that do not belong */
  const out = new Set();
  const title = cluster.name ? `Are these all “${cluster.name}”?` : "Are these all of the same kind?";
  const tally = () => {
    const label = document.querySelector("[data-answer='all'] > span:not(.sign)");
    const left = items.length - out.size;
    if (label) label.textContent = out.size === 0 ? `All ${items.length} the same` : left ? `${left} the same, ${out.size} not` : "None of them";
  };
  const tiles = items.map((item, place) => {
    const key = place < 9 ? String(place + 1) : place === 9 ? "0" : null;
    const tile = h(
      "button",
      {
        type: "button",
        class: "tile",
        "aria-pressed": "false",
        "aria-keyshortcuts": key,
        "aria-label": `Does not belong: ${spoken(item)}`,
        title: oneLine(item),
        onclick: () => {
          if (!out.delete(item.row)) out.add(item.row);
          tile.setAttribute("aria-pressed", String(out.has(item.row)));
          tally();
        },
      },
      key && h("kbd", { "aria-hidden": "true" }, key),
      mini(item),
    );
    return tile;
  });
  return {
    title,
    said: `${title} There are ${count(items.length, "thing")}. Press those that do not belong, then answer for all others.`,
    body: h(
      "div",
      { class: "tray" },
      h("section", { class: "more tray-kind", "aria-label": "The kind" },
        h("h3", { dir: "auto" }, "Of the kind", " ", h("span", { class: cluster.name ? "" : "unnamed", "data-cluster": cluster.cluster }, knownAs(cluster))),
        h("ul", { class: "strip" }, ...cluster.members.map((item) => h("li", { title: oneLine(item) }, mini(item), h("span", { class: "hidden" }, oneLine(item)))))),
      h("p", { class: "hint" }, "Press those that do not belong."),
      h("ul", { class: "tiles-out" }, ...tiles.map((tile) => h("li", {}, tile))),
    ),
    tools: [],
    zoom: null,
    press(action, event) {
      const place = action === "none" ? 9 : /^[1-9]$/.test(action) ? Number(action) - 1 : -1;
      if (place >= 0) tiles[place]?.click();
      else if (action === "all" || action === "same") answer({ different: [...out] }, event);
    },
  };
}
