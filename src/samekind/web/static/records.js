/** Records: the match threshold, what it promises, and what changes when it moves. */

import { html, useEffect, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { count, number, percent } from "./format.js";
import { brief } from "./item_text.js";
import { may } from "./me.js";
import { slips } from "./pair.js";
import { attempt, say } from "./store.js";
import { useStore } from "./use.js";
import { Button, useFetched } from "./parts.js";

/** @typedef {import("./types.js").Threshold} Threshold */

const PAUSE_MS = 150; // after the slider moved
const FARTHEST = 100; // steps of the slider to either side; ten of them are one of log-odds
const DIGITS = 4;

/** @param {number} step @returns {number} the probability at a step: near 0 and 1 the steps are small */
const probabilityAt = (step) => 1 / (1 + Math.exp(-step / 10));

/** @param {number} probability @returns {number} */
const stepAt = (probability) => Math.round(10 * Math.log(probability / (1 - probability)));

/** @param {number} probability @returns {string} */
const text = (probability) =>
  probability.toLocaleString("en", { maximumSignificantDigits: DIGITS });

export function ThresholdPanel() {
  const isRecords = useStore((now) => now.status?.records ?? false);
  const revision = useStore((now) => now.status?.revision);
  const [step, setStep] = useState(/** @type {number | null} */ (null)); // null: the one that is kept
  const [asked, ask] = useState(step); // a moment after the slider moved
  const [kept, setKept] = useState(/** @type {Threshold | null} */ (null));
  const wanted = probabilityAt(step ?? 0);
  useEffect(() => {
    const timer = setTimeout(() => ask(step), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [step]);
  const at = asked === null ? "" : `?at=${probabilityAt(asked)}`;
  const isSeen = isRecords && may("review");
  const fetched = useFetched(isSeen ? `/api/threshold${at}` : null, revision);
  const { error } = fetched;
  /** @type {Threshold | null} */
  const found = kept && stepAt(kept.threshold) === asked ? kept : fetched.found;
  useEffect(() => {
    if (found && step === null) setStep(stepAt(found.kept));
  }, [found]);
  if (!isRecords) return null;
  const keep = async () => {
    const body = { threshold: wanted };
    const reply = await attempt(() => call("PUT", "/api/threshold", { body }));
    if (!reply) return;
    setKept(reply);
    say({ text: "Kept. Exports use this threshold." });
  };
  const isKept = !found || stepAt(found.threshold) === stepAt(found.kept);
  return html`<section class="threshold" aria-labelledby="threshold-title">
    <h3 id="threshold-title">Match threshold</h3>
    <label for="threshold">
      ${"Two records are one entity from this probability: "}
      <output id="threshold-value" for="threshold">${text(wanted)}</output>
    </label>
    <input
      id="threshold"
      type="range"
      min=${-FARTHEST}
      max=${FARTHEST}
      step="1"
      value=${step ?? 0}
      aria-describedby="threshold-found"
      oninput=${(/** @type {any} */ event) => setStep(Number(event.target.value))}
    />
    <div id="threshold-found" aria-live="polite">
      ${error ? html`<p>${error}</p>` : found && html`<${Promises} found=${found} />`}
    </div>
    <${Button} id="threshold-keep" data-needs="own" hidden=${isKept} act=${keep}>
      Export with this threshold
    <//>
    <ul class="changed" id="threshold-changed">
      ${found?.changed.map((pair) => html`<${Changed} key=${`${pair.a.row}-${pair.b.row}`} pair=${pair} />`)}
    </ul>
  </section>`;
}

/** @param {{found: Threshold}} props */
function Promises({ found }) {
  const bound = (/** @type {number | null} */ share) =>
    share === null
      ? "not known yet"
      : `at least ${percent(share)} (${count(found.audited, "checked pair")})`;
  const kept = text(found.kept);
  const moved =
    found.joined || found.parted
      ? `Against ${kept}, which exports use: ${number(found.joined)} more pairs together, ${number(found.parted)} fewer.`
      : `Nothing changes against ${kept}, which exports use.`;
  const entities = count(found.entities, "entity", "entities");
  return html`<p>${`${entities}; ${count(found.duplicates, "record")} repeat another one.`}</p>
    <p id="threshold-precision">
      ${`Precision, the share of the pairs found that are right: ${bound(found.precision_bound)}.`}
    </p>
    <p id="threshold-recall">
      ${`Recall, the share of the matches among compared pairs that are found: ${bound(found.recall_bound)}.`}
    </p>
    <p class="hint">${moved}</p>`;
}

/** @param {{pair: import("./types.js").ChangedPair}} props */
function Changed({ pair: { a, b, probability, together } }) {
  const [left, right] = slips(brief(a), brief(b));
  const how = together ? "now together" : "now apart";
  return html`<li>
    <p class="hint">${`${how}, ${percent(probability)} likely a match`}</p>
    <p dir="auto">${left}</p>
    <p dir="auto">${right}</p>
  </li>`;
}
