/** What people do not agree about, for reviewers: both things, what each of them said, and one press that settles it. */

import { ApiError, call } from "./api.js";
import { announce, byId, count, h, toast } from "./dom.js";
import { brief, pictures, spoken } from "./items.js";
import { keys } from "./keys.js";
import { known, may } from "./me.js";
import { pairView } from "./pair.js";

/** @typedef {import("./types.js").Dispute} Dispute */

const PAGE = 20;
const EVERY_MS = 30_000;
const CHOICES = [["same", "Same kind"], ["different", "Different kinds"], ["unsure", "Not sure"]];
const SAID = /** @type {Record<string, string>} */ ({ same: "the same kind", different: "different kinds", unsure: "not sure" });

/** Fires "count" when there are more of them, or fewer. */
export class Disputes extends EventTarget {
  /** @param {import("./project.js").Project} project @param {() => void} changed */
  constructor(project, changed) {
    super();
    this.project = project;
    this.changed = changed;
    /** @type {Dispute[]} the first is shown */
    this.all = [];
    this.total = 0;
    /** How many were left for later. */
    this.offset = 0;
    this.element = h("section", { id: "disputes", class: "block", "aria-labelledby": "disputes-title" });
    known.then(() => this.#watch());
  }

  async load() {
    const page = await call("GET", `/api/reviews?offset=${this.offset}&limit=${PAGE}`);
    this.total = page.total;
    this.all = page.reviews;
    if (!this.all.length && this.offset) {
      this.offset = 0; // all were left for later: from the first one again
      return this.load();
    }
    this.#show();
    this.dispatchEvent(new CustomEvent("count"));
  }

  /** @param {string} action what a key means @returns {boolean} whether it can be meant here */
  takes(action) {
    return this.all.length > 0 && (action in SAID || action === "skip");
  }

  /** @param {string} action */
  act(action) {
    if (action === "skip") this.#later();
    else this.#settle(this.all[0], action);
  }

  /** Look from time to time how many there are: others answer meanwhile. */
  async #watch() {
    if (!may("review")) return;
    try {
      const page = await call("GET", "/api/reviews?limit=1");
      this.total = page.total;
      this.dispatchEvent(new CustomEvent("count"));
    } catch (error) {
      if (!(error instanceof ApiError) || error.locked) return; // the page says elsewhere what is wrong
    }
    setTimeout(() => this.#watch(), EVERY_MS);
  }

  #show() {
    const [first] = this.all;
    this.element.replaceChildren(
      h("h3", { id: "disputes-title", tabindex: "-1" }, "Different opinions"),
      h("p", { class: "hint" }, first
        ? `People do not say the same of ${count(this.total, "pair")}. What you say counts at once.`
        : "None. Where several people were asked, they agree."),
      ...(first ? this.#entry(first) : []),
    );
  }

  /** @param {Dispute} one @returns {HTMLElement[]} */
  #entry(one) {
    const view = pairView({ id: "", type: "pair", a: one.a, b: one.b, b_cluster: one.b_cluster, more: [] });
    const button = (/** @type {string} */ action, /** @type {string} */ label) =>
      h("button", { type: "button", class: "answer", "data-action": action, "aria-keyshortcuts": keys.of(action).join(" "), onclick: () => this.act(action) },
        h("span", {}, label), h("kbd", { "aria-hidden": "true" }, keys.label(action)));
    return [
      h("div", { class: "dispute", role: "group", "aria-label": `${spoken(one.a)}. And: ${spoken(one.b)}.` }, view.body),
      h("ul", { class: "opinions" }, ...one.opinions.map((opinion) =>
        h("li", { "data-answer": opinion.answer, dir: "auto" },
          h("strong", {}, opinion.who || "Other answers"), ` ${opinion.who ? "says" : "say"} `, h("span", { class: "opinion" }, SAID[opinion.answer]),
          opinion.at !== null && h("span", { class: "muted" }, ` ${new Date(1000 * opinion.at).toLocaleString([], { dateStyle: "short", timeStyle: "short" })}`)))),
      h("div", { class: "settling", role: "group", "aria-label": "Settle it" },
        ...CHOICES.map(([action, label]) => button(action, label)), this.total > 1 && button("skip", "Later")),
    ];
  }

  #later() {
    this.offset += 1;
    this.all.shift();
    if (this.all.length) this.#show();
    else this.load();
  }

  /** @param {Dispute} one @param {string} answer */
  async #settle(one, answer) {
    if (!one || this.busy === one) return;
    this.busy = one;
    const reply = await this.project.perform(() => call("POST", "/api/reviews", { body: { a: one.a.row, b: one.b.row, answer } }));
    this.busy = null;
    if (reply) {
      const said = `Settled: ${brief(one.a)} and ${brief(one.b)} are ${answer === "unsure" ? "left open" : `of ${SAID[answer]}`}.`;
      toast(said, { pictures: pictures([one.a, one.b]) });
    }
    await this.changed();
    byId("disputes-title").focus({ preventScroll: true }); // the button that was pressed is gone
    announce(this.all.length ? `${count(this.total, "pair")} left.` : "All are settled.");
  }
}
