/**
 * Sends answers in order, one at a time, and keeps each until the server has it on disk.
 *
 * Rules:
 * - An item leaves the box when the server confirmed it for this project or refused it for good, or
 *   when the person gave it up after the server had failed at it.
 * - Nothing is called saved while the box holds anything.
 * - A box survives a reload of its tab. It belongs to one project, by that project's id.
 * - Without access nothing is sent until the person tries again or another tab has a new token.
 * - No error of the page ends the sending.
 */

import { ApiError, newKey } from "./api.js";

/** @typedef {import("./types.js").Unsent} Item @typedef {import("./types.js").Saving} Saving */

const FIRST_WAIT_S = 1;
const LONGEST_WAIT_S = 15;

export class Outbox {
  /**
   * @param {object} does
   * @param {(item: Item) => Promise<any>} does.send rejects unless the server confirmed it
   * @param {(item: Item, reply: any) => void} does.taken
   * @param {(item: Item, error: ApiError) => void} does.refused
   * @param {(saving: Saving) => void} does.status
   */
  constructor(does) {
    this.does = does;
    /** @type {Item[]} */
    this.items = [];
    this.sending = false;
    /** @type {(() => void) | null} ends the wait before the next try */
    this.wake = null;
    /** @type {(() => void)[]} */
    this.idlers = [];
    this.key = "";
    addEventListener("online", () => this.retryNow());
    addEventListener("storage", () => this.retryNow()); // another tab may have a new token
    addEventListener("beforeunload", (event) => this.items.length && event.preventDefault());
  }

  /** @param {string} project its id; take up what a reload of this tab left behind */
  restore(project) {
    this.key = `samekind.outbox.${project}`;
    try {
      this.items.push(...JSON.parse(sessionStorage.getItem(this.key) ?? "[]"));
    } catch {
      // Nothing that could be read.
    }
    if (this.items.length) this.#run();
  }

  /** @param {Item} item */
  push(item) {
    item.key = newKey();
    this.items.push(item);
    this.#keep();
    this.#run();
  }

  /** @returns {Item | null} the last answer, if no part of it has been sent yet */
  takeBack() {
    const last = this.items.at(-1);
    if (last?.type !== "answer" || last.tries) return null;
    this.items.pop();
    this.#keep();
    return last;
  }

  /** @returns {Promise<void>} resolves when everything is sent */
  idle() {
    if (!this.items.length) return Promise.resolve();
    return new Promise((resolve) => this.idlers.push(resolve));
  }

  retryNow() {
    this.wake?.();
  }

  /** Skip the question whose answer the server fails at, or leave out an undo. */
  giveUp() {
    const item = this.items[0];
    if (!item || !this.wake) return;
    item.givenUp = true;
    item.key = newKey(); // it is another request now
    if (item.type === "answer") item.said = "skip";
    this.wake();
  }

  async #run() {
    if (this.sending) return;
    this.sending = true;
    let failures = 0;
    while (this.items.length) {
      const item = this.items[0];
      if (!failures) this.#tell("saving");
      item.tries = (item.tries ?? 0) + 1;
      this.#keep();
      /** @type {any} */
      let reply;
      try {
        reply = await this.does.send(item);
      } catch (thrown) {
        const error = thrown instanceof ApiError ? thrown : new ApiError(String(thrown), 0);
        if (error.status === 401 || error.status === 403) {
          await this.#wait(Infinity, { why: error.message, withdrawn: true });
        } else if (error.retry && !(item.givenUp && error.failed)) {
          const seconds = Math.min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** failures++);
          await this.#wait(seconds, { why: error.message, stuck: error.failed ? item.type : null });
        } else {
          failures = 0;
          this.#drop();
          this.#try(() => this.does.refused(item, error));
        }
        continue;
      }
      failures = 0;
      this.#drop();
      this.#try(() => this.does.taken(item, reply));
    }
    this.sending = false;
    this.#tell("saved");
    this.idlers.splice(0).forEach((resolve) => resolve());
  }

  /** @param {() => void} act what the page does with a reply must not keep the rest from being sent */
  #try(act) {
    try {
      act();
    } catch (error) {
      console.error(error);
    }
  }

  #drop() {
    this.items.shift();
    this.#keep();
  }

  #keep() {
    try {
      if (this.key) sessionStorage.setItem(this.key, JSON.stringify(this.items));
    } catch {
      // The box lives on in memory, and leaving the page warns.
    }
  }

  /** Wait for a next try, and tell how long. @param {number} seconds @param {Partial<Saving>} why */
  async #wait(seconds, why) {
    for (let left = seconds; left > 0; left -= 1) {
      this.#tell("unsaved", { ...why, seconds: Number.isFinite(left) ? left : 0 });
      const woken = await new Promise((resolve) => {
        const timer = Number.isFinite(left) ? setTimeout(() => resolve(false), 1000) : undefined;
        this.wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      });
      if (woken) break;
    }
    this.wake = null;
  }

  /** @param {Saving["state"]} state @param {Partial<Saving>} [more] */
  #tell(state, more = {}) {
    const rest = { seconds: 0, why: "", stuck: null, withdrawn: false, ...more };
    this.#try(() => this.does.status({ state, waiting: this.items.length, ...rest }));
  }
}
