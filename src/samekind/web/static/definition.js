/** The name and the definition of a kind: written by a person, or suggested by the model that answers. */

import { html, useRef, useState } from "./vendor/preact.js";
import { ApiError, call } from "./api.js";
import { Dialog } from "./dialogs.js";
import { nameOf } from "./names.js";
import { openDialog } from "./store.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

const PATIENCE_MS = 180_000; // a model may think for long

/** @typedef {import("./types.js").ClusterRef} ClusterRef */
/** @typedef {(name: string, definition: string) => unknown} Save */

/** Opens the editor. @param {{kind: ClusterRef, save: Save}} props */
export function DefineButton({ kind, save }) {
  const edit = () =>
    openDialog((close) => html`<${Editor} kind=${kind} save=${save} close=${close} />`);
  const label = `${kind.definition ? "Edit the definition of" : "Define"} ${nameOf(kind)}`;
  return html`<${Button} class="link define" aria-label=${label} act=${edit}>
    ${kind.definition ? "Edit" : "Define"}
  <//>`;
}

/** @param {{kind: ClusterRef, save: Save, close: () => void}} props */
function Editor({ kind, save, close }) {
  const model = useStore((now) => now.status?.model ?? "");
  const name = useRef(/** @type {HTMLInputElement | null} */ (null));
  const definition = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [said, setSaid] = useState({ text: "", busy: false });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    close();
    save(name.current?.value ?? "", definition.current?.value ?? "");
  };
  const suggest = async () => {
    setSaid({ text: `${model} reads some items…`, busy: true });
    try {
      const path = `/api/clusters/${kind.cluster}/suggestion`;
      const found = await call("POST", path, { timeout: PATIENCE_MS });
      if (name.current) name.current.value = found.name;
      if (definition.current) definition.current.value = found.definition;
      setSaid({ text: `Suggested by ${model}. Edit it, then save.`, busy: false });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setSaid({ text: error.message, busy: false });
    }
  };
  return html`<${Dialog} title=${`Name and definition of kind ${kind.number}`} close=${close}>
    <form class="criterion-form" onsubmit=${submit}>
      <label for="definition-name">Name</label>
      <input
        ref=${name}
        id="definition-name"
        maxlength="200"
        dir="auto"
        autofocus
        defaultValue=${kind.name ?? ""}
        placeholder=${kind.proposed_name}
      />
      <label for="definition-text">What belongs to it, in one sentence</label>
      <textarea
        ref=${definition}
        id="definition-text"
        maxlength="200"
        rows="3"
        dir="auto"
        defaultValue=${kind.definition}
      ></textarea>
      <p class="hint" role="status">${said.text}</p>
      <p class="buttons">
        <button type="submit" class="primary">Save</button>
        ${model && html`<${Button} disabled=${said.busy} act=${suggest}>Suggest both<//>`}
        <${Button} act=${close}>Cancel<//>
      </p>
    </form>
  <//>`;
}
