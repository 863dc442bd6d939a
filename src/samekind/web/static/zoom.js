/** One magnification for several pictures: what is done to one is done to all, so that they stay comparable. */

import { h } from "./dom.js";
import { keys } from "./keys.js";

const MOST = 12;
const STEP = 1.4;
const TOGGLE = 2.5;

export class Zoom {
  constructor() {
    /** @type {HTMLElement[]} */
    this.pictures = [];
    this.scale = 1;
    // How far the pictures are moved, as a share of their frames.
    this.x = 0;
    this.y = 0;
    /** @type {Map<number, {x: number, y: number}>} fingers and mice that are down */
    this.pointers = new Map();
  }

  /** @param {HTMLElement} frame @param {HTMLElement} picture */
  attach(frame, picture) {
    this.pictures.push(picture);
    frame.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.by(Math.exp(-event.deltaY / 400), ...at(frame, event));
    }, { passive: false });
    frame.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (this.scale > 1) frame.setPointerCapture(event.pointerId);
    });
    frame.addEventListener("pointermove", (event) => this.#move(frame, event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      frame.addEventListener(end, (event) => this.pointers.delete(/** @type {PointerEvent} */ (event).pointerId));
    }
    frame.addEventListener("dblclick", (event) => this.toggle(...at(frame, event)));
  }

  /** @param {number} factor @param {number} [px] @param {number} [py] the point that stays, from the middle */
  by(factor, px = 0, py = 0) {
    const scale = Math.min(MOST, Math.max(1, this.scale * factor));
    const ratio = scale / this.scale;
    this.x = px - (px - this.x) * ratio;
    this.y = py - (py - this.y) * ratio;
    this.scale = scale;
    this.#apply();
  }

  /** @param {number} [px] @param {number} [py] */
  toggle(px = 0, py = 0) {
    this.by(this.scale > 1 ? 1 / this.scale : TOGGLE, px, py);
  }

  /** @param {HTMLElement} frame @param {PointerEvent} event */
  #move(frame, event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    const now = { x: event.clientX, y: event.clientY };
    const box = frame.getBoundingClientRect();
    if (other) {
      const spread = (/** @type {{x: number, y: number}} */ p) => Math.hypot(p.x - other.x, p.y - other.y);
      const middle = { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 };
      this.by(spread(now) / Math.max(1, spread(before)), ...at(frame, middle));
    } else if (this.scale > 1) {
      this.x += (now.x - before.x) / box.width;
      this.y += (now.y - before.y) / box.height;
      this.#apply();
    }
    this.pointers.set(event.pointerId, now);
  }

  #apply() {
    const room = (this.scale - 1) / 2;
    this.x = Math.min(room, Math.max(-room, this.x));
    this.y = Math.min(room, Math.max(-room, this.y));
    const transform = `translate(${this.x * 100}%, ${this.y * 100}%) scale(${this.scale})`;
    for (const picture of this.pictures) {
      picture.style.setProperty("transform", transform);
      picture.parentElement?.classList.toggle("zoomed", this.scale > 1);
    }
  }
}

/** @param {HTMLElement} frame @param {{clientX: number, clientY: number}} event @returns {[number, number]} */
function at(frame, event) {
  const box = frame.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width - 0.5, (event.clientY - box.top) / box.height - 0.5];
}

/** @param {Zoom} zoom @returns {HTMLElement[]} its buttons */
export function zoomTools(zoom) {
  const tool = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ act, key = "") =>
    h(
      "button",
      { type: "button", class: key ? "tool" : "tool stepper", "aria-label": name, title: name, onclick: act },
      h("span", { "aria-hidden": "true" }, sign),
      key && h("kbd", { "aria-hidden": "true" }, key),
    );
  return [
    tool("−", "Zoom out", () => zoom.by(1 / STEP)),
    tool("+", "Zoom in", () => zoom.by(STEP)),
    tool("Zoom", "Zoom in or show all", () => zoom.toggle(), keys.label("zoom")),
  ];
}
