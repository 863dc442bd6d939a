/** The questions of a project in a notebook: the cards, the keys and the queue are the page's own. */

import { html, render, useEffect, useState } from "./vendor/preact.js";
import { connect } from "./api.js";
import { Banner, Dialogs, Messages, Saved } from "./dialogs.js";
import { openHelp } from "./help.js";
import { Keyboard, listenToKeys } from "./keyboard.js";
import { keys } from "./keys.js";
import { act, QuestionArea } from "./question.js";
import { openField } from "./say.js";
import { Standing } from "./standing.js";
import { load, outbox, say, state } from "./store.js";
import { useStore } from "./use.js";

const SLOW_MS = 4000;
const RESULT = "The result is in Python: widget.clusters(), or widget.project.export(…).";

/**
 * @param {HTMLElement} page where the questions stand
 * @param {any} model of the widget
 * @returns {() => void} what ends it
 */
export function start(page, model) {
  const disconnect = connect(model);
  const keyboard = new Keyboard({
    now: () => performance.now(),
    actionOf: (key) => keys.action(key),
    counts: () => true,
    act: (action) => (action === "help" ? openHelp() : act(action)),
    openField,
    quiet: (isQuiet) => {
      if (isQuiet) page.dataset.keys = "quiet";
      else delete page.dataset.keys;
    },
  });
  listenToKeys(keyboard, page);
  page.addEventListener("keydown", (event) => {
    // What is typed here is not meant for the notebook, but for what moves the focus, saves, or runs a cell.
    const isForBoth = event.ctrlKey || event.metaKey || event.altKey;
    if (!isForBoth && event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
  });
  const hear = (/** @type {any} */ message) => message?.changed && load();
  model.on("msg:custom", hear);
  render(html`<${Widget} />`, page);
  load();
  return () => {
    render(null, page);
    model.off("msg:custom", hear);
    disconnect();
  };
}

function Widget() {
  const announcement = useStore((now) => now.announcement);
  return html`<header class="top">
      <div class="standing"><${Standing} /><${Messages} /></div>
      <p class="keys-hint">Click here to use the keys</p>
      <${Slow} />
      <${Saved} />
      <button
        id="help"
        type="button"
        class="icon-button"
        aria-label="Help and keys"
        aria-keyshortcuts="?"
        onclick=${openHelp}
      >
        <span aria-hidden="true">?</span>
      </button>
    </header>
    <${Banner} />
    <${QuestionArea} goto=${() => say({ text: RESULT })} />
    <p id="announcer" class="hidden" aria-live="polite">${announcement}</p>
    <${Dialogs} />`;
}

/** Says so where the kernel takes long. */
function Slow() {
  const isWaiting = useStore((now) => !now.loaded || outbox.items.length > 0);
  const saving = useStore((now) => now.saving);
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, [isWaiting, saving.waiting, state.loaded]);
  if (!isSlow) return null;
  return html`<p class="busy">Waiting for the kernel: it is busy, or it was restarted</p>`;
}
