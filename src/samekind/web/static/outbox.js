/**
 * Sends what was answered: in order, one at a time, each kept until the server has said that it is on disk.
 *
 * Rules. An item leaves the box only when the server took it or refused it for good, or when the person gave it up
 * after the server had failed at it. Nothing is called saved while the box holds anything. A box survives a reload of
 * its tab.
 */

import { ApiError, newKey } from "./api.js";

/**
 * @typedef {{type: "answer" | "undo", question?: import("./types.js").Question, said?: import("./types.js").Said,
 *   tries?: number, key?: string, givenUp?: boolean}} Item key: with it, a second try is not done twice
 * @typedef {{state: "saved" | "saving" | "unsaved", waiting: number, seconds: number, why: string,
 *   stuck: Item["type"] | null}} Status stuck: what the server failed at, for which it may fail for ever
 */

const FIRST_WAIT_S = 1;
const LONGEST_WAIT_S = 15;

export class Outbox {
  /**
   * @param {object} does
   * @param {(item: Item) => Promise<any>} does.send
   * @param {(item: Item, reply: any) => void} does.taken
   * @param {(item: Item, error: ApiError) => void} does.refused
   * @param {(status: Status) => void} does.status
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
    addEventListener("beforeunload", (event) => this.items.length && event.preventDefault());
  }

  /** @param {string} project take up what a reload left behind, if it belongs to this project */
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
    return this.items.length ? new Promise((resolve) => this.idlers.push(resolve)) : Promise.resolve();
  }

  retryNow() {
    this.wake?.();
  }

  /** Skip the question whose answer the server failed to take, or leave an undo, so that the rest can go on. */
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
      if (!failures) this.#say("saving");
      item.tries = (item.tries ?? 0) + 1;
      this.#keep();
      try {
        const reply = await this.does.send(item);
        failures = 0;
        this.#drop();
        this.does.taken(item, reply);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.retry && !(item.givenUp && error.failed)) {
          await this.#wait(Math.min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** failures++), error.message, error.failed ? item.type : null);
          continue;
        }
        failures = 0;
        this.#drop();
        this.does.refused(item, error);
      }
    }
    this.sending = false;
    this.#say("saved");
    this.idlers.splice(0).forEach((resolve) => resolve());
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

  /** @param {number} seconds @param {string} why @param {Status["stuck"]} stuck */
  async #wait(seconds, why, stuck) {
    for (let left = seconds; left > 0; left -= 1) {
      this.#say("unsaved", left, why, stuck);
      const woken = await new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), 1000);
        this.wake = () => (clearTimeout(timer), resolve(true));
      });
      if (woken) break;
    }
    this.wake = null;
  }

  /** @param {Status["state"]} state @param {number} [seconds] @param {string} [why] @param {Status["stuck"]} [stuck] */
  #say(state, seconds = 0, why = "", stuck = null) {
    this.does.status({ state, waiting: this.items.length, seconds, why, stuck });
  }
}
