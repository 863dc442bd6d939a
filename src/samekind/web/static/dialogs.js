/** Dialogs, messages and the banner. */

import { html, useLayoutEffect, useRef } from "./vendor/preact.js";
import { count } from "./format.js";
import { Pictures } from "./items.js";
import { hideMessage, holdMessage, keepMessage, load, openDialog, outbox } from "./store.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

/** All dialogs that are open. */
export function Dialogs() {
  const dialogs = useStore((now) => now.dialogs);
  return dialogs.map(({ id, content }) => html`<div key=${id}>${content}</div>`);
}

/**
 * @param {object} props
 * @param {string} props.title
 * @param {string} [props.kind] a class
 * @param {() => void} props.close
 * @param {any} props.children
 */
export function Dialog({ title, kind = "", close, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.current?.showModal();
    return () => before?.isConnected && before.focus({ preventScroll: true });
  }, []);
  return html`<dialog
    ref=${dialog}
    class=${`dialog ${kind}`}
    aria-label=${title}
    onclose=${close}
    onclick=${(/** @type {Event} */ event) => event.target === dialog.current && close()}
  >
    <div class="dialog-head">
      <h2 dir="auto">${title}</h2>
      <${Button} class="icon-button" aria-label="Close" act=${close}>×<//>
    </div>
    <div class="dialog-body">${children}</div>
  </dialog>`;
}

/**
 * Ask whether something is meant.
 *
 * @param {{title: string, text: string, yes: string, no: string, act: () => unknown}} what
 */
export function confirm({ title, text, yes, no, act }) {
  openDialog((close) => {
    const agree = () => {
      close();
      act();
    };
    return html`<${Dialog} title=${title} close=${close}>
      <p dir="auto">${text}</p>
      <p class="buttons">
        <${Button} class="primary" act=${agree}>${yes}<//><${Button} act=${close}>${no}<//>
      </p>
    <//>`;
  });
}

/** The last message, for a while. It stands in the top bar, where it covers no button. */
export function Messages() {
  const message = useStore((now) => now.message);
  const act = () => {
    hideMessage();
    message?.onaction?.();
  };
  return html`<div
    id="toasts"
    class="toasts"
    role="region"
    aria-label="Messages"
    aria-live="polite"
  >
    ${
      message &&
      html`<div
        class=${message.bad ? "toast bad" : "toast"}
        role=${message.bad ? "alert" : undefined}
        onpointerenter=${holdMessage}
        onpointerleave=${keepMessage}
      >
        <${Pictures} items=${message.items} />
        <span class="said" dir="auto" title=${message.text}>${message.text}</span>
        ${message.action && html`<${Button} act=${act}>${message.action}<//>`}
        <${Button} class="close" aria-label="Dismiss" act=${hideMessage}>×<//>
      </div>`
    }
  </div>`;
}

const SAVING = {
  idle: "",
  saved: "Saved",
  saving: "Saving…",
  unsaved: "Not saved – retrying",
};

/** Whether all answers are saved. */
export function Saved() {
  const saving = useStore((now) => now.saving);
  const text = saving.withdrawn ? "Not saved" : SAVING[saving.state];
  return html`<p id="saved" class="saved" role="status" data-state=${saving.state}>${text}</p>`;
}

/** What is wrong at the moment, and what can be done. */
export function Banner() {
  const saving = useStore((now) => now.saving);
  const trouble = useStore((now) => now.trouble);
  const isLockedOut = useStore((now) => now.locked && !now.loaded);
  const isUnsaved = saving.state === "unsaved";
  if (isLockedOut || (!isUnsaved && !trouble)) {
    return html`<div id="banner" class="banner" role="alert" hidden></div>`;
  }
  const again = isUnsaved ? () => outbox.retryNow() : () => load();
  const text = isUnsaved
    ? unsaved(saving)
    : `${trouble?.message}${trouble?.locked ? "" : " Trying again…"}`;
  return html`<div id="banner" class="banner" role="alert">
    <span>${text}</span>
    <${Button} act=${again}>Try now<//>
    ${
      saving.stuck &&
      html`<${Button} act=${() => outbox.giveUp()}>
        ${saving.stuck === "answer" ? "Skip this question" : "Leave it as it is"}
      <//>`
    }
  </div>`;
}

/** @param {import("./types.js").Saving} saving @returns {string} */
function unsaved({ waiting, seconds, why, stuck, withdrawn }) {
  const kept = waiting === 1 ? "Your answer is kept" : `Your ${waiting} answers are kept`;
  if (withdrawn) return `${why} ${kept} in this tab and not saved. Nothing is sent any more.`;
  if (!stuck)
    return `${why} ${kept} in this tab and sent as soon as possible; next try in ${seconds} s.`;
  const what =
    stuck === "answer"
      ? "Your answer could not be saved"
      : "Your last answer could not be taken back";
  const rest =
    waiting > 1
      ? ` ${count(waiting - 1, "more answer")} ${waiting === 2 ? "waits" : "wait"} behind it.`
      : "";
  return `${why} ${what}; it is tried again in ${seconds} s.${rest}`;
}
