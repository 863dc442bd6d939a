/**
 * The state of the page, and what can be done to it.
 *
 * Components read `state` with `useStore` and call the functions below; nothing else writes to it.
 *
 * An answer shows the next question at once and is sent behind it. Every reply brings the list of open
 * questions, which replaces ours. The question on the screen stays as long as it is open, or as long as
 * somebody types its kind.
 */

import { ApiError, call, newKey } from "./api.js";
import { count } from "./format.js";
import { brief } from "./item_text.js";
import { me } from "./me.js";
import { Outbox } from "./outbox.js";
import { remember, remembered } from "./settings.js";

/** @typedef {import("./types.js").Question} Question @typedef {import("./types.js").Said} Said */
/** @typedef {import("./types.js").Reply} Reply @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Unsent} Unsent */

const MOST = 3; // questions at once
const ASK_AGAIN_MS = 4000;
const BUSY_MS = 300; // what takes longer is said to be under way
const FLASH_MS = 220;
const MESSAGE_MS = 9000;

/** How long a question takes no answer after it appeared: as long as nobody can have seen it. */
export const GLANCE_MS = 120;
/** The same for a question that took the place of another one without a press. */
export const REPLACED_MS = 350;

/** @type {State} */
export const state = {
  me,
  status: null,
  queue: [],
  undoing: 0,
  loaded: false,
  locked: false,
  why: "",
  settling: false,
  aside: new Set(),
  saving: { state: "idle", waiting: 0, seconds: 0, why: "", stuck: null, withdrawn: false },
  trouble: null,
  busy: false,
  view: "question",
  message: null,
  dialogs: [],
  flash: "",
  announcement: "",
  stopping: null,
  keysChanged: 0,
  hidesUncompared: remembered("hidesUncompared", false),
  overview: null,
  map: null,
  history: null,
  foundError: "",
  disputes: 0,
};

/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} listener @returns {() => void} what ends it */
export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {Partial<State>} patch */
export function set(patch) {
  Object.assign(state, patch);
  for (const listener of [...listeners]) listener();
}

// Timers and marks that no component shows.
let sent = 0; // requests that changed something
let pinned = ""; // the id of the question whose kind is being typed
/** @type {Record<string, ReturnType<typeof setTimeout> | undefined>} */
const timers = {};

/** @param {string} name @param {number} ms @param {() => void} act once, in place of the one before */
function later(name, ms, act) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(act, ms);
}

/** @returns {Question | null} the question that can be answered */
export function current() {
  return state.undoing ? null : (state.queue[0] ?? null);
}

/** @returns {boolean | null} whether line-ups are wanted; null while that is not known */
export function wantsLineups() {
  return remembered("lineup", state.status?.lineups ?? null);
}

export const outbox = new Outbox({
  send,
  taken,
  refused,
  status: (saving) => set({ saving }),
});

// Questions and answers

/** Fetch the open questions; tries again by itself while the server is gone. @returns {Promise<void>} */
export async function load() {
  try {
    if (state.loaded) await outbox.idle();
    const before = sent;
    const reply = await call("GET", `/api/next?${query()}`);
    if (before !== sent) return load(); // answered meanwhile: this list is old
    const isFirst = !state.loaded;
    set({ loaded: true, locked: false, status: reply.status, trouble: null });
    if (isFirst) {
      outbox.restore(reply.status.project);
      const unwanted = reply.questions.some(
        (/** @type {Question} */ { type }) => type === "lineup",
      );
      if (unwanted && !wantsLineups()) return load();
    }
    accept(reply);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    set({ locked: error.locked, why: error.message, trouble: error });
    if (error.retry && !error.locked) later("load", ASK_AGAIN_MS, load);
  }
}

/** @param {Said} said @returns {boolean} whether it counted */
export function answer(said) {
  const question = current();
  if (!question || state.settling) return false;
  pinned = "";
  flash(typeof said === "object" ? ("new" in said ? "fresh" : "all") : String(said));
  show(state.queue.slice(1), GLANCE_MS);
  outbox.push({ type: "answer", question, said });
  return true;
}

export function undo() {
  flash("undo");
  const unsent = outbox.takeBack();
  if (unsent?.question) {
    show([unsent.question, ...state.queue], GLANCE_MS);
    say({ text: "Undone: the last answer, which was not sent yet." });
  } else if (!state.status?.can_undo && !outbox.items.length) {
    say({ text: "There is nothing to undo." });
  } else {
    set({ undoing: state.undoing + 1 });
    outbox.push({ type: "undo" });
  }
}

/**
 * Hold the question on the screen while somebody types its kind.
 *
 * @returns {string} its id; "" if there is none, or if nobody can have seen it yet
 */
export function pin() {
  pinned = state.settling ? "" : (current()?.id ?? "");
  return pinned;
}

export function unpin() {
  pinned = "";
}

/**
 * Do something that the server may refuse, and say why if it does.
 *
 * @template T
 * @param {() => Promise<T>} act
 * @returns {Promise<T | null>} null if it was refused
 */
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    say({ text: error.message, bad: true });
    return null;
  }
}

/**
 * Change something besides the questions, after what was answered before, and take up what follows.
 *
 * @template T
 * @param {() => Promise<T>} change
 * @returns {Promise<T | null>} null if it was refused; the reason has been said then
 */
export async function perform(change) {
  const slow = setTimeout(() => set({ busy: true }), BUSY_MS);
  const reply = await attempt(async () => {
    await outbox.idle();
    const reply = await change();
    await load();
    return reply;
  });
  clearTimeout(slow);
  set({ busy: false });
  return reply;
}

/** Ask again what was set aside. @returns {Promise<void>} */
export function retryAside() {
  set({ aside: new Set() });
  return load();
}

/** Put skipped questions first. @returns {Promise<number>} how many there are */
export async function comeBack() {
  const reply = await perform(() => call("GET", "/api/skipped?most=20"));
  /** @type {Question[]} */
  const again = reply?.questions ?? [];
  const ids = new Set(again.map((question) => question.id));
  show([...again, ...state.queue.filter((question) => !ids.has(question.id))], GLANCE_MS);
  return again.length;
}

/** @param {Reply} reply @param {boolean} [isUndo] */
function accept(reply, isUndo = false) {
  if (reply.status) {
    set({ status: reply.status, stopping: reply.status.stopping ?? state.stopping });
  }
  if (reply.questions) {
    const before = state.queue[0]?.id;
    const queue = merged(reply.questions, isUndo);
    const isReplaced = before !== undefined && queue[0]?.id !== before && !isUndo;
    show(queue, isReplaced ? REPLACED_MS : GLANCE_MS);
  }
  if (!state.queue.length && !state.status?.done && !outbox.items.length) {
    later("load", ASK_AGAIN_MS, load);
  }
}

/** @param {Question[]} open @param {boolean} isUndo @returns {Question[]} in the order to be shown */
function merged(open, isUndo) {
  const shown = state.queue[0];
  const unwanted = new Set([...state.aside, ...outbox.items.map((item) => item.question?.id)]);
  const kept = isUndo ? [] : state.queue.filter((question) => question.skipped);
  const fresh = open.filter(
    ({ id }) => !unwanted.has(id) && !kept.some((question) => question.id === id),
  );
  const queue = [...kept, ...fresh];
  if (isUndo || !shown) return queue;
  const place = queue.findIndex((question) => question.id === shown.id);
  if (place > 0) queue.unshift(...queue.splice(place, 1));
  if (place < 0 && pinned === shown.id) queue.unshift(shown);
  return queue;
}

/** @param {Question[]} queue @param {number} settle milliseconds in which a new first one takes no answer */
function show(queue, settle) {
  const isNew = queue[0]?.id !== state.queue[0]?.id;
  set({ queue, settling: isNew ? queue.length > 0 : state.settling });
  if (isNew) later("settle", settle, () => set({ settling: false }));
}

/** @param {Unsent} item @returns {Promise<any>} */
async function send(item) {
  sent += 1;
  const [path, body] =
    item.type === "answer"
      ? ["/api/answers", { id: item.question?.id, answer: item.said }]
      : ["/api/undo", { count: 1 }];
  const reply = await call("POST", `${path}?${query()}`, { body, key: item.key });
  const isDone = item.type === "answer" ? reply.saved === true : Array.isArray(reply.undone);
  if (!isDone || reply.status?.project !== state.status?.project) {
    throw new ApiError("What answered is not the server of this project.", 0);
  }
  return reply;
}

/** @param {Unsent} item @param {Reply} reply */
function taken(item, reply) {
  if (item.type === "undo") {
    set({ undoing: Math.max(0, state.undoing - 1), aside: new Set() });
    const acts = reply.acts ?? [];
    say(
      acts.length
        ? { text: `Undone: ${acts.map(told).join("; ")}`, items: acts.flatMap((act) => act.items) }
        : { text: "There is nothing to undo." },
    );
  }
  accept(reply, item.type === "undo");
}

const SHORT = 36; // letters of an item: two of them and the answer fit in the top bar
const SAID = /** @type {Record<string, string>} */ ({
  same: "the same",
  different: "different",
  unsure: "not sure",
  skip: "skipped",
});

/** @param {import("./types.js").UndoneAct} act @returns {string} */
function told({ said, pairs, items, name }) {
  if (said === "name") return name ? `the name “${name}”` : "the name";
  const [a, b] = items.map((item) => brief(item, SHORT));
  if (said === "none") return `${a}: none of ${count(pairs, "kind")}`;
  if (said === "several") return `${count(pairs, "answer")} about ${a}`;
  return `${a} and ${b}: ${SAID[said]}`;
}

/** @param {Unsent} item @param {ApiError} error */
function refused(item, error) {
  if (item.type === "undo") set({ undoing: Math.max(0, state.undoing - 1) });
  if (item.givenUp && error.failed && item.question) {
    set({ aside: new Set([...state.aside, item.question.id]) });
  }
  say({ text: error.message, bad: true });
  if (error.body?.questions) accept(error.body);
  else load();
}

/** @returns {string} */
function query() {
  const wanted = new URLSearchParams({ most: String(MOST) });
  const lineup = wantsLineups();
  if (lineup !== null) wanted.set("lineup", String(lineup));
  return wanted.toString();
}

// Settings of the project

/** @param {string} path @param {any} body @param {string} [method] @returns {Promise<any>} */
export function change(path, body, method = "PUT") {
  return perform(() => call(method, path, { body, key: newKey() }));
}

/** @param {number | null} budget */
export async function setBudget(budget) {
  const reply = await change("/api/budget", { budget });
  if (reply)
    say({
      text: budget ? `The budget is ${count(budget, "press", "presses")} now.` : "No budget.",
    });
}

/** @param {boolean} hides whether columns that are not compared are hidden */
export function hideUncompared(hides) {
  remember("hidesUncompared", hides);
  set({ hidesUncompared: hides });
}

// What the page says

/** @param {import("./types.js").Message} message in place of the one before */
export function say(message) {
  set({ message });
  keepMessage();
}

/** Take the message away after a while. */
export function keepMessage() {
  later("message", MESSAGE_MS, hideMessage);
}

/** Leave the message where it is while a pointer is on it. */
export function holdMessage() {
  clearTimeout(timers.message);
}

export function hideMessage() {
  set({ message: null });
}

/** @param {string} text for screen readers */
export function announce(text) {
  set({ announcement: text });
}

/** @param {string} what */
function flash(what) {
  set({ flash: what });
  later("flash", FLASH_MS, () => set({ flash: "" }));
}

let opened = 0;

/**
 * Open a dialog.
 *
 * @param {(close: () => void) => any} content
 * @returns {() => void} what closes it
 */
export function openDialog(content) {
  const id = ++opened;
  const close = () => set({ dialogs: state.dialogs.filter((dialog) => dialog.id !== id) });
  set({ dialogs: [...state.dialogs, { id, content: content(close) }] });
  return close;
}
