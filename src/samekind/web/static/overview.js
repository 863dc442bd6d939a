/** What has been found so far: the clusters with their members, the map, the curve and the certificate. */

import { ApiError, Cached, call } from "./api.js";
import { paint } from "./colors.js";
import { byId, count, h, number } from "./dom.js";
import { ClusterActions } from "./cluster_actions.js";
import { clustersOverPresses } from "./curve.js";
import { RowMap } from "./map.js";
import { takesTyping } from "./keys.js";
import { clusterName, meet } from "./cluster_names.js";
import { mini, spoken } from "./items.js";

/** @typedef {import("./types.js").ClusterSummary} ClusterSummary */

const IDLE_MS = 1200; // the panel waits until the person pauses
const LONGEST_MS = 8000; // but not longer than this
const MAP_MS = 2000; // between two looks whether a better map is made

export class OverviewPanel {
  /** @param {import("./project.js").Project} project */
  constructor(project) {
    this.project = project;
    this.actions = new ClusterActions(project, () => this.refresh());
    this.overview = new Cached("/api/clusters?members=8");
    this.mapped = new Cached("/api/map");
    this.past = new Cached("/api/history");
    /** @type {Map<number, {cluster: ClusterSummary, text: string, element: HTMLElement}>} */
    this.cards = new Map();
    /** @type {Set<number>} clusters to merge */
    this.picked = new Set();
    this.revision = -1;
    this.due = 0;
    this.#build();
    project.addEventListener("state", () => (this.#showOpen(), this.#schedule()));
    project.addEventListener("question", () => this.#schedule());
  }

  #build() {
    this.summary = h("p", { class: "hint" }, "Loading…");
    this.promise = h("div", { class: "promise", hidden: true });
    this.mergeBar = h("div", { class: "merge-bar", hidden: true });
    this.list = h("ul", { class: "kinds", onfocusout: () => (clearTimeout(this.held), (this.held = setTimeout(() => this.#catchUp(), IDLE_MS))) });
    this.open = h("p", { class: "hint", hidden: true }, "Some kinds may prove to be the same as more is asked.");
    this.map = new RowMap((row, cluster, known) => this.#openRow(row, cluster, known));
    this.curve = h("div", {});
    byId("found-body").append(
      h("div", { class: "found-words" }, this.summary, this.promise),
      h(
        "div",
        { class: "found-plots" },
        h("section", { class: "plot", "aria-label": "Map" }, h("h3", {}, "Map"), this.map.element),
        h("section", { class: "plot", "aria-label": "Kinds over presses" }, h("h3", {}, "Kinds over presses"), this.curve),
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
    const state = this.project.state;
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
    if (!this.visible || this.refreshing || !this.project.state) return;
    this.refreshing = true;
    try {
      const revision = this.project.state.revision;
      if (await this.overview.refresh()) this.#showOverview();
      if (await this.past.refresh()) this.curve.replaceChildren(clustersOverPresses(this.past.value));
      await this.mapped.refresh(); // its colours and names may have changed even if it has not
      this.map.update(this.mapped.value, new Map(this.overview.value.clusters.map((/** @type {ClusterSummary} */ cluster) => [cluster.cluster, cluster])));
      this.revision = revision;
      clearTimeout(this.mapTimer);
      if (this.mapped.value.pending) this.mapTimer = setTimeout(() => this.#refreshMap(), MAP_MS);
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

  /** Look whether a better map is there. */
  async #refreshMap() {
    if (this.visible && !this.refreshing) await this.refresh();
    else this.mapTimer = setTimeout(() => this.#refreshMap(), MAP_MS);
  }

  #showOverview() {
    /** @type {import("./types.js").Overview} */
    const overview = this.overview.value;
    const state = /** @type {import("./types.js").Status} */ (this.project.state);
    this.summary.textContent = overview.clusters.length
      ? `${count(overview.clusters.length, "kind")} among ${count(state.n_rows, "row")}; ${number(state.known_rows)} known from answers` +
        (overview.unplaced ? `, ${number(overview.unplaced)} ${overview.unplaced === 1 ? "fits" : "fit"} nowhere yet.` : ".")
      : "Nothing yet. The first kinds appear after a few answers.";
    meet(overview.clusters);
    this.#showPromise(overview);
    this.#showOpen();
    this.#showClusters(overview.clusters);
    this.project.dispatchEvent(new CustomEvent("overview", { detail: overview }));
  }

  #showOpen() {
    this.open.hidden = (this.project.state?.done ?? true) || !(this.overview.value?.clusters.length > 1);
  }

  /** @param {import("./types.js").Overview} overview */
  #showPromise({ certificate, notes, stopping }) {
    this.promise.hidden = false;
    this.promise.classList.toggle("safe", stopping.safe);
    this.promise.replaceChildren(
      h("p", { id: "stopping", class: stopping.safe ? "safe-title" : "" }, stopping.text),
      ...(certificate ? [h("details", {}, h("summary", {}, "How sure is that?"), h("p", { id: "certificate" }, certificate.text))] : []),
      ...notes.map((note) => h("p", { class: "hint", dir: "auto" }, note)),
    );
  }

  /** Show what came while a name was typed. It waits a moment, or what is being clicked might move away. */
  #catchUp() {
    if (this.behind) this.#showClusters(this.overview.value.clusters);
  }

  /** @param {ClusterSummary[]} clusters only cards that changed are made anew, and none moves while a name is typed, so that the focus stays */
  #showClusters(clusters) {
    const focused = /** @type {HTMLElement | null} */ (this.list.contains(document.activeElement) ? document.activeElement : null);
    this.behind = takesTyping(focused);
    if (this.behind) return;
    const there = new Set(clusters.map((cluster) => cluster.cluster));
    for (const cluster of this.picked) if (!there.has(cluster)) this.picked.delete(cluster);
    for (const [number, card] of this.cards) {
      if (there.has(number)) continue;
      card.element.remove();
      this.cards.delete(number);
    }
    let before = null;
    for (const cluster of clusters) {
      const text = JSON.stringify(cluster);
      let card = this.cards.get(cluster.cluster);
      const inUse = focused instanceof HTMLInputElement && card?.element.contains(focused);
      const changed = card && (card.text !== text || JSON.stringify(card.cluster) !== text); // on the server, or here: a name that was typed
      if (!card || (changed && !inUse)) {
        const element = this.#card(cluster);
        card?.element.replaceWith(element);
        card = { cluster, text, element };
        this.cards.set(cluster.cluster, card);
      }
      const after = before ? before.nextSibling : this.list.firstChild;
      if (after !== card.element) this.list.insertBefore(card.element, after);
      before = card.element;
    }
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true }); // it was moved
    this.#showMerge();
  }

  /** @param {ClusterSummary} cluster @returns {HTMLElement} */
  #card(cluster) {
    const pick = /** @type {HTMLInputElement} */ (h("input", {
      type: "checkbox",
      "aria-label": `Pick ${clusterName(cluster)} to merge`,
      onchange: () => {
        if (pick.checked) this.picked.add(cluster.cluster);
        else this.picked.delete(cluster.cluster);
        this.#showMerge();
      },
    }));
    pick.checked = this.picked.has(cluster.cluster);
    return h(
      "li",
      { class: "kind", "data-cluster": cluster.cluster },
      h("div", { class: "kind-head" }, paint(h("span", { class: "chip" }), cluster.cluster), h("span", { class: "kind-number", title: "Its number, for life" }, String(cluster.number)), this.#nameField(cluster), h("label", { class: "pick" }, "merge", pick)),
      h(
        "p",
        { class: "kind-counts" },
        `${number(cluster.known)} known, about ${number(cluster.estimated)} in all`,
        h("button", { type: "button", class: "link", "aria-label": `Show all of ${clusterName(cluster)}`, onclick: () => this.actions.showCluster(cluster) }, "Show all"),
      ),
      this.#gallery(cluster, cluster.members, "member", ""),
      cluster.doubtful.length > 0 && h("p", { class: "doubtful-title" }, "Doubtful"),
      cluster.doubtful.length > 0 && this.#gallery(cluster, cluster.doubtful, "member predicted", "doubtful: "),
    );
  }

  /** @param {ClusterSummary} cluster @returns {HTMLElement} */
  #nameField(cluster) {
    const field = /** @type {HTMLInputElement} */ (h("input", {
      class: "kind-name",
      maxlength: 200,
      dir: "auto",
      placeholder: cluster.proposed_name,
      value: cluster.name ?? "",
      "aria-label": `Name of kind ${cluster.number}${cluster.name ? "" : `, proposed: ${cluster.proposed_name}`}`,
      title: cluster.name ? "Type to change the name" : "A proposed name; type to give it one",
    }));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") field.value = cluster.name ?? "";
      if (event.key === "Escape" || event.key === "Enter") field.blur();
    });
    field.addEventListener("blur", async () => {
      const name = field.value.trim();
      if (name === (cluster.name ?? "")) return;
      if (await this.actions.rename(cluster, name)) {
        cluster.name = name || null;
        const same = [...this.cards.values()].map((card) => card.cluster).find((other) => other.cluster !== cluster.cluster && other.name?.toLowerCase() === name.toLowerCase());
        if (name && same) this.actions.offerMerge([same, cluster]);
      } else field.value = cluster.name ?? "";
    });
    return field;
  }

  /** @param {ClusterSummary} cluster @param {import("./types.js").ItemView[]} items @param {string} style @param {string} prefix */
  #gallery(cluster, items, style, prefix) {
    return h(
      "ul",
      { class: "gallery" },
      ...items.map((item) =>
        h("li", {}, h("button", {
          type: "button",
          class: style,
          "aria-label": prefix + spoken(item),
          title: item.title,
          onclick: () => this.actions.showItem(item, cluster, `${prefix ? "Predicted, with doubt," : "Known"} to be one of “${clusterName(cluster)}”.`, prefix !== ""),
        }, mini(item)))),
    );
  }

  #showMerge() {
    const picked = [...this.picked].map((number) => this.cards.get(number)?.cluster).filter((cluster) => cluster !== undefined);
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
    const cluster = number === null ? null : (this.cards.get(number)?.cluster ?? { cluster: number, number, name: null, proposed_name: "" });
    try {
      const note = cluster ? `${known ? "Known" : "Predicted"} to be one of “${clusterName(cluster)}”.` : "Of no kind yet.";
      this.actions.showItem(await call("GET", `/api/items/${row}`), cluster, note, !known);
    } catch (error) {
      this.summary.textContent = /** @type {Error} */ (error).message;
    }
  }
}
