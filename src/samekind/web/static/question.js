/** The question on the screen, its buttons, and what stands there when nothing is asked. */

import { html, useEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { Criterion } from "./criterion.js";
import { count } from "./format.js";
import { spoken } from "./item_text.js";
import { prefetchQuestion } from "./items.js";
import { keys } from "./keys.js";
import { LineUp } from "./lineup.js";
import { may } from "./me.js";
import { nameOf } from "./names.js";
import { Pair } from "./pair.js";
import { SayBar, subject } from "./say.js";
import { Sheet, sheetLabel } from "./sheet.js";
import {
  announce,
  answer,
  comeBack,
  current,
  outbox,
  retryAside,
  setBudget,
  state,
  undo,
} from "./store.js";
import { useAll } from "./use.js";
import { Zoom, ZoomTools } from "./zoom.js";
import { Button } from "./parts.js";

/** @typedef {import("./types.js").Question} Question @typedef {import("./types.js").Said} Said */

const SLOW_MS = 1500;
const MORE_PRESSES = 100;
const COMMON = [
  ["unsure", "Not sure", "", "answer"],
  ["skip", "Skip", "", "answer"],
  ["undo", "Undo", "", "answer"],
];
const ACTIONS = {
  pair: [
    ["same", "Same", "=", "answer main"],
    ["different", "Different", "≠", "answer main"],
    ...COMMON,
  ],
  lineup: [["none", "None of these", "∅", "answer main"], ...COMMON],
  sheet: [["all", "", "=", "answer main"], ...COMMON],
};

/** What the keys of the question on the screen do besides answering. */
const shown = {
  /** @type {Zoom | null} */
  zoom: null,
  /** @type {Set<number>} rows of a sheet that do not belong */
  out: new Set(),
  /** @type {(row: number) => void} */
  toggle: () => {},
};

/** @param {Said} said @param {Event} [event] */
function give(said, event) {
  const isPointed = event instanceof MouseEvent && event.detail > 0;
  const body = document.getElementById("question-body");
  const isInBody = body?.contains(document.activeElement) ?? false;
  if (!answer(said)) return;
  // After a click the focus leaves the button, or Space would press it again; an option goes away with it.
  if (isPointed || isInBody) {
    document.getElementById("question-title")?.focus({ preventScroll: true });
  }
}

/** Do what a key or button means for the question on the screen. @param {string} action @param {Event} [event] */
export function act(action, event) {
  const question = current();
  if (action === "undo") return undo();
  if (action === "zoom") return shown.zoom?.toggle();
  if (!question) return;
  const digit = /^[1-9]$/.test(action) ? Number(action) : action === "none" ? 10 : 0;
  if (action === "unsure" || action === "skip") return give(action, event);
  if (question.type === "sheet") {
    const item = question.items[digit - 1];
    if (item) shown.toggle(item.row);
    else if (action === "all" || action === "same") give({ different: [...shown.out] }, event);
  } else if (action === "fresh") {
    if (subject(question)) give({ new: "" }, event);
  } else if (question.type === "lineup") {
    const option = question.options[digit - 1];
    if (action === "none") give("none", event);
    else if (option) give(option.cluster, event);
  } else if (action === "same" || action === "different") give(action, event);
}

/** @param {{goto: (view: string) => void}} props */
export function QuestionArea({ goto }) {
  useAll();
  const question = current();
  const wait = useWaiting();
  const kept = useRef(/** @type {Question | null} */ (null));
  const isFaded = !question && wait === "soon" && kept.current !== null;
  const drawn = state.loaded ? (question ?? (isFaded ? kept.current : null)) : null;
  kept.current = drawn;
  const [marks, setMarks] = useState({ id: "", out: /** @type {Set<number>} */ (new Set()) });
  const zoom = useMemo(() => (drawn && hasPicture(drawn) ? new Zoom() : null), [drawn?.id]);
  shown.zoom = zoom;
  shown.out = marks.id === drawn?.id ? marks.out : new Set();
  shown.toggle = (row) => {
    const out = new Set(shown.out);
    if (!out.delete(row)) out.add(row);
    shown.out = out;
    setMarks({ id: drawn?.id ?? "", out });
  };
  const { title, said, content } = drawn ? asked(drawn, zoom) : unasked(wait, goto);
  useEffect(() => {
    announce(said);
    for (const next of state.queue.slice(1)) prefetchQuestion(next);
  }, [drawn?.id, said]);
  // The title stays while questions change: the focus may be on it.
  return html`<section
    id="question"
    class=${isFaded ? "question waiting" : "question"}
    aria-labelledby="question-title"
    data-id=${drawn?.id ?? ""}
    data-type=${drawn?.type ?? "none"}
    aria-busy=${String(wait !== "" || state.settling)}
  >
    <${Criterion} />
    <div class="question-head">
      <h2 id="question-title" tabindex="-1">${title}</h2>
      <div id="question-tools" class="question-tools">
        ${zoom && html`<${ZoomTools} zoom=${zoom} />`}
      </div>
    </div>
    <div id="question-body" class="question-body" key=${drawn?.id ?? title}>${content}</div>
    <div class="answering">
      <${SayBar} question=${question} isWaiting=${wait !== "" && state.loaded} answer=${give} />
      ${drawn && html`<${Actions} question=${drawn} />`}
    </div>
  </section>`;
}

/** @returns {"" | "soon" | "slow"} whether something is on its way, and for how long */
function useWaiting() {
  const isLockedOut = !state.loaded && state.locked;
  const waits =
    !isLockedOut && (!state.loaded || state.undoing > 0 || (!current() && outbox.items.length > 0));
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!waits) return undefined;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, [waits]);
  return waits ? (isSlow ? "slow" : "soon") : "";
}

/** @param {Question} question @param {Zoom | null} zoom */
function asked(question, zoom) {
  const title = titleOf(question);
  let content;
  if (question.type === "pair") content = html`<${Pair} question=${question} zoom=${zoom} />`;
  else if (question.type === "lineup") {
    content = html`<${LineUp} question=${question} zoom=${zoom} answer=${give} />`;
  } else {
    content = html`<${Sheet} question=${question} out=${shown.out} toggle=${shown.toggle} />`;
  }
  const said = `${title} ${describe(question)}`;
  return { title: question.skipped ? `Again: ${title}` : title, said, content };
}

/** @param {Question} question @returns {boolean} */
function hasPicture(question) {
  if (question.type === "pair") return question.a.has_picture || question.b.has_picture;
  return question.type === "lineup" && question.item.has_picture;
}

/** @param {Question} question @returns {string} */
function titleOf(question) {
  if (question.type === "pair") {
    if (!state.status?.records) return "Are these two of the same kind?";
    return state.status.criterion || "Are these two the same entity?";
  }
  if (question.type === "lineup") return "Which kind is this?";
  const { cluster } = question;
  return cluster.name ? `Are these all “${nameOf(cluster)}”?` : "Are these all of the same kind?";
}

/** @param {Question} question @returns {string} for a screen reader */
function describe(question) {
  if (question.type === "pair") return `${spoken(question.a)}. And: ${spoken(question.b)}.`;
  if (question.type === "lineup") {
    return `${spoken(question.item)}. There are ${count(question.options.length, "kind")} to pick from.`;
  }
  const items = count(question.items.length, "item");
  return `There are ${items}. Press those that do not belong, then answer for all others.`;
}

/** @param {{question: Question}} props */
function Actions({ question }) {
  const buttons = ACTIONS[question.type];
  return html`<div id="actions" class="actions" role="group" aria-label="Your answer">
    ${buttons.map(([action, label, sign, style]) => {
      const keyed = action === "all" ? "same" : action;
      const key = keys.of(keyed)[0];
      const isPressed = state.flash === action || (state.flash === "same" && action === "all");
      const text =
        question.type === "sheet" && action === "all" ? sheetLabel(question, shown.out) : label;
      return html`<button
        key=${action}
        type="button"
        class=${`${style} ${action}${isPressed ? " pressed" : ""}`}
        data-answer=${action}
        aria-keyshortcuts=${key === " " ? "Space" : key}
        onclick=${(/** @type {Event} */ event) => act(action, event)}
      >
        ${sign && html`<span class="sign" aria-hidden="true">${sign}</span>`}
        <span>${text}</span>
        <kbd aria-hidden="true">${keys.label(keyed)}</kbd>
      </button>`;
    })}
  </div>`;
}

/** What stands there while nothing is asked. @param {string} wait @param {(view: string) => void} goto */
function unasked(wait, goto) {
  const { status, locked, loaded, undoing, me, why } = state;
  if (!loaded && locked) {
    const content = html`<div class="notice"><p>${why}</p></div>`;
    return { title: "This page needs its token", said: why, content };
  }
  if (!loaded && me.state !== "ready") {
    return { title: "samekind is getting ready", said: "", content: html`<${Opening} />` };
  }
  if (wait) {
    const title = undoing ? "Undoing…" : loaded ? "One moment…" : "Loading…";
    return { title, said: "", content: skeleton };
  }
  if (status?.done) {
    const content = html`<${Finished} status=${status} goto=${goto} />`;
    return { title: "That is all", said: `That is all. ${whyDone(status)}`, content };
  }
  const isAside = state.aside.size > 0;
  const title = isAside ? "This question cannot be answered now" : "Nothing to ask right now";
  return {
    title,
    said: isAside ? ASIDE : ELSEWHERE,
    content: html`<${Nothing} status=${status} />`,
  };
}

const skeleton = html`<div class="pair skeleton" aria-hidden="true">
  <div class="card"></div>
  <div class="card"></div>
</div>`;

function Opening() {
  const { doing, share, state: how } = state.me;
  return html`<div class="opening">
    <p role="status">${how === "opening" ? `${doing} …` : doing}</p>
    <progress max="1" value=${share > 0 ? share : undefined} aria-label="Progress"></progress>
  </div>`;
}

/** @param {import("./types.js").Status} status @returns {string} why nothing more is asked */
export function whyDone(status) {
  if (status.stop_reason === "budget") {
    return `The budget of ${count(status.budget ?? status.presses, "press", "presses")} is spent.`;
  }
  return status.stop_text || "There are no more questions.";
}

/** @param {{status: import("./types.js").Status}} props a button that raises a budget that is spent */
export function MorePresses({ status }) {
  if (status.stop_reason !== "budget") return null;
  if (!may("own")) return html`<span class="hint">The project's owner can raise it.</span>`;
  const raise = () => setBudget(status.presses + MORE_PRESSES);
  return html`<button type="button" onclick=${raise}>
    ${`Allow ${MORE_PRESSES} more presses`}
  </button>`;
}

/** @param {{status: import("./types.js").Status, goto: (view: string) => void}} props */
function Finished({ status, goto }) {
  const { skipped } = status;
  return html`<div class="notice">
    <p>${whyDone(status)}</p>
    ${skipped > 0 && html`<p>${`${count(skipped, "skipped question")} can still be answered.`}</p>`}
    <p class="buttons">
      ${may("own") && html`<${Button} class="primary" act=${() => goto("finish")}>See and export the result<//>`}
      <${MorePresses} status=${status} />
      ${skipped > 0 && html`<${Button} act=${comeBack}>${`Come back to ${skipped} skipped`}<//>`}
      ${status.can_undo && html`<${Button} act=${undo}>Undo the last answer<//>`}
    </p>
  </div>`;
}

const ASIDE =
  "The server could not take an answer to the open question, not even that it is skipped. " +
  "The terminal in which samekind runs says why. Everything answered before is saved.";
const ELSEWHERE =
  "Other people are answering all open questions at the moment. This page looks again every few seconds.";

/** @param {{status: import("./types.js").Status | null}} props */
function Nothing({ status }) {
  const isAside = state.aside.size > 0;
  const skipped = status?.skipped ?? 0;
  const back = `Meanwhile, come back to ${skipped} skipped`;
  return html`<div class="notice">
    <p>${isAside ? ASIDE : ELSEWHERE}</p>
    <p class="buttons">
      ${skipped > 0 && html`<${Button} class="primary" act=${comeBack}>${back}<//>`}
      ${isAside && status?.can_undo && html`<${Button} act=${undo}>Undo the last answer<//>`}
      <${Button} act=${retryAside}>${isAside ? "Try it again" : "Look again"}<//>
    </p>
  </div>`;
}
