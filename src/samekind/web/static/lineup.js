/** A line-up: one item beside the clusters it may belong to. */

import { count, h } from "./dom.js";
import { knownAs } from "./cluster_names.js";
import { mini, miniTable, oneLine, picture, spoken, whole } from "./items.js";
import { Zoom, zoomTools } from "./zoom.js";

/**
 * @param {import("./types.js").LineupQuestion} question
 * @param {(said: import("./types.js").Said, event: Event) => void} answer
 * @returns {import("./pair.js").View}
 */
export function lineupView({ item, options }, answer) {
  const zoom = item.has_picture ? new Zoom() : null;
  const subject = h(
    "figure",
    { class: "card subject" },
    h("figcaption", {}, h("span", { class: "card-title", dir: "auto" }, oneLine(item))),
  );
  const image = picture(item, "large");
  if (image && zoom) {
    const stage = h("div", { class: "stage" }, image);
    zoom.attach(stage, image);
    subject.append(stage, ...whole({ ...item, has_picture: false }));
  } else {
    subject.append(...whole(item));
  }
  const list = h("ol", { class: "options" }, ...options.map((option, index) => h("li", {}, optionButton(item, option, index, answer))));
  return {
    title: "Which kind is this?",
    said: `Which kind is this? ${spoken(item)}. There are ${count(options.length, "kind")} to pick from.`,
    body: h("div", { class: "lineup" }, subject, list),
    tools: zoom ? zoomTools(zoom) : [],
    zoom,
  };
}

/**
 * @param {import("./types.js").ItemView} item
 * @param {import("./types.js").ClusterOption} option
 * @param {number} index
 * @param {(said: import("./types.js").Said, event: Event) => void} answer
 */
function optionButton(item, option, index, answer) {
  const key = index < 9 ? String(index + 1) : null;
  const isRow = !item.has_picture && item.text === null && item.fields.length > 0;
  return h(
    "button",
    {
      type: "button",
      class: "option",
      "data-answer": option.cluster,
      "aria-keyshortcuts": key,
      "aria-label": `${[key, knownAs(option)].filter(Boolean).join(" ")}: ${option.members.map(spoken).join("; ")}`,
      onclick: (/** @type {Event} */ event) => answer(option.cluster, event),
    },
    h(
      "span",
      { class: "option-head" },
      key && h("kbd", {}, key),
      h("span", { class: option.name ? "option-name" : "option-name unnamed", "data-cluster": option.cluster, dir: "auto" }, knownAs(option)),
    ),
    h("span", { class: "option-members" }, ...(isRow ? [miniTable(option.members, item)] : option.members.map(mini))),
  );
}
