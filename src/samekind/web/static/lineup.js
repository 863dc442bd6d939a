/** A line-up: one thing beside the kinds it may belong to. */

import { count, h } from "./dom.js";
import { knownAs } from "./names.js";
import { mini, miniTable, oneLine, picture, spoken, whole } from "./things.js";
import { Zoom, zoomTools } from "./zoom.js";

/**
 * @param {import("./types.js").LineUpQuestion} question
 * @param {(said: import("./types.js").Said, event: Event) => void} answer
 * @returns {import("./pair.js").View}
 */
export function lineupView({ thing, options }, answer) {
  const zoom = thing.picture ? new Zoom() : null;
  const subject = h(
    "figure",
    { class: "card subject" },
    h("figcaption", {}, h("span", { class: "card-title", dir: "auto" }, oneLine(thing))),
  );
  const image = picture(thing, "large");
  if (image && zoom) {
    const stage = h("div", { class: "stage" }, image);
    zoom.attach(stage, image);
    subject.append(stage, ...whole({ ...thing, picture: null }));
  } else {
    subject.append(...whole(thing));
  }
  const list = h("ol", { class: "options" }, ...options.map((option, index) => h("li", {}, optionButton(thing, option, index, answer))));
  return {
    title: "Which kind is this?",
    said: `Which kind is this? ${spoken(thing)}. There are ${count(options.length, "kind")} to pick from.`,
    body: h("div", { class: "lineup" }, subject, list),
    tools: zoom ? zoomTools(zoom, null) : [],
    zoom,
    blink: null,
  };
}

/**
 * @param {import("./types.js").Thing} thing
 * @param {import("./types.js").Option} option
 * @param {number} index
 * @param {(said: import("./types.js").Said, event: Event) => void} answer
 */
function optionButton(thing, option, index, answer) {
  const key = index < 9 ? String(index + 1) : null;
  const isRow = !thing.picture && thing.text === null && thing.fields.length > 0;
  return h(
    "button",
    {
      type: "button",
      class: "option",
      "data-answer": option.kind,
      "aria-keyshortcuts": key,
      "aria-label": `${[key, knownAs(option)].filter(Boolean).join(" ")}: ${option.members.map(spoken).join("; ")}`,
      onclick: (/** @type {Event} */ event) => answer(option.kind, event),
    },
    h(
      "span",
      { class: "option-head" },
      key && h("kbd", {}, key),
      h("span", { class: option.name ? "option-name" : "option-name unnamed", "data-kind": option.kind, dir: "auto" }, knownAs(option)),
    ),
    h("span", { class: "option-members" }, ...(isRow ? [miniTable(option.members, thing)] : option.members.map(mini))),
  );
}
