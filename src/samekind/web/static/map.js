/** The map of the rows, coloured by cluster, with a legend that says the same in words. */

import { colorOf, paint } from "./colors.js";
import { count, h, number } from "./dom.js";
import { clusterName, placeOf } from "./cluster_names.js";

const REACH = 16; // pixels from a point within which a click means it
const MARGIN = 10;

/** @typedef {{row: number, x: number, y: number, cluster: number | null, known: boolean}} Point */

export class RowMap {
  /** @param {(row: number, cluster: number | null, known: boolean) => void} open */
  constructor(open) {
    this.open = open;
    /** @type {Point[]} */
    this.points = [];
    /** @type {number | null} the cluster to stand out */
    this.lit = null;
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "map", role: "img", "aria-label": "Map of the rows" }));
    this.legend = h("ul", { class: "legend" });
    this.element = h("div", {}, this.canvas, h("p", { class: "hint" }, "Rows that are alike are close. Large: known. Click a point to see it."), this.legend);
    this.canvas.addEventListener("click", (event) => this.#pick(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    document.addEventListener("samekind:theme", () => this.draw());
  }

  /** @param {import("./types.js").RowMap} map @param {Map<number, import("./types.js").ClusterSummary>} found */
  update({ rows, x, y, place, known, clusters }, found) {
    this.points = rows.map((row, i) => ({ row, x: x[i], y: y[i], cluster: clusters[place[i]] ?? null, known: known[i] }));
    const shown = [...found.keys()].filter((cluster) => clusters.includes(cluster)); // as in the list of clusters
    this.canvas.setAttribute("aria-label", `Map of ${count(rows.length, "row")}: rows that are alike are close. ${count(clusters.length, "kind")}; the list below names them.`);
    this.legend.replaceChildren(...shown.map((cluster) => this.#entry(/** @type {any} */ (found.get(cluster)))));
    this.draw();
  }

  /** @param {import("./types.js").ClusterSummary} cluster */
  #entry(cluster) {
    const button = h(
      "button",
      {
        type: "button",
        "aria-pressed": String(this.lit === cluster.cluster),
        "aria-label": `${clusterName(cluster)}: about ${count(cluster.estimated, "row")}. Stand out on the map`,
        onclick: () => {
          this.lit = this.lit === cluster.cluster ? null : cluster.cluster;
          for (const other of this.legend.querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
          button.setAttribute("aria-pressed", String(this.lit === cluster.cluster));
          this.draw();
        },
      },
      paint(h("span", { class: `chip shape-${shape(cluster.cluster)}` }), cluster.cluster),
      h("span", { dir: "auto" }, clusterName(cluster)),
      h("span", { class: "muted" }, number(cluster.estimated)),
    );
    return h("li", {}, button);
  }

  /** Place every point: predicted ones first and pale, known ones above them. */
  draw() {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    const place = this.#place(width, height);
    for (const known of [false, true]) {
      for (const point of this.points) {
        const cluster = point.cluster;
        if (point.known !== known) continue;
        const off = this.lit !== null && cluster !== this.lit;
        pen.globalAlpha = off ? 0.08 : known ? 1 : 0.38;
        pen.fillStyle = colorOf(cluster);
        dot(pen, ...place(point), known ? 3.6 : 2, cluster === null ? 0 : shape(cluster));
      }
    }
  }

  /** @param {number} width @param {number} height @returns {(point: Point) => [number, number]} */
  #place(width, height) {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of this.points) {
      [left, right, low, high] = [Math.min(left, x), Math.max(right, x), Math.min(low, y), Math.max(high, y)];
    }
    const scale = (/** @type {number} */ value, /** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ room) =>
      MARGIN + (room - 2 * MARGIN) * (to > from ? (value - from) / (to - from) : 0.5);
    return ({ x, y }) => [scale(x, left, right, width), height - scale(y, low, high, height)];
  }

  /** @param {MouseEvent} event */
  #pick(event) {
    const place = this.#place(this.canvas.clientWidth, this.canvas.clientHeight);
    let [best, least] = [/** @type {Point | null} */ (null), REACH];
    for (const point of this.points) {
      const [x, y] = place(point);
      const far = Math.hypot(x - event.offsetX, y - event.offsetY);
      if (far < least) [best, least] = [point, far];
    }
    if (best) this.open(best.row, best.cluster, best.known);
  }
}

/** @param {number} cluster @returns {number} another shape each time that the colours begin again */
function shape(cluster) {
  return Math.floor(placeOf(cluster) / 20) % 3;
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} size @param {number} form */
function dot(pen, x, y, size, form) {
  pen.beginPath();
  if (form === 0) pen.arc(x, y, size, 0, 2 * Math.PI);
  else if (form === 1) pen.rect(x - size, y - size, 2 * size, 2 * size);
  else {
    pen.moveTo(x, y - 1.3 * size);
    pen.lineTo(x + 1.2 * size, y + size);
    pen.lineTo(x - 1.2 * size, y + size);
    pen.closePath();
  }
  pen.fill();
}
