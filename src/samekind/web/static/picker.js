/** A field to find a kind in: by its name, a word of its examples, or from the list of all; or to name a new one. */

import { ApiError, call } from "./api.js";
import { count, h } from "./dom.js";
import { knownAs } from "./cluster_names.js";
import { mini, spoken } from "./items.js";

/** @typedef {import("./types.js").ClusterMatch} ClusterMatch */
/** @typedef {{cluster: ClusterMatch | null, name: string}} Choice a kind that there is, or null: a new one of this name */

const WAIT_MS = 120; // after a letter, before it is looked for
const MOST = 60;
let made = 0;

export class Picker {
  /**
   * @param {object} does
   * @param {string} does.label
   * @param {string} does.placeholder
   * @param {(choice: Choice) => void} does.pick
   * @param {() => import("./types.js").ItemView | null} does.item what it is for: its likeliest kinds come first
   */
  constructor(does) {
    this.does = does;
    /** @type {Choice[]} */
    this.choices = [];
    this.active = -1;
    this.found = ""; // what the list is of
    this.listId = `picker-${++made}`;
    this.list = h("ul", { class: "picker-list", id: this.listId, role: "listbox", "aria-label": "Kinds" });
    this.about = h("div", { class: "picker-about" });
    this.popup = h("div", { class: "picker-popup", hidden: true }, this.about, this.list);
    this.field = /** @type {HTMLInputElement} */ (h("input", {
      class: "picker-field",
      type: "text",
      role: "combobox",
      maxlength: 200,
      dir: "auto",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": does.label,
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.listId,
      placeholder: does.placeholder,
      onfocus: () => this.#look(),
      oninput: () => this.#later(),
      onblur: () => this.close(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    }));
    this.said = h("p", { class: "hidden", role: "status" });
    this.element = h("div", { class: "picker" }, this.field, this.popup, this.said);
  }

  clear() {
    this.field.value = "";
    this.close();
  }

  close() {
    clearTimeout(this.timer);
    this.popup.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#look(), WAIT_MS);
  }

  /** @returns {Promise<void>} look for what is typed now */
  async #look() {
    clearTimeout(this.timer);
    const text = this.field.value.trim();
    const query = new URLSearchParams({ text, most: String(MOST) });
    const item = this.does.item();
    if (item) query.set("row", String(item.row));
    this.about.replaceChildren(...(item ? [mini(item)] : []));
    try {
      const { clusters } = await call("GET", `/api/find?${query}`);
      if (text === this.field.value.trim()) this.#show(text, clusters);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.said.textContent = error.message;
    }
  }

  /** @param {string} text @param {ClusterMatch[]} clusters */
  #show(text, clusters) {
    const there = clusters.map((cluster) => ({ cluster, name: cluster.name ?? "" }));
    const wanted = text.toLocaleLowerCase();
    const named = (/** @type {Choice} */ { name }) => name.toLocaleLowerCase();
    const meant = wanted ? there.findIndex((one) => named(one) === wanted) : -1;
    const likely = meant >= 0 ? meant : wanted ? there.findIndex((one) => named(one).includes(wanted)) : -1;
    const fresh = { cluster: null, name: text };
    // What Enter takes: the kind whose name has what was typed in it; a word of an example is only an offer.
    if (meant >= 0) this.choices = there;
    else if (likely >= 0 || !wanted) this.choices = [...there, fresh];
    else this.choices = [fresh, ...there];
    this.found = text;
    this.list.replaceChildren(...this.choices.map((choice, place) => this.#option(choice, place)));
    this.popup.hidden = document.activeElement !== this.field;
    this.field.setAttribute("aria-expanded", String(!this.popup.hidden));
    this.#activate(wanted ? Math.max(0, likely) : -1);
    this.said.textContent = `${count(there.length, "kind")}${text ? ` like “${text}”` : ""}.`;
  }

  /** @param {Choice} choice @param {number} place */
  #option({ cluster, name }, place) {
    const take = (/** @type {Event} */ event) => (event.preventDefault(), this.#take(place));
    const option = h("li", { id: `${this.listId}-${place}`, role: "option", class: "picker-option", "aria-selected": "false", onpointerdown: (/** @type {Event} */ event) => event.preventDefault(), onclick: take });
    if (!cluster) {
      option.classList.add("picker-new");
      option.append(h("strong", { dir: "auto" }, name ? `New kind “${name}”` : "A new kind"));
      return option;
    }
    option.setAttribute("aria-label", `${knownAs(cluster) || "Kind without a name"}: ${cluster.members.map(spoken).join("; ")}`);
    option.append(
      h("strong", { class: name ? "" : "unnamed", "data-cluster": cluster.cluster, dir: "auto" }, knownAs(cluster) || "without a name"),
      h("span", { class: "picker-examples" }, ...cluster.members.map(mini)),
    );
    return option;
  }

  /** @param {number} place */
  #activate(place) {
    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = place;
    const option = this.list.children[place];
    if (!option) return this.field.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", option.id);
  }

  /** @param {number} place */
  #take(place) {
    const choice = this.choices[place];
    if (choice) this.does.pick(choice);
  }

  /** @param {KeyboardEvent} event */
  async #key(event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const many = this.choices.length;
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (this.popup.hidden) await this.#look();
      else if (many) this.#activate(this.active < 0 && step < 0 ? many - 1 : (this.active + step + many) % many);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.found !== this.field.value.trim() || this.popup.hidden) await this.#look();
      this.#take(this.active);
    } else if (event.key === "Escape" && !this.popup.hidden) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    }
  }
}
