/** Dialogs about kinds and their members, and what can be done to them by hand. */

import { call } from "./api.js";
import { count, h, openDialog, toast } from "./dom.js";
import { kindName } from "./names.js";
import { brief, mini, oneLine, pictures, spoken, whole } from "./things.js";

/** @typedef {import("./types.js").Thing} Thing @typedef {import("./types.js").KindBrief} KindBrief */

const PAGE = 24;

export class KindActions {
  /** @param {import("./desk.js").Desk} desk @param {() => void} changed */
  constructor(desk, changed) {
    this.desk = desk;
    this.changed = changed;
  }

  /** @param {KindBrief} kind @param {string} name @returns {Promise<boolean>} */
  async rename(kind, name) {
    const before = kind.name ?? "";
    const done = await this.#do(() => call("PUT", `/api/kinds/${kind.kind}/name`, { body: { name } }));
    // A name is no answer: undoing it means giving the old one again.
    if (done) this.#tell(name ? `Named “${name}”.` : "The name is removed.", () => this.rename({ ...kind, name }, before));
    return done;
  }

  /** @param {KindBrief} kind @param {Thing[]} things @returns {Promise<boolean>} */
  async remove(kind, things) {
    const rows = things.map((thing) => thing.row);
    const done = await this.#do(() => call("POST", `/api/kinds/${kind.kind}/remove`, { body: { rows } }));
    const what = things.length === 1 ? brief(things[0]) : count(things.length, "thing");
    if (done) this.#tell(`Taken out of “${kindName(kind)}”: ${what}`, undefined, things);
    return done;
  }

  /** @param {KindBrief[]} kinds */
  merge(kinds) {
    const names = kinds.map((kind) => `“${kindName(kind)}”`).join(" and ");
    const dialog = openDialog("Merge kinds?", [
      h("p", { dir: "auto" }, `All members of ${names} will be of one kind. You can undo it.`),
      h(
        "p",
        { class: "buttons" },
        h("button", {
          type: "button",
          class: "primary",
          onclick: async () => {
            dialog.close();
            const done = await this.#do(() => call("POST", "/api/kinds/merge", { body: { kinds: kinds.map((kind) => kind.kind) } }));
            if (done) this.#tell(`Merged: ${names}.`);
          },
        }, "Merge"),
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      ),
    ]);
  }

  /** @param {Thing} thing @param {KindBrief | null} kind @param {string} [note] show a thing, and let it be taken out of its kind */
  showThing(thing, kind, note) {
    const dialog = openDialog(
      oneLine(thing),
      [
        ...(note ? [h("p", { class: "hint", dir: "auto" }, note)] : []),
        ...whole(thing),
        ...(kind
          ? [h("p", { class: "buttons" }, h("button", {
              type: "button",
              class: "primary does-not-belong",
              onclick: () => (dialog.close(), this.remove(kind, [thing])),
            }, "This does not belong here"))]
          : []),
      ],
      { class: "thing-dialog" },
    );
  }

  /** @param {KindBrief} kind show all its rows, page by page; pick those that do not belong */
  showKind(kind) {
    /** @type {Map<number, Thing>} */
    const picked = new Map();
    const grid = h("ul", { class: "grid" });
    const where = h("p", { class: "hint", role: "status" }, "Loading…");
    const remove = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button",
      class: "primary",
      disabled: true,
      onclick: () => (dialog.close(), this.remove(kind, [...picked.values()])),
    }, "Pick what does not belong here"));
    const turn = (/** @type {string} */ label, /** @type {number} */ by) =>
      /** @type {HTMLButtonElement} */ (h("button", { type: "button", onclick: () => show(offset + by) }, label));
    const [before, after] = [turn("‹ Before", -PAGE), turn("More ›", PAGE)];
    const dialog = openDialog(kindName(kind), [where, grid, h("p", { class: "buttons sticky" }, before, after, remove)], { class: "wide" });
    let offset = 0;
    const show = async (/** @type {number} */ from) => {
      let page;
      try {
        page = await call("GET", `/api/kinds/${kind.kind}?offset=${from}&limit=${PAGE}`);
      } catch (error) {
        where.textContent = /** @type {Error} */ (error).message;
        return;
      }
      offset = from;
      before.disabled = from === 0;
      after.disabled = from + PAGE >= page.total;
      where.textContent = `${from + 1}–${from + page.members.length} of ${count(page.total, "row")}. Dashed: predicted, not known from an answer.`;
      grid.replaceChildren(...page.members.map((/** @type {Thing} */ thing) => h("li", {}, pickButton(thing))));
    };
    const pickButton = (/** @type {Thing} */ thing) => {
      const button = h("button", {
        type: "button",
        class: thing.known === false ? "member predicted" : "member",
        "aria-pressed": String(picked.has(thing.row)),
        "aria-label": `${spoken(thing)}${thing.known === false ? ", predicted" : ""}`,
        title: oneLine(thing),
        onclick: () => {
          if (!picked.delete(thing.row)) picked.set(thing.row, thing);
          button.setAttribute("aria-pressed", String(picked.has(thing.row)));
          remove.disabled = picked.size === 0;
          remove.textContent = picked.size ? `${picked.size === 1 ? "This does" : `These ${picked.size} do`} not belong here` : "Pick what does not belong here";
        },
      }, mini(thing));
      return button;
    };
    show(0);
  }

  /** @param {() => Promise<any>} change @returns {Promise<boolean>} */
  async #do(change) {
    const done = (await this.desk.perform(change)) !== null;
    this.changed();
    return done;
  }

  /** @param {string} text @param {() => void} [undo] @param {Thing[]} [about] */
  #tell(text, undo = () => this.desk.undo(), about = []) {
    toast(text, { action: "Undo", onaction: undo, pictures: pictures(about) });
  }
}
