/** Splitting a kind: its items are sorted further in a part, a project of its own with a page of its own. */

import { html, useRef } from "./vendor/preact.js";
import { call, pageOf } from "./api.js";
import { Dialog } from "./dialogs.js";
import { nameOf } from "./names.js";
import { attempt, openDialog } from "./store.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

/** @typedef {import("./types.js").ClusterRef} ClusterRef */

/** A button that splits a kind, or goes to its part. @param {{kind: import("./types.js").ClusterSummary}} props */
export function Split({ kind }) {
  const isRecords = useStore((now) => now.status?.records);
  if (isRecords) return null; // an entity is not sorted further
  const act = () =>
    kind.is_split
      ? goToPart(kind, "")
      : openDialog((close) => html`<${Question} kind=${kind} close=${close} />`);
  const label = `${kind.is_split ? "Open the parts of" : "Split"} ${nameOf(kind)}`;
  return html`<${Button} class="link" data-needs="own" aria-label=${label} act=${act}>
    ${kind.is_split ? "Open its parts" : "Split"}
  <//>`;
}

/** @param {ClusterRef} kind @param {string} criterion */
async function goToPart(kind, criterion) {
  const path = `/api/clusters/${kind.cluster}/split`;
  const part = await attempt(() => call("POST", path, { body: { criterion } }));
  if (part) location.assign(pageOf(part.name));
}

/** @param {{kind: ClusterRef, close: () => void}} props */
function Question({ kind, close }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const split = (/** @type {Event} */ event) => {
    event.preventDefault();
    close();
    goToPart(kind, field.current?.value ?? "");
  };
  return html`<${Dialog} title=${`Split “${nameOf(kind)}”`} close=${close}>
    <form class="criterion-form" onsubmit=${split}>
      <p class="hint">
        Its items are sorted further on a page of their own. Exports join both: “${nameOf(kind)} /
        …”.
      </p>
      <label for="split-question">What counts as the same kind there, in one sentence:</label>
      <input ref=${field} id="split-question" maxlength="200" dir="auto" autofocus />
      <p class="buttons">
        <button type="submit" class="primary">Split</button>
        <${Button} act=${close}>Cancel<//>
      </p>
    </form>
  <//>`;
}
