/** The map of the items: zoom and pan; coloured by the kinds in view, with their names on it. */

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { count, number, shorten } from "./format.js";
import { listenToGestures } from "./gestures.js";
import { placeNames } from "./map_names.js";
import { colorOf, nameOf } from "./names.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

const REACH = 16; // pixels from a point within which a click means it
const MARGIN = 12;
const MOST_COLOURED = 12; // kinds that have a colour at once: more cannot be told apart
const CLOSEST = 60;
const STEP = 1.5;
const LONGEST = 26; // signs of a name on the map
const TOOLS = { left: -116, right: 0, top: 0, bottom: 42 }; // where the buttons are, from the right

/** @typedef {{row: number, x: number, y: number, cluster: number | null, known: boolean}} Point */
/** @typedef {import("./types.js").ClusterSummary} ClusterSummary @typedef {import("./types.js").MapData} MapData */
/** @typedef {{shown: number[], others: number}} InView kinds that have a colour, and how many have none */

/** @param {{open: (row: number, cluster: number | null, isKnown: boolean) => void}} props */
export function RowMap({ open }) {
  const data = useStore((now) => now.map);
  const overview = useStore((now) => now.overview);
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const plot = useRef(/** @type {Plot | null} */ (null));
  const [inView, setInView] = useState(/** @type {InView} */ ({ shown: [], others: 0 }));
  const [lit, setLit] = useState(/** @type {number | null} */ (null));
  useEffect(() => {
    if (!canvas.current) return undefined;
    const made = new Plot(canvas.current, setInView);
    plot.current = made;
    const observer = new ResizeObserver(() => made.draw());
    observer.observe(canvas.current);
    const redraw = () => made.draw();
    document.addEventListener("samekind:theme", redraw);
    return () => {
      observer.disconnect();
      document.removeEventListener("samekind:theme", redraw);
    };
  }, []);
  useEffect(() => {
    if (plot.current) plot.current.open = open;
    if (data) plot.current?.update(data, overview?.clusters ?? []);
  }, [data, open, overview]);
  useEffect(() => plot.current?.light(lit), [lit]);
  const kinds = new Map(overview?.clusters.map((kind) => [kind.cluster, kind]));
  const others = `${count(inView.others, "other kind")} in view, grey: move closer to see ${inView.others === 1 ? "its colour" : "their colours"}`;
  const how = data?.method
    ? ` Laid out by ${data.method}${data.pending ? "; a better map is being made" : ""}.`
    : "";
  const rows = count(data?.rows.length ?? 0, "item");
  const keys = "The list below names the kinds in view. Plus and minus zoom, arrows move.";
  const tool = (
    /** @type {string} */ label,
    /** @type {string} */ sign,
    /** @type {() => void} */ act,
  ) => html`<${Button} aria-label=${label} title=${label} act=${act}>${sign}<//>`;
  return html`<div class="map-panel">
    <div class="map-frame">
      <canvas
        ref=${canvas}
        class="map"
        role="img"
        tabindex="0"
        aria-label=${`Map of ${rows}: items that are alike are close. ${keys}`}
      ></canvas>
      <div class="map-tools" role="toolbar" aria-label="Map">
        ${tool("Closer", "+", () => plot.current?.zoom(STEP))}
        ${tool("Farther", "−", () => plot.current?.zoom(1 / STEP))}
        ${tool("All of it", "⤢", () => plot.current?.reset())}
      </div>
    </div>
    <p class="hint">
      ${`Items that are alike are close. Large: known. Click a point to see it.${how}`}
    </p>
    <ul class="legend">
      ${inView.shown.map((cluster) => {
        const kind = kinds.get(cluster);
        return (
          kind &&
          html`<${Entry}
            key=${cluster}
            kind=${kind}
            isLit=${lit === cluster}
            light=${() => setLit(lit === cluster ? null : cluster)}
          />`
        );
      })}
      ${inView.others > 0 && html`<li class="muted">${others}</li>`}
    </ul>
  </div>`;
}

/** @param {{kind: ClusterSummary, isLit: boolean, light: () => void}} props */
function Entry({ kind, isLit, light }) {
  const rows = count(kind.estimated, "item");
  return html`<li>
    <button
      type="button"
      data-cluster=${kind.cluster}
      aria-pressed=${String(isLit)}
      aria-label=${`${nameOf(kind)}: about ${rows}. Highlight on the map`}
      onclick=${light}
    >
      <span class="chip" style=${{ backgroundColor: colorOf(kind.number) }}></span>
      <span dir="auto">${nameOf(kind)}</span>
      <span class="muted">${number(kind.estimated)}</span>
    </button>
  </li>`;
}

/** The canvas of the map. */
class Plot {
  /** @param {HTMLCanvasElement} canvas @param {(inView: InView) => void} told what is in view */
  constructor(canvas, told) {
    this.canvas = canvas;
    this.told = told;
    /** @type {(row: number, cluster: number | null, isKnown: boolean) => void} */
    this.open = () => {};
    /** @type {Point[]} */
    this.points = [];
    /** @type {Map<number, number>} the number of each kind, which is its colour */
    this.numbers = new Map();
    /** @type {Map<number, string>} */
    this.names = new Map();
    this.inView = "";
    /** @type {number | null} the kind to stand out */
    this.lit = null;
    this.view = { scale: 1, x: 0.5, y: 0.5 }; // the middle of the view
    this.#listen();
  }

  /** @param {MapData} map @param {ClusterSummary[]} kinds that have names */
  update({ rows, x, y, place, known, clusters, numbers }, kinds) {
    this.points = rows.map((row, i) => ({
      row,
      x: x[i],
      y: y[i],
      cluster: clusters[place[i]] ?? null,
      known: known[i],
    }));
    this.numbers = new Map(clusters.map((cluster, i) => [cluster, numbers[i]]));
    this.names = new Map(kinds.map((kind) => [kind.cluster, shorten(nameOf(kind), LONGEST)]));
    this.draw();
  }

  /** @param {number | null} cluster let this kind stand out */
  light(cluster) {
    this.lit = cluster;
    this.draw();
  }

  /** @param {number[]} shown @param {number} others */
  #tell(shown, others) {
    const inView = JSON.stringify([shown, others]);
    if (inView !== this.inView) this.told({ shown, others });
    this.inView = inView;
  }

  /** @returns {[number, [number, number][]][]} the kinds in view with their points there, those with the most first */
  #inView() {
    /** @type {Map<number, [number, number][]>} */
    const found = new Map();
    const place = this.#place();
    const { clientWidth: width, clientHeight: height } = this.canvas;
    for (const point of this.points) {
      const [x, y] = place(point);
      if (point.cluster === null || x < 0 || y < 0 || x > width || y > height) continue;
      const there = found.get(point.cluster);
      if (there) there.push([x, y]);
      else found.set(point.cluster, [[x, y]]);
    }
    return [...found].sort(([a, some], [b, others]) => others.length - some.length || a - b);
  }

  /** Place every point: predicted ones first and pale, then known ones, then names; kinds without a colour are grey. */
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
    const inView = this.#inView();
    const seen = inView.map(([cluster]) => cluster);
    const coloured = new Set(seen.slice(0, MOST_COLOURED));
    if (this.lit !== null) coloured.add(this.lit);
    this.#tell([...coloured], seen.filter((cluster) => !coloured.has(cluster)).length);
    const grow = Math.min(2, Math.sqrt(this.view.scale));
    for (const known of [false, true]) {
      for (const point of this.points) {
        if (point.known !== known) continue;
        const [x, y] = place(point);
        if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
        const off = this.lit !== null && point.cluster !== this.lit;
        pen.globalAlpha = off ? 0.1 : known ? 1 : 0.45;
        const kind = point.cluster !== null && coloured.has(point.cluster) ? point.cluster : -1;
        pen.fillStyle = colorOf(this.numbers.get(kind) ?? null);
        pen.beginPath();
        pen.arc(x, y, grow * (known ? 3.6 : 2.1), 0, 2 * Math.PI);
        pen.fill();
      }
    }
    const named = inView.filter(([cluster]) =>
      this.lit === null ? coloured.has(cluster) : this.lit === cluster,
    );
    this.#write(pen, named);
  }

  /** Names of kinds, as far as there is room. @param {CanvasRenderingContext2D} pen @param {[number, [number, number][]][]} named */
  #write(pen, named) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const style = getComputedStyle(this.canvas);
    pen.font = `600 12px ${style.fontFamily}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.globalAlpha = 1;
    pen.strokeStyle = style.backgroundColor;
    pen.fillStyle = style.color;
    const kinds = named
      .map(([cluster, points]) => ({ text: this.names.get(cluster) ?? "", points }))
      .filter(({ text }) => text);
    const tools = { ...TOOLS, left: width + TOOLS.left, right: width };
    const measure = (/** @type {string} */ text) => pen.measureText(text).width;
    for (const { text, x, y } of placeNames(kinds, { width, height }, measure, [tools])) {
      pen.strokeText(text, x, y);
      pen.fillText(text, x, y);
    }
  }

  /** @returns {(point: {x: number, y: number}) => [number, number]} */
  #place() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const side = (Math.min(width, height) - 2 * MARGIN) * this.view.scale;
    const across = Math.max(side, Math.min((width - 2 * MARGIN) * this.view.scale, 1.6 * side));
    return ({ x, y }) => [
      width / 2 + (x - this.view.x) * across,
      height / 2 - (y - this.view.y) * side,
    ];
  }

  /** @param {number} by @param {{x: number, y: number}} [at] zoom, with a place that stays where it is */
  zoom(by, at = { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 }) {
    const before = this.#inverse(at);
    this.view.scale = Math.min(CLOSEST, Math.max(1, this.view.scale * by));
    const after = this.#inverse(at);
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
    const within = (/** @type {number} */ value) =>
      Math.min(0.5 + room, Math.max(0.5 - room, value));
    this.view.x = within(x);
    this.view.y = within(y);
    this.draw();
  }

  /** @param {{x: number, y: number}} at @returns {{x: number, y: number}} the place on the map under a place on the canvas */
  #inverse({ x, y }) {
    const place = this.#place();
    const [[left, low], [right, high]] = [place({ x: 0, y: 0 }), place({ x: 1, y: 1 })];
    return { x: (x - left) / (right - left), y: (y - low) / (high - low) };
  }

  #listen() {
    const { canvas } = this;
    // The wheel scrolls the page unless the map is in use.
    const isInUse = () => document.activeElement === canvas || this.view.scale > 1;
    listenToGestures(canvas, {
      wheels: (event) => event.ctrlKey || isInUse() || event.deltaY <= 0,
      captures: () => true,
      zoom: (factor, at) => this.zoom(factor, at),
      move: (from, to) => {
        const [a, b] = [this.#inverse(from), this.#inverse(to)];
        this.#moveTo(this.view.x + a.x - b.x, this.view.y + a.y - b.y);
      },
      click: (at) => this.#pick(at),
    });
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

  /** @param {{x: number, y: number}} at */
  #pick(at) {
    const place = this.#place();
    let [best, least] = [/** @type {Point | null} */ (null), REACH];
    for (const point of this.points) {
      const [x, y] = place(point);
      const far = Math.hypot(x - at.x, y - at.y);
      if (far < least) [best, least] = [point, far];
    }
    if (best) this.open(best.row, best.cluster, best.known);
  }
}
