/** Kinds over presses. */

import { html } from "./vendor/preact.js";
import { count } from "./format.js";
import { useStore } from "./use.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [320, 120, 26, 20];

export function Curve() {
  const history = useStore((now) => now.history);
  const last = history?.presses.at(-1) ?? 0;
  if (!history || history.presses.length < 2 || !last) {
    return html`<p class="hint">The curve begins with the first answers.</p>`;
  }
  const { presses, clusters } = history;
  const most = Math.max(1, ...clusters);
  const x = (/** @type {number} */ press) => LEFT + ((WIDTH - LEFT - 4) * press) / last;
  const y = (/** @type {number} */ kinds) =>
    HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - 8) * kinds) / most;
  const steps = presses
    .slice(1)
    .map((press, i) => `H${x(press).toFixed(1)}V${y(clusters[i + 1]).toFixed(1)}`);
  const path = `M${x(presses[0])} ${y(clusters[0])}${steps.join("")}`;
  const total = count(last, "press", "presses");
  return html`<svg
    class="curve"
    viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}
    role="img"
    aria-label=${`Kinds over ${total}, ${most} at most`}
  >
    <path class="axis" d=${`M${LEFT} 4V${HEIGHT - BOTTOM}H${WIDTH - 4}`} />
    <path class="line" d=${path} />
    <text x=${LEFT - 5} y=${y(most) + 4} text-anchor="end">${most}</text>
    <text x=${LEFT - 5} y=${y(0) + 2} text-anchor="end">0</text>
    <text x=${WIDTH - 4} y=${HEIGHT - 5} text-anchor="end">${total}</text>
    <text x=${LEFT} y=${HEIGHT - 5} text-anchor="start">0</text>
  </svg>`;
}
