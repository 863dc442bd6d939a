/** The end: what was found in short, the budget, exports, import, and the way back. */

import { html, useRef } from "./vendor/preact.js";
import { call, located } from "./api.js";
import { count, number } from "./format.js";
import { MorePresses, whyDone } from "./question.js";
import { change, perform, say, setBudget, state } from "./store.js";
import { useStore } from "./use.js";
import { Block, Button, useFetched } from "./parts.js";

/** @typedef {import("./types.js").Status} Status */

const LARGEST = 16_000_000; // bytes of an import
const ALWAYS =
  "You can stop at any time, close this page, and go on another day: every answer is saved.";

/** @param {{goto: (view: string) => void}} props */
export function Finish({ goto }) {
  const status = useStore((now) => now.status);
  const { found: files } = useFetched("/api/exports");
  const { found } = useFetched("/api/clusters?members=1", status?.revision);
  if (!status) return null;
  const show = (/** @type {{file: string, about: string}} */ { file, about }) =>
    html`<li key=${file}>
      <a href=${located(`/api/export/${file}`)} download=${file}>${file}</a>
      <span class="muted">${about}</span>
    </li>`;
  return html`<div id="finish-body">
    <p class="lead">${status.done ? whyDone(status) : ALWAYS}</p>
    <${Tiles} status=${status} />
    <p id="finish-stopping">${found?.stopping.text}</p>
    <p id="finish-promise" class="hint">${found?.certificate?.text}</p>
    <p class="buttons"><${Buttons} status=${status} goto=${goto} /></p>
    <${Budget} status=${status} />
    <${Block} id="export" title="Export">
      <ul class="exports">
        ${files?.exports.map(show)}
      </ul>
    <//>
    <${Import} />
  </div>`;
}

/** @param {{status: Status}} props */
function Tiles({ status }) {
  const { clusters, presses, budget, questions, known_rows: known, n_rows: rows } = status;
  const one = presses === 1;
  const tiles = [
    !status.records && [number(clusters), clusters === 1 ? "kind found" : "kinds found"],
    [
      number(presses),
      budget ? `of ${count(budget, "press", "presses")}` : one ? "press" : "presses",
    ],
    [
      number(questions),
      `${questions === 1 ? "question" : "questions"} answered by ${one ? "it" : "them"}`,
    ],
    [number(known), `of ${count(rows, "item")} known`],
  ];
  return html`<dl class="tiles">
    ${tiles.map(
      (tile) =>
        tile &&
        html`<div>
          <dt>${tile[1]}</dt>
          <dd>${tile[0]}</dd>
        </div>`,
    )}
  </dl>`;
}

/** @param {{status: Status, goto: (view: string) => void}} props */
function Buttons({ status, goto }) {
  const resume = async () => {
    if (status.done && !(await change("/api/resume", {}, "POST"))) return;
    const now = state.status;
    if (now?.done) say({ text: `There is nothing to go on with: ${whyDone(now)}` });
    else if (state.view === "finish") goto("question"); // they may be elsewhere by now
  };
  if (status.done && status.stop_reason === "budget") {
    return html`<${MorePresses} status=${status} />`;
  }
  const finish = () => change("/api/finish", {}, "POST");
  return html`<${Button} class=${status.done ? "" : "primary"} act=${resume}>Go on<//>
    ${!status.done && html`<${Button} act=${finish}>Finish here<//>`}`;
}

/** How many presses there may be in all. @param {{status: Status}} props */
function Budget({ status }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? "";
    setBudget(text ? Number(text) : null);
  };
  const limit = { type: "number", min: 1, max: 1e9, step: 1, defaultValue: status.budget ?? "" };
  return html`<${Block} id="budget-of-presses" title="Budget">
    <form class="buttons" onsubmit=${save}>
      <label for="budget-field">Presses in all; empty for no limit</label>
      <input key=${status.budget} ref=${field} id="budget-field" ...${limit} />
      <button type="submit">Set the budget</button>
    </form>
  <//>`;
}

const HOW =
  "A CSV file with the columns a, b and answer (same, different or unsure). " +
  "a and b are row numbers, from 0, or values of a column of yours that has each only once.";

function Import() {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const send = async () => {
    const csv = field.current?.files?.[0];
    if (!csv) return say({ text: "Choose a CSV file first.", bad: true });
    if (csv.size > LARGEST) {
      return say({ text: "The file is larger than 16 MB. Split it into several.", bad: true });
    }
    const reply = await perform(() => call("POST", "/api/answers/import", { csv }));
    if (!reply) return undefined;
    const both = reply.contradictory
      ? ` ${count(reply.contradictory, "pair")} had both answers in the file: the last one counts.`
      : "";
    return say({ text: `${count(reply.imported, "answer")} imported.${both}` });
  };
  return html`<${Block} id="import" title="Import answers" hint=${HOW}>
    <p class="buttons">
      <label for="import-file" class="hidden">CSV file of answers</label>
      <input ref=${field} id="import-file" type="file" accept=".csv,text/csv" />
      <${Button} act=${send}>Import<//>
    </p>
  <//>`;
}
