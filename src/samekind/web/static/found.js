/** What has been found so far: the kinds with their members, the map, the curve and the certificate. */

import { ApiError, Cached, call } from "./api.js";
import { paint } from "./colors.js";
import { byId, count, h, number, percent } from "./dom.js";
import { KindActions } from "./kinds.js";
import { kindsOverQuestions, RowMap } from "./map.js";
import { takesTyping } from "./keys.js";
import { kindName, meet } from "./names.js";
import { mini, spoken } from "./things.js";

/** @typedef {import("./types.js").Kind} Kind */

const IDLE_MS = 1200; // the panel waits until the person pauses
const LONGEST_MS = 8000; // but not longer than this
const TELLING = 0.5; // a bound above this says next to nothing
const SAFE = 0.05; // both bounds of a certificate at most this: it is safe to stop

export class Found {
  /** @param {import("./desk.js").Desk} desk */
  constructor(desk) {
    this.desk = desk;
    this.actions = new KindActions(desk, () => this.refresh());
    this.outline = new Cached("/api/kinds?members=8");
    this.mapped = new Cached("/api/map");
    this.past = new Cached("/api/history");
    /** @type {Map<number, {kind: Kind, text: string, element: HTMLElement}>} */
    this.cards = new Map();
    /** @type {Set<number>} kinds to merge */
    this.picked = new Set();
    this.revision = -1;
    this.due = 0;
    this.#build();
    desk.addEventListener("state", () => (this.#showOpen(), this.#schedule()));
    desk.addEventListener("question", () => this.#schedule());
  }

  #build() {
    this.summary = h("p", { class: "hint" }, "Loading…");
    this.promise = h("div", { class: "promise", hidden: true });
    this.mergeBar = h("div", { class: "merge-bar", hidden: true });
    this.list = h("ul", { class: "kinds", onfocusout: () => (clearTimeout(this.held), (this.held = setTimeout(() => this.#catchUp(), IDLE_MS))) });
    this.open = h("p", { class: "hint", hidden: true }, "Some kinds may prove to be the same as more is asked.");
    this.map = new RowMap((row, kind, known) => this.#openRow(row, kind, known));
    this.curve = h("div", {});
    byId("found-body").append(
      h("div", { class: "found-words" }, this.summary, this.promise),
      h(
        "div",
        { class: "found-plots" },
        h("section", { class: "plot", "aria-label": "Map" }, h("h3", {}, "Map"), this.map.element),
        h("section", { class: "plot", "aria-label": "Kinds over questions" }, h("h3", {}, "Kinds over questions"), this.curve),
      ),
      h("section", { class: "found-kinds", "aria-label": "Kinds" }, h("h3", {}, "Kinds"), this.mergeBar, this.list, this.open),
    );
  }

  /** Whether it is on the screen. */
  get visible() {
    return byId("found").offsetParent !== null;
  }

  /** Refresh when the person pauses, and only what can be seen. */
  #schedule() {
    const state = this.desk.state;
    if (!state || state.revision === this.revision) return;
    const now = performance.now();
    this.due ||= now + LONGEST_MS;
    clearTimeout(this.timer);
    const first = this.revision < 0;
    this.timer = setTimeout(() => this.refresh(), first ? 0 : Math.max(0, Math.min(IDLE_MS, this.due - now)));
  }

  async refresh() {
    clearTimeout(this.timer);
    this.due = 0;
    if (!this.visible || this.refreshing || !this.desk.state) return;
    this.refreshing = true;
    try {
      const revision = this.desk.state.revision;
      if (await this.outline.refresh()) this.#showOutline();
      if (await this.past.refresh()) this.curve.replaceChildren(kindsOverQuestions(this.past.value));
      await this.mapped.refresh(); // its colours and names may have changed even if it has not
      this.map.update(this.mapped.value, new Map(this.outline.value.kinds.map((/** @type {Kind} */ kind) => [kind.kind, kind])));
      this.revision = revision;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.summary.textContent = error.message;
      this.timer = setTimeout(() => this.refresh(), LONGEST_MS);
      return;
    } finally {
      this.refreshing = false;
    }
    this.#schedule();
  }

  #showOutline() {
    /** @type {import("./types.js").Outline} */
    const outline = this.outline.value;
    const state = /** @type {import("./types.js").State} */ (this.desk.state);
    this.summary.textContent = outline.kinds.length
      ? `${count(outline.kinds.length, "kind")} among ${count(state.n_rows, "row")}; ${number(state.settled_rows)} known from answers` +
        (outline.unplaced ? `, ${number(outline.unplaced)} ${outline.unplaced === 1 ? "fits" : "fit"} nowhere yet.` : ".")
      : "Nothing yet. The first kinds appear after a few answers.";
    meet(outline.kinds);
    this.#showPromise(outline);
    this.#showOpen();
    this.#showKinds(outline.kinds);
    this.desk.dispatchEvent(new CustomEvent("outline", { detail: outline }));
  }

  #showOpen() {
    this.open.hidden = (this.desk.state?.done ?? true) || !(this.outline.value?.kinds.length > 1);
  }

  /** @param {import("./types.js").Outline} outline */
  #showPromise({ certificate, notes }) {
    const safe = certificate !== null && isSafe(certificate);
    this.promise.hidden = false;
    this.promise.classList.toggle("safe", safe);
    this.promise.replaceChildren(
      ...(safe ? [h("p", { class: "safe-title" }, "Safe to stop")] : []),
      ...(certificate
        ? [h("p", { id: "certificate" }, certificate.text)]
        : [h("p", {}, "No certificate yet: it comes when enough kinds are known to check on.")]),
      ...notes.map((note) => h("p", { class: "hint", dir: "auto" }, note)),
    );
  }

  /** Show what came while a name was typed. It waits a moment, or what is being clicked might move away. */
  #catchUp() {
    if (this.behind) this.#showKinds(this.outline.value.kinds);
  }

  /** @param {Kind[]} kinds only cards that changed are made anew, and none moves while a name is typed, so that the focus stays */
  #showKinds(kinds) {
    const focused = /** @type {HTMLElement | null} */ (this.list.contains(document.activeElement) ? document.activeElement : null);
    this.behind = takesTyping(focused);
    if (this.behind) return;
    const there = new Set(kinds.map((kind) => kind.kind));
    for (const kind of this.picked) if (!there.has(kind)) this.picked.delete(kind);
    for (const [number, card] of this.cards) {
      if (there.has(number)) continue;
      card.element.remove();
      this.cards.delete(number);
    }
    let before = null;
    for (const kind of kinds) {
      const text = JSON.stringify(kind);
      let card = this.cards.get(kind.kind);
      const inUse = focused instanceof HTMLInputElement && card?.element.contains(focused);
      if (!card || (card.text !== text && !inUse)) {
        const element = this.#card(kind);
        card?.element.replaceWith(element);
        card = { kind, text, element };
        this.cards.set(kind.kind, card);
      }
      const after = before ? before.nextSibling : this.list.firstChild;
      if (after !== card.element) this.list.insertBefore(card.element, after);
      before = card.element;
    }
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true }); // it was moved
    this.#showMerge();
  }

  /** @param {Kind} kind @returns {HTMLElement} */
  #card(kind) {
    const pick = /** @type {HTMLInputElement} */ (h("input", {
      type: "checkbox",
      "aria-label": `Pick ${kindName(kind)} to merge`,
      onchange: () => {
        if (pick.checked) this.picked.add(kind.kind);
        else this.picked.delete(kind.kind);
        this.#showMerge();
      },
    }));
    pick.checked = this.picked.has(kind.kind);
    return h(
      "li",
      { class: "kind", "data-kind": kind.kind },
      h("div", { class: "kind-head" }, paint(h("span", { class: "chip" }), kind.kind), this.#nameField(kind), h("label", { class: "pick" }, "merge", pick)),
      h(
        "p",
        { class: "kind-counts" },
        `${number(kind.known)} known, about ${number(kind.estimated)} in all`,
        h("button", { type: "button", class: "link", "aria-label": `Show all of ${kindName(kind)}`, onclick: () => this.actions.showKind(kind) }, "Show all"),
      ),
      this.#gallery(kind, kind.members, "member", ""),
      kind.doubtful.length > 0 && h("p", { class: "doubtful-title" }, "Doubtful"),
      kind.doubtful.length > 0 && this.#gallery(kind, kind.doubtful, "member predicted", "doubtful: "),
    );
  }

  /** @param {Kind} kind @returns {HTMLElement} */
  #nameField(kind) {
    const field = /** @type {HTMLInputElement} */ (h("input", {
      class: "kind-name",
      maxlength: 200,
      dir: "auto",
      placeholder: kindName({ ...kind, name: null }),
      value: kind.name ?? "",
      "aria-label": `Name of ${kindName({ ...kind, name: null })}`,
      title: "Type to name this kind",
    }));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") field.value = kind.name ?? "";
      if (event.key === "Escape" || event.key === "Enter") field.blur();
    });
    field.addEventListener("blur", async () => {
      const name = field.value.trim();
      if (name === (kind.name ?? "")) return;
      if (await this.actions.rename(kind, name)) kind.name = name || null;
      else field.value = kind.name ?? "";
    });
    return field;
  }

  /** @param {Kind} kind @param {import("./types.js").Thing[]} things @param {string} style @param {string} prefix */
  #gallery(kind, things, style, prefix) {
    return h(
      "ul",
      { class: "gallery" },
      ...things.map((thing) =>
        h("li", {}, h("button", {
          type: "button",
          class: style,
          "aria-label": prefix + spoken(thing),
          title: thing.title,
          onclick: () => this.actions.showThing(thing, kind, `${prefix ? "Predicted, with doubt," : "Known"} to be one of “${kindName(kind)}”.`),
        }, mini(thing)))),
    );
  }

  #showMerge() {
    const picked = [...this.picked].map((number) => this.cards.get(number)?.kind).filter((kind) => kind !== undefined);
    this.mergeBar.hidden = picked.length === 0;
    this.mergeBar.replaceChildren(
      h("span", {}, picked.length < 2 ? "Pick another kind to merge with." : `${picked.length} kinds picked.`),
      ...(picked.length > 1
        ? [h("button", { type: "button", class: "primary", onclick: () => (this.picked.clear(), this.#uncheck(), this.actions.merge(picked)) }, "Merge them")]
        : []),
      h("button", { type: "button", onclick: () => (this.picked.clear(), this.#uncheck()) }, "Cancel"),
    );
  }

  #uncheck() {
    for (const box of this.list.querySelectorAll("input[type=checkbox]")) /** @type {HTMLInputElement} */ (box).checked = false;
    this.#showMerge();
  }

  /** @param {number} row @param {number | null} number @param {boolean} known */
  async #openRow(row, number, known) {
    const kind = number === null ? null : (this.cards.get(number)?.kind ?? { kind: number, name: null });
    try {
      const note = kind ? `${known ? "Known" : "Predicted"} to be one of “${kindName(kind)}”.` : "Of no kind yet.";
      this.actions.showThing(await call("GET", `/api/things/${row}`), kind, note);
    } catch (error) {
      this.summary.textContent = /** @type {Error} */ (error).message;
    }
  }
}

/** @param {import("./types.js").Certificate} certificate @returns {boolean} */
export function isSafe(certificate) {
  return certificate.undiscovered <= SAFE && certificate.wrong <= SAFE;
}

/** @param {import("./types.js").Certificate} certificate @returns {string} the shortest form, for the top bar; empty while it says little */
export function inShort(certificate) {
  if (isSafe(certificate)) return "safe to stop";
  return certificate.undiscovered <= TELLING ? `at most ${percent(certificate.undiscovered)} not found yet` : "";
}
