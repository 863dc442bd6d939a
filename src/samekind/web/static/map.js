/** The map of the rows: zoom and pan; coloured by the kinds in view, which the legend names. */

import { colorOf, paint } from "./colors.js";
import { count, h, number } from "./dom.js";
import { clusterName } from "./cluster_names.js";

const REACH = 16; // pixels from a point within which a click means it
const MARGIN = 12;
const MOST_COLOURED = 12; // kinds that have a colour at once: more cannot be told apart
const DRAG = 4; // pixels after which a press is no click
const CLOSEST = 60;
const STEP = 1.5;

/** @typedef {{row: number, x: number, y: number, cluster: number | null, known: boolean}} Point */
/** @typedef {import("./types.js").ClusterSummary} ClusterSummary */

export class RowMap {
  /** @param {(row: number, cluster: number | null, known: boolean) => void} open */
  constructor(open) {
    this.open = open;
    /** @type {Point[]} */
    this.points = [];
    /** @type {Map<number, ClusterSummary>} */
    this.found = new Map();
    /** @type {number | null} the kind to stand out */
    this.lit = null;
    this.view = { scale: 1, x: 0.5, y: 0.5 }; // the middle of the view
    /** @type {Map<number, {x: number, y: number}>} */
    this.pointers = new Map();
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "map", role: "img", tabindex: 0, "aria-label": "Map of the rows" }));
    this.legend = h("ul", { class: "legend" });
    this.about = h("p", { class: "hint" });
    this.element = h("div", { class: "map-panel" }, h("div", { class: "map-frame" }, this.canvas, this.#tools()), this.about, this.legend);
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    document.addEventListener("samekind:theme", () => this.draw());
  }

  #tools() {
    const tool = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {() => void} */ act) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: act }, sign);
    return h(
      "div",
      { class: "map-tools", role: "toolbar", "aria-label": "Map" },
      tool("Closer", "+", () => this.zoom(STEP)),
      tool("Farther", "−", () => this.zoom(1 / STEP)),
      tool("All of it", "⤢", () => this.reset()),
    );
  }

  /** @param {import("./types.js").RowMap} map @param {Map<number, ClusterSummary>} found */
  update({ rows, x, y, place, known, clusters, method, pending }, found) {
    this.points = rows.map((row, i) => ({ row, x: x[i], y: y[i], cluster: clusters[place[i]] ?? null, known: known[i] }));
    this.found = found;
    this.method = method;
    this.pending = pending;
    if (this.lit !== null && !found.has(this.lit)) this.lit = null;
    this.canvas.setAttribute("aria-label", `Map of ${count(rows.length, "row")}: rows that are alike are close. ${count(clusters.length, "kind")}; the list below names those in view. Plus and minus zoom, arrows move.`);
    this.#say();
    this.draw();
  }

  #say() {
    const how = this.method ? `${this.method === "the columns" ? "By the columns" : `By ${this.method}`}${this.pending ? "; a better map is being made" : ""}. ` : "";
    this.about.textContent = `Rows that are alike are close. Large: known. Click a point to see it. ${how}`;
  }

  /** @returns {number[]} the kinds in view, those with the most rows there first */
  #inView() {
    /** @type {Map<number, number>} */
    const counts = new Map();
    const place = this.#place();
    const { clientWidth: width, clientHeight: height } = this.canvas;
    for (const point of this.points) {
      const [x, y] = place(point);
      if (point.cluster === null || x < 0 || y < 0 || x > width || y > height) continue;
      counts.set(point.cluster, (counts.get(point.cluster) ?? 0) + 1);
    }
    return [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || a - b);
  }

  /** @param {number[]} shown @param {number} others */
  #showLegend(shown, others) {
    const key = JSON.stringify([shown.map((cluster) => [cluster, this.found.get(cluster)?.name, this.found.get(cluster)?.estimated]), others, this.lit]);
    if (key === this.legendKey) return; // what is pressed must not vanish under the finger
    this.legendKey = key;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.cluster;
    this.legend.replaceChildren(
      ...shown.map((cluster) => this.#entry(this.found.get(cluster) ?? /** @type {any} */ ({ cluster, name: null, estimated: 0 }))),
      ...(others ? [h("li", { class: "muted" }, `${count(others, "other kind")} in view, grey: move closer to see ${others === 1 ? "its colour" : "their colours"}`)] : []),
    );
    if (focused) /** @type {HTMLElement | null} */ (this.legend.querySelector(`[data-cluster="${focused}"]`))?.focus();
  }

  /** @param {ClusterSummary} cluster */
  #entry(cluster) {
    const button = h(
      "button",
      {
        type: "button",
        "data-cluster": cluster.cluster,
        "aria-pressed": String(this.lit === cluster.cluster),
        "aria-label": `${clusterName(cluster)}: about ${count(cluster.estimated, "row")}. Stand out on the map`,
        onclick: () => {
          this.lit = this.lit === cluster.cluster ? null : cluster.cluster;
          this.draw();
        },
      },
      paint(h("span", { class: "chip" }), cluster.cluster),
      h("span", { dir: "auto" }, clusterName(cluster)),
      h("span", { class: "muted" }, number(cluster.estimated)),
    );
    return h("li", {}, button);
  }

  /** Place every point: predicted ones first and pale, known ones above them; kinds without a colour are grey. */
  draw() {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    const place = this.#place();
    const seen = this.#inView();
    const coloured = new Set(seen.slice(0, MOST_COLOURED));
    if (this.lit !== null) coloured.add(this.lit);
    this.#showLegend([...coloured], seen.filter((cluster) => !coloured.has(cluster)).length);
    const grow = Math.min(2, Math.sqrt(this.view.scale));
    for (const known of [false, true]) {
      for (const point of this.points) {
        if (point.known !== known) continue;
        const [x, y] = place(point);
        if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
        const off = this.lit !== null && point.cluster !== this.lit;
        pen.globalAlpha = off ? 0.1 : known ? 1 : 0.45;
        pen.fillStyle = colorOf(point.cluster !== null && coloured.has(point.cluster) ? point.cluster : null);
        pen.beginPath();
        pen.arc(x, y, grow * (known ? 3.6 : 2.1), 0, 2 * Math.PI);
        pen.fill();
      }
    }
  }

  /** @returns {(point: {x: number, y: number}) => [number, number]} */
  #place() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const side = (Math.min(width, height) - 2 * MARGIN) * this.view.scale;
    const across = Math.max(side, Math.min((width - 2 * MARGIN) * this.view.scale, 1.6 * side));
    return ({ x, y }) => [width / 2 + (x - this.view.x) * across, height / 2 - (y - this.view.y) * side];
  }

  /** @param {number} by @param {number} [atX] @param {number} [atY] zoom, with a place that stays where it is */
  zoom(by, atX = this.canvas.clientWidth / 2, atY = this.canvas.clientHeight / 2) {
    const before = this.#inverse(atX, atY);
    this.view.scale = Math.min(CLOSEST, Math.max(1, this.view.scale * by));
    const after = this.#inverse(atX, atY);
    this.#moveTo(this.view.x + before.x - after.x, this.view.y + before.y - after.y);
  }

  /** All rows again. */
  reset() {
    this.view = { scale: 1, x: 0.5, y: 0.5 };
    this.draw();
  }

  /** @param {number} x @param {number} y */
  #moveTo(x, y) {
    const room = 0.5 - 0.5 / this.view.scale; // the view stays over the map
    const within = (/** @type {number} */ value) => Math.min(0.5 + room, Math.max(0.5 - room, value));
    this.view.x = within(x);
    this.view.y = within(y);
    this.draw();
  }

  /** @param {number} x @param {number} y @returns {{x: number, y: number}} the place on the map under a place on the canvas */
  #inverse(x, y) {
    const place = this.#place();
    const [[left, low], [right, high]] = [place({ x: 0, y: 0 }), place({ x: 1, y: 1 })];
    return { x: (x - left) / (right - left), y: (y - low) / (high - low) };
  }

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas && this.view.scale === 1 && event.deltaY > 0) return; // the page scrolls on
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      this.pressed = { x: event.offsetX, y: event.offsetY };
      this.moved = this.pointers.size > 1;
    });
    canvas.addEventListener("pointermove", (event) => this.#drag(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("keydown", (event) => {
      const move = 0.15 / this.view.scale;
      const acts = /** @type {Record<string, () => void>} */ ({
        "+": () => this.zoom(STEP),
        "=": () => this.zoom(STEP),
        "-": () => this.zoom(1 / STEP),
        Escape: () => this.reset(),
        ArrowLeft: () => this.#moveTo(this.view.x - move, this.view.y),
        ArrowRight: () => this.#moveTo(this.view.x + move, this.view.y),
        ArrowUp: () => this.#moveTo(this.view.x, this.view.y + move),
        ArrowDown: () => this.#moveTo(this.view.x, this.view.y - move),
      });
      if (!acts[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation(); // these keys answer questions elsewhere
      acts[event.key]();
    });
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.offsetX, y: event.offsetY };
    if (this.pressed && Math.hypot(now.x - this.pressed.x, now.y - this.pressed.y) > DRAG) this.moved = true;
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const spread = (/** @type {{x: number, y: number}} */ one) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
        this.zoom(spread(now) / spread(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      }
    } else if (this.moved) {
      const [from, to] = [this.#inverse(before.x, before.y), this.#inverse(now.x, now.y)];
      this.#moveTo(this.view.x + from.x - to.x, this.view.y + from.y - to.y);
    }
    this.pointers.set(event.pointerId, now);
  }

  /** @param {PointerEvent} event */
  #release(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (!this.moved) this.#pick(event);
  }

  /** @param {MouseEvent} event */
  #pick(event) {
    const place = this.#place();
    let [best, least] = [/** @type {Point | null} */ (null), REACH];
    for (const point of this.points) {
      const [x, y] = place(point);
      const far = Math.hypot(x - event.offsetX, y - event.offsetY);
      if (far < least) [best, least] = [point, far];
    }
    if (best) this.open(best.row, best.cluster, best.known);
  }
}
