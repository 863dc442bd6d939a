/** Say what it is: below every question, and of any thing in a dialog. */

import { call } from "./api.js";
import { count, h, openDialog, toast } from "./dom.js";
import { keys } from "./keys.js";
import { clusterName } from "./cluster_names.js";
import { brief, pictures } from "./items.js";
import { Picker } from "./picker.js";

/** @typedef {import("./types.js").Question} Question @typedef {import("./types.js").ItemView} ItemView */

/** @param {Question | null} question @returns {ItemView | null} what a question is about, if it is one thing */
export function subject(question) {
  if (!question || question.type === "sheet" || question.skipped) return null;
  return question.type === "pair" ? question.a : question.item;
}

export class SayBar {
  /**
   * @param {HTMLElement} place
   * @param {import("./project.js").Project} project
   * @param {(said: import("./types.js").Said, event?: Event) => void} answer
   */
  constructor(place, project, answer) {
    this.place = place;
    this.project = project;
    this.picker = new Picker({
      label: "Its kind: type a name or a word of it",
      placeholder: "Type its kind…",
      pick: ({ cluster, name }) => this.#say(cluster ? cluster.cluster : { new: name }),
      item: () => subject(project.current),
    });
    this.picker.field.addEventListener("focus", () => (this.meant = project.current?.id));
    this.hint = h("span", { class: "say-hint" });
    this.key = h("kbd", { "aria-hidden": "true" });
    this.fresh = h("button", { type: "button", class: "answer fresh", "data-answer": "fresh", onclick: (/** @type {Event} */ event) => answer({ new: "" }, event) },
      h("span", { class: "sign", "aria-hidden": "true" }, "+"), h("span", {}, "New kind"), this.key);
    this.answer = answer;
    place.append(this.hint, this.picker.element, this.fresh);
  }

  /** @param {Question | null} question */
  show(question) {
    const item = subject(question);
    this.place.hidden = item === null;
    if (!item || !question || question.type === "sheet") return;
    if (this.place.dataset.id !== question.id) this.picker.clear();
    this.place.dataset.id = question.id;
    const own = question.type === "pair" ? question.a_cluster : question.item_cluster;
    const refused = question.refused ?? 0;
    const it = question.type === "pair" ? "A" : "It";
    this.hint.textContent = own ? `${it} is of “${clusterName(own)}”, or` : refused ? `Not of ${count(refused, "kind")}. ${it} is` : `${it} is`;
    this.key.textContent = keys.label("fresh");
    this.picker.field.placeholder = `type its kind, or pick one (${keys.label("say")})`;
  }

  focus() {
    if (!this.place.hidden) this.picker.field.focus();
  }

  /** @param {import("./types.js").Said} said */
  #say(said) {
    const changed = this.project.current?.id !== this.meant;
    this.picker.field.blur();
    this.picker.clear();
    if (changed) toast("The question has changed meanwhile. Nothing was answered.", { bad: true });
    else this.answer(said);
  }
}

/**
 * Let somebody say what things are.
 *
 * @param {import("./project.js").Project} project
 * @param {ItemView[]} items
 * @param {() => void} changed
 */
export function openPlacing(project, items, changed) {
  const what = items.length === 1 ? brief(items[0]) : count(items.length, "thing");
  const picker = new Picker({
    label: "The kind: type a name or a word of it",
    placeholder: "Type a kind, or pick one",
    item: () => items[0],
    pick: async ({ cluster, name }) => {
      dialog.close();
      const done = await place(project, items, cluster, name);
      if (done) changed();
    },
  });
  const dialog = openDialog(`${items.length === 1 ? "It belongs" : "They belong"} to…`, [
    h("p", { class: "hint", dir: "auto" }, what),
    picker.element,
    h("p", { class: "hint" }, "Pick a kind, or type the name of a new one and press Enter. You can undo it."),
  ], { class: "placing" });
  picker.field.focus();
}

/**
 * @param {import("./project.js").Project} project
 * @param {ItemView[]} items
 * @param {import("./types.js").ClusterRef | null} cluster null: a new one
 * @param {string} [name] of the new one
 * @returns {Promise<boolean>}
 */
export async function place(project, items, cluster, name = "") {
  const rows = items.map((item) => item.row);
  const reply = await project.perform(() => cluster
    ? call("POST", "/api/rows/place", { body: { rows, cluster: cluster.cluster } })
    : call("POST", "/api/rows/new", { body: { rows, name } }));
  if (reply === null) return false;
  const what = items.length === 1 ? brief(items[0]) : count(items.length, "thing");
  const kind = cluster ? `“${clusterName(cluster)}”` : name ? `the new kind “${name}”` : "a new kind";
  toast(`${what}: of ${kind}.`, { action: "Undo", onaction: () => project.undo(), pictures: pictures(items) });
  return true;
}
