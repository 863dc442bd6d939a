/** Where the work stands, in a few words. */

import { html } from "./vendor/preact.js";
import { count, number } from "./format.js";
import { useStore } from "./use.js";

export function Standing() {
  const status = useStore((now) => now.status);
  const stopping = useStore((now) => now.stopping);
  if (!status) return html`<p id="standing">Loading…</p>`;
  const { presses, budget, clusters, questions, records, done } = status;
  const spent = budget
    ? `${number(presses)} of ${count(budget, "press", "presses")}`
    : count(presses, "press", "presses");
  const title = `They answered ${count(questions, "question")}`;
  return html`<p id="standing">
    <strong title=${title}>${spent}</strong>
    ${!records && html`<strong>${count(clusters, "kind")}</strong>`}
    ${done && status.stop_text && html`<span class="left">${status.stop_text}</span>`}
    ${!done && stopping?.safe && html`<span class="safe">safe to stop</span>`}
  </p>`;
}

/** How much of the budget is spent. */
export function Spent() {
  const presses = useStore((now) => now.status?.presses ?? 0);
  const budget = useStore((now) => now.status?.budget ?? null);
  return html`<progress
    id="budget"
    aria-label="Presses made of the budget"
    hidden=${!budget}
    max=${budget ?? 1}
    value=${Math.min(presses, budget ?? 1)}
  ></progress>`;
}
