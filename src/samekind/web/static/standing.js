/** Where the work stands, in a few words. */

import { count, h, number } from "./dom.js";

/**
 * @param {import("./types.js").Status} state
 * @param {import("./types.js").StopAdvice | null} stopping
 * @returns {HTMLElement[]}
 */
export function standing(state, stopping) {
  const done = state.budget ? `${number(state.presses)} of ${count(state.budget, "press", "presses")}` : count(state.presses, "press", "presses");
  const left = state.done ? state.stop_text : "";
  const safe = !state.done && (state.stopping ?? stopping)?.safe;
  return [
    h("strong", { title: count(state.questions, "question") }, done),
    h("strong", {}, count(state.clusters, "kind")),
    ...(left ? [h("span", { class: "left" }, left)] : []),
    ...(safe ? [h("span", { class: "safe" }, "safe to stop")] : []),
  ];
}
