/** What counts as the same kind, in one sentence, above every question. Owners can change it. */

import { html, useRef } from "./vendor/preact.js";
import { Dialog } from "./dialogs.js";
import { may } from "./me.js";
import { change, openDialog } from "./store.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

export function Criterion() {
  const status = useStore((now) => now.status);
  const text = status?.criterion ?? "";
  const isHidden = !status || status.done || (!text && !may("own"));
  const isHeading = status?.records ?? false; // of each question
  const same = isHeading ? "the same entity" : "the same kind";
  const label = text ? `Edit what counts as ${same}` : `Say what counts as ${same}`;
  return html`<div id="criterion" class="criterion" hidden=${isHidden}>
    ${!isHeading && html`<span class="criterion-text" dir="auto" title=${text}>${text}</span>`}
    <${Button} class="link" data-needs="own" aria-label=${label} act=${() => edit(text)}>
      ${text ? "Edit" : label}
    <//>
  </div>`;
}

/** @param {string} text */
function edit(text) {
  openDialog((close) => html`<${Editor} text=${text} close=${close} />`);
}

/** @param {{text: string, close: () => void}} props */
function Editor({ text, close }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    close();
    change("/api/criterion", { criterion: field.current?.value ?? "" });
  };
  return html`<${Dialog} title="What counts as the same kind?" close=${close}>
    <form class="criterion-form" onsubmit=${save}>
      <label for="criterion-field">In one sentence, for everybody who answers:</label>
      <input
        ref=${field}
        id="criterion-field"
        maxlength="200"
        dir="auto"
        autofocus
        defaultValue=${text}
        placeholder="same intent of the customer"
      />
      <p class="buttons">
        <button type="submit" class="primary">Save</button>
        <${Button} act=${close}>Cancel<//>
      </p>
    </form>
  <//>`;
}
