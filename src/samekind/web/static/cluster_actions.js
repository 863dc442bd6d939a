/** Dialogs about clusters and their members, and what can be done to them by hand. */

import { call } from "./api.js";
import { count, h, openDialog, toast } from "./dom.js";
import { clusterName } from "./cluster_names.js";
import { brief, mini, oneLine, pictures, spoken, whole } from "./items.js";
import { openPlacing, place } from "./say.js";

/** @typedef {import("./types.js").ItemView} ItemView @typedef {import("./types.js").ClusterRef} ClusterRef */

const PAGE = 24;

export class ClusterActions {
  /** @param {import("./project.js").Project} project @param {() => void} changed */
  constructor(project, changed) {
    this.project = project;
    this.changed = changed;
  }

  /** @param {ClusterRef} cluster @param {string} name @returns {Promise<boolean>} */
  async rename(cluster, name) {
    const before = cluster.name ?? "";
    const done = await this.#do(() => call("PUT", `/api/clusters/${cluster.cluster}/name`, { body: { name } }));
    // A name is no answer: undoing it means giving the old one again.
    if (done) this.#tell(name ? `Named “${name}”.` : "The name is removed.", () => this.rename({ ...cluster, name }, before));
    return done;
  }

  /** @param {ClusterRef} cluster @param {ItemView[]} items @returns {Promise<boolean>} */
  async remove(cluster, items) {
    const rows = items.map((item) => item.row);
    const done = await this.#do(() => call("POST", `/api/clusters/${cluster.cluster}/remove`, { body: { rows } }));
    const what = items.length === 1 ? brief(items[0]) : count(items.length, "thing");
    if (done) this.#tell(`Taken out of “${clusterName(cluster)}”: ${what}`, undefined, items);
    return done;
  }

  /** @param {ClusterRef[]} clusters */
  merge(clusters) {
    const names = clusters.map((cluster) => `“${clusterName(cluster)}”`).join(" and ");
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
            const done = await this.#do(() => call("POST", "/api/clusters/merge", { body: { clusters: clusters.map((cluster) => cluster.cluster) } }));
            if (done) this.#tell(`Merged: ${names}.`);
          },
        }, "Merge"),
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      ),
    ]);
  }

  /** @param {ItemView} item @param {ClusterRef | null} cluster @param {string} [note] @param {boolean} [predicted] show an item, and let somebody say where it belongs */
  showItem(item, cluster, note, predicted = false) {
    const dialog = openDialog(
      oneLine(item),
      [
        ...(note ? [h("p", { class: "hint", dir: "auto" }, note)] : []),
        ...whole(item),
        h(
          "p",
          { class: "buttons" },
          cluster && predicted && h("button", {
            type: "button",
            class: "primary right",
            onclick: async () => (dialog.close(), (await place(this.project, [item], cluster)) && this.changed()),
          }, "Yes, right"),
          h("button", { type: "button", class: "belongs", onclick: () => (dialog.close(), openPlacing(this.project, [item], this.changed)) }, "Belongs to…"),
          cluster && h("button", {
            type: "button",
            class: "does-not-belong",
            onclick: () => (dialog.close(), this.remove(cluster, [item])),
          }, "This does not belong here"),
        ),
      ],
      { class: "item-dialog" },
    );
  }

  /** @param {ClusterRef} cluster show all its rows, page by page; pick those that do not belong */
  showCluster(cluster) {
    /** @type {Map<number, ItemView>} */
    const picked = new Map();
    const grid = h("ul", { class: "grid" });
    const where = h("p", { class: "hint", role: "status" }, "Loading…");
    const remove = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button",
      class: "primary",
      disabled: true,
      onclick: () => (dialog.close(), this.remove(cluster, [...picked.values()])),
    }, "Pick what does not belong here"));
    const move = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button",
      disabled: true,
      onclick: () => (dialog.close(), openPlacing(this.project, [...picked.values()], this.changed)),
    }, "They belong to…"));
    /** @type {ItemView[]} */
    let shown = [];
    const right = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button",
      onclick: async () => {
        const others = shown.filter((item) => item.known === false && !picked.has(item.row));
        if (others.length && (await place(this.project, others, cluster))) this.changed();
        show(offset);
      },
    }, "The others are right"));
    const turn = (/** @type {string} */ label, /** @type {number} */ by) =>
      /** @type {HTMLButtonElement} */ (h("button", { type: "button", onclick: () => show(offset + by) }, label));
    const [before, after] = [turn("‹ Before", -PAGE), turn("More ›", PAGE)];
    const dialog = openDialog(clusterName(cluster), [where, grid, h("p", { class: "buttons sticky" }, before, after, remove, move, right)], { class: "wide" });
    let offset = 0;
    const show = async (/** @type {number} */ from) => {
      let page;
      try {
        page = await call("GET", `/api/clusters/${cluster.cluster}?offset=${from}&limit=${PAGE}`);
      } catch (error) {
        where.textContent = /** @type {Error} */ (error).message;
        return;
      }
      offset = from;
      shown = page.members;
      right.disabled = !shown.some((item) => item.known === false);
      before.disabled = from === 0;
      after.disabled = from + PAGE >= page.total;
      where.textContent = `${from + 1}–${from + page.members.length} of ${count(page.total, "row")}. Dashed: predicted, not known from an answer.`;
      grid.replaceChildren(...page.members.map((/** @type {ItemView} */ item) => h("li", {}, pickButton(item))));
    };
    const pickButton = (/** @type {ItemView} */ item) => {
      const button = h("button", {
        type: "button",
        class: item.known === false ? "member predicted" : "member",
        "aria-pressed": String(picked.has(item.row)),
        "aria-label": `${spoken(item)}${item.known === false ? ", predicted" : ""}`,
        title: oneLine(item),
        onclick: () => {
          if (!picked.delete(item.row)) picked.set(item.row, item);
          button.setAttribute("aria-pressed", String(picked.has(item.row)));
          remove.disabled = move.disabled = picked.size === 0;
          remove.textContent = picked.size ? `${picked.size === 1 ? "This does" : `These ${picked.size} do`} not belong here` : "Pick what does not belong here";
        },
      }, mini(item));
      return button;
    };
    show(0);
  }

  /** @param {() => Promise<any>} change @returns {Promise<boolean>} */
  async #do(change) {
    const done = (await this.project.perform(change)) !== null;
    this.changed();
    return done;
  }

  /** @param {string} text @param {() => void} [undo] @param {ItemView[]} [about] */
  #tell(text, undo = () => this.project.undo(), about = []) {
    toast(text, { action: "Undo", onaction: undo, pictures: pictures(about) });
  }
}
