/**
 * The page's copy of the project: the open questions, the state, and what was answered but is not yet saved.
 *
 * An answer shows the next question at once and is sent behind it. Every reply brings the list of open
 * questions, which replaces ours; the question on the screen stays as long as it is open.
 */

import { ApiError, call } from "./api.js";
import { Outbox } from "./outbox.js";
import { remembered } from "./settings.js";
import { brief } from "./items.js";

/** @typedef {import("./types.js").Question} Question @typedef {import("./types.js").Said} Said @typedef {import("./types.js").ItemView} ItemView */

const MOST = 3;
const SETTLE_MS = 350; // how long keys are ignored when a question changes under the person's eyes
const ASK_AGAIN_MS = 4000;
const MOST_SEEN = 500;
const BUSY_MS = 300; // what takes longer is said to be under way

/** Fires "question" (another one to show), "state", "status" (saved or not), "busy" (or not), "say" (a message), "trouble". */
export class Project extends EventTarget {
  constructor() {
    super();
    /** @type {import("./types.js").Status | null} */
    this.state = null;
    /** @type {Question[]} the first is on the screen */
    this.queue = [];
    this.undoing = 0;
    this.sent = 0;
    this.settled = 0;
    this.loaded = false;
    /** @type {Set<string>} questions that the server takes no answer to, not even that they are skipped */
    this.aside = new Set();
    /** Whether the server wants a token that this page has not. */
    this.locked = false;
    /** Why, in the server's words. */
    this.why = "";
    /** @type {Map<number, ItemView>} items that were asked about, to name them by more than their numbers */
    this.seen = new Map();
    this.outbox = new Outbox({
      send: (item) => this.#send(item),
      taken: (item, reply) => this.#taken(item, reply),
      refused: (item, error) => this.#refused(item, error),
      status: (status) => this.#tell("status", status),
    });
  }

  /** @returns {Question | null} */
  get current() {
    return this.undoing ? null : (this.queue[0] ?? null);
  }

  /** Whether an answer counts now. */
  get ready() {
    return this.current !== null && performance.now() >= this.settled;
  }

  /** What to keep this project's notes under. */
  get storageKey() {
    return this.state ? `${this.state.title}.${this.state.n_rows}` : "";
  }

  /** Fetch the open questions; tries again by itself while the server is gone. @returns {Promise<void>} */
  async load() {
    try {
      if (this.loaded) await this.outbox.idle();
      const before = this.sent;
      const reply = await call("GET", `/api/next?${this.#query()}`);
      if (before !== this.sent) return this.load(); // answered meanwhile: this list is old
      const first = !this.loaded;
      this.loaded = true;
      this.locked = false;
      this.state = reply.status;
      if (first) this.outbox.restore(this.storageKey);
      this.#tell("trouble", null);
      const unwanted = first && !this.lineup && reply.questions.some((/** @type {Question} */ { type }) => type === "lineup");
      if (unwanted) return this.load();
      this.accept(reply);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.locked = error.locked;
      this.why = error.message;
      this.#tell("trouble", error);
      if (error.retry && !error.locked) this.#later(() => this.load());
    }
  }

  /** @param {Said} said @returns {boolean} whether it counted */
  answer(said) {
    if (!this.ready) return false;
    const question = /** @type {Question} */ (this.queue.shift());
    this.outbox.push({ type: "answer", question, said });
    this.#tell("question", { by: "answer" });
    return true;
  }

  undo() {
    const unsent = this.outbox.takeBack();
    if (unsent?.question) {
      this.queue.unshift(unsent.question);
      this.#tell("say", { text: "Undone: the last answer, which was not sent yet." });
      this.#tell("question", { by: "undo" });
      return;
    }
    if (!this.state?.can_undo && !this.outbox.items.length) {
      this.#tell("say", { text: "There is nothing to undo." });
      return;
    }
    this.undoing += 1;
    this.outbox.push({ type: "undo" });
    this.#tell("question", { by: "undo" });
  }

  /**
   * Change something besides the questions, after what was answered before, and take up what follows.
   *
   * @template T
   * @param {() => Promise<T>} change
   * @returns {Promise<T | null>} null if it was refused; the reason has been said then
   */
  async perform(change) {
    const slow = setTimeout(() => this.#tell("busy", true), BUSY_MS);
    try {
      await this.outbox.idle();
      const reply = await change();
      await this.load();
      return reply;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#tell("say", { text: error.message, bad: true });
      return null;
    } finally {
      clearTimeout(slow);
      this.#tell("busy", false);
    }
  }

  /** Ask again what was set aside. @returns {Promise<void>} */
  retryAside() {
    this.aside.clear();
    return this.load();
  }

  /** Put skipped questions first. @returns {Promise<number>} how many there are */
  async comeBack() {
    const reply = await this.perform(() => call("GET", "/api/skipped?most=20"));
    const again = reply?.questions ?? [];
    const ids = new Set(again.map((/** @type {Question} */ question) => question.id));
    this.queue = [...again, ...this.queue.filter((question) => !ids.has(question.id))];
    this.#tell("question", { by: "choice" });
    return again.length;
  }

  /** @param {import("./types.js").Reply} reply @param {{by?: string}} [how] */
  accept(reply, { by = "reply" } = {}) {
    if (reply.status) this.state = reply.status;
    this.#see(reply.questions ?? []);
    const shown = this.queue[0];
    if (reply.questions) this.#replace(reply.questions, by);
    const changed = this.queue[0]?.id !== shown?.id;
    if (changed && shown && by === "reply") this.settled = performance.now() + SETTLE_MS;
    // The list is in place before anyone is told, or the page would say for a moment that nothing is asked.
    if (reply.questions && (changed || by !== "reply" || !shown)) this.#tell("question", { by });
    if (reply.status) this.#tell("state");
    if (!this.queue.length && !this.state?.done && !this.outbox.items.length) this.#later(() => this.load());
  }

  /** @param {Question[]} questions */
  #see(questions) {
    for (const question of questions) {
      const items = question.type === "sheet"
        ? [...question.items, ...question.cluster.members]
        : question.type === "pair"
          ? [question.a, question.b, ...question.more]
          : [question.item, ...question.options.flatMap((option) => option.members)];
      for (const item of items) {
        this.seen.delete(item.row);
        this.seen.set(item.row, item);
      }
    }
    for (const row of this.seen.keys()) {
      if (this.seen.size <= MOST_SEEN) break;
      this.seen.delete(row);
    }
  }

  /** @param {string} text what was undone, which the server tells by rows @param {Question} [next] @returns {{text: string, items: ItemView[]}} */
  #inWords(text, next) {
    const [, a, b, said] = /^rows (\d+) and (\d+): (.+)$/.exec(text) ?? [];
    const items = [a, b].flatMap((row) => this.seen.get(Number(row)) ?? []);
    if (said && items.length === 2) return { text: `${brief(items[0])} and ${brief(items[1])}: ${said}`, items };
    const [, many, rows] = /^(\d+ answers) about rows ([\d, ]+)/.exec(text) ?? [];
    const [, one, what] = /^row (\d+): (.+)$/.exec(text) ?? [];
    const shown = this.seen.get(Number(one));
    if (what && shown) return { text: `${brief(shown)}: ${what}`, items: [shown] };
    const subject = next && next.type !== "sheet" && (next.type === "pair" ? next.a : next.item);
    if (subject && rows?.split(", ").map(Number).includes(subject.row)) return { text: `${many} about ${brief(subject)}`, items: [subject] };
    return { text, items: [] };
  }

  /** @param {Question[]} open @param {string} by take up the list of open questions; the one on the screen stays first */
  #replace(open, by) {
    const answered = new Set(this.outbox.items.map((item) => item.question?.id));
    const shown = this.queue[0];
    const kept = by === "undo" ? [] : this.queue.filter((question) => question.skipped);
    for (const id of this.aside) answered.add(id);
    const fresh = open.filter((question) => !answered.has(question.id) && !kept.some((other) => other.id === question.id));
    this.queue = [...kept, ...fresh];
    const place = this.queue.findIndex((question) => question.id === shown?.id);
    if (by !== "undo" && place > 0) this.queue.unshift(...this.queue.splice(place, 1));
  }

  /** @param {import("./outbox.js").Item} item */
  async #send(item) {
    this.sent += 1;
    if (item.type === "answer") {
      return call("POST", `/api/answers?${this.#query()}`, { body: { id: item.question?.id, answer: item.said }, key: item.key });
    }
    return call("POST", `/api/undo?${this.#query()}`, { body: { count: 1 }, key: item.key });
  }

  /** @param {import("./outbox.js").Item} item @param {any} reply */
  #taken(item, reply) {
    if (item.type === "undo") {
      this.undoing = Math.max(0, this.undoing - 1);
      this.aside.clear();
      this.#see(reply.questions ?? []);
      const undone = (reply.undone ?? []).map((/** @type {string} */ text) => this.#inWords(text, reply.questions?.[0]));
      this.#tell("say", undone.length
        ? { text: `Undone: ${undone.map((/** @type {any} */ act) => act.text).join("; ")}`, items: undone.flatMap((/** @type {any} */ act) => act.items) }
        : { text: "There is nothing to undo." });
    }
    this.#tell("saved", item);
    this.accept(reply, { by: item.type === "undo" ? "undo" : "reply" });
  }

  /** @param {import("./outbox.js").Item} item @param {ApiError} error */
  #refused(item, error) {
    if (item.type === "undo") this.undoing = Math.max(0, this.undoing - 1);
    if (item.givenUp && error.failed && item.question) this.aside.add(item.question.id);
    this.#tell("say", { text: error.message, bad: true });
    if (error.body?.questions) this.accept(error.body);
    else this.load();
  }

  /** Whether line-ups may be asked: the person's choice, or else the server's; null while neither is known. */
  get lineup() {
    return remembered("lineup", this.state?.lineups ?? null);
  }

  #query() {
    const query = new URLSearchParams({ most: String(MOST) });
    if (this.lineup !== null) query.set("lineup", String(this.lineup));
    return query;
  }

  /** @param {() => void} act once, after a while */
  #later(act) {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, ASK_AGAIN_MS);
  }

  /** @param {string} type @param {any} [detail] */
  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
