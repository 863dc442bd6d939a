/** Suggestions, ranked: kinds that may be one, rows that look wrong, may be a kind of their own, or nobody can tell. Each takes a yes, a no, or waits. */

import { call } from "./api.js";
import { clusterName, numberedName } from "./cluster_names.js";
import { count, h, openDialog, toast } from "./dom.js";
import { mini, oneLine, spoken } from "./items.js";
import { keyOf, leftField, pressesControl, takesTyping } from "./keys.js";
import { openPlacing } from "./say.js";

/** @typedef {import("./types.js").Suggestion} Suggestion */

const LIKELY = 0.9; // that may be accepted all at once
const ONE_BY_ONE = ["own", "unsure"]; // what nobody should accept unseen, and of which a no says nothing
const KEYS = /** @type {Record<string, string>} */ ({ y: "yes", n: "no", l: "later" });
const MOST = 5; // shown at once

export class Suggestions {
  /** @param {import("./project.js").Project} project @param {() => void} changed */
  constructor(project, changed) {
    this.project = project;
    this.changed = changed;
    /** @type {Suggestion[]} */
    this.all = [];
    /** @type {Set<string>} those that wait, in this tab */
    this.waiting = new Set();
    this.element = h("section", { class: "block", "aria-labelledby": "suggestions-title" });
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  async load() {
    this.all = (await call("GET", "/api/suggestions")).suggestions;
    this.#show();
  }

  /** @returns {Suggestion[]} the ones that wait last */
  get #ranked() {
    const waits = (/** @type {Suggestion} */ one) => Number(this.waiting.has(one.id));
    return [...this.all].sort((a, b) => waits(a) - waits(b));
  }

  #show() {
    const likely = this.all.filter((one) => !ONE_BY_ONE.includes(one.what) && one.probability >= LIKELY);
    this.element.replaceChildren(
      h("h3", { id: "suggestions-title" }, "Suggestions"),
      this.all.length
        ? h("p", { class: "hint" }, "Press ", h("kbd", {}, "Y"), " yes, ", h("kbd", {}, "N"), " no or ", h("kbd", {}, "L"), " later for the first one.")
        : h("p", { class: "hint" }, "None at the moment."),
      ...(likely.length > 1 ? [h("p", { class: "buttons" }, h("button", { type: "button", onclick: () => this.#preview(likely) }, `Accept the ${likely.length} likeliest…`))] : []),
      ...(this.all.length ? [h("ul", { class: "suggestions" }, ...this.#ranked.slice(0, MOST).map((one) => this.#entry(one)))] : []),
      ...(this.all.length > MOST ? [h("p", { class: "hint" }, `and ${this.all.length - MOST} more`)] : []),
    );
  }

  /** @param {Suggestion} one @returns {HTMLElement} */
  #entry(one) {
    const button = (/** @type {string} */ label, /** @type {string} */ said) =>
      h("button", { type: "button", class: said === "yes" ? "primary" : "", "aria-label": `${label}: ${inWords(one)}`, onclick: () => this.#decide(one, said) }, label);
    return h(
      "li",
      { class: "suggestion", "data-id": one.id },
      h("p", { dir: "auto" }, h("strong", {}, inWords(one)), " ", h("span", { class: "muted" }, one.text)),
      h(
        "div",
        { class: "suggested" },
        ...one.items.map((item) => h("div", { class: "suggested-kind", title: oneLine(item) }, mini(item), h("span", { class: "hidden" }, spoken(item)))),
        ...one.clusters.map((cluster) =>
          h("div", { class: "suggested-kind" }, h("p", { class: cluster.name ? "" : "unnamed", dir: "auto" }, numberedName(cluster)), ...cluster.members.map((item) => mini(item)))),
      ),
      h("p", { class: "buttons" }, button("Yes", "yes"), button("No", "no"), button("Later", "later"),
        one.what === "own" && h("button", { type: "button", onclick: () => openPlacing(this.project, one.items, this.changed) }, "They belong to…")),
    );
  }

  /** @param {Suggestion} one @param {string} said */
  async #decide(one, said) {
    if (said === "later" || (said === "no" && ONE_BY_ONE.includes(one.what))) {
      this.waiting.delete(one.id);
      this.waiting.add(one.id);
      this.#show();
      return;
    }
    await this.#send({ [one.id]: said }, said === "yes" ? done(one) : "Noted: it is not so.");
  }

  /** @param {Suggestion[]} likely look at them before they are all accepted */
  #preview(likely) {
    /** @type {Set<string>} */
    const kept = new Set(likely.map((one) => one.id));
    const accept = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button",
      class: "primary",
      onclick: () => (dialog.close(), this.#send(Object.fromEntries([...kept].map((id) => [id, "yes"])), `${count(kept.size, "suggestion")} accepted.`)),
    }, `Accept ${count(likely.length, "suggestion")}`));
    const line = (/** @type {Suggestion} */ one) => {
      const box = /** @type {HTMLInputElement} */ (h("input", {
        type: "checkbox",
        onchange: () => {
          if (box.checked) kept.add(one.id);
          else kept.delete(one.id);
          accept.textContent = `Accept ${count(kept.size, "suggestion")}`;
          accept.disabled = kept.size === 0;
        },
      }));
      box.checked = true;
      return h("li", {}, h("label", { class: "pick", dir: "auto" }, box, inWords(one)));
    };
    const dialog = openDialog("Accept all of these?", [
      h("p", { class: "hint" }, "All of it can be undone at once."),
      h("ul", { class: "answers" }, ...likely.map(line)),
      h("p", { class: "buttons sticky" }, accept, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
    ]);
  }

  /** @param {Record<string, string>} decisions @param {string} text */
  async #send(decisions, text) {
    const reply = await this.project.perform(() => call("POST", "/api/suggestions", { body: { decisions } }));
    if (reply) toast(text, { action: "Undo", onaction: () => this.project.undo() });
    this.changed();
  }

  /** @param {KeyboardEvent} event answer the first one */
  #key(event) {
    if (document.body.dataset.view !== "review" || event.defaultPrevented || event.repeat || takesTyping(event.target) || document.querySelector("dialog[open]")) return;
    const key = keyOf(event);
    const [first] = this.#ranked;
    if (key === null || !(key in KEYS) || !first || pressesControl(event.target, key)) return;
    event.preventDefault();
    if (!leftField()) this.#decide(first, KEYS[key]);
  }
}

/** @param {Suggestion} one @returns {string} */
function inWords(one) {
  const names = one.clusters.map((cluster) => `“${clusterName(cluster)}”`);
  if (one.what === "merge") return `${names.join(" and ")} may be one kind`;
  if (one.what === "wrong") return `This does not look like ${names[0]}, rather like ${names[1]}. Take it out?`;
  if (one.what === "own") return `Are these ${one.items.length} a kind of their own?`;
  return "Ask about these again?";
}

/** @param {Suggestion} one @returns {string} */
function done(one) {
  return { merge: "Merged.", wrong: "Taken out.", own: "They are a new kind.", unsure: "They are asked about again." }[one.what];
}
