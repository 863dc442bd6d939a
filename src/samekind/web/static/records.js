/** Records: the threshold from which on two are one, what it promises, and what changes when it moves. */

import { ApiError, call } from "./api.js";
import { may } from "./me.js";
import { byId, count, h, number, toast } from "./dom.js";
import { brief } from "./items.js";
import { markedLetters } from "./letters.js";

/** @typedef {{a: import("./types.js").ItemView, b: import("./types.js").ItemView, probability: number, together: boolean}} ChangedPair */
/** @typedef {{threshold: number, kept: number, precision_bound: number | null, recall_bound: number | null,
 *   audited: number, entities: number, duplicates: number, joined: number, parted: number, changed: ChangedPair[]}} Threshold */

const PAUSE_MS = 150; // after the slider moved
const FARTHEST = 100; // steps of the slider to either side; ten of them are one of log-odds
const DIGITS = 4;

/** @param {number} step @returns {number} the probability at a step: near 0 and 1 the steps are small */
function probabilityAt(step) {
  return 1 / (1 + Math.exp(-step / 10));
}

/** @param {number} probability @returns {number} */
function stepAt(probability) {
  return Math.round(10 * Math.log(probability / (1 - probability)));
}

/** @param {number} share @returns {string} */
function percent(share) {
  return `${(100 * share).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
}

/** @param {number} probability @returns {string} */
function probabilityText(probability) {
  return probability.toLocaleString("en", { maximumSignificantDigits: DIGITS });
}

export class ThresholdPanel {
  /** @param {import("./project.js").Project} project */
  constructor(project) {
    this.project = project;
    this.revision = -1;
    this.asked = 0;
    project.addEventListener("state", () => this.#follow());
  }

  /** Show it where things are records, and look again when something was answered. */
  #follow() {
    const state = this.project.state;
    if (!state?.records) return;
    if (!this.element) this.#build();
    if (state.revision === this.revision || byId("found").offsetParent === null) return;
    this.revision = state.revision;
    this.#look();
  }

  #build() {
    this.slider = /** @type {HTMLInputElement} */ (h("input", {
      id: "threshold", type: "range", min: -FARTHEST, max: FARTHEST, step: 1, value: 0, "aria-describedby": "threshold-found",
      oninput: () => (clearTimeout(this.timer), (this.timer = setTimeout(() => this.#look(), PAUSE_MS)), this.#say()),
    }));
    this.value = h("output", { id: "threshold-value", for: "threshold" });
    this.found = h("div", { id: "threshold-found", "aria-live": "polite" });
    this.keep = h("button", { id: "threshold-keep", type: "button", "data-needs": "own", hidden: true, onclick: () => this.#keep() }, "Export with this threshold");
    this.changed = h("ul", { class: "changed", id: "threshold-changed" });
    this.element = h(
      "section",
      { class: "threshold", "aria-labelledby": "threshold-title" },
      h("h3", { id: "threshold-title" }, "Threshold"),
      h("label", { for: "threshold" }, "Two records are one from this probability on: ", this.value),
      this.slider,
      this.found,
      this.keep,
      this.changed,
    );
    byId("found-body").prepend(this.element);
    this.isNew = true;
    this.#say();
  }

  get #wanted() {
    return probabilityAt(Number(this.slider.value));
  }

  #say() {
    this.value.textContent = probabilityText(this.#wanted);
  }

  async #look() {
    if (!may("review")) return;
    const turn = ++this.asked;
    try {
      const at = this.isNew ? "" : `?at=${this.#wanted}`;
      const found = await call("GET", `/api/threshold${at}`);
      if (turn === this.asked) this.#show(found);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.found.textContent = error.message;
    }
  }

  async #keep() {
    try {
      this.#show(await call("PUT", "/api/threshold", { body: { threshold: this.#wanted } }));
      toast("Kept. Exports go by this threshold.");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(error.message);
    }
  }

  /** @param {Threshold} found */
  #show(found) {
    if (this.isNew) {
      this.isNew = false;
      this.slider.value = String(stepAt(found.kept));
      this.#say();
    }
    const bound = (/** @type {number | null} */ share) =>
      share === null ? "not known yet" : `at least ${percent(share)} (${count(found.audited, "checked pair")})`;
    const moved = found.joined || found.parted;
    this.found.replaceChildren(
      h("p", {}, `${count(found.entities, "entity", "entities")}; ${count(found.duplicates, "record")} repeat another one.`),
      h("p", { id: "threshold-precision" }, `Precision, the share of the pairs found that are right: ${bound(found.precision_bound)}.`),
      h("p", { id: "threshold-recall" }, `Recall, the share of all matches that are found: ${bound(found.recall_bound)}.`),
      h("p", { class: "hint" }, moved
        ? `Against ${probabilityText(found.kept)}, which exports go by: ${number(found.joined)} more pairs together, ${number(found.parted)} fewer.`
        : `Nothing changes against ${probabilityText(found.kept)}, which exports go by.`),
    );
    this.keep.hidden = stepAt(found.threshold) === stepAt(found.kept);
    this.changed.replaceChildren(...found.changed.map((pair) => this.#pair(pair)));
  }

  /** @param {ChangedPair} pair @returns {HTMLElement} */
  #pair({ a, b, probability, together }) {
    const [one, other] = [brief(a), brief(b)];
    const [left, right] = markedLetters(one, other) ?? [[one], [other]];
    return h(
      "li",
      {},
      h("p", { class: "hint" }, `${together ? "now together" : "now apart"}, ${percent(probability)} likely a match`),
      h("p", { dir: "auto" }, ...left),
      h("p", { dir: "auto" }, ...right),
    );
  }
}
