/** Clusters over presses. */

import { count, h, svg } from "./dom.js";

/**
 * Draw how many clusters were known after how many presses.
 *
 * @param {{presses: number[], questions: number[], clusters: number[]}} history
 * @returns {Element}
 */
export function clustersOverPresses({ presses, questions, clusters }) {
  const last = presses.at(-1) ?? 0;
  const most = Math.max(1, ...clusters);
  if (presses.length < 2 || !last) return h("p", { class: "hint" }, "The curve begins with the first answers.");
  const [width, height, left, bottom] = [320, 120, 26, 20];
  const x = (/** @type {number} */ q) => left + ((width - left - 4) * q) / last;
  const y = (/** @type {number} */ k) => height - bottom - ((height - bottom - 8) * k) / most;
  let path = `M${x(presses[0])} ${y(clusters[0])}`;
  for (let i = 1; i < presses.length; i += 1) path += `H${x(presses[i]).toFixed(1)}V${y(clusters[i]).toFixed(1)}`;
  const word = (/** @type {number} */ at, /** @type {number} */ level, /** @type {string} */ text, anchor = "end") =>
    svg("text", { x: at, y: level, "text-anchor": anchor }, text);
  return svg(
    "svg",
    { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${count(clusters.at(-1) ?? 0, "kind")} after ${count(last, "press", "presses")}, which answered ${count(questions.at(-1) ?? 0, "question")}` },
    svg("path", { class: "axis", d: `M${left} 4V${height - bottom}H${width - 4}` }),
    svg("path", { class: "line", d: path }),
    word(left - 5, y(most) + 4, String(most)),
    word(left - 5, y(0) + 2, "0"),
    word(width - 4, height - 5, count(last, "press", "presses")),
    word(left, height - 5, "0", "start"),
  );
}
